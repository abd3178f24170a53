"""Scid's spelling file as aliases: in its section of players a name, and below it, behind `=`, other spellings.

    @PLAYER ".,- _"
    Kasparov, Garry #GM RUS [2812] 1963.04.13
       %Bio FIDEID 4100018
       = Kasparov, Gary

What follows `#`, and lines with `%`, tell of the player and are passed over; so are the sections of sites and events.
"""

import re
from collections.abc import Iterator
from typing import Final

_SECTION: Final = re.compile(r"^@PLAYER\b[^\n]*\n(.*?)(?=^@|\Z)", re.MULTILINE | re.DOTALL)


def is_spelling_file(text: str) -> bool:
    """Whether a text is such a file."""
    return _SECTION.search(text) is not None


def spellings_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, name of the player and other spelling.

    A spelling that the file has for several players, or as the name of another one, tells nothing and is left out.
    """
    found: list[tuple[int, str, str]] = []
    names: set[str] = set()
    players: dict[str, str | None] = {}
    for section in _SECTION.finditer(text):
        first, name = 1 + text.count("\n", 0, section.start(1)), ""
        for number, line in enumerate(section[1].split("\n"), first):
            words = line.partition("#")[0].strip()
            if words.startswith("="):
                spelling = words[1:].strip()
                found.append((number, name, spelling))
                players[spelling] = name if players.get(spelling, name) == name else None
            elif words and not words.startswith("%"):
                name = words
                names.add(name)
    for number, name, spelling in found:
        if name and spelling and spelling not in names and players[spelling] is not None:
            yield number, name, spelling
