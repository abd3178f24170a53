"""Names that may be one person's, and names that may be two people's: suggestions, never applied by themselves."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final

import numpy as np

from ttt_cli.games.ledger import years_of
from ttt_cli.games.names.not_one_person import teams_and_engines
from ttt_cli.games.names.similar import (
    INITIALS,
    LONG,
    SPELLING,
    SURNAME_ONLY,
    Parts,
    likeness,
    parts_of,
    without_one,
)
from ttt_cli.games.table import Games

LIFETIME: Final = 60  # years that a person hardly plays for
_ABBREVIATION: Final = 2  # letters of given names that are surely cut short
_LONG_GAP: Final = 10  # years without a game that make a suggestion unlikely
_SAME_PERSON: Final = 85  # years from the first to the last game of one person


@dataclass(frozen=True)
class Career:
    """A player's games in the input, and the years of the first and the last."""

    name: str
    games: int
    first: int
    last: int

    def __str__(self) -> str:
        years = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.name}: {self.games:,} {'game' if self.games == 1 else 'games'} {years}"


@dataclass(frozen=True)
class Suspect:
    """Two names that may be one person's; `kind` as in `similar.likeness`.

    `main` is the fuller name where the other is abbreviated, else that with more games. `others` counts the further
    names that `synonym` may stand for.
    """

    main: Career
    synonym: Career
    kind: str
    others: int

    @property
    def gap(self) -> int:
        """Years from the last game of one to the first of the other, 0 where their years overlap."""
        return max(self.main.first - self.synonym.last, self.synonym.first - self.main.last, 0)


def careers(games: Games) -> tuple[Career, ...]:
    """The careers of all players."""
    n = len(games.players)
    ends = np.concatenate([games.white, games.black])
    year = np.tile(years_of(games.date), 2)
    first, last = np.full(n, np.iinfo(np.int16).max, np.int16), np.zeros(n, np.int16)
    np.minimum.at(first, ends, year)
    np.maximum.at(last, ends, year)
    columns = (np.bincount(ends, minlength=n).tolist(), first.tolist(), last.tolist())
    return tuple(Career(*row) for row in zip(games.players, *columns, strict=True))


def find_suspects(games: Games) -> tuple[Suspect, ...]:
    """Pairs of names that may be one person's: unambiguous ones first, then by kind, gap and games.

    People who played each other are two, and so are those whose games together span more than a lifetime. A synonym is
    told with the likeliest main name alone: years that overlap, then more games.
    """
    known = careers(games)
    n = len(known)
    low, high = np.minimum(games.white, games.black), np.maximum(games.white, games.black)
    met = set(np.unique(low.astype(np.int64) * n + high).tolist())
    parts = [parts_of(career.name) for career in known]
    found: dict[int, list[Suspect]] = defaultdict(list)
    for i, j in _candidates(parts, several=teams_and_engines(games.players)):
        kind = likeness(parts[i], parts[j])
        if kind is None or min(i, j) * n + max(i, j) in met:
            continue
        if max(known[i].last, known[j].last) - min(known[i].first, known[j].first) > _SAME_PERSON:
            continue
        short = min(map(_longest_given, (parts[i], parts[j]))) <= _ABBREVIATION
        rank = {k: (-_letters(parts[k]) if short else 0, -known[k].games, known[k].name) for k in (i, j)}
        main, synonym = sorted((i, j), key=rank.__getitem__)
        found[synonym].append(Suspect(known[main], known[synonym], kind, 0))
    best = [_likeliest(suspects) for suspects in found.values()]
    return tuple(sorted(best, key=_doubt))


def alias_lines(suspects: Iterable[Suspect]) -> Iterator[str]:
    """The suggestions as an alias file, each below its evidence; what has several explanations is commented out."""
    for suspect in suspects:
        together = (
            f"{suspect.gap} {'year' if suspect.gap == 1 else 'years'} apart"
            if suspect.gap
            else "overlapping years"
        )
        others = f", or one of {suspect.others} others" if suspect.others else ""
        yield f"# {suspect.main}; {suspect.synonym}; {suspect.kind}, {together}{others}"
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow([suspect.main.name, suspect.synonym.name])
        yield ("# " if suspect.others else "") + line.getvalue()


def long_careers(games: Games, years: int = LIFETIME) -> tuple[Career, ...]:
    """Players whose games lie more than so many years apart: perhaps two people of one name. Longest first."""
    long = [career for career in careers(games) if career.last - career.first > years]
    return tuple(sorted(long, key=lambda career: (career.first - career.last, career.name)))


def _doubt(suspect: Suspect) -> tuple[bool, int, bool, int, str]:
    """What puts the likelier suggestions first."""
    kind = (INITIALS, SPELLING, SURNAME_ONLY).index(suspect.kind)
    return suspect.others > 0, kind, suspect.gap > _LONG_GAP, -suspect.synonym.games, suspect.synonym.name


def _longest_given(parts: Parts) -> int:
    return max(map(len, parts.given), default=0)


def _letters(parts: Parts) -> int:
    return sum(map(len, parts.given))


def _likeliest(suspects: Sequence[Suspect]) -> Suspect:
    best = max(suspects, key=lambda s: (not s.gap, s.main.games, s.main.name))
    return Suspect(best.main, best.synonym, best.kind, len(suspects) - 1)


def _candidates(parts: Sequence[Parts], several: Iterable[Sequence[bool]]) -> Iterator[tuple[int, int]]:
    """Pairs worth looking at: the same surname, or one letter apart, and no different initials; persons only."""
    no_person = np.any(list(several), axis=0).tolist()
    by_surname: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, (surname, given) in enumerate(parts):
        if not no_person[number]:
            by_surname[surname][given[0][0] if given else ""].append(number)
    for initials in by_surname.values():
        alone = initials.pop("", [])
        for numbers in initials.values():
            yield from combinations(numbers, 2)
        yield from product(alone, (number for numbers in initials.values() for number in numbers))
    for one, other in _slips(by_surname):
        for initial in by_surname[one].keys() & by_surname[other].keys():
            yield from product(by_surname[one][initial], by_surname[other][initial])


def _slips(surnames: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of long surnames that may be one letter apart, each pair once."""
    shorter: dict[str, list[str]] = defaultdict(list)
    for surname in surnames:
        if len(surname) >= LONG:
            for left in set(without_one(surname)):
                shorter[left].append(surname)
    pairs = {
        (min(pair), max(pair)) for same in shorter.values() if len(same) > 1 for pair in combinations(same, 2)
    }
    yield from sorted(pairs)
