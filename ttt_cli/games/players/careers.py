"""When players played, and names that may be two people's."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ttt_cli.arrays import Ids, Places
from ttt_cli.games.records import years_of
from ttt_cli.games.table import Games

LIFETIME: Final = 60  # years that a person hardly plays for
_LONGEST: Final = 70  # years that a person plays for, if many know him
_WELL_KNOWN: Final = 20  # opponents in common
_FAR: Final = 1 << 22  # days: later than any


def lifetime(shared: int) -> int:
    """Years that two names may span, whose players have so many opponents in common."""
    return LIFETIME if shared < _WELL_KNOWN else _LONGEST


@dataclass(frozen=True)
class Career:
    """A player's games in the input, and the years of the first and the last."""

    name: str
    games: int
    first: int
    last: int

    def __str__(self) -> str:
        years = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        name = " ".join(self.name.split())
        return f"{name}: {self.games:,} {'game' if self.games == 1 else 'games'} {years}"


@dataclass(frozen=True)
class Careers:
    """The careers of all players of games: rows and the years of the first and the last, shape (players,)."""

    names: tuple[str, ...]
    games: Places
    first: Ids
    last: Ids

    def __getitem__(self, player: int) -> Career:
        counts = (int(column[player]) for column in (self.games, self.first, self.last))
        return Career(self.names[player], *counts)


def careers_of(games: Games) -> Careers:
    """The careers of all players; of several games of one the order by date tells the first and the last."""
    n = len(games.players)
    first, last = (np.full(n, day, np.int32) for day in (_FAR, -_FAR))
    rows = np.zeros(n, np.int64)
    for part in games.room.parts(len(games)):
        date = games.date[part]
        for ids in (games.white[part], games.black[part]):
            opening, closing = (np.full(n, day, np.int32) for day in (_FAR, -_FAR))
            opening[ids[::-1]] = date[::-1]
            closing[ids] = date
            first, last = np.minimum(first, opening), np.maximum(last, closing)
            rows += np.bincount(ids, minlength=n)
    years = (years_of(days).astype(np.int32) for days in (first, last))
    return Careers(games.players, rows, *years)


def long_careers(games: Games, years: int = LIFETIME) -> tuple[Career, ...]:
    """Players whose games lie more than so many years apart: perhaps two people of one name. Longest first."""
    careers = careers_of(games)
    length = careers.last - careers.first
    order = np.argsort(-length, kind="stable")
    return tuple(careers[player] for player in order[length[order] > years].tolist())
