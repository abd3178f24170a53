"""Cut a timeline into slices of time, each with its own nodes and games."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.inference.ep.borders import Borders, BorderSteps, borders_of, no_borders
from ttt_cli.inference.ep.newcomers import NewcomersInput, StepsElsewhere
from ttt_cli.inference.links import LinkedGames, MergedGames, merge_games
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.inference.victory import NO_INTERVALS, Intervals
from ttt_cli.kernels.ep.structures import Chains, LinkSites, Pairings
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.timeline import Timeline, calendar

Number = TypeVar("Number", bound=np.generic)

PAST_NODE: Final = 0  # of a slice: it stands for all nodes of earlier slices


class Segments(NamedTuple):
    """Segments of a slice: the variables of a player there, where the chain continues in other slices.

    | name | shape | |
    |---|---|---|
    | number | (variables,) | number of the segment of each variable; -1 in chains that are inside this slice; |
    | | | (0,) if all chains are |
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

    The first node is `chains.node_start[0]`: 0 if the slice is the whole timeline. Else it is 1, and its k nodes are
    numbered from 1; variables are, for each quantity (skill, draw margin),

        [past | n1 ... nk] [past | n1 ... nk]

    where `past` (node 0) stands for all nodes of earlier slices. With k = 2 nodes that have a skill and a draw margin,
    skills are 1 and 2 with `past` 0, margins 4 and 5 with `past` 3.

    A neighbour in a later slice has the number after the last of its quantity: 3 for a skill, 6 for a margin. It must
    not be indexed, since that is the `past` of the next quantity, or after the end of all arrays. So whoever follows
    `chains` looks a neighbour up only if its number is in the range of the quantity (`begin <= s < end` in kernels).

    | name | shape | unit | |
    |---|---|---|---|
    | number | | | of the slice, in the order of time |
    | period_year | (periods,) | | index of each period's calendar year; the timeline has `years` of them |
    | chains | | | its variables; -1 for no neighbour in any slice |
    | games, handicap | | | as in `MergedGames` |
    | balance, interval | (games,) | | the same; balance in games; none without covariates or margins of victory |
    | doubt | (games,) | | the same; none where all records are right |
    | game_start | (periods + 1,) | | the first game of each period, and the end of the last, before equal games were |
    | | | | merged: by these numbers a slice is divided; `games.start` is after |
    | prior_variance | (variables,) | points^2 | prior variance of each, without any game |
    | segments | | | its segments |
    | guess | (variables, 2) | | initial beliefs, as messages, or None |
    | sites | | | initial sites, or None |
    | newcomers | | | of newcomers, if their mean moves |
    | links | | | games of other kinds, or None; their extra variables are the last of `chains` and `prior_variance` |
    """

    number: int
    period_year: Ids
    years: int
    chains: Chains
    games: Pairings
    handicap: Array
    balance: Array
    game_start: Places
    prior_variance: Array
    segments: Segments
    guess: Array | None = None
    sites: StartSites | None = None
    newcomers: NewcomersInput | None = None
    links: LinkedGames | None = None
    interval: Intervals = field(default_factory=lambda: NO_INTERVALS)
    doubt: Array = field(default_factory=lambda: np.empty(0))


class InputAndPlayers(NamedTuple):
    """The input of a slice, and the players of its segments, (segments,)."""

    slice_input: SliceInput
    players: Ids


NO_IDS: Final = np.empty(0, np.int32)
NO_MASK: Final = np.empty(0, np.bool_)
NO_SEGMENTS: Final = Segments(NO_IDS, NO_IDS, NO_IDS, NO_MASK, NO_MASK)


class SliceInputs(Protocol):
    """The slices of a timeline, made one by one.

    | name | unit | |
    |---|---|---|
    | timeline | | all nodes and games |
    | cuts | | the first period of each slice of time, and the end of the last |
    | largest_prior_sd | points | the largest sd of a variable before any game |
    """

    timeline: Timeline
    cuts: list[int]
    largest_prior_sd: float

    @property
    def borders(self) -> Borders:
        """The borders between the slices, once all have been made. Raises ValueError before."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[SliceInput]: ...

    def __getitem__(self, number: int) -> SliceInput: ...


@dataclass(frozen=True)
class PriorSteps:
    """Steps to the nodes of a timeline, (quantities, nodes) each.

    | name | unit | |
    |---|---|---|
    | mean | points | of the change since the node before; at the first of a player, of the prior |
    | variance | points^2 | of the same |
    | prior_variance | points^2 | variance before any game |
    """

    mean: Array
    variance: Array
    prior_variance: Array

    @property
    def largest_sd(self) -> float:
        """The largest sd before any game, points."""
        return float(np.sqrt(self.prior_variance.max(initial=0.0)))

    def of_nodes(self, nodes: Places) -> "PriorSteps":
        """Steps to some nodes."""
        return PriorSteps(
            self.mean[:, nodes], self.variance[:, nodes], self.prior_variance[:, nodes]
        )


def prior_steps(timeline: Timeline, priors: Sequence[RandomWalk]) -> PriorSteps:
    """Steps of all quantities, by the prior of each."""
    from ttt_cli.kernels.ep.chains import accumulate

    storage = timeline.storage
    shape = (len(priors), timeline.n_nodes)
    steps = PriorSteps(
        storage.zeros("step-mean", shape, np.float64),
        storage.zeros("step-variance", shape, np.float64),
        storage.zeros("step-prior_variance", shape, np.float64),
    )
    for quantity, prior in enumerate(priors):
        steps.mean[quantity], steps.variance[quantity] = prior.steps()
        steps.prior_variance[quantity] = steps.variance[quantity]
        accumulate(timeline.previous.copy(), steps.prior_variance[quantity])
        storage.release()
    return steps


def one_slice(
    timeline: Timeline, steps: PriorSteps, period_year: Ids, merged: MergedGames
) -> SliceInput:
    """A whole timeline as one slice, with these games; `period_year` as in `SliceInput`."""
    offset = _first_variables(timeline.n_nodes, len(steps.mean))
    return SliceInput(
        number=0,
        period_year=period_year,
        years=_number_of_years(period_year),
        chains=Chains(
            timeline.node_start.copy(),
            _of_quantities(timeline.previous, offset).ravel(),
            _of_quantities(timeline.next, offset).ravel(),
            steps.mean.ravel(),
            steps.variance.ravel(),
        ),
        games=merged.games,
        handicap=merged.handicap,
        balance=merged.balance_for_slopes,
        game_start=timeline.game_start,
        prior_variance=steps.prior_variance.ravel(),
        segments=NO_SEGMENTS,
        interval=merged.interval,
        doubt=merged.doubt,
    )


class SliceRange(NamedTuple):
    """The periods of a slice, and its nodes in the timeline, each from the first to before the end."""

    period: int
    period_end: int
    node: int
    node_end: int

    @property
    def nodes(self) -> slice:
        """Nodes in the timeline."""
        return slice(self.node, self.node_end)

    @property
    def node_offset(self) -> np.int32:
        """Number of a node in the timeline less that in the slice, where node 0 stands for all before."""
        return np.int32(self.node - 1)

    @property
    def stride(self) -> int:
        """Number of variables of a quantity, with that of node 0."""
        return 1 + self.node_end - self.node


class PeriodGames(NamedTuple):
    """Games of a slice: distinct ones, with its numbers of nodes, and the first of each period before merging."""

    merged: MergedGames
    start: Places


class Cutter:
    """Slices of time (`SliceInputs`).

    `cuts`: the first period of each slice, and the end of the last; None: a single slice. `priors`: one for each
    quantity of a node (skill, draw margin). `guess` (quantities, nodes, 2): initial beliefs, as messages.
    `terms`: covariates that count; `thresholds`: margins of victory at which intervals begin.
    """

    def __init__(
        self,
        timeline: Timeline,
        cuts: Places | None,
        priors: Sequence[RandomWalk],
        *,
        colours: bool,
        terms: tuple[str, ...] = (),
        thresholds: tuple[int, ...] = (),
        guess: Array | None = None,
    ) -> None:
        cuts = np.array([0, len(timeline.periods)]) if cuts is None else cuts
        self.timeline = timeline
        self.cuts = cuts.tolist()
        self._colours = colours
        self._terms = terms
        self._thresholds = thresholds
        self._guess = guess
        self._newcomers = priors[0].newcomers
        self._steps = prior_steps(timeline, priors)
        self.largest_prior_sd = self._steps.largest_sd
        _, self._period_year = calendar(timeline)
        self._border_steps: list[BorderSteps] = []

    def __len__(self) -> int:
        return len(self.cuts) - 1

    @property
    def borders(self) -> Borders:
        """The borders between the slices, once all have been made. Raises ValueError before."""
        if len(self) == 1:
            return no_borders(1)
        if len(self._border_steps) < len(self):
            raise ValueError("borders are there once all slices have been made")
        return borders_of(self._border_steps)

    def __iter__(self) -> Iterator[SliceInput]:
        """Make the slices in the order of time. The borders are complete once the last one has been made."""
        self._border_steps = []
        quantities = len(self._steps.mean)
        # the last segment of each player so far
        latest = np.full((quantities, len(self.timeline.players)), -1, np.int32)
        total = 0
        for number in range(len(self)):
            slice_input, players = self._input_and_players(number)
            chains = slice_input.chains
            segments = slice_input.segments
            before = np.where(segments.past, latest[:, players].ravel(), -1)
            count = len(segments.first)
            latest[:, players] = (total + np.arange(count)).reshape(quantities, -1)
            total += count
            steps = BorderSteps(
                before, chains.mean[segments.first], chains.variance[segments.first]
            )
            self._border_steps.append(steps)
            yield slice_input

    def __getitem__(self, number: int) -> SliceInput:
        return self._input_and_players(number).slice_input

    def as_one_slice(self, merged: MergedGames) -> SliceInput:
        """The whole timeline as one slice, with these games."""
        slice_input = one_slice(self.timeline, self._steps, self._period_year, merged)
        return replace(
            slice_input,
            guess=None if self._guess is None else self._guess.reshape(-1, 2),
            newcomers=NewcomersInput(self._newcomers.sd) if self._newcomers else None,
        )

    def _input_and_players(self, number: int) -> InputAndPlayers:
        timeline = self.timeline
        if len(self) == 1:
            return InputAndPlayers(self.as_one_slice(self._merged(timeline)), NO_IDS)
        begin = self.cuts[number]
        end = self.cuts[number + 1]
        bounds = SliceRange(
            begin, end, int(timeline.node_start[begin]), int(timeline.node_start[end])
        )
        ends = chain_ends(timeline, bounds)
        games = self._games_of(bounds)
        slice_input = SliceInput(
            number=number,
            period_year=self._period_year[begin:end],
            years=_number_of_years(self._period_year),
            chains=self._chains_of(bounds, ends),
            games=games.merged.games,
            handicap=games.merged.handicap,
            balance=games.merged.balance_for_slopes,
            game_start=games.start,
            prior_variance=_flat(self._steps.prior_variance[:, bounds.nodes]),
            segments=ends.segments(self._offset(bounds)),
            guess=None if self._guess is None else _flat(self._guess[:, bounds.nodes]),
            newcomers=self._newcomers_of(bounds, ends),
            interval=games.merged.interval,
            doubt=games.merged.doubt,
        )
        timeline.storage.release()
        return InputAndPlayers(slice_input, ends.players)

    def _offset(self, bounds: SliceRange) -> Ids:
        """The variable of node 0 of each quantity, (quantities, 1)."""
        return _first_variables(bounds.stride, len(self._steps.mean))

    def _chains_of(self, bounds: SliceRange, ends: "ChainEnds") -> Chains:
        """The variables of a slice, 0 for those of node 0."""
        offset = self._offset(bounds)
        future_node = bounds.stride
        previous = _numbered(ends.previous, bounds, ends.crosses_past, PAST_NODE)
        following = _numbered(ends.following, bounds, ends.crosses_future, future_node)
        return Chains(
            self.timeline.node_start[bounds.period : bounds.period_end + 1] - bounds.node_offset,
            _flat(_of_quantities(previous, offset)),
            _flat(_of_quantities(following, offset)),
            _flat(self._steps.mean[:, bounds.nodes]),
            _flat(self._steps.variance[:, bounds.nodes]),
        )

    def _games_of(self, bounds: SliceRange) -> PeriodGames:
        """The games of a slice."""
        timeline = self.timeline
        games = slice(*timeline.game_start[[bounds.period, bounds.period_end]].tolist())
        periods = slice(bounds.period, bounds.period_end + 1)
        part = replace(
            timeline.with_games(games, timeline.game_start[periods] - games.start),
            node_start=timeline.node_start[periods],
        )
        merged = self._merged(part)
        pairings = merged.games._replace(
            first=merged.games.first - bounds.node_offset,
            second=merged.games.second - bounds.node_offset,
        )
        return PeriodGames(replace(merged, games=pairings), part.game_start)

    def _merged(self, part: Timeline) -> MergedGames:
        """The games of the timeline or a part of it."""
        return merge_games(
            part, colours=self._colours, terms=self._terms, thresholds=self._thresholds
        )

    def _newcomers_of(self, bounds: SliceRange, ends: "ChainEnds") -> NewcomersInput | None:
        """Newcomers of a slice, if their mean moves."""
        if not self._newcomers:
            return None
        first = ends.first[ends.crosses_past[ends.first]]
        last = ends.last[ends.crosses_future[ends.last]]
        return NewcomersInput(
            self._newcomers.sd,
            past=self._steps_elsewhere(bounds, first, ends.previous[first]),
            future=self._steps_elsewhere(bounds, last, ends.following[last]),
        )

    def _steps_elsewhere(self, bounds: SliceRange, nodes: Ids, elsewhere: Ids) -> StepsElsewhere:
        """Steps of skills between nodes of a slice, counted from 0, and nodes of the timeline in other slices."""
        period = np.searchsorted(self.timeline.node_start, elsewhere, side="right") - 1
        later = np.maximum(nodes + np.int32(bounds.node), elsewhere)  # has the variance of the step
        return StepsElsewhere(
            nodes + np.int32(1), self._period_year[period], self._steps.variance[0, later]
        )


@dataclass(frozen=True)
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

    previous: Ids
    following: Ids
    crosses_past: Mask
    crosses_future: Mask
    players: Ids
    number: Ids
    first: Ids
    last: Ids

    def segments(self, offset: Ids) -> Segments:
        """Segments of all quantities; `offset` (quantities, 1): the variable of node 0 of each."""
        quantities = len(offset)
        segments = len(self.players)
        number = np.empty(0, np.int32)
        if segments:
            of_quantities = self.number + segments * np.arange(quantities)[:, np.newaxis]
            numbers = np.full((quantities, 1 + len(self.number)), -1, np.int32)
            numbers[:, 1:] = np.where(self.number < segments, of_quantities, -1)
            number = numbers.ravel()
        return Segments(
            number,
            (self.first + 1 + offset).ravel().astype(np.int32),
            (self.last + 1 + offset).ravel().astype(np.int32),
            np.tile(self.crosses_past[self.first], quantities),
            np.tile(self.crosses_future[self.last], quantities),
        )


def chain_ends(timeline: Timeline, bounds: SliceRange) -> ChainEnds:
    """The nodes of a slice, and where their chains leave it."""
    previous = timeline.previous[bounds.nodes]
    following = timeline.next[bounds.nodes]
    crosses_past = (previous >= 0) & (previous < bounds.node)
    crosses_future = following >= bounds.node_end
    ranks = _crossing_first(timeline.node_player[bounds.nodes], crosses_past | crosses_future)
    return ChainEnds(
        previous,
        following,
        crosses_past,
        crosses_future,
        ranks.crossing,
        ranks.number,
        first=_ends_of_segments((previous < 0) | crosses_past, ranks),
        last=_ends_of_segments((following < 0) | crosses_future, ranks),
    )


class PlayerRanks(NamedTuple):
    """Players of a slice in order: those whose chains leave it, (segments,), and the rank of each node's player."""

    crossing: Ids
    number: Ids


def _crossing_first(player: Ids, crosses: Mask) -> PlayerRanks:
    """Rank the players of nodes: first those with a node that `crosses`, then the others, each in their order."""
    players, index = np.unique(player, return_inverse=True)
    crossing = np.zeros(len(players), np.bool_)
    crossing[index[crosses]] = True
    order = np.argsort(~crossing, kind="stable")
    rank = np.empty(len(players), np.int32)
    rank[order] = np.arange(len(players), dtype=np.int32)
    return PlayerRanks(players[order][: int(crossing.sum())].astype(np.int32), rank[index])


def _ends_of_segments(is_end: Mask, ranks: PlayerRanks) -> Ids:
    """The nodes of a mask that are of segments, in the order of these.

    `is_end`: nodes at one end of the chains in the slice. Each player has exactly one such node in a slice.
    """
    nodes = np.flatnonzero(is_end)
    return nodes[np.argsort(ranks.number[nodes])][: len(ranks.crossing)].astype(np.int32)


class Unplayed:
    """Slices of players instead of time (`SliceInputs`), without games: the players are then independent."""

    def __init__(self, timeline: Timeline, count: int, priors: Sequence[RandomWalk]) -> None:
        self.timeline = timeline.without_games()
        self.cuts = [0, len(timeline.periods)]
        self._count = max(1, min(count, len(timeline.players)))
        self._newcomers = priors[0].newcomers
        self._steps = prior_steps(self.timeline, priors)
        self.largest_prior_sd = self._steps.largest_sd
        _, self._period_year = calendar(self.timeline)

    @property
    def borders(self) -> Borders:
        """Nothing crosses borders between players."""
        return no_borders(self._count)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[SliceInput]:
        return (self[number] for number in range(self._count))

    def __getitem__(self, number: int) -> SliceInput:
        nodes = np.flatnonzero(self.timeline.node_player % self._count == number)
        timeline = self.timeline.unplayed(nodes)
        merged = merge_games(timeline, colours=False)
        return replace(
            one_slice(timeline, self._steps.of_nodes(nodes), self._period_year, merged),
            number=number,
            newcomers=NewcomersInput(self._newcomers.sd) if self._newcomers else None,
        )


def _number_of_years(period_year: Ids) -> int:
    return int(period_year.max(initial=-1)) + 1


def _first_variables(stride: int, quantities: int) -> Ids:
    """The variable of node 0 of each quantity, (quantities, 1), where a quantity has `stride` variables."""
    return np.int32(stride) * np.arange(quantities, dtype=np.int32)[:, np.newaxis]


def _of_quantities(nodes: Ids, offset: Ids) -> Ids:
    """Variables of nodes, (quantities, nodes); `offset` (quantities, 1): that of node 0 of each; -1 stays."""
    return np.where(nodes < 0, np.int32(-1), nodes + offset)


def _numbered(nodes: Ids, bounds: SliceRange, crosses: Mask, elsewhere: int) -> Ids:
    """Numbers in a slice of nodes of the timeline, `elsewhere` where they are in another one; -1 stays."""
    numbers = np.where(crosses, np.int32(elsewhere), nodes - bounds.node_offset)
    return np.where(nodes < 0, np.int32(-1), numbers)


def _flat(values: NDArray[Number]) -> NDArray[Number]:
    """Flatten (quantities, nodes) to variables, with a 0 for node 0 of each quantity."""
    quantities, nodes, *columns = values.shape
    variables = np.zeros((quantities, 1 + nodes, *columns), values.dtype)
    variables[:, 1:] = values
    return variables.reshape(-1, *columns)
