"""Groups of players: who is tied to whom by games, and since when.

Skills of two players can be compared when a chain of games leads from one to the other. Components of the graph of
players and games are groups; levels of different groups have nothing to do with each other.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids, Places
from ttt_cli.games.records import years_of
from ttt_cli.games.table import Games
from ttt_cli.room import MEMORY, Room

Labels = Ids


@dataclass(frozen=True)
class Group:
    """Players tied by games. `leading` are those with the most games, at most three."""

    players: int
    games: int
    first: int  # year
    last: int
    leading: tuple[str, ...]


@dataclass(frozen=True)
class Groups:
    """All groups, those with more players (then games) first; `label`, shape (players,), tells the group of each."""

    groups: tuple[Group, ...]
    label: Labels

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def warning(self) -> str | None:
        """What a fit over several groups has to say, None when there is only one."""
        if len(self.groups) < 2:
            return None
        main = self.groups[0]
        outside = sum(group.players for group in self.groups[1:])
        return (
            f"{len(self.groups):,} groups of players not tied by any game: their levels are not comparable; "
            f"the largest has {main.players:,} players, {outside:,} are outside it"
        )


def label_groups(white: Ids, black: Ids, n_players: int, room: Room = MEMORY) -> Labels:
    """The group of each player, shape (n_players,), numbered from 0 by the number of players, then of games.

    Players without games are groups of their own, the last ones. `room` is where the games live. Takes O(n log n) time.
    """
    from ttt_cli.kernels.ties import join_pairs

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
    label = label_groups(games.white, games.black, len(games.players), games.room)
    count = int(label.max(initial=-1)) + 1
    played, size = np.zeros(len(label), np.int64), np.zeros(count, np.int64)
    first = np.full(count, np.iinfo(np.int16).max, np.int16)
    last = np.zeros(count, np.int16)
    for part in games.room.parts(len(games)):
        played += sum(np.bincount(ids[part], minlength=len(label)) for ids in (games.white, games.black))
        of_game, year = label[games.white[part]], years_of(games.date[part])
        size += np.bincount(of_game, minlength=count)
        np.minimum.at(first, of_game, year)
        np.maximum.at(last, of_game, year)
    order = np.lexsort((-played, label))
    start = np.searchsorted(label[order], np.arange(count + 1))
    groups = (
        Group(
            players=int(start[i + 1] - start[i]),
            games=int(size[i]),
            first=int(first[i]),
            last=int(last[i]),
            leading=tuple(
                games.players[p] for p in order[start[i] : min(start[i] + 3, start[i + 1])].tolist()
            ),
        )
        for i in range(count)
    )
    return Groups(tuple(groups), label)


@dataclass(frozen=True)
class Tie:
    """A part of a group that is tied to the rest by games with one player only.

    `leading` has the most games in the part; `player` ties it, by `games` from year `first` to `last` with `opponents`.
    """

    players: int
    leading: str
    player: str
    opponents: int
    games: int
    first: int
    last: int


@dataclass(frozen=True)
class Join:
    """In `year` the first games of `one` and `other` joined two groups; `players` are those of the smaller."""

    year: int
    one: str
    other: str
    players: int


@dataclass(frozen=True)
class Growth:
    """Up to and with `year`: players, groups of players tied by games, and the players of the largest group."""

    year: int
    players: int
    groups: int
    largest: int


@dataclass(frozen=True)
class _Pairs:
    """Pairs who met, one < other, sorted: how many games, first and last year."""

    one: Ids
    other: Ids
    games: Places
    first: NDArray[np.int16]
    last: NDArray[np.int16]


def find_ties(games: Games, *, players: int = 5, at_most: int = 10) -> tuple[Tie, ...]:
    """Parts of at least so many `players` that hang on one player by `at_most` games, large parts first."""
    return tuple(tie for tie, _ in hanging_parts(games, players=players, at_most=at_most))


def hanging_parts(games: Games, *, players: int = 5, at_most: int = 10) -> list[tuple[Tie, Places]]:
    """The ties of `find_ties`, each with the players of its part.

    Seen from the player with the most games in the group, so a part never holds more than half of it. Parts within
    parts are found too, ties through two different players are not. Takes O(n log n) time.
    """
    if not len(games):
        return []
    from ttt_cli.kernels.ties import walk_depth_first

    n = len(games.players)
    pairs = _pairs(games)
    played = np.bincount(games.white, minlength=n) + np.bincount(games.black, minlength=n)
    start, neighbour = _neighbours(pairs, n)
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
    ties = _ties(pairs, number, parent)
    chosen = np.flatnonzero(hangs & (ties.games <= at_most))
    visited = np.argsort(number)
    found = []
    for v in chosen[np.lexsort((chosen, -size[chosen]))].tolist():
        part = visited[number[v] : number[v] + size[v]]
        leading = part[np.argmax(played[part])]
        names = (games.players[leading], games.players[parent[v]])
        numbers = (ties.opponents[v], ties.games[v], ties.first[v], ties.last[v])
        found.append((Tie(int(size[v]), *names, *map(int, numbers)), part))
    return found


def find_joins(games: Games, *, players: int = 5) -> tuple[Join, ...]:
    """When two groups of at least so many players each were joined by the first game of a pair, in order of time.

    The last join of large parts tells since when the levels of nearly all can be compared.
    """
    if not len(games):
        return ()
    pairs, smaller, *_ = _joined_in_time(games)
    return tuple(
        Join(int(pairs.first[k]), games.players[pairs.one[k]], games.players[pairs.other[k]], int(smaller[k]))
        for k in np.flatnonzero(smaller >= players).tolist()
    )


def groups_over_time(games: Games) -> tuple[Growth, ...]:
    """How many groups there were in the games up to each year that has a first meeting of two players."""
    if not len(games):
        return ()
    pairs, _, seen, groups, largest = _joined_in_time(games)
    ends = np.flatnonzero(np.diff(pairs.first, append=pairs.first[-1:] + 1))
    return tuple(
        Growth(int(pairs.first[k]), int(seen[k]), int(groups[k]), int(largest[k])) for k in ends.tolist()
    )


def _joined_in_time(games: Games) -> tuple[_Pairs, Ids, Ids, Ids, Ids]:
    """Pairs in the order of their first games, and per pair what `join_in_order` finds."""
    from ttt_cli.kernels.ties import join_in_order

    n = len(games.players)
    low, high = np.minimum(games.white, games.black), np.maximum(games.white, games.black)
    _, first = np.unique(low.astype(np.int64) * n + high, return_index=True)
    first.sort()
    year = years_of(games.date[first])
    pairs = _Pairs(low[first], high[first], np.ones(len(first), np.int64), year, year)
    found = [np.zeros(len(first), np.int32) for _ in range(4)]
    join_in_order(pairs.one, pairs.other, np.arange(n, dtype=np.int32), np.zeros(n, np.int32), *found)
    smaller, seen, groups, largest = found
    return pairs, smaller, seen, groups, largest


def _pairs(games: Games) -> _Pairs:
    n = len(games.players)
    key = np.minimum(games.white, games.black).astype(np.int64) * n + np.maximum(games.white, games.black)
    order = np.argsort(key, kind="stable")  # games are sorted by date, and so are those of a pair
    key = key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    ends = np.append(starts[1:], len(key)) - 1
    year = years_of(games.date)
    one, other = (key[starts] // n).astype(np.int32), (key[starts] % n).astype(np.int32)
    return _Pairs(one, other, ends - starts + 1, year[order[starts]], year[order[ends]])


def _neighbours(pairs: _Pairs, n: int) -> tuple[Places, Ids]:
    """Starts, shape (n + 1,), and neighbours of all players."""
    near = np.concatenate([pairs.one, pairs.other])
    far = np.concatenate([pairs.other, pairs.one])
    order = np.argsort(near, kind="stable")
    return np.searchsorted(near[order], np.arange(n + 1)).astype(np.int64), far[order]


@dataclass(frozen=True)
class _Hanging:
    """What ties the subtree below each player to its parent alone, shape (players,)."""

    games: Places
    opponents: Places
    first: NDArray[np.int16]
    last: NDArray[np.int16]


def _ties(pairs: _Pairs, number: Ids, parent: Ids) -> _Hanging:
    """Each pair is one of an ancestor and a descendant; it belongs to the ancestor's child above the descendant."""
    n = len(number)
    swapped = number[pairs.one] > number[pairs.other]
    upper, lower = np.where(swapped, pairs.other, pairs.one), np.where(swapped, pairs.one, pairs.other)
    below = np.flatnonzero(parent >= 0)
    key = number[parent[below]].astype(np.int64) * n + number[below]
    order = np.argsort(key)
    place = np.searchsorted(key[order], number[upper].astype(np.int64) * n + number[lower], side="right") - 1
    child = below[order[place]]
    tied = _Hanging(
        games=np.bincount(child, pairs.games, minlength=n).astype(np.int64),
        opponents=np.bincount(child, minlength=n),
        first=np.full(n, np.iinfo(np.int16).max, np.int16),
        last=np.zeros(n, np.int16),
    )
    np.minimum.at(tied.first, child, pairs.first)
    np.maximum.at(tied.last, child, pairs.last)
    return tied
