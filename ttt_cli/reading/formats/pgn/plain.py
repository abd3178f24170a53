"""Games written exactly as the standard has it, which is most of them: read with few steps."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from ttt_cli.reading.formats.pgn.tags import canonical

_NAME: Final = re.compile(rb"[A-Z]\w*")
_ENDS: Final = {result: (b" " + result, b"\n" + result) for result in (b"1-0", b"0-1", b"1/2-1/2", b"*")}
_SECTION_LIMIT: Final = 1 << 12  # bytes; keeps files without blank lines from being searched to their end
_NEEDS_CARE: Final = frozenset(b"\n[ \t\f\v%;\xef")  # at the start of movetext


class PlainGame(NamedTuple):
    """Tags, the movetext, how many lines it all takes, and where the next game begins."""

    tags: dict[bytes, bytes]
    moves: bytes
    lines: int
    end: int


def plain_game(data: bytes, start: int) -> PlainGame | None:
    """The game whose tags begin at `start`, if all of it is plain; None leaves it to the slow path.

    Plain is: one tag a line, none twice, none with quotes or backslashes in its value; a blank line; movetext
    without comments or escape lines that ends with the result of the tags; then a line with an Event tag.
    """
    stop = data.find(b"\n\n", start, start + _SECTION_LIMIT)
    bracket = data.find(b"[", stop) if stop >= 0 else -1
    if bracket < 0 or data[stop + 2] in _NEEDS_CARE or not data.startswith(b'\n[Event "', bracket - 1):
        return None
    tags = _plain_tags(data[start:stop])
    if tags is None:
        return None
    if (
        (ends := _ENDS.get(tags.get(b"Result", b""))) is None
        or not data[bracket - 16 : bracket].rstrip().endswith(ends)
        or data.find(b"{", stop, bracket) >= 0
        or data.find(b";", stop, bracket) >= 0
        or data.find(b"%", stop, bracket) >= 0
        or data.find(b"\n1.", stop + 2, bracket) >= 0
    ):
        return None
    lines = len(tags) + data.count(b"\n", stop, bracket) - 1
    return PlainGame(tags, data[stop + 2 : bracket], lines, bracket)


def _plain_tags(section: bytes) -> dict[bytes, bytes] | None:
    """Names and values of a tag section in which every line is one `[Name "value"]`, all names different."""
    lines = section.count(b"\n") + 1
    pairs = section[1:-2].split(b'"]\n[')
    if len(pairs) != lines or section.count(b'"') != 2 * lines or b"\\" in section or section[-2:] != b'"]':
        return None
    try:
        tags = dict([pair.split(b' "') for pair in pairs])
    except ValueError:
        return None
    return tags if len(tags) == lines and _plain_names(tuple(tags)) else None


@lru_cache(maxsize=1024)
def _plain_names(names: tuple[bytes, ...]) -> bool:
    """Whether names are spelled as usual; those of one file recur in a few combinations."""
    return all(_NAME.fullmatch(name) and canonical(name) == name for name in names)
