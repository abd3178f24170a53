"""When players played and against whom, and names that may be two people's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ttt_cli.arrays import Ids, Mask, Places
from ttt_cli.games.players.names import name_keys
from ttt_cli.games.records import years_of
from ttt_cli.games.table import Games
from ttt_cli.reading.column import Dictionary

LIFETIME: Final = 60  # years that a person hardly plays for
_LONGEST: Final = 70  # years that a person plays for, if many know him
_WELL_KNOWN: Final = 20  # opponents in common
_FAR: Final = 1 << 22  # days: later than any
Pairs = Places


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


def have_met(games: Games, pairs: Pairs) -> Mask:
    """Whether the players of pairs, shape (pairs, 2), played each other."""
    n = np.int64(len(games.players))
    concerned = np.zeros(n, np.bool_)
    concerned[pairs] = True
    rows = np.flatnonzero(concerned[games.white] & concerned[games.black])
    white, black = games.white[rows].astype(np.int64), games.black[rows].astype(np.int64)
    return np.isin(_pair_key(pairs[:, 0], pairs[:, 1], n), _pair_key(white, black, n))


def shared_opponents(games: Games, pairs: Pairs) -> Places:
    """How many opponents both players of pairs, shape (pairs, 2), have, told by surname and initial alone."""
    if not len(pairs):
        return np.zeros(0, np.int64)
    shown = _short_names(games.players)
    base = np.int64(shown.max()) + 1
    concerned = np.zeros(len(games.players), np.bool_)
    concerned[pairs] = True
    against = [
        player[rows] * base + shown[opponent[rows]]
        for player, opponent in ((games.white, games.black), (games.black, games.white))
        for rows in (np.flatnonzero(concerned[player]),)
    ]
    keys = np.unique(np.concatenate(against))
    start = np.searchsorted(keys, np.arange(len(games.players) + 1) * base)
    count = np.diff(start)[pairs]
    swap = count[:, 0] > count[:, 1]
    few, many = np.where(swap, pairs[:, 1], pairs[:, 0]), np.where(swap, pairs[:, 0], pairs[:, 1])
    sizes = count.min(axis=1)
    first = np.cumsum(sizes) - sizes
    places = np.arange(sizes.sum()) - np.repeat(first, sizes) + np.repeat(start[few], sizes)
    sought = keys[places] % base + np.repeat(many, sizes) * base
    at = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
    row = np.repeat(np.arange(len(pairs)), sizes)
    return np.bincount(row[keys[at] == sought], minlength=len(pairs)).astype(np.int64)


def _pair_key(one: Pairs, other: Pairs, n: np.int64) -> Pairs:
    return np.minimum(one, other) * n + np.maximum(one, other)


def _short_names(players: Sequence[str]) -> Places:
    """A number for the surname and initial of each player."""
    parts = (key.partition(",") for key in name_keys(players))
    return Dictionary[str]().ids(surname + given[:2] for surname, _, given in parts).astype(np.int64)
