"""The nodes that Bradley-Terry can rate, group by group: players between whom points lead both ways (Ford 1957)."""

from dataclasses import dataclass

import numpy as np

from ttt_cli.arrays import Array, Ids, Mask, Places
from ttt_cli.games.table import LOSS, WIN
from ttt_cli.inference.bradley_terry.comparisons import Comparisons
from ttt_cli.timeline import Timeline


@dataclass(frozen=True)
class PlayerYears:
    """The nodes of players whom games rate: `nodes` their numbers in the timeline, `place` the reverse (-1: not here).

    Arrays (nodes here,): `previous`, `following`, `group` (largest first) and `active`: whether the node has games
    inside the group.
    """

    nodes: Ids
    place: Ids
    previous: Ids
    following: Ids
    group: Ids
    active: Mask

    @classmethod
    def of(cls, timeline: Timeline) -> "PlayerYears":
        """Those of a timeline. A player's nodes belong together, with games or not."""
        group = rated_groups(timeline)[timeline.node_player]
        nodes = np.flatnonzero(group >= 0).astype(np.int32)
        place = np.full(timeline.n_nodes + 1, -1, np.int32)  # the last for what is no node, -1
        place[nodes] = np.arange(len(nodes), dtype=np.int32)
        games = np.zeros(timeline.n_nodes, bool)
        used = group[timeline.game_white] == group[timeline.game_black]
        games[timeline.game_white[used]] = games[timeline.game_black[used]] = True
        return cls(
            nodes=nodes,
            place=place[:-1],
            previous=place[timeline.previous[nodes]],
            following=place[timeline.next[nodes]],
            group=group[nodes],
            active=games[nodes],
        )

    def select(self, comparisons: Comparisons) -> Comparisons:
        """The comparisons inside groups."""
        here = comparisons.among(self.place)
        return here.where(self.group[here.first] == self.group[here.second])

    def firsts(self) -> Places:
        """The first node of every group."""
        return np.unique(self.group, return_index=True)[1]

    def mean_weights(self) -> Array:
        """The share of each node in its group's mean: alike for all with games."""
        return self.active / self._sums(self.active)[self.group]

    def group_sums(self, values: Array) -> Array:
        """At each node, the sum of `values` (nodes here,) over its group."""
        return self._sums(values)[self.group]

    def across_gaps(self, values: Array, timeline: Timeline) -> Array:
        """`values` (nodes here,), between a player's nodes with games inside the group on straight lines in time."""
        player = timeline.node_player[self.nodes]
        order = np.argsort(player, kind="stable")
        time = np.cumsum(timeline.gap_years[self.nodes][order])
        ends = np.flatnonzero(self.active[order])
        gap = np.flatnonzero(~self.active[order])
        place = np.searchsorted(ends, gap)
        inside = (place > 0) & (place < len(ends))
        gap, before, after = gap[inside], ends[place[inside] - 1], ends[place[inside]]
        inside = (player[order[before]] == player[order[gap]]) & (player[order[after]] == player[order[gap]])
        gap, before, after = gap[inside], before[inside], after[inside]
        share = (time[gap] - time[before]) / (time[after] - time[before])
        straight = values.copy()
        straight[order[gap]] = (1.0 - share) * values[order[before]] + share * values[order[after]]
        return straight

    def notes(self, timeline: Timeline) -> tuple[str, ...]:
        """Who is not rated, and which groups are not connected."""
        present = np.unique(timeline.node_player)
        missing = np.setdiff1d(present, timeline.node_player[self.nodes])
        notes = []
        if len(missing):
            names = "; ".join(timeline.players[player] for player in missing.tolist())
            notes.append(
                "not rated, for lack of a positive or a negative score against rated players: "
                f"{len(missing)} of {len(present)} ({names})"
            )
        if self.group.any():
            notes.append(
                f"{int(self.group.max()) + 1} groups of players are not connected by games that went both ways: "
                "each has the same mean"
            )
        return tuple(notes)

    def _sums(self, values: Array | Mask) -> Array:
        return np.bincount(self.group, values, minlength=1).astype(np.float64)


def rated_groups(timeline: Timeline) -> Ids:
    """The group of each player, largest first from 0, and -1 for those whom no maximum rates; shape (players,).

    In a group a chain of points, each scored against the next, leads from every player to every other. Players without
    a positive or without a negative score are in none, and so on when they are left out. Between two groups all games
    went one way or there were none: they say nothing finite about the difference.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    white = timeline.node_player[timeline.game_white]
    black = timeline.node_player[timeline.game_black]
    scored, conceded = timeline.outcome != LOSS, timeline.outcome != WIN
    ends = np.concatenate([white[scored], black[conceded]]), np.concatenate([black[scored], white[conceded]])
    size = len(timeline.players)
    points = coo_array((np.ones(len(ends[0])), ends), shape=(size, size))
    _, label = connected_components(points, directed=True, connection="strong")
    members = np.bincount(label)
    order = np.argsort(-members, kind="stable")
    place = np.empty(len(members), np.int32)
    place[order] = np.arange(len(members), dtype=np.int32)
    place[members < 2] = -1
    return place[label] if size else np.zeros(0, np.int32)
