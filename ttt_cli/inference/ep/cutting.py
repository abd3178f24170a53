"""Cut a timeline into slices of time, each with its own nodes and games; what crosses the borders between them."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.inference.ep.newcomers import NewcomersInput, StepsElsewhere
from ttt_cli.inference.links import LinkedGames, MergedGames, merge_games
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.kernels.ep.structures import Chains, LinkSites, Pairings
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.timeline import Timeline, calendar

Number = TypeVar("Number", bound=np.generic)


class Segments(NamedTuple):
    """Segments of a slice: the variables of a player there, where the chain continues in other slices.

    | name | shape | |
    |---|---|---|
    | number | (variables,) | number of the segment of each variable; -1 in chains that are inside this slice |
    | first, last | (segments,) | first and last variable of each segment |
    | past, future | (segments,) | whether the chain continues in an earlier, a later slice |
    """

    number: Ids
    first: Ids
    last: Ids
    past: Mask
    future: Mask


class StartSites(NamedTuple):
    """Initial sites of a slice, as in `Sites`, and of links, if there are any."""

    message: Array
    positivity: Array
    links: LinkSites | None = None


@dataclass(frozen=True)
class SliceInput:
    """The input of a slice: a range of periods with its own numbers of nodes and games.

    The first node is `chains.node_start[0]`: 0 if the slice is the whole timeline, else 1. Then node 0 represents all
    nodes of earlier slices. The number after a quantity's last node represents those of later slices.

    | name | shape | unit | |
    |---|---|---|---|
    | number | | | of the slice, in the order of time |
    | period_year | (periods,) | | index of each period's calendar year; the timeline has `years` of them |
    | chains | | | its variables; -1 for no neighbour in any slice |
    | games, handicap | | | as in `MergedGames` |
    | game_start | (periods + 1,) | | the first game of each period, and the end of the last; equal games not merged |
    | widest | (variables,) | points^2 | prior variance of each, without any game |
    | segments | | | its segments |
    | guess | (variables, 2) | | initial beliefs, as messages, or None |
    | sites | | | initial sites, or None |
    | newcomers | | | of newcomers, if their mean moves |
    | links | | | games of other kinds, or None; then `chains` and `widest` have their extra variables at the end |
    """

    number: int
    period_year: Ids
    years: int
    chains: Chains
    games: Pairings
    handicap: Array
    game_start: Places
    widest: Array
    segments: Segments
    guess: Array | None = None
    sites: StartSites | None = None
    newcomers: NewcomersInput | None = None
    links: LinkedGames | None = None


class Neighbours(NamedTuple):
    """Segments of a slice with one before, and the latter."""

    later: Places
    earlier: Ids


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
    def neighbours(self) -> list[Neighbours]:
        """Of each slice the segments with one before."""
        later = np.flatnonzero(self.before >= 0)
        of_slices = np.split(later, np.searchsorted(later, self.start[1:-1]))
        return [Neighbours(segments, self.before[segments]) for segments in of_slices]

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
        for later, earlier in self.neighbours:
            a, b, c, k, e, f, _, _ = maps[earlier].T
            p, h = arrived[earlier, :2].T
            scale = 1.0 / (c * p + 1.0)
            mean = self.mean[later]
            variance = self.variance[later]
            arrived[later, :2] = _stepped((a * p + b) * scale, (k * h + e * p + f) * scale, mean, variance)
        for later, earlier in reversed(self.neighbours):
            a, b, c, k, _, _, e, f = maps[later].T
            p, h = arrived[later, 2:].T
            scale = 1.0 / (c * p + a)
            mean = -self.mean[later]
            variance = self.variance[later]
            arrived[earlier, 2:] = _stepped((p + b) * scale, (k * h + e * p + f) * scale, mean, variance)
        return arrived

    def sums(self, values: Array) -> Array:
        """Sums over the segments of a player so far."""
        total = values.copy()
        for later, earlier in self.neighbours:
            total[later] += total[earlier]
        return total


class BorderSteps(NamedTuple):
    """Steps to the segments of a slice: fields of `Borders`."""

    before: Ids
    mean: Array
    variance: Array


class Piece(NamedTuple):
    """A slice, and the players of its segments."""

    slice_input: SliceInput
    players: Ids


NO_IDS = np.empty(0, np.int32)
NO_MASK = np.empty(0, np.bool_)
NO_SEGMENTS = Segments(NO_IDS, NO_IDS, NO_IDS, NO_MASK, NO_MASK)
NO_STEPS = BorderSteps(NO_IDS, np.empty(0), np.empty(0))


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
        storage = timeline.storage
        shape = (len(priors), timeline.n_nodes)
        self._mean = storage.empty("step-mean", shape, np.float64)
        self._variance = storage.empty("step-variance", shape, np.float64)
        self._widest = storage.empty("step-widest", shape, np.float64)
        for quantity, prior in enumerate(priors):
            self._mean[quantity], self._variance[quantity] = prior.steps()
            self._widest[quantity] = self._variance[quantity]  # of variables before a game is seen
            accumulate(timeline.previous.copy(), self._widest[quantity])
            storage.release()
        self.widest = float(np.sqrt(self._widest.max(initial=0.0)))
        _, self._period_year = calendar(timeline)
        self._border_steps: list[BorderSteps] = []

    def __len__(self) -> int:
        return len(self.cuts) - 1

    @property
    def borders(self) -> Borders:
        """The borders between the slices made so far."""
        steps = self._border_steps or [NO_STEPS] * len(self)
        start = np.cumsum([0, *(len(step.before) for step in steps)]).astype(np.int32)
        return Borders(
            start,
            np.concatenate([step.before for step in steps]),
            np.concatenate([step.mean for step in steps]),
            np.concatenate([step.variance for step in steps]),
        )

    def __iter__(self) -> Iterator[SliceInput]:
        self._border_steps = []
        quantities = len(self._mean)
        latest = np.full((quantities, len(self.timeline.players)), -1, np.int32)  # segment of each player
        total = 0
        for number in range(len(self)):
            slice_input, players = self._piece(number)
            chains = slice_input.chains
            segments = slice_input.segments
            before = np.where(segments.past, latest[:, players].ravel(), -1)
            count = len(segments.first)
            latest[:, players] = (total + np.arange(count)).reshape(quantities, -1)
            total += count
            steps = BorderSteps(before, chains.mean[segments.first], chains.variance[segments.first])
            self._border_steps.append(steps)
            yield slice_input

    def __getitem__(self, number: int) -> SliceInput:
        return self._piece(number).slice_input

    def as_one_slice(self, merged: MergedGames) -> SliceInput:
        """The whole timeline as one slice, with these games."""
        timeline = self.timeline
        return SliceInput(
            number=0,
            period_year=self._period_year,
            years=self._years,
            chains=Chains(
                timeline.node_start.copy(),
                self._of_quantities(timeline.previous),
                self._of_quantities(timeline.next),
                self._mean.ravel(),
                self._variance.ravel(),
            ),
            games=merged.games,
            handicap=merged.handicap,
            game_start=timeline.game_start,
            widest=self._widest.ravel(),
            segments=NO_SEGMENTS,
            guess=None if self._guess is None else self._guess.reshape(-1, 2),
            newcomers=NewcomersInput(self._newcomers.sd) if self._newcomers else None,
        )

    @property
    def _years(self) -> int:
        return int(self._period_year.max(initial=-1)) + 1

    def _of_quantities(self, nodes: Ids) -> Ids:
        """Variables of all quantities, given the nodes they belong to; -1 stays."""
        first = self.timeline.n_nodes * np.arange(len(self._mean), dtype=np.int32)[:, np.newaxis]
        variables: Ids = np.where(nodes < 0, np.int32(-1), nodes + first).ravel()
        return variables

    def _piece(self, number: int) -> Piece:
        timeline = self.timeline
        begin = self.cuts[number]
        end = self.cuts[number + 1]
        if len(self) == 1:
            return Piece(self.as_one_slice(merge_games(timeline, colours=self._colours)), NO_IDS)
        first = int(timeline.node_start[begin])
        last = int(timeline.node_start[end])
        nodes = slice(first, last)
        quantities = len(self._mean)
        ends = ChainEnds(timeline, first, last)
        stride = 1 + last - first
        offset = stride * np.arange(quantities)[:, np.newaxis]
        games = slice(*timeline.game_start[[begin, end]].tolist())
        periods = slice(begin, end + 1)
        part = replace(
            timeline.with_games(games, timeline.game_start[periods] - games.start),
            node_start=timeline.node_start[periods],
        )
        merged = merge_games(part, colours=self._colours)
        before = np.int32(first - 1)  # subtracted from numbers of nodes in the timeline
        slice_input = SliceInput(
            number=number,
            period_year=self._period_year[begin:end],
            years=self._years,
            chains=Chains(
                part.node_start - before,
                _neighbours(ends.previous, first, ends.crosses_past, 0, offset),
                _neighbours(ends.following, first, ends.crosses_future, stride, offset),
                _flat(self._mean[:, nodes]),
                _flat(self._variance[:, nodes]),
            ),
            games=merged.games._replace(
                first=merged.games.first - before, second=merged.games.second - before
            ),
            handicap=merged.handicap,
            game_start=part.game_start,
            widest=_flat(self._widest[:, nodes]),
            segments=ends.segments(offset),
            guess=None if self._guess is None else _flat(self._guess[:, nodes]),
        )
        if self._newcomers:
            past = ends.first[ends.crosses_past[ends.first]]
            future = ends.last[ends.crosses_future[ends.last]]
            steps = (
                self._steps_elsewhere(past, ends.previous[past], past + np.int32(first)),
                self._steps_elsewhere(future, ends.following[future], ends.following[future]),
            )
            slice_input = replace(slice_input, newcomers=NewcomersInput(self._newcomers.sd, steps))
        timeline.storage.release()
        return Piece(slice_input, ends.players)

    def _steps_elsewhere(self, nodes: Ids, elsewhere: Ids, later: Ids) -> StepsElsewhere:
        """Steps of skills between nodes of a slice and nodes of the timeline; `later`: the later one of each."""
        period = np.searchsorted(self.timeline.node_start, elsewhere, side="right") - 1
        return StepsElsewhere(nodes + np.int32(1), self._period_year[period], self._variance[0, later])


class ChainEnds:
    """Nodes of a slice, numbered from 0, and where their chains leave it.

    | name | shape | |
    |---|---|---|
    | previous, following | (nodes,) | nodes of the timeline before and after; -1: none |
    | crosses_past, crosses_future | (nodes,) | whether these are in other slices |
    | players | (segments,) | players of the segments |
    | number | (nodes,) | number of the segment of each, from `len(players)` on for chains inside the slice |
    | first, last | (segments,) | nodes at the ends of segments |
    """

    def __init__(self, timeline: Timeline, begin: int, end: int) -> None:
        nodes = slice(begin, end)
        self.previous = timeline.previous[nodes]
        self.following = timeline.next[nodes]
        self.crosses_past = (self.previous >= 0) & (self.previous < begin)
        self.crosses_future = self.following >= end
        players, index = np.unique(timeline.node_player[nodes], return_inverse=True)
        crossing = np.zeros(len(players), np.bool_)
        crossing[index[self.crosses_past | self.crosses_future]] = True
        order = np.argsort(~crossing, kind="stable")
        rank = np.empty(len(players), np.int32)
        rank[order] = np.arange(len(players), dtype=np.int32)
        self.number = rank[index]
        self.players = players[order][: int(crossing.sum())].astype(np.int32)
        self.first = self._ends((self.previous < 0) | self.crosses_past)
        self.last = self._ends((self.following < 0) | self.crosses_future)

    def _ends(self, is_end: Mask) -> Ids:
        """Of the nodes at one end of chains in the slice those of segments, in their order."""
        nodes = np.flatnonzero(is_end)
        return nodes[np.argsort(self.number[nodes])][: len(self.players)].astype(np.int32)

    def segments(self, offset: Places) -> Segments:
        """Segments of all quantities; `offset` (quantities, 1): the variable of node 0 of each."""
        quantities = len(offset)
        segments = len(self.players)
        number = np.empty(0, np.int32)
        if segments:
            numbers = np.full((quantities, 1 + len(self.number)), -1, np.int32)
            numbers[:, 1:] = self.number + segments * np.arange(quantities)[:, np.newaxis]
            numbers[:, 1:][:, self.number >= segments] = -1
            number = numbers.ravel()
        return Segments(
            number,
            (self.first + 1 + offset).ravel().astype(np.int32),
            (self.last + 1 + offset).ravel().astype(np.int32),
            np.tile(self.crosses_past[self.first], quantities),
            np.tile(self.crosses_future[self.last], quantities),
        )


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
        part = copy(self)
        part.timeline = self.timeline.unplayed(nodes)
        part._mean = self._mean[:, nodes]
        part._variance = self._variance[:, nodes]
        part._widest = self._widest[:, nodes]
        return replace(part.as_one_slice(merge_games(part.timeline, colours=False)), number=number)


class Coupling:
    """The inverse of the chains across borders, given the `maps` of their factors.

    `precision` (segments, 2): what arrives at the first and last variable of each segment.
    """

    def __init__(self, borders: Borders, maps: Array) -> None:
        self._neighbours = borders.neighbours
        self.precision = borders.smoothed(maps)[:, ::2]
        a, b, c, k = maps[:, :4].T
        past, future = self.precision.T
        onward = 1.0 / (c * past + 1.0)
        back = 1.0 / (c * future + a)
        self._onward = k * onward
        self._back = k * back
        self._kept = np.ones(len(maps))
        self._kept_back = np.ones(len(maps))
        for later, earlier in self._neighbours:
            variance = borders.variance[later]
            self._kept[later] = 1.0 / (1.0 + variance * ((a * past + b) * onward)[earlier])
            self._kept_back[later] = 1.0 / (1.0 + variance * ((future + b) * back)[later])

    def arrived(self, sent: Array) -> Array:
        """What arrives at both ends (segments, 2), given what leaves each by itself."""
        arrived = np.zeros_like(sent)
        for later, earlier in self._neighbours:
            arrived[later, 0] = self._kept[later] * (
                sent[earlier, 1] + self._onward[earlier] * arrived[earlier, 0]
            )
        for later, earlier in reversed(self._neighbours):
            arrived[earlier, 1] = self._kept_back[later] * (
                sent[later, 0] + self._back[later] * arrived[later, 1]
            )
        return arrived


def _neighbours(nodes: Ids, first: int, crosses: Mask, elsewhere: int, offset: Places) -> Ids:
    """Variables of `nodes` of the timeline in a slice from the node `first` on; `elsewhere` where it `crosses`."""
    variables = np.where(crosses, elsewhere, nodes - first + 1) + offset
    return _flat(np.where(nodes < 0, -1, variables).astype(np.int32))


def _stepped(precision: Array, weighted: Array, mean: Array, variance: Array) -> Array:
    """Messages after Gaussian steps, (segments, 2)."""
    shrink = 1.0 / (1.0 + variance * precision)
    return np.stack([precision * shrink, (weighted + precision * mean) * shrink], axis=1)


def _flat(values: NDArray[Number]) -> NDArray[Number]:
    """Flatten (quantities, nodes) to variables, with a 0 for node 0 of each quantity."""
    quantities, nodes, *columns = values.shape
    variables = np.zeros((quantities, 1 + nodes, *columns), values.dtype)
    variables[:, 1:] = values
    return variables.reshape(-1, *columns)
