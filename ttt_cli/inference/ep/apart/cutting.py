"""Cutting a timeline into slices of time, each with nothing but its own nodes and games."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids, Mask, Places
from ttt_cli.inference.ep.apart.borders import Borders
from ttt_cli.inference.ep.apart.pieces import Moving, Piece
from ttt_cli.inference.ep.levels import Elsewhere
from ttt_cli.inference.ep.merged import merge_games
from ttt_cli.inference.prior import Prior
from ttt_cli.inference.year_margins import calendar
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.timeline import Timeline

Number = TypeVar("Number", bound=np.generic)


class Cutter:
    """Makes the pieces of a timeline one after the other, and then knows the `borders` between them.

    `cuts`: the periods at which slices begin, and the end of the last. `priors` are those of the quantities of a node;
    `guess` (quantities, nodes, 2) is what is believed to begin with, as messages.
    """

    def __init__(
        self,
        timeline: Timeline,
        cuts: Places,
        priors: Sequence[Prior],
        *,
        colours: bool,
        guess: Array | None = None,
    ) -> None:
        self._timeline, self._cuts, self._colours, self._guess = timeline, cuts.tolist(), colours, guess
        self._newcomers = priors[0].newcomers
        room, shape = timeline.room, (len(priors), timeline.n_nodes)
        names = "mean", "variance", "widest"
        self._mean, self._variance, self._widest = (
            room.empty(f"step-{name}", shape, np.float64) for name in names
        )
        for quantity, prior in enumerate(priors):
            self._mean[quantity], self._variance[quantity] = prior.steps()
            self._widest[quantity] = _before_games(timeline, self._variance[quantity])
            room.let_go()
        self.widest = float(np.sqrt(self._widest.max(initial=0.0)))
        _, self._year = calendar(timeline)
        self._found: list[tuple[Ids, Array, Array]] = []

    def __len__(self) -> int:
        return len(self._cuts) - 1

    @property
    def inner(self) -> Places:
        """The first nodes of all slices but the first."""
        return np.asarray(self._timeline.node_start[self._cuts[1:-1]])

    @property
    def borders(self) -> Borders:
        """Between the pieces made so far."""
        before, mean, variance = (np.concatenate(column) for column in zip(*self._found, strict=True))
        sizes = [len(of) for of, *_ in self._found]
        return Borders(np.cumsum([0, *sizes]).astype(np.int32), before, mean, variance)

    def __iter__(self) -> Iterator[Piece]:
        self._found = []
        quantities = len(self._mean)
        # The segment of each player.
        latest = np.full((quantities, len(self._timeline.players)), -1, np.int32)
        segments = 0
        for number in range(len(self)):
            piece, players = self._piece(number)
            before = np.where(piece.past, latest[:, players].ravel(), -1)
            count = len(piece.first)
            latest[:, players] = (segments + np.arange(count)).reshape(quantities, -1)
            segments += count
            self._found.append((before, piece.mean[piece.first], piece.variance[piece.first]))
            yield piece

    def __getitem__(self, number: int) -> Piece:
        return self._piece(number)[0]

    def among(self, nodes: Places, timeline: Timeline) -> "Cutter":
        """The same of some nodes only, which are those of another timeline."""
        found = copy(self)
        found._timeline = timeline
        found._mean, found._variance, found._widest = (
            of[:, nodes] for of in (self._mean, self._variance, self._widest)
        )
        return found

    def _piece(self, number: int) -> tuple[Piece, Ids]:
        """A piece, and the players of its segments."""
        timeline, begin, end = self._timeline, self._cuts[number], self._cuts[number + 1]
        first, last = (int(timeline.node_start[period]) for period in (begin, end))
        nodes, quantities = slice(first, last), len(self._mean)
        previous, following = timeline.previous[nodes], timeline.next[nodes]
        head, tail = (previous >= 0) & (previous < first), following >= last
        players, place = np.unique(timeline.node_player[nodes], return_inverse=True)
        crossing = np.zeros(len(players), np.bool_)
        crossing[place[head | tail]] = True
        order = np.argsort(~crossing, kind="stable")
        rank = np.empty(len(players), np.int32)
        rank[order] = np.arange(len(players), dtype=np.int32)
        segment, segments, stride = rank[place], int(crossing.sum()), 1 + last - first
        offset = stride * np.arange(quantities)[:, np.newaxis]

        def links(inside: Ids, away: Mask, elsewhere: int) -> Ids:
            """Neighbours by the numbers of variables."""
            known = np.where(away, elsewhere, inside - first + 1) + offset
            return _flat(np.where(inside < 0, -1, known).astype(np.int32))

        def ends(crosses: Mask) -> Ids:
            """The nodes of segments at one of their ends."""
            found = np.flatnonzero(crosses)
            return found[np.argsort(segment[found])][:segments].astype(np.int32)

        def elsewhere(ends: Ids, others: Ids, later: Ids) -> Elsewhere:
            """Steps of skills between ends of segments and other nodes; of both the later is given, too."""
            period = np.searchsorted(timeline.node_start, others, side="right") - 1
            return Elsewhere(ends + np.int32(1), self._year[period], self._variance[0, later])

        starts, stops = ends((previous < 0) | head), ends((following < 0) | tail)
        past, future = starts[head[starts]], stops[tail[stops]]
        inner = np.arange(quantities)[:, np.newaxis] * (len(players) - segments) + quantities * segments
        chain = np.where(
            segment < segments,
            segment + segments * np.arange(quantities)[:, np.newaxis],
            segment - segments + inner,
        )
        merged = merge_games(_between(timeline, begin, end), colours=self._colours)
        piece = Piece(
            number,
            self._year[begin:end],
            int(self._year.max(initial=-1)) + 1,
            merged.games._replace(
                first=merged.games.first + np.int32(1), second=merged.games.second + np.int32(1)
            ),
            merged.handicap,
            timeline.node_start[begin : end + 1] - first + 1,
            links(previous, head, 0),
            links(following, tail, stride),
            _flat(self._mean[:, nodes]),
            _flat(self._variance[:, nodes]),
            _flat(self._widest[:, nodes]),
            _flat(chain.astype(np.int32)),
            (starts + 1 + offset).ravel().astype(np.int32),
            (stops + 1 + offset).ravel().astype(np.int32),
            np.tile(head[starts], quantities),
            np.tile(tail[stops], quantities),
            None if self._guess is None else _flat(self._guess[:, nodes]),
        )
        if self._newcomers:
            steps = (
                elsewhere(past, previous[past], past + np.int32(first)),
                elsewhere(future, following[future], following[future]),
            )
            piece = replace(piece, newcomers=Moving(self._newcomers.sd, *steps))
        timeline.room.let_go()
        return piece, players[order][:segments].astype(np.int32)


class Unplayed:
    """Pieces as if nobody had played a game: each of some players, who then know nothing of each other."""

    def __init__(self, timeline: Timeline, count: int, priors: Sequence[Prior]) -> None:
        self._timeline = timeline
        self._count = max(1, min(count, len(timeline.players)))
        self._whole = Cutter(timeline, np.array([0, len(timeline.periods)]), priors, colours=False)
        self.widest = self._whole.widest
        none = np.empty(0)
        self.borders = Borders(np.zeros(self._count + 1, np.int32), none.astype(np.int32), none, none)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Piece]:
        return (self[number] for number in range(self._count))

    def __getitem__(self, number: int) -> Piece:
        nodes = np.flatnonzero(self._timeline.node_player % self._count == number)
        some = self._whole.among(nodes, self._timeline.unplayed(nodes))
        return replace(some[0], number=number)


Pieces = Cutter | Unplayed  # the `borders` of which are known when all have been gone through


def _flat(values: NDArray[Number]) -> NDArray[Number]:
    """Values of nodes 1 to n by quantity as those of variables; 0 of node 0."""
    quantities, nodes, *others = values.shape
    found = np.zeros((quantities, 1 + nodes, *others), values.dtype)
    found[:, 1:] = values
    return found.reshape(-1, *others)


def _between(timeline: Timeline, begin: int, end: int) -> Timeline:
    """The games of some periods, with numbers of nodes from 0 on; of the nodes nothing but where periods begin."""
    node = int(timeline.node_start[begin])
    games = slice(int(timeline.game_start[begin]), int(timeline.game_start[end]))
    return replace(
        timeline,
        periods=timeline.periods[begin:end],
        node_start=timeline.node_start[begin : end + 1] - node,
        game_start=timeline.game_start[begin : end + 1] - games.start,
        **timeline.games(games)
        | {name: getattr(timeline, name)[games] - np.int32(node) for name in ("game_white", "game_black")},
    )


def _before_games(timeline: Timeline, variance: Array) -> Array:
    """How uncertain each node is before a game is seen, points squared."""
    from ttt_cli.kernels.ep.joint_means import before_games

    chains = Chains(
        timeline.node_start.copy(), timeline.previous.copy(), timeline.next.copy(), variance, variance
    )
    found = np.empty(len(variance))
    before_games(chains, np.empty(len(variance), np.int32), found)
    return found
