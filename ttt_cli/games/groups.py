"""The graph of players and games: groups linked by games, parts linked by one player only, and careers.

Skills of two players are comparable when a chain of games links them. Groups are the connected components of the graph
of players and games; levels of different groups are unrelated.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ttt_cli.games.names import name_keys
from ttt_cli.games.records import years_of
from ttt_cli.games.table import Games
from ttt_cli.reading.columns import Dictionary
from ttt_cli.room import MEMORY, Room
from ttt_cli.support.arrays import Ids, Mask, Places

LIFETIME: Final = 60  # years of a long career
_LONGEST: Final = 70  # years of the longest, for players with many common opponents
_WELL_KNOWN: Final = 20  # common opponents
_FAR: Final = 1 << 22  # days, later than any game


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
    start = np.searchsorted(label[order], np.arange(int(label.max(initial=-1)) + 1))
    if not len(start):
        return Groups((), label)
    ends = (*start[1:].tolist(), len(order))
    size = np.add.reduceat(careers.games[order], start) // 2
    first = np.minimum.reduceat(careers.first[order], start)
    last = np.maximum.reduceat(careers.last[order], start)
    groups = (
        PlayerGroup(
            players=end - begin,
            games=int(size[i]),
            first=int(first[i]),
            last=int(last[i]),
            leading=tuple(games.players[p] for p in order[begin : min(begin + 3, end)].tolist()),
        )
        for i, (begin, end) in enumerate(zip(start.tolist(), ends, strict=True))
    )
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
    from ttt_cli.kernels.layout import walk_depth_first

    n = len(games.players)
    key = np.minimum(games.white, games.black).astype(np.int64) * n + np.maximum(games.white, games.black)
    key, together = np.unique(key, return_counts=True)
    one, other = key // n, key % n
    start, neighbour = _neighbours(one, other, n)
    played = np.bincount(games.white, minlength=n) + np.bincount(games.black, minlength=n)
    label = label_groups(games.white, games.black, n)
    by_games = np.lexsort((-played, label))
    roots = by_games[np.flatnonzero(np.diff(label[by_games], prepend=-1))].astype(np.int32)
    number = np.full(n, -1, np.int32)
    parent, lowest, size, path = (np.zeros(n, np.int32) for _ in range(4))
    walk_depth_first(start, neighbour, roots, number, parent, lowest, size, path, np.zeros(n, np.int64))
    hangs = (
        (parent >= 0)
        & (lowest >= number[parent])
        & (2 * size <= np.bincount(label)[label])
        & (size >= players)
    )
    links = _games_with_parent(one, other, together, number, parent)
    chosen = np.flatnonzero(hangs & (links <= at_most))
    visited = np.argsort(number)
    found = []
    for v in chosen[np.lexsort((chosen, -size[chosen]))].tolist():
        part = visited[number[v] : number[v] + size[v]]
        leading = games.players[part[np.argmax(played[part])]]
        found.append((Tie(int(size[v]), leading, games.players[parent[v]], int(links[v])), part))
    return found


def _neighbours(one: Places, other: Places, n: int) -> tuple[Places, Ids]:
    """The opponents of all players, from pairs who met: starts (n + 1,) in an array of neighbours."""
    near, far = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.argsort(near, kind="stable")
    return np.searchsorted(near[order], np.arange(n + 1)).astype(np.int64), far[order].astype(np.int32)


def _games_with_parent(one: Places, other: Places, together: Places, number: Ids, parent: Ids) -> Places:
    """Number of games (n,) between each player's parent and the player's subtree in the depth-first walk.

    In each pair one is the other's ancestor. The games count for the ancestor's child on the way down to the other.
    """
    n = len(number)
    swapped = number[one] > number[other]
    upper, lower = np.where(swapped, other, one), np.where(swapped, one, other)
    below = np.flatnonzero(parent >= 0)
    key = number[parent[below]].astype(np.int64) * n + number[below]
    order = np.argsort(key)
    place = np.searchsorted(key[order], number[upper].astype(np.int64) * n + number[lower], side="right") - 1
    return np.bincount(below[order[place]], together, minlength=n).astype(np.int64)


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
    """Players whose games span more than `years` years, perhaps two people of one name; longest first."""
    careers = careers_of(games)
    length = careers.last - careers.first
    order = np.argsort(-length, kind="stable")
    return tuple(careers[player] for player in order[length[order] > years].tolist())


def have_met(games: Games, pairs: Places) -> Mask:
    """Whether the players of each pair, shape (pairs, 2), played each other."""
    n = np.int64(len(games.players))
    concerned = np.zeros(n, np.bool_)
    concerned[pairs] = True
    rows = np.flatnonzero(concerned[games.white] & concerned[games.black])
    white, black = games.white[rows].astype(np.int64), games.black[rows].astype(np.int64)
    return np.isin(_pair_key(pairs[:, 0], pairs[:, 1], n), _pair_key(white, black, n))


def shared_opponents(games: Games, pairs: Places) -> Places:
    """Numbers of common opponents of pairs, shape (pairs, 2), identified by surname and initial."""
    if not len(pairs):
        return np.zeros(0, np.int64)
    parts = (key.partition(",") for key in name_keys(games.players))
    shown = Dictionary[str]().ids(surname + given[:2] for surname, _, given in parts).astype(np.int64)
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


def _pair_key(one: Places, other: Places, n: np.int64) -> Places:
    return np.minimum(one, other) * n + np.maximum(one, other)
