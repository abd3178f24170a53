"""Whether two names may be one person's, and whether they tell so themselves."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ttt_cli.games.players.careers import Career

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
ABBREVIATION: Final = 2  # letters of given names that are surely cut short
_SHORT_GAP: Final = 3  # years without a game that many players have
_GIVEN: Final = 3  # letters of a given name that is hardly cut short
_EACH: Final = 5.0  # times as many people that an opponent in common makes up for
_SHORT: Final = 4  # letters of surnames of which there are many
_COMMON: Final = 1  # people whom such a surname stands for besides
_NARROWER: Final = 6.0  # times as few people are meant by one letter more
_FEW: Final = 2  # people of a surname who leave no doubt whom an initial means
_TELLING: Final = 3  # opponents in common that make up for what a name does not tell


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


@dataclass(frozen=True)
class Suspect:
    """Two names that may be one person's; `kind` as in `likeness`.

    `main` is the fuller name where the other is abbreviated, else that with more games. `others` counts the further
    names that `synonym` may stand for, `shared` the opponents in common; `sure`: no other name has as good a claim to
    it.
    """

    main: Career
    synonym: Career
    kind: str
    others: int
    shared: int = 0
    sure: bool = False

    @property
    def gap(self) -> int:
        """Years from the last game of one to the first of the other, 0 where their years overlap."""
        return max(self.main.first - self.synonym.last, self.synonym.first - self.main.last, 0)

    @property
    def evidence(self) -> str:
        """What speaks for one person, and what against, in words."""
        apart = (
            f"{self.gap} {'year' if self.gap == 1 else 'years'} apart" if self.gap else "overlapping years"
        )
        common = f", {self.shared} opponents in common" if self.shared > 1 else ""
        others = f", or one of {self.others} others" if self.others else ""
        return f"{self.kind}, {apart}{common}{others}"

    @property
    def span(self) -> int:
        """Years from the first game of either to the last."""
        return max(self.main.last, self.synonym.last) - min(self.main.first, self.synonym.first)


def crowd(synonym: Parts, namesakes: int, gap: int) -> float:
    """How many people there may be of whom a synonym could be told, by those who have the surname and another initial.

    A letter more fits fewer of them. Short surnames are common, and years of `gap` leave room for more people.
    """
    known = namesakes + (_COMMON if len(synonym.surname) <= _SHORT else 0)
    letters = sum(map(len, synonym.given))
    return known * (1.0 + gap / _SHORT_GAP) * _NARROWER ** -min(max(letters - 1, 0), _GIVEN)


def enough(suspect: Suspect, crowd: float) -> bool:
    """Whether the opponents in common are enough among so many people."""
    return crowd <= _FEW * _EACH**suspect.shared


def telling(suspect: Suspect, main: Parts, synonym: Parts, *, alone: bool) -> bool:
    """Whether the names themselves, or opponents in common, speak for one person; `alone`: no other competes.

    A country behind a name, or a name that is cut short itself, is there to tell namesakes apart.
    """
    if same_letters(main, synonym):
        return True
    if suspect.kind == SPELLING or main.country or synonym.country:
        return False
    if len(main.given) < len(synonym.given):
        return False
    if len(main.given[0]) < _GIVEN:
        return alone and suspect.shared >= 2 * _TELLING
    initials = suspect.kind == INITIALS and longest_given(synonym) == 1
    return initials or suspect.shared >= _TELLING


def told_alone(suspect: Suspect, main: Parts, synonym: Parts, gap: int) -> bool:
    """Whether the names tell enough where no third one competes, with years of `gap` between all that is united.

    Given names that differ by further initials, or the first two letters of one; a single letter of a name of two
    where years or opponents agree; a country behind one of them with opponents in common.
    """
    if suspect.kind != INITIALS:
        return False
    first, short = main.given[0], synonym.given[0]
    if main.country or synonym.country:
        return len(first) > 1 and suspect.shared >= (
            1 if first == short and len(first) >= _GIVEN else _TELLING
        )
    if first == short:
        further = (*main.given[1:], *synonym.given[1:])
        return len(first) >= _GIVEN and max(map(len, further), default=1) == 1
    if len(synonym.given) > 1 or len(first) <= len(short):
        return False
    if len(first) <= ABBREVIATION:
        return len(main.given) == 1 and len(first) > 1 and (gap <= _SHORT_GAP or suspect.shared > 0)
    return len(short) <= ABBREVIATION and (len(first) > _GIVEN or suspect.shared > 0)


def fullest(forms: Sequence[Parts], synonym: Parts) -> Parts:
    """Of the forms of one name the one that tells most, as many words as a synonym if there is such a one."""
    return max(forms, key=lambda one: (len(one.given) >= len(synonym.given), sum(map(len, one.given)), one))


def longest_given(parts: Parts) -> int:
    """Letters of the longest given name."""
    return max(map(len, parts.given), default=0)
