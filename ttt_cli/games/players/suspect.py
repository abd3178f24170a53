"""Two names that may be one person's, and whether they tell so themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ttt_cli.games.players.careers import Career
from ttt_cli.games.players.similar import INITIALS, SPELLING, Parts, same_letters

ABBREVIATION: Final = 2  # letters of given names that are surely cut short
_SHORT_GAP: Final = 3  # years without a game that many players have
_GIVEN: Final = 3  # letters of a given name that is hardly cut short
_EACH: Final = 5.0  # times as many people that an opponent in common makes up for
_SHORT: Final = 4  # letters of surnames of which there are many
_COMMON: Final = 1  # people whom such a surname stands for besides
_NARROWER: Final = 6.0  # times as few people are meant by one letter more
_FEW: Final = 2  # people of a surname who leave no doubt whom an initial means
_TELLING: Final = 3  # opponents in common that make up for what a name does not tell


@dataclass(frozen=True)
class Suspect:
    """Two names that may be one person's; `kind` as in `similar.likeness`.

    `main` is the fuller name where the other is abbreviated, else that with more games. `others` counts the further
    names that `synonym` may stand for, `shared` the opponents that both names have by surname and initial. `sure`: the
    synonym is nothing but initials, or as good as that, and no other name has as good a claim to them.
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

    A country behind a name, or a name that is cut short itself, is there to tell namesakes apart. Names of the same
    letters are one.
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
