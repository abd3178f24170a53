"""Names that may be one person's: suggestions, never applied by themselves."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.games.players.careers import LIFETIME, Career, Careers, careers_of
from ttt_cli.games.players.look_alikes import LookAlikes, look_alikes
from ttt_cli.games.players.opponents import have_met, shared_opponents
from ttt_cli.games.players.similar import INITIALS, SPELLING, SURNAME_ONLY, Parts
from ttt_cli.games.players.titles import COUNTRIES
from ttt_cli.games.table import Games

_ABBREVIATION: Final = 2  # letters of given names that are surely cut short
_LONG_GAP: Final = 10  # years without a game that make a suggestion unlikely
_SAME_PERSON: Final = 85  # years from the first to the last game of one person
_GIVEN: Final = 3  # letters of a given name that is hardly cut short
_TELLING: Final = 3  # opponents in common that make up for what a name does not tell
_CLEARLY: Final = 3  # times as many as any other


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


class Suspects(NamedTuple):
    """`pairs`, unambiguous ones first, then by kind, gap and games; `left_out` names were not compared with all."""

    pairs: tuple[Suspect, ...]
    left_out: int


def find_suspects(games: Games) -> Suspects:
    """Pairs of names that may be one person's.

    People who played each other are two, and so are those whose games together span more than a lifetime. A synonym is
    told with the likeliest main name alone: years that do not contradict it, then opponents in common.
    """
    found = look_alikes(games.players)
    claims = _claims(games, found)
    shared = shared_opponents(games, np.array([claims.main, claims.synonym]).T).tolist()
    of_synonym: dict[int, list[int]] = defaultdict(list)
    for row, synonym in enumerate(claims.synonym):
        of_synonym[synonym].append(row)
    careers = careers_of(games)
    pairs = [_likeliest(claims, shared, rows, careers, found.parts) for rows in of_synonym.values()]
    return Suspects(tuple(sorted(pairs, key=_doubt)), found.left_out)


def count_suspects(games: Games) -> tuple[int, int]:
    """How many pairs and names left out `find_suspects` finds, in less time."""
    found = look_alikes(games.players)
    return len(set(_claims(games, found).synonym)), found.left_out


class _Claims(NamedTuple):
    """Pairs that may be one person's, column by column."""

    main: list[int]
    synonym: list[int]
    kind: list[str]
    gap: list[int]


def _claims(games: Games, found: LookAlikes) -> _Claims:
    """The pairs of names that did not meet, within a lifetime; the name that is shown for both, and the other."""
    careers, players = careers_of(games), len(games.players)
    longest, letters = np.zeros((2, players), np.int64)
    for number, parts in found.parts.items():
        longest[number], letters[number] = _longest_given(parts), sum(map(len, parts.given))
    pairs = np.array([pair[:2] for pair in found.pairs], np.int64).reshape(-1, 2)
    span = careers.last[pairs].max(axis=1, initial=-9999) - careers.first[pairs].min(axis=1, initial=9999)
    kept = np.flatnonzero(~have_met(games, pairs) & (span <= _SAME_PERSON))
    one, other = pairs[kept].T
    short = np.minimum(longest[one], longest[other]) <= _ABBREVIATION
    fuller = np.where(short, letters[one] - letters[other], 0)
    more = careers.games[one] - careers.games[other]
    swap = np.where(fuller, fuller, np.where(more, more, other - one)) < 0
    main, synonym = np.where(swap, other, one), np.where(swap, one, other)
    gap = np.maximum(careers.first[main] - careers.last[synonym], careers.first[synonym] - careers.last[main])
    return _Claims(
        main.tolist(),
        synonym.tolist(),
        [found.pairs[row][2] for row in kept.tolist()],
        np.maximum(gap, 0).tolist(),
    )


def _likeliest(
    claims: _Claims,
    shared: Sequence[int],
    rows: Sequence[int],
    careers: Careers,
    parts: Mapping[int, Parts],
) -> Suspect:
    """The best of those that claim a synonym, with the number of the others."""
    gap = claims.gap

    def weight(row: int) -> tuple[bool, int, int, int, int]:
        main = claims.main[row]
        return gap[row] <= _LONG_GAP, shared[row], -gap[row], int(careers.games[main]), main

    best = max(rows, key=weight)
    rivals = [row for row in rows if row != best and (gap[row] <= _LONG_GAP or gap[best] > 1)]
    most = max((shared[row] for row in rivals), default=-1)
    main, synonym = claims.main[best], claims.synonym[best]
    suspect = Suspect(careers[main], careers[synonym], claims.kind[best], len(rows) - 1, shared[best])
    ahead = not rivals or suspect.shared > max(_CLEARLY * most, 1)
    fits = suspect.gap <= _LONG_GAP and suspect.span <= LIFETIME
    return replace(suspect, sure=ahead and fits and _telling(suspect, parts[main], parts[synonym]))


def _telling(suspect: Suspect, main: Parts, synonym: Parts) -> bool:
    """Whether the names themselves, or opponents in common, speak for one person.

    A country behind a name, or a name that is cut short itself, is there to tell namesakes apart.
    """
    words = (*main.given[1:], *synonym.given[1:])
    if suspect.kind == SPELLING or any(word.upper() in COUNTRIES for word in words):
        return False
    if len(main.given) < len(synonym.given):
        return False
    if len(main.given[0]) < _GIVEN:
        return not suspect.others and suspect.shared >= 2 * _TELLING
    initials = suspect.kind == INITIALS and _longest_given(synonym) == 1
    return initials or suspect.shared >= _TELLING


def _doubt(suspect: Suspect) -> tuple[bool, bool, int, bool, int, str]:
    """What puts the likelier suggestions first."""
    kind = (INITIALS, SPELLING, SURNAME_ONLY).index(suspect.kind)
    far = suspect.gap > _LONG_GAP
    return not suspect.sure, suspect.others > 0, kind, far, -suspect.synonym.games, suspect.synonym.name


def _longest_given(parts: Parts) -> int:
    return max(map(len, parts.given), default=0)
