"""The graph of players and games: groups linked by games, parts linked by one player only, and careers.

Skills of two players are comparable when a chain of games links them. Groups are the connected components of the graph
of players and games; levels of different groups are unrelated.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ttt_cli.games.names import name_keys
from ttt_cli.games.table import Games, years_of
from ttt_cli.reading.columns import Dictionary
from ttt_cli.room import MEMORY, Room
from ttt_cli.support.arrays import Ids, Mask, Places

LIFETIME: Final = 60  # years of a long career
_LONGEST: Final = 70  # years of the longest, for players with many common opponents
_WELL_KNOWN: Final = 20  # common opponents
_FAR: Final = 1 << 22  # days, later than any game
_PAIRS_AT_ONCE: Final = 1 << 14


@dataclass(frozen=True)
class PlayerGroup:
    """Players linked by games. `leading` are up to three players with the most games; `first` and `last` are years."""

    players: int
    games: int
    first: int
    last: int
    leading: tuple[str, ...]


@dataclass(frozen=True)
class Groups:
    """All groups, those with more players (then games) first; `label`, shape (players,), is the group of each."""

    groups: tuple[PlayerGroup, ...]
    label: Ids

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def warning(self) -> str | None:
        """A warning about several groups, None when there is only one."""
        if len(self.groups) < 2:
            return None
        main = self.groups[0]
        outside = sum(group.players for group in self.groups[1:])
        return (
            f"{len(self.groups):,} groups of players without games between them: their levels are not comparable; "
            f"the largest has {main.players:,} players, {outside:,} are outside it"
        )


def label_groups(white: Ids, black: Ids, n_players: int, room: Room = MEMORY) -> Ids:
    """The group of each player, shape (n_players,), numbered from 0 by the number of players, then of games.

    Players without games are groups of their own, the last ones. The games are in `room`. Takes O(n log n) time.
    """
    from ttt_cli.kernels.layout import join_pairs

    first = np.arange(n_players, dtype=np.int32)
    for part in room.parts(len(white)):
        join_pairs(white[part], black[part], first)
    leads = first == np.arange(n_players)
    found = (np.cumsum(leads, dtype=np.int32) - 1)[first]
    players = np.bincount(found)
    games = np.zeros(len(players), np.int64)
    for part in room.parts(len(white)):
        games += np.bincount(found[white[part]], minlength=len(players))
    order = np.lexsort((np.arange(len(players)), -games, -players))
    rank = np.empty(len(players), np.int32)
    rank[order] = np.arange(len(players), dtype=np.int32)
    return np.take(rank, found)


def find_groups(games: Games) -> Groups:
    """The groups of the players of these games."""
    careers = careers_of(games)
    label = label_groups(games.white, games.black, len(games.players), games.room)
    order = np.lexsort((-careers.games, label))
    players = np.bincount(label)
    start = np.cumsum(players) - players
    columns = (
        players,
        np.add.reduceat(careers.games[order], start) // 2,
        np.minimum.reduceat(careers.first[order], start),
        np.maximum.reduceat(careers.last[order], start),
    )
    leading = []
    for at, n in zip(start.tolist(), np.minimum(players, 3).tolist(), strict=True):
        leading.append(tuple(map(games.players.__getitem__, order[at : at + n].tolist())))
    groups = map(PlayerGroup, *np.array(columns).tolist(), leading)
    return Groups(tuple(groups), label)


@dataclass(frozen=True)
class Tie:
    """A part of a group that is linked to the rest by `games` games with one `player` only.

    `leading` has the most games in the part.
    """

    players: int
    leading: str
    player: str
    games: int


def hanging_parts(games: Games, *, players: int = 5, at_most: int = 10) -> list[tuple[Tie, Places]]:
    """Parts of a group, of at least `players`, that one player links to the rest by at most `at_most` games.

    Returns each part with its players, largest first. A part has at most half of its group, and never the player with
    the most games. Parts may contain other parts. Parts linked through two players are not found. Takes O(n log n)
    time.
    """
    if not len(games):
        return []
    from scipy.sparse import csr_array

    from ttt_cli.kernels.layout import walk_depth_first

    n = len(games.players)
    ends = np.concatenate([games.white, games.black]), np.concatenate([games.black, games.white])
    met = csr_array((np.ones(2 * len(games), np.int64), ends), shape=(n, n))  # games of each pair
    played: Places = met.sum(axis=1)
    label = label_groups(games.white, games.black, n)
    by_games = np.lexsort((-played, label))
    roots = by_games[np.flatnonzero(np.diff(label[by_games], prepend=-1))].astype(np.int32)
    number = np.full(n, -1, np.int32)
    parent, lowest, size, path = np.zeros((4, n), np.int32)
    start = met.indptr.astype(np.int64)
    neighbour = met.indices.astype(np.int32)
    walk_depth_first(start, neighbour, roots, number, parent, lowest, size, path, np.zeros(n, np.int64))
    small = (size >= players) & (2 * size <= np.bincount(label)[label])
    hangs = np.flatnonzero(small & (parent >= 0) & (lowest >= number[parent]))
    visited = np.argsort(number)
    found = []
    for v in hangs[np.lexsort((hangs, -size[hangs]))].tolist():
        player = parent[v]
        first = number[v]
        last = number[v] + size[v]
        row = slice(start[player], start[player + 1])
        inside = (number[neighbour[row]] >= first) & (number[neighbour[row]] < last)
        if (links := int(met.data[row][inside].sum())) <= at_most:
            part = visited[first:last]
            leading = part[played[part] == played[part].max()].min()
            found.append((Tie(len(part), games.players[leading], games.players[player], links), part))
    return found


def lifetime(shared: int) -> int:
    """The longest plausible career of one person under two names, years; `shared`: common opponents of the names."""
    return LIFETIME if shared < _WELL_KNOWN else _LONGEST


@dataclass(frozen=True)
class Career:
    """A player's number of games, and the years of the first and the last."""

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
    """The careers of all players, arrays of shape (players,): numbers of games, first and last years."""

    names: tuple[str, ...]
    games: Places
    first: Ids
    last: Ids

    def __getitem__(self, player: int) -> Career:
        counts = (int(column[player]) for column in (self.games, self.first, self.last))
        return Career(self.names[player], *counts)


def careers_of(games: Games) -> Careers:
    """Games, first and last year of all players."""
    n = len(games.players)
    first = np.full(n, _FAR, np.int32)
    last = np.full(n, -_FAR, np.int32)
    rows = np.zeros(n, np.int64)
    for part in games.room.parts(len(games)):
        date = games.date[part]
        for ids in (games.white[part], games.black[part]):
            opening = np.full(n, _FAR, np.int32)
            closing = np.full(n, -_FAR, np.int32)
            opening[ids[::-1]] = date[::-1]
            closing[ids] = date
            first = np.minimum(first, opening)
            last = np.maximum(last, closing)
            rows += np.bincount(ids, minlength=n)
    return Careers(games.players, rows, years_of(first).astype(np.int32), years_of(last).astype(np.int32))


def long_careers(games: Games, years: int = LIFETIME) -> tuple[Career, ...]:
    """Players whose games span more than `years` years, perhaps two people of one name; longest first."""
    careers = careers_of(games)
    length = careers.last - careers.first
    order = np.argsort(-length, kind="stable")
    return tuple(careers[player] for player in order[length[order] > years].tolist())


def have_met(games: Games, pairs: Places) -> Mask:
    """Whether the players of each pair, shape (pairs, 2), played each other."""
    concerned = np.zeros(len(games.players), np.bool_)
    concerned[pairs] = True
    rows = np.flatnonzero(concerned[games.white] & concerned[games.black])
    games_of = np.array([games.white[rows], games.black[rows]], np.int64).T
    known, asked = (np.sort(both, axis=1) @ [len(games.players), 1] for both in (games_of, pairs))
    return np.isin(asked, known)


def shared_opponents(games: Games, pairs: Places) -> Places:
    """Numbers of common opponents of pairs, shape (pairs, 2), identified by surname and initial."""
    if not len(pairs):
        return np.zeros(0, np.int64)
    from scipy.sparse import csr_array

    parts = (key.partition(",") for key in name_keys(games.players))
    shown = Dictionary[str]().ids(surname + given[:2] for surname, _, given in parts)
    concerned = np.zeros(len(games.players), np.bool_)
    concerned[pairs] = True
    player = np.concatenate([games.white, games.black])
    opponent = np.concatenate([games.black, games.white])
    rows = np.flatnonzero(concerned[player])
    ends = player[rows], shown[opponent[rows]]
    met = csr_array((np.ones(len(rows), np.int32), ends), shape=(len(concerned), int(shown.max()) + 1))
    met.data[:] = 1
    pieces = (piece.T for piece in np.array_split(pairs, 1 + len(pairs) // _PAIRS_AT_ONCE))
    return np.concatenate([(met[one] * met[other]).sum(axis=1) for one, other in pieces])
