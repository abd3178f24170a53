"""Whether two names may be one person's: initials, given names left out, and slips of spelling."""

import re
from typing import Final, NamedTuple

INITIALS: Final = "initials"
SURNAME_ONLY: Final = "surname only"
SPELLING: Final = "spelling"
LONG: Final = 6  # letters of a surname from which one wrong letter is taken for a slip
_LONG_GIVEN: Final = 5
_PARTICLES: Final = frozenset(
    ("al", "d", "da", "de", "del", "den", "der", "di", "du", "la", "le", "ten", "ter", "van", "vom", "von", "zu", "zur")
)  # fmt: skip
_NUMBERED: Final = re.compile(r"\d")  # numbers tell namesakes apart


_GLUED: Final = re.compile(r"(?:de|del|dela|della|den|der|di|du|la|le|van|vanden|vander|von|vonder)(?=\w{6})")
_UMLAUT: Final = re.compile(r"(?<=[aou])e")


class Parts(NamedTuple):
    """A name taken apart: the surname without blanks and particles, and the given names, folded.

    What differs in the writing of particles and umlauts alone is the same surname; `written` tells it apart, and so do
    `letters`, particles among them, which blanks do not change. `country` is the code of one behind the name.
    """

    surname: str
    given: tuple[str, ...]
    written: str = ""
    letters: str = ""
    country: str = ""


def parts_of_key(key: str) -> Parts:
    """The parts of a name with this key (see `name_key`); without a comma the last word is the surname."""
    surname, _, given = key.partition(", ")
    given, _, country = given.partition(", ")
    if not given.strip():
        *words, last = surname.split() or [""]
        return _parts([last], [word for word in words if word not in _PARTICLES])
    first, *others = given.split()
    return _parts(surname.split(), [first, *(word for word in others if word not in _PARTICLES)], country)


def _parts(surname: list[str], given: list[str], country: str = "") -> Parts:
    written = _bare(surname)
    plain = _UMLAUT.sub("", _GLUED.sub("", written))
    names = tuple(_UMLAUT.sub("", word) for word in given)
    return Parts(plain, names, written, "".join(surname), country)


def same_letters(one: Parts, other: Parts) -> bool:
    """Whether nothing but blanks tells the names apart."""
    mine, theirs = ((name.letters, "".join(name.given), name.country) for name in (one, other))
    return mine == theirs


def _bare(words: list[str]) -> str:
    kept = [word for word in words if word not in _PARTICLES] or words
    surname = "".join(kept)
    return "mc" + surname[3:] if surname.startswith("mac") and len(surname) > 6 else surname


def likeness(one: Parts, other: Parts) -> str | None:
    """How two different names may be one person's (`initials`, `surname only`, `spelling`), None when they are not.

    Surnames are the same, or long and one letter apart; given names follow each other word by word, each the same, the
    beginning of the other, or long and one letter apart. Countries differ nowhere.
    """
    slip = one.surname != other.surname
    abroad = one.country and other.country and one.country != other.country
    if abroad or (slip and not slipped(one.surname, other.surname)):
        return None
    otherwise = one.written != other.written and one.letters != other.letters
    if not one.given or not other.given:
        alone = one.given == other.given == ()
        return None if slip or (alone and not otherwise) else SPELLING if otherwise else SURNAME_ONLY
    kind = SPELLING if slip or otherwise else INITIALS
    for mine, theirs in zip(one.given, other.given, strict=False):
        if mine == theirs:
            continue
        if _NUMBERED.search(mine + theirs):
            return None
        if mine.startswith(theirs) or theirs.startswith(mine):
            continue
        if slip or min(len(mine), len(theirs)) < _LONG_GIVEN or not one_apart(mine, theirs):
            return None
        kind = SPELLING
    return kind


def slipped(one: str, other: str) -> bool:
    """Whether two surnames are long and one letter apart, no first letter in the place of another."""
    long = min(len(one), len(other)) >= LONG and not _NUMBERED.search(one + other)
    return long and (one[0] == other[0] or len(one) != len(other)) and one_apart(one, other)


def one_apart(one: str, other: str) -> bool:
    """Whether one letter more, less or different, or two neighbours swapped, is all that tells two words apart."""
    if len(one) > len(other):
        one, other = other, one
    if one == other or len(other) - len(one) > 1:
        return False
    at = next((i for i, letter in enumerate(one) if letter != other[i]), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    swapped = one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]
    return swapped or one[at + 1 :] == other[at + 1 :]
