"""Cut a timeline into slices of time, each with its own nodes and games; what crosses the borders between them."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.inference.links import MergedGames, merge_games
from ttt_cli.inference.newcomers import Elsewhere
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.kernels.ep.structures import Chains, Pairings
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.timeline import Timeline, calendar

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True)
class SliceInput:
    """The input of a slice: a range of periods with its own numbers of nodes and games.

    The first node is `chains.node_start[0]`: 0 if the slice is the whole timeline, else 1. Then node 0 represents all
    nodes of earlier slices. The number after a quantity's last node represents those of later slices.

    | name | shape | unit | |
    |---|---|---|---|
    | number | | | of the slice, in the order of time |
    | year | (periods,) | | index of each period's calendar year; the timeline has `years` of them |
    | chains | | | its variables; -1 for no neighbour in any slice |
    | games, handicap | | | as in `MergedGames` |
    | game_start | (periods + 1,) | | the first game of each period, and the end of the last; equal games not merged |
    | widest | (variables,) | points^2 | prior variance of each, without any game |
    | segment | (variables,) | | number of the segment; -1 in chains that are inside this slice |
    | first, last | (segments,) | | first and last variable of each segment (a chain that continues in other slices) |
    | past, future | (segments,) | | whether the chain continues in an earlier, a later slice |
    | guess | (variables, 2) | | initial beliefs, as messages, or None |
    | sites | | | initial sites, `message` and `positivity`, or None |
    | newcomers | | | if their mean moves: the sd of skills around it, and steps to earlier and later slices |
    """

    number: int
    year: Ids
    years: int
    chains: Chains
    games: Pairings
    handicap: Array
    game_start: Places
    widest: Array
    segment: Ids
    first: Ids
    last: Ids
    past: Mask
    future: Mask
    guess: Array | None = None
    sites: tuple[Array, Array] | None = None
    newcomers: tuple[float, Sequence[Elsewhere]] | None = None


@dataclass(frozen=True)
class Borders:
    """Segments with a neighbour, in the order of their slices.

    | name | shape | unit | |
    |---|---|---|---|
    | start | (slices + 1,) | | first segment of each slice, and the end of the last |
    | before | (segments,) | | the player's segment before, -1 at the first |
    | mean, variance | (segments,) | points, points^2 | of the step from that one's last node to this one's first |

    Messages that arrive at segments have the columns precision and precision times mean from the past, then from the
    future.
    """

    start: Ids
    before: Ids
    mean: Array
    variance: Array

    @cached_property
    def steps(self) -> list[tuple[Places, Ids]]:
        """Of each slice the segments with one before, and these."""
        later = np.flatnonzero(self.before >= 0)
        pieces = np.split(later, np.searchsorted(later, self.start[1:-1]))
        return [(piece, self.before[piece]) for piece in pieces]

    def exchanged(self, sent: Array) -> Array:
        """What arrives from the neighbours; `sent`: of first nodes to the past, of last ones to the future."""
        arrived = np.zeros_like(sent)
        later = np.flatnonzero(self.before >= 0)
        earlier = self.before[later]
        mean = self.mean[later]
        variance = self.variance[later]
        arrived[later, :2] = _stepped(sent[earlier, 2], sent[earlier, 3], mean, variance)
        arrived[earlier, 2:] = _stepped(sent[later, 0], sent[later, 1], -mean, variance)
        return arrived

    def smoothed(self, maps: Array) -> Array:
        """What arrives from all of the past and all of the future, exactly."""
        arrived = np.zeros((len(maps), 4))
        for later, earlier in self.steps:
            a, b, c, k, e, f, _, _ = maps[earlier].T
            p, h = arrived[earlier, :2].T
            whole = 1.0 / (c * p + 1.0)
            mean = self.mean[later]
            variance = self.variance[later]
            arrived[later, :2] = _stepped((a * p + b) * whole, (k * h + e * p + f) * whole, mean, variance)
        for later, earlier in reversed(self.steps):
            a, b, c, k, _, _, e, f = maps[later].T
            p, h = arrived[later, 2:].T
            whole = 1.0 / (c * p + a)
            mean = -self.mean[later]
            variance = self.variance[later]
            arrived[earlier, 2:] = _stepped((p + b) * whole, (k * h + e * p + f) * whole, mean, variance)
        return arrived

    def sums(self, parts: Array) -> Array:
        """Sums over the segments of a player so far."""
        total = parts.copy()
        for later, earlier in self.steps:
            total[later] += total[earlier]
        return total


class Cutter:
    """Iterate over the slices of a `timeline`; afterwards `borders` are those between them.

    `cuts`: the first period of each slice, and the end of the last; None: a single slice. `priors`: one for each
    quantity of a node (skill, draw margin). `guess` (quantities, nodes, 2): initial beliefs, as messages.
    """

    def __init__(
        self,
        timeline: Timeline,
        cuts: Places | None,
        priors: Sequence[RandomWalk],
        *,
        colours: bool,
        guess: Array | None = None,
    ) -> None:
        from ttt_cli.kernels.ep.chains import accumulate

        cuts = np.array([0, len(timeline.periods)]) if cuts is None else cuts
        self.timeline = timeline
        self.cuts = cuts.tolist()
        self._colours = colours
        self._guess = guess
        self._newcomers = priors[0].newcomers
        room = timeline.room
        shape = (len(priors), timeline.n_nodes)
        self._mean = room.empty("step-mean", shape, np.float64)
        self._variance = room.empty("step-variance", shape, np.float64)
        self._widest = room.empty("step-widest", shape, np.float64)
        for quantity, prior in enumerate(priors):
            self._mean[quantity], self._variance[quantity] = prior.steps()
            self._widest[quantity] = self._variance[quantity]  # of variables before a game is seen
            accumulate(timeline.previous.copy(), self._widest[quantity])
            room.let_go()
        self.widest = float(np.sqrt(self._widest.max(initial=0.0)))
        _, self._year = calendar(timeline)
        self._found: list[tuple[Ids, Array, Array]] = []

    def __len__(self) -> int:
        return len(self.cuts) - 1

    @property
    def borders(self) -> Borders:
        """The borders between the slices made so far."""
        none = np.empty(0)
        before, *steps = zip(*self._found or [(none.astype(np.int32), none, none)] * len(self), strict=True)
        start = np.cumsum([0, *map(len, before)]).astype(np.int32)
        return Borders(start, np.concatenate(before), *map(np.concatenate, steps))

    def __iter__(self) -> Iterator[SliceInput]:
        self._found = []
        quantities = len(self._mean)
        latest = np.full((quantities, len(self.timeline.players)), -1, np.int32)  # segment of each player
        segments = 0
        for number in range(len(self)):
            piece, players = self._piece(number)
            before = np.where(piece.past, latest[:, players].ravel(), -1)
            count = len(piece.first)
            latest[:, players] = (segments + np.arange(count)).reshape(quantities, -1)
            segments += count
            steps = piece.chains.mean[piece.first], piece.chains.variance[piece.first]
            self._found.append((before, *steps))
            yield piece

    def __getitem__(self, number: int) -> SliceInput:
        return self._piece(number)[0]

    def whole(self, merged: MergedGames) -> SliceInput:
        """The whole timeline as one slice, with these games."""
        timeline = self.timeline
        quantities = len(self._mean)
        firsts = np.arange(quantities, dtype=np.int32)[:, np.newaxis]
        previous, following = (
            np.where(nodes < 0, np.int32(-1), nodes + timeline.n_nodes * firsts).ravel()
            for nodes in (timeline.previous, timeline.next)
        )
        none = np.empty(0, np.int32)
        nowhere = np.empty(0, np.bool_)
        guess = None if self._guess is None else self._guess.reshape(-1, 2)
        newcomers = (self._newcomers.sd, ()) if self._newcomers else None
        steps = self._mean.ravel(), self._variance.ravel()
        chains = Chains(timeline.node_start.copy(), previous, following, *steps)
        return SliceInput(
            0, self._year, int(self._year.max(initial=-1)) + 1, chains, merged.games, merged.handicap,
            timeline.game_start, self._widest.ravel(), none, none, none, nowhere, nowhere, guess, None, newcomers,
        )  # fmt: skip

    def _piece(self, number: int) -> tuple[SliceInput, Ids]:
        """A slice, and the players of its segments."""
        timeline = self.timeline
        begin = self.cuts[number]
        end = self.cuts[number + 1]
        if len(self) == 1:
            return self.whole(merge_games(timeline, colours=self._colours)), np.empty(0, np.int32)
        first, last = (int(timeline.node_start[period]) for period in (begin, end))
        nodes = slice(first, last)
        quantities = len(self._mean)
        previous = timeline.previous[nodes]
        following = timeline.next[nodes]
        head = (previous >= 0) & (previous < first)
        tail = following >= last
        players, place = np.unique(timeline.node_player[nodes], return_inverse=True)
        crossing = np.zeros(len(players), np.bool_)
        crossing[place[head | tail]] = True
        order = np.argsort(~crossing, kind="stable")
        rank = np.empty(len(players), np.int32)
        rank[order] = np.arange(len(players), dtype=np.int32)
        segment = rank[place]
        segments = int(crossing.sum())
        stride = 1 + last - first
        offset = stride * np.arange(quantities)[:, np.newaxis]

        def links(inside: Ids, away: Mask, elsewhere: int) -> Ids:
            """Numbers of neighbouring variables; `elsewhere` for those in other slices."""
            known = np.where(away, elsewhere, inside - first + 1) + offset
            return _flat(np.where(inside < 0, -1, known).astype(np.int32))

        def ends(crosses: Mask) -> Ids:
            """The node at one end of each segment."""
            found = np.flatnonzero(crosses)
            return found[np.argsort(segment[found])][:segments].astype(np.int32)

        def elsewhere(ends: Ids, others: Ids, later: Ids) -> Elsewhere:
            """Steps of skills between ends of segments and other nodes; `later`: the later node of each."""
            period = np.searchsorted(timeline.node_start, others, side="right") - 1
            return Elsewhere(ends + np.int32(1), self._year[period], self._variance[0, later])

        starts = ends((previous < 0) | head)
        stops = ends((following < 0) | tail)
        past = starts[head[starts]]
        future = stops[tail[stops]]
        of_nodes = np.full((quantities, stride), -1, np.int32)
        of_nodes[:, 1:] = segment + segments * np.arange(quantities)[:, np.newaxis]
        of_nodes[:, 1:][:, segment >= segments] = -1
        games = slice(*timeline.game_start[[begin, end]].tolist())
        periods = slice(begin, end + 1)
        starts_here = timeline.node_start[periods], timeline.game_start[periods] - games.start
        part = replace(timeline.with_games(games, starts_here[1]), node_start=starts_here[0])
        merged = merge_games(part, colours=self._colours)
        before = np.int32(first - 1)
        piece = SliceInput(
            number=number,
            year=self._year[begin:end],
            years=int(self._year.max(initial=-1)) + 1,
            chains=Chains(
                part.node_start - before,
                links(previous, head, 0),
                links(following, tail, stride),
                _flat(self._mean[:, nodes]),
                _flat(self._variance[:, nodes]),
            ),
            games=merged.games._replace(
                first=merged.games.first - before, second=merged.games.second - before
            ),
            handicap=merged.handicap,
            game_start=part.game_start,
            widest=_flat(self._widest[:, nodes]),
            segment=of_nodes.ravel() if segments else np.empty(0, np.int32),
            first=(starts + 1 + offset).ravel().astype(np.int32),
            last=(stops + 1 + offset).ravel().astype(np.int32),
            past=np.tile(head[starts], quantities),
            future=np.tile(tail[stops], quantities),
            guess=None if self._guess is None else _flat(self._guess[:, nodes]),
        )
        if self._newcomers:
            steps = (
                elsewhere(past, previous[past], past + np.int32(first)),
                elsewhere(future, following[future], following[future]),
            )
            piece = replace(piece, newcomers=(self._newcomers.sd, steps))
        timeline.room.let_go()
        return piece, players[order][:segments].astype(np.int32)


class Unplayed(Cutter):
    """Slices of players instead of time, without games: the players are then independent."""

    def __init__(self, timeline: Timeline, count: int, priors: Sequence[RandomWalk]) -> None:
        super().__init__(timeline.without_games(), None, priors, colours=False)
        self._count = max(1, min(count, len(timeline.players)))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[SliceInput]:
        return (self[number] for number in range(self._count))

    def __getitem__(self, number: int) -> SliceInput:
        nodes = np.flatnonzero(self.timeline.node_player % self._count == number)
        some = copy(self)
        some.timeline = self.timeline.unplayed(nodes)
        some._mean, some._variance, some._widest = (
            of[:, nodes] for of in (self._mean, self._variance, self._widest)
        )
        return replace(some.whole(merge_games(some.timeline, colours=False)), number=number)


class Coupling:
    """The inverse of the chains across borders, given the `maps` of their factors."""

    def __init__(self, borders: Borders, maps: Array) -> None:
        self._steps = borders.steps
        self.precision = borders.smoothed(maps)[:, ::2]
        a, b, c, k = maps[:, :4].T
        past, future = self.precision.T
        onward = 1.0 / (c * past + 1.0)
        back = 1.0 / (c * future + a)
        self._onward = k * onward
        self._back = k * back
        self._kept, self._kept_back = np.ones((2, len(maps)))
        for later, earlier in self._steps:
            variance = borders.variance[later]
            self._kept[later] = 1.0 / (1.0 + variance * ((a * past + b) * onward)[earlier])
            self._kept_back[later] = 1.0 / (1.0 + variance * ((future + b) * back)[later])

    def arrived(self, sent: Array) -> Array:
        """What arrives at both ends (segments, 2), given what leaves each by itself."""
        arrived = np.zeros_like(sent)
        for later, earlier in self._steps:
            arrived[later, 0] = self._kept[later] * (
                sent[earlier, 1] + self._onward[earlier] * arrived[earlier, 0]
            )
        for later, earlier in reversed(self._steps):
            arrived[earlier, 1] = self._kept_back[later] * (
                sent[later, 0] + self._back[later] * arrived[later, 1]
            )
        return arrived


def _stepped(precision: Array, weighted: Array, mean: Array, variance: Array) -> Array:
    """Messages after Gaussian steps, (segments, 2)."""
    shrink = 1.0 / (1.0 + variance * precision)
    return np.stack([precision * shrink, (weighted + precision * mean) * shrink], axis=1)


def _flat(values: NDArray[Number]) -> NDArray[Number]:
    """Flatten (quantities, nodes) to variables, with a 0 for node 0 of each quantity."""
    quantities, nodes, *others = values.shape
    found = np.zeros((quantities, 1 + nodes, *others), values.dtype)
    found[:, 1:] = values
    return found.reshape(-1, *others)
