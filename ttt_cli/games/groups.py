"""The graph of players and games: groups linked by games, parts linked by one player only, careers, opponents.

Skills of two players are comparable when a chain of games links them. Groups are the connected components of the graph
of players and games; levels of different groups are unrelated.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.games.lineup import further_members, meetings
from ttt_cli.games.names import name_keys
from ttt_cli.games.table import Games, years_of
from ttt_cli.reading.columns import Dictionary
from ttt_cli.storage import MEMORY, ArrayStorage
from ttt_cli.support.arrays import Ids, Mask, Places

LIFETIME: Final = 60  # years of a long career
_LONGEST: Final = 70  # years of the longest, for players with many common opponents
_WELL_KNOWN: Final = 20  # common opponents
_AFTER_ALL_DAYS: Final = 1 << 22
_LEADING: Final = 3  # players named of a group
_NAMED: Final = 5  # players named outside of the largest group, at most
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
        leading = [name for group in self.groups[1 : _NAMED + 1] for name in group.leading]
        names = "; ".join([" ".join(name.split()) for name in leading[:_NAMED]])
        more = f" and {outside - _NAMED:,} more" if outside > _NAMED else ""
        return (
            f"{len(self.groups):,} groups of players without games between them: their levels are not comparable; "
            f"the largest has {main.players:,} players, {outside:,} are outside it: {names}{more}"
        )


def label_groups(white: Ids, black: Ids, n_players: int, storage: ArrayStorage = MEMORY) -> Ids:
    """The group of each player, shape (n_players,), numbered from 0 by the number of players, then of games.

    Players without games are groups of their own, the last ones. The games are in `storage`. Takes O(n log n) time.
    """
    from ttt_cli.kernels.layout import join_pairs

    first_of_group = np.arange(n_players, dtype=np.int32)
    for rows in storage.parts(len(white)):
        join_pairs(white[rows], black[rows], first_of_group)
    is_first = first_of_group == np.arange(n_players)
    group = (np.cumsum(is_first, dtype=np.int32) - 1)[first_of_group]
    players = np.bincount(group)
    games = np.zeros(len(players), np.int64)
    for rows in storage.parts(len(white)):
        games += np.bincount(group[white[rows]], minlength=len(players))
    order = np.lexsort((np.arange(len(players)), -games, -players))
    rank = np.empty(len(players), np.int32)
    rank[order] = np.arange(len(players), dtype=np.int32)
    return np.take(rank, group)


def find_groups(games: Games) -> Groups:
    """The groups of the players of these games."""
    careers = careers_of(games)
    met = meetings(games)
    label = label_groups(met.white, met.black, len(games.players), games.storage)
    by_games = np.lexsort((-careers.games, label))
    n_players = np.bincount(label)
    start = np.cumsum(n_players) - n_players
    n_games = np.zeros(len(n_players), np.int64)
    for rows in games.storage.parts(len(games)):
        n_games += np.bincount(label[games.white[rows]], minlength=len(n_players))
    first = np.minimum.reduceat(careers.first[by_games], start)
    last = np.maximum.reduceat(careers.last[by_games], start)
    groups = []
    for group, begin in enumerate(start.tolist()):
        leading = by_games[begin : begin + min(n_players[group], _LEADING)].tolist()
        groups.append(
            PlayerGroup(
                players=int(n_players[group]),
                games=int(n_games[group]),
                first=int(first[group]),
                last=int(last[group]),
                leading=tuple(games.players[player] for player in leading),
            )
        )
    return Groups(tuple(groups), label)


@dataclass(frozen=True)
class LoosePart:
    """A part of a group that is linked to the others by games with one player only."""

    members: Places = field(compare=False, repr=False)  # indices of the part's players
    leading: str  # the member with the most games
    linked_through: str  # the player outside
    games: int  # with this player

    @property
    def players(self) -> int:
        """Number of members."""
        return len(self.members)


def find_loose_parts(games: Games, *, players: int = 5, at_most: int = 10) -> list[LoosePart]:
    """Parts of a group, of at least `players`, that one player links to the others by at most `at_most` games.

    Largest first. A part has at most half of its group, and never the player with the most games. Parts may contain
    other parts. Parts linked through two players are not found. Takes O(n log n) time.
    """
    if not len(games):
        return []
    graph = _opponent_graph(games)
    parts = []
    for head in _heads_of_parts(graph, players):
        linking_games = _linking_games(graph, head)
        if linking_games <= at_most:
            members = graph.tree.subtree(head)
            n_games = graph.n_games[members]
            leading = members[n_games == n_games.max()].min()
            parent = graph.tree.parent[head]
            parts.append(
                LoosePart(members, games.players[leading], games.players[parent], linking_games)
            )
    return parts


class _DepthFirstTree(NamedTuple):
    """The depth-first trees of a graph of players, (players,) each (see `walk_depth_first`).

    | name | |
    |---|---|
    | number | of the player in the order of visiting |
    | parent | -1 for roots |
    | lowest | lowest number of a player adjacent to the subtree of this one |
    | size | of the subtree |
    | visited | the players in the order of visiting |
    """

    number: Ids
    parent: Ids
    lowest: Ids
    size: Ids
    visited: Places

    def subtree(self, player: int) -> Places:
        """The players of the subtree of a player: it is visited without interruption."""
        first = self.number[player]
        return self.visited[first : first + self.size[player]]


class _OpponentGraph(NamedTuple):
    """Who met whom, as a graph of players, and its depth-first trees.

    The opponents of player i are `neighbour[start[i] : start[i + 1]]`.

    | name | shape | |
    |---|---|---|
    | start | (players + 1,) | |
    | neighbour | (links,) | an opponent |
    | games | (links,) | number of games against this one |
    | n_games | (players,) | |
    | group | (players,) | number of the group of players that games link |
    | tree | | of each group, from the player with the most games |
    """

    start: Places
    neighbour: Ids
    games: Places
    n_games: Places
    group: Ids
    tree: _DepthFirstTree


def _opponent_graph(games: Games) -> _OpponentGraph:
    n = len(games.players)
    met = meetings(games)
    player = np.concatenate([met.white, met.black]).astype(np.int64)
    opponent = np.concatenate([met.black, met.white])
    links, games_of_links = np.unique(player * n + opponent, return_counts=True)
    player_of_links, neighbour = np.divmod(links, n)
    start = np.append(0, np.cumsum(np.bincount(player_of_links, minlength=n)))
    n_games = np.bincount(player, minlength=n)
    group = label_groups(met.white, met.black, n)
    by_games = np.lexsort((-n_games, group))
    roots = by_games[np.flatnonzero(np.diff(group[by_games], prepend=-1))].astype(np.int32)
    neighbour = neighbour.astype(np.int32)
    tree = _walk(start, neighbour, roots)
    return _OpponentGraph(start, neighbour, games_of_links, n_games, group, tree)


def _heads_of_parts(graph: _OpponentGraph, players: int) -> list[int]:
    """The players whose subtrees only their parents link to the others, of `players` to half of a group; largest first.

    No player of such a subtree is adjacent to one who was visited before the parent.
    """
    tree = graph.tree
    is_linked_by_parent = (tree.parent >= 0) & (tree.lowest >= tree.number[tree.parent])
    is_large_enough = tree.size >= players
    is_at_most_half = 2 * tree.size <= np.bincount(graph.group)[graph.group]
    heads = np.flatnonzero(is_linked_by_parent & is_large_enough & is_at_most_half)
    by_size: list[int] = heads[np.lexsort((heads, -tree.size[heads]))].tolist()
    return by_size


def _linking_games(graph: _OpponentGraph, head: int) -> int:
    """The number of games between the subtree of a player and the player's parent."""
    tree = graph.tree
    parent = tree.parent[head]
    of_parent = slice(graph.start[parent], graph.start[parent + 1])
    number = tree.number[graph.neighbour[of_parent]]
    first = tree.number[head]
    is_member = (number >= first) & (number < first + tree.size[head])
    return int(graph.games[of_parent][is_member].sum())


def _walk(start: Places, neighbour: Ids, roots: Ids) -> _DepthFirstTree:
    """Walk depth first from the roots; neighbours of player v are `neighbour[start[v]:start[v + 1]]`."""
    from ttt_cli.kernels.layout import walk_depth_first

    n = len(start) - 1
    number = np.full(n, -1, np.int32)
    parent = np.zeros(n, np.int32)
    lowest = np.zeros(n, np.int32)
    size = np.zeros(n, np.int32)
    path = np.zeros(n, np.int32)
    edge = np.zeros(n, np.int64)
    walk_depth_first(start, neighbour, roots, number, parent, lowest, size, path, edge)
    return _DepthFirstTree(number, parent, lowest, size, np.argsort(number))


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
        return Career(
            self.names[player],
            int(self.games[player]),
            int(self.first[player]),
            int(self.last[player]),
        )


def careers_of(games: Games) -> Careers:
    """Games, first and last year of all players."""
    n = len(games.players)
    first_day = np.full(n, _AFTER_ALL_DAYS, np.int32)
    last_day = np.full(n, -_AFTER_ALL_DAYS, np.int32)
    n_games = np.zeros(n, np.int64)
    for rows in games.storage.parts(len(games)):
        date = games.date[rows]
        for player in (games.white[rows], games.black[rows]):
            days = _first_and_last(player, date, n)
            first_day = np.minimum(first_day, days.first)
            last_day = np.maximum(last_day, days.last)
            n_games += np.bincount(player, minlength=n)
    if len(games.teams) > 1:
        further = further_members(games)
        n_games += np.bincount(further.player, minlength=n)
        order = np.argsort(further.game, kind="stable")
        days = _first_and_last(further.player[order], games.date[further.game[order]], n)
        first_day = np.minimum(first_day, days.first)
        last_day = np.maximum(last_day, days.last)
    first_year = years_of(first_day).astype(np.int32)
    last_year = years_of(last_day).astype(np.int32)
    return Careers(games.players, n_games, first_year, last_year)


class _FirstAndLastDay(NamedTuple):
    """Days of players, (players,); without games the first is after all days, the last before."""

    first: Ids
    last: Ids


def _first_and_last(player: Ids, date: Ids, n_players: int) -> _FirstAndLastDay:
    """The first and the last day of each player in rows that are sorted by date."""
    first = np.full(n_players, _AFTER_ALL_DAYS, np.int32)
    last = np.full(n_players, -_AFTER_ALL_DAYS, np.int32)
    # of several assignments to a player the last one counts
    first[player[::-1]] = date[::-1]
    last[player] = date
    return _FirstAndLastDay(first, last)


def long_careers(games: Games, years: int = LIFETIME) -> tuple[Career, ...]:
    """Players whose games span more than `years` years, perhaps two people of one name; longest first."""
    careers = careers_of(games)
    length = careers.last - careers.first
    order = np.argsort(-length, kind="stable")
    return tuple(careers[player] for player in order[length[order] > years].tolist())


def have_met(games: Games, pairs: Places) -> Mask:
    """Whether the players of each pair, shape (pairs, 2), played each other."""
    in_a_pair = np.zeros(len(games.players), np.bool_)
    in_a_pair[pairs] = True
    rows = np.flatnonzero(in_a_pair[games.white] & in_a_pair[games.black])
    played = np.array([games.white[rows], games.black[rows]], np.int64).T
    return np.isin(
        _pair_numbers(pairs, len(games.players)), _pair_numbers(played, len(games.players))
    )


def _pair_numbers(pairs: Places, n_players: int) -> Places:
    """A number for each pair, shape (pairs, 2), equal for both orders of its players."""
    numbers: Places = np.sort(pairs, axis=1) @ np.array([n_players, 1])
    return numbers


def shared_opponents(games: Games, pairs: Places) -> Places:
    """Numbers of common opponents of pairs of players, shape (pairs, 2).

    Opponents count as equal if surname and initial agree.
    """
    if not len(pairs):
        return np.zeros(0, np.int64)
    from scipy.sparse import csr_array

    keys = (key.partition(", ") for key in name_keys(games.players))
    identity = Dictionary[str]().numbers_of(
        f"{surname} {given_names[:1]}".rstrip() for surname, _, given_names in keys
    )
    in_a_pair = np.zeros(len(games.players), np.bool_)
    in_a_pair[pairs] = True
    player = np.concatenate([games.white, games.black])
    opponent = np.concatenate([games.black, games.white])
    rows = np.flatnonzero(in_a_pair[player])
    ends = player[rows], identity[opponent[rows]]
    shape = len(games.players), int(identity.max()) + 1
    has_met = csr_array((np.ones(len(rows), np.int32), ends), shape=shape)
    has_met.data[:] = 1  # however many games
    counts = [
        (has_met[piece[:, 0]] * has_met[piece[:, 1]]).sum(axis=1)
        for piece in np.array_split(pairs, 1 + len(pairs) // _PAIRS_AT_ONCE)
    ]
    return np.concatenate(counts)
