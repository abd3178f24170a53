"""When two spellings are one name: keys that are equal for spellings of the same name."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ttt_cli.config.schema import NameMatching
from ttt_cli.folding import fold
from ttt_cli.games.players.neighbours import Neighbours
from ttt_cli.games.players.titles import COUNTRIES

_INITIALS: Final = re.compile(r"\b[A-Z]{2,3}\b")
_PLAIN: Final = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)*, [A-Z][a-z]*(?: [A-Z][a-z]*)*")
_DOTS: Final = re.compile(r"[.\s]+")
# where there is none of these, and no second comma, a key is the name itself but for case
_SLOW_PATH: Final = Neighbours(r"[^\nA-Za-z0-9 ,]|\n[^A-Za-z0-9]| [ ,\n]|,[^ ]|[A-Z]{2}")


def name_key(name: str, matching: NameMatching = "folded") -> str:
    """The key of a cleaned name: surname, comma and given names, or the words alone where there is no comma.

    The code of a country behind given names (`Ivanov, S RUS`) follows a second comma. Dots vanish and initials are
    single letters: `Blackburne, J.H.`, `Blackburne, J H` and `Blackburne, JH` are the same. Case, accents and hyphens
    count with `clean` only. A name that is nothing but signs is its own key.
    """
    if _PLAIN.fullmatch(name):
        return name if matching == "clean" else name.lower()
    surname, comma, given = name.partition(",")
    country = ""
    if given and not surname.isupper():
        given, country = _without_country(given)
        given = _INITIALS.sub(lambda match: " ".join(match[0]), given)
    parts = [_words(part, matching) for part in ((surname, given, country) if comma else (surname,))]
    key = ", ".join(part for part in parts if part)
    return key or name


def name_keys(names: Sequence[str], matching: NameMatching = "folded") -> list[str]:
    """`name_key` of each name, in a fraction of the time."""
    keys = list(names) if matching == "clean" else [name.lower() for name in names]
    commas = [number for number, name in enumerate(names) if name.count(",") > 1]
    for number in {*_SLOW_PATH.among(names).tolist(), *commas}:
        keys[number] = name_key(names[number], matching)
    return keys


def comma_keys(key: str) -> Iterator[str]:
    """The keys that a key without a comma may stand for: `First Last` and `Last First`, cut at any word."""
    words = key.split() if "," not in key else []
    for cut in range(1, len(words)):
        yield f"{' '.join(words[cut:])}, {' '.join(words[:cut])}"
        yield f"{' '.join(words[:cut])}, {' '.join(words[cut:])}"


def _without_country(given: str) -> tuple[str, str]:
    """Given names and the code of a country behind them, if there is one."""
    before, _, last = given.rstrip().rpartition(" ")
    return (before, last) if before.strip() and last in COUNTRIES else (given, "")


def _words(text: str, matching: NameMatching) -> str:
    return _DOTS.sub(" ", text).strip() if matching == "clean" else fold(text)
