"""Games as the smoothing models process them: those of two players merged, others as links of any number of variables.

Equal games of two players are merged into one with a weight. A link is a row of coefficients over variables.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.inference.victory import NO_INTERVALS, Intervals, intervals_of, outcomes_for_kernels
from ttt_cli.kernels.ep.structures import LinkRows, Pairings
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.timeline import KNOWN, NEUTRAL, UNKNOWN, Timeline

# Added to an outcome whose colours are unknown, as in `kernels/outcomes.py`
UNKNOWN_CODE: Final = 3


@dataclass(frozen=True)
class MergedGames:
    """Distinct games of two players with their weights, by period.

    | name | shape | unit | |
    |---|---|---|---|
    | games | | | as kernels take them; a weight w means w equal games |
    | balance | (games,) | games | weight of the games in which `first` had White less that of those with Black |
    | handicap | (games, 2 + terms) | | see below; (0, 2 + terms) where no game has a handicap |
    | colours | | | whether games that differ in colours alone are kept apart |
    | terms | | | covariates that count |
    | thresholds | | | margins of victory at which intervals begin, in increasing order |
    | interval | (games,) | | how wide a win was (`inference/victory.py`); none without thresholds |
    | doubt | (games,) | | probability that the record says nothing about skills; none where all records are right |

    A win in an interval between two ends has the code of a draw. In `balance` games with unknown colours count with
    their whole weight if colours matter, else with 0; games on neutral ground count with 0. Columns of `handicap`: 0:
    Elo points given to `first`; 1: -1 where White's advantage does not apply, else 0; from 2 on: the values of
    covariates for `first`.
    """

    games: Pairings
    balance: Array
    handicap: Array
    colours: bool
    terms: tuple[str, ...] = ()
    thresholds: tuple[int, ...] = ()
    interval: Intervals = field(default_factory=lambda: NO_INTERVALS)
    doubt: Array = field(default_factory=lambda: np.empty(0))

    @property
    def balance_for_slopes(self) -> Array:
        """The balance where covariates or margins are estimated together with White's advantage, else nothing."""
        return self.balance if self.terms or self.thresholds else np.empty(0)

    def __len__(self) -> int:
        return len(self.games.first)


class OrientedGames(NamedTuple):
    """Games before merging, (games,) each. A game that equals its mirror image is stored in one orientation only.

    | name | unit | |
    |---|---|---|
    | first, second | | nodes |
    | outcome | | of `first` |
    | offset | Elo points | added to the skill of `first` |
    | balance | games | weight with the sign of White's advantage for `first`, as in `MergedGames` |
    | columns | | of `first`, (games, columns), as `_merged_columns` makes them |
    """

    first: Ids
    second: Ids
    outcome: NDArray[np.integer]
    offset: Array
    balance: Array
    columns: Array


def merge_games(
    timeline: Timeline,
    *,
    colours: bool,
    terms: tuple[str, ...] = (),
    thresholds: tuple[int, ...] = (),
) -> MergedGames:
    """Merge equal games; without `colours`, or if all are unknown, a game and its mirror image are equal too.

    Games with different values of the covariates `terms`, with records that are right with different probabilities,
    and in different intervals by the `thresholds` of margins of victory, are different.
    """
    from ttt_cli.kernels.layout import merge_pairs, sort_pairs

    owners = timeline.distinct_owners
    columns = _merged_columns(timeline, terms, thresholds)
    oriented = _oriented(timeline, owners, columns, colours=colours)
    handicap_of_game = _handicaps(oriented.offset, (owners == NEUTRAL) & colours, oriented.columns)
    unknown = np.where((owners == UNKNOWN) & colours, np.uint8(UNKNOWN_CODE), np.uint8(0))
    outcome = oriented.outcome
    if thresholds:
        outcome = outcomes_for_kernels(outcome, oriented.columns[:, -1], len(thresholds))
    code = (outcome + unknown).astype(np.uint8)
    handicaps = _number_handicaps(timeline, oriented, handicap_of_game, code)
    games = oriented.first, oriented.second, code, handicaps.number
    order = handicaps.order
    spare = np.empty(timeline.n_games, np.int32)
    start = np.empty_like(timeline.game_start)
    distinct = sort_pairs(timeline.node_start, timeline.game_start, *games, order, spare, start)
    pairs = Pairings(
        start,
        first=np.empty(distinct, np.int32),
        second=np.empty(distinct, np.int32),
        code=np.empty(distinct, np.uint8),
        weight=np.empty(distinct),
    )
    balance = np.empty(distinct)
    # a game with the handicap of each distinct game
    merged_index = np.empty(distinct if len(handicaps.number) else 0, np.int32)
    merge_pairs(
        timeline.game_start,
        *games,
        timeline.weight,
        oriented.balance,
        order,
        pairs,
        balance,
        merged_index,
    )
    separated = _separated(
        np.take(handicap_of_game, merged_index, axis=0),  # half the time of an index
        distinct,
        with_doubt=timeline.doubt is not None,
        with_intervals=bool(thresholds),
    )
    return MergedGames(
        pairs,
        balance,
        separated.handicap,
        colours,
        terms,
        thresholds,
        separated.interval,
        separated.doubt,
    )


class _Separated(NamedTuple):
    """Columns that are merged as one array: handicaps, as in `MergedGames`; doubt and intervals, (games,) or (0,)."""

    handicap: Array
    doubt: Array
    interval: Intervals


def _merged_columns(
    timeline: Timeline, terms: tuple[str, ...], thresholds: tuple[int, ...]
) -> Array:
    """Columns that keep games apart and change sign with the sides: (games, terms), then doubt, then intervals.

    Doubt is there if the timeline has any, intervals if there are thresholds. `_separated` takes them out again.
    """
    columns = timeline.covariate_columns(terms)
    if timeline.doubt is not None:
        columns = np.column_stack([columns, timeline.doubt])
    if thresholds:
        columns = np.column_stack([columns, intervals_of(timeline, thresholds)])
    return columns


def _separated(
    columns: Array, n_games: int, *, with_doubt: bool, with_intervals: bool
) -> _Separated:
    """Take apart `columns`, (games, ...): those of a handicap, then those of `_merged_columns`.

    Without any value but 0 `columns` have no rows, and intervals of the `n_games` games are 0.
    """
    doubt = np.empty(0)
    interval = NO_INTERVALS
    if with_intervals:
        interval = np.zeros(n_games, np.int8)
        interval[: len(columns)] = columns[:, -1]
        columns = columns[:, :-1]
    if with_doubt:
        doubt = np.abs(columns[:, -1])  # its sign is that of the sides
        columns = columns[:, :-1]
    return _Separated(columns, doubt, interval)


def _oriented(
    timeline: Timeline, owners: NDArray[np.int8], columns: Array, *, colours: bool
) -> OrientedGames:
    """Games with the smaller node first where sides are equal, others with White first.

    Sides are equal in all games without `colours`, else where colours are unknown or the ground is neutral. Changes
    `columns`.
    """
    first = timeline.game_white
    second = timeline.game_black
    outcome = timeline.outcome
    offset = timeline.offset
    counts_in_balance = owners != NEUTRAL if colours else owners == KNOWN
    balance = timeline.weight if counts_in_balance.all() else counts_in_balance * timeline.weight
    if colours and np.all(owners == KNOWN):
        return OrientedGames(first, second, outcome, offset, balance, columns)
    equals_mirror_image = (owners != KNOWN) | (not colours)
    swap = (first > second) & equals_mirror_image
    np.negative(columns, out=columns, where=swap[:, np.newaxis])
    return OrientedGames(
        first=np.where(swap, second, first),
        second=np.where(swap, first, second),
        outcome=np.where(swap, 2 - outcome, outcome),
        offset=np.where(swap, -offset, offset) if offset.any() else offset,
        balance=np.where(swap & (owners == KNOWN), -1.0, 1.0) * balance,
        columns=columns,
    )


def _handicaps(offset: Array, neutral: Mask | bool, columns: Array) -> Array:
    """Handicaps of games, (games, 2 + columns) as in `MergedGames`; (0, 2 + columns) where no game has any.

    `columns` (games, columns): those after the first two.
    """
    handicap = np.empty((len(offset), 2 + columns.shape[1]))
    if not (columns.any() or np.any(neutral) or offset.any()):
        return handicap[:0]
    handicap[:, 0] = offset
    handicap[:, 1] = -1.0 * np.asarray(neutral)
    handicap[:, 2:] = columns
    handicap += 0.0  # -0 is 0
    return handicap


class _NumberedHandicaps(NamedTuple):
    """Numbers of handicaps, none where no game has any, and the order from which `sort_pairs` sorts on, (games,) each.

    The number of a handicap is a game that has it. `order` has equal games side by side, inside periods.
    """

    number: Ids
    order: Ids


def _number_handicaps(
    timeline: Timeline, games: OrientedGames, handicap: Array, code: NDArray[np.uint8]
) -> _NumberedHandicaps:
    """Number the handicaps, and sort games inside periods by them and by code, as far as it matters.

    Only games of two nodes that have another game may be equal; others are neither compared nor sorted.
    """
    number = np.arange(timeline.n_games if len(handicap) else 0, dtype=np.int32)
    order = np.arange(timeline.n_games, dtype=np.int32)
    if not len(handicap):
        return _NumberedHandicaps(number, order)
    repeated = _games_of_repeated_pairs(timeline, games)
    games_of_periods = np.diff(timeline.game_start)  # a slice has those of its own periods alone
    period = np.repeat(np.arange(len(games_of_periods), dtype=np.int32), games_of_periods)[repeated]
    rows = handicap[repeated]
    by_handicap = np.lexsort((code[repeated], *rows.T[::-1], period))
    in_order = repeated[by_handicap]
    rows = rows[by_handicap]
    period = period[by_handicap]
    is_new = np.ones(len(repeated), np.bool_)
    is_new[1:] = (rows[1:] != rows[:-1]).any(axis=1) | (period[1:] != period[:-1])
    number[in_order] = in_order[is_new][np.cumsum(is_new) - 1]
    order[repeated] = in_order
    return _NumberedHandicaps(number, order)


def _games_of_repeated_pairs(timeline: Timeline, games: OrientedGames) -> Ids:
    """Games, ascending, of two nodes that have another game."""
    from ttt_cli.kernels.layout import sort_pairs

    order = np.arange(timeline.n_games, dtype=np.int32)
    spare = np.empty_like(order)
    no_code = np.zeros(timeline.n_games, np.uint8)
    no_handicap = np.empty(0, np.int32)
    sort_pairs(
        timeline.node_start, timeline.game_start, games.first, games.second, no_code, no_handicap,
        order, spare, np.empty_like(timeline.game_start),
    )  # fmt: skip
    first = games.first[order]
    second = games.second[order]
    is_as_before = (first[1:] == first[:-1]) & (second[1:] == second[:-1])
    has_another = np.append(is_as_before, False) | np.append(False, is_as_before)
    return np.sort(order[has_another])


def points_given(
    handicap: Array, unit: float, advantage: float, covariates: Sequence[float] = ()
) -> Array:
    """What is added to `first`'s skill besides White's `advantage`, points, with so many to an Elo point (`unit`).

    `covariates`: points per unit of each.
    """
    points: Array = unit * handicap[:, 0] + advantage * handicap[:, 1]
    for number, points_per_unit in enumerate(covariates, 2):
        points += points_per_unit * handicap[:, number]
    return points


class HandicapSlopes(NamedTuple):
    """Slopes of the log-evidence in what `points_given` depends on.

    | name | shape | |
    |---|---|---|
    | elo_unit | | in the logarithm of an Elo point |
    | covariates | (terms,) | in the points per unit of each |
    """

    elo_unit: float
    covariates: Array


def handicap_slopes(handicap: Array, by_offset: Array, elo_unit: float) -> HandicapSlopes:
    """The slopes by those in what is added to the skill of `first` in each game, `by_offset` (games,)."""
    of_handicaps = by_offset[: len(handicap)]  # `handicap` is empty where no game has any
    return HandicapSlopes(
        float(points_given(handicap, elo_unit, 0.0) @ of_handicaps), of_handicaps @ handicap[:, 2:]
    )


@dataclass(frozen=True)
class ExtraVariables:
    """Variables beside those of nodes: quantities with chains of their own, and performances.

    A chain is as that of a player: its first variable has a prior, the others a step from the one before. Performances
    have neither: each is defined by a link that is an exact observation of the sum of its members less the performance.

    | name | shape | unit | |
    |---|---|---|---|
    | chained | (periods + 1,) | | the first chained variable of each period, and the end of the last |
    | previous, following | (chained,) | | neighbours in the chain, -1 at its ends |
    | mean | (chained,) | points | of the change since the variable before; at the first of a chain, of the prior |
    | variance | (chained,) | points^2 | of the same |
    | performances | (periods + 1,) | | the first performance of each period, and the end of the last |
    """

    chained: Places
    previous: Ids
    following: Ids
    mean: Array
    variance: Array
    performances: Places

    def __len__(self) -> int:
        return len(self.previous) + self.n_performances

    @property
    def n_performances(self) -> int:
        """Number of performances."""
        return int(self.performances[-1])


class VariablePairs(NamedTuple):
    """Pairs of variables, (pairs,) each."""

    first: NDArray[np.integer]
    second: NDArray[np.integer]


NO_PAIRS: Final = VariablePairs(np.empty(0, np.int32), np.empty(0, np.int32))


class SharedParts(NamedTuple):
    """The chained variable that an offset shares with those of other categories, and what multiplies it, (chained,)."""

    variable: Ids
    loading: Array


class CategoryGames(NamedTuple):
    """Links that are games of two players in a category: which games they are, so that draw margins can move.

    The skill in the category is the sum of the skill at the node, the offset, and its shared part if it has one.

    | name | shape | |
    |---|---|---|
    | merged | | the games in the order of the links; `first` and `second` are chained variables, offsets of players |
    | node | (chained,) | the node of each chained variable |
    | shared | | shared parts of offsets, None where offsets are independent |
    """

    merged: MergedGames
    node: Ids
    shared: SharedParts | None = None


class LoadingEntries(NamedTuple):
    """Entries of links that have shared parts of offsets, (entries,) each: their number, link, and category.

    `categories`: the number of categories.
    """

    entry: Places
    link: Places
    category: Places
    categories: int


class LinkDesign(NamedTuple):
    """How the numbers of links follow from the parameters of play, (links,) each where nothing else is said.

    | name | shape | unit | |
    |---|---|---|---|
    | noise | | 2 beta^2 | variance of the noise |
    | low, high | | draw margins | ends of the interval, perhaps infinite |
    | low_steps, high_steps | (links, steps) | | how often each step between margins of victory is in the ends |
    | advantage | | | times White's advantage in the offset: 1 or 0 |
    | handicap | | Elo points | in the offset |
    | covariates | (links, terms) | | values, in the offset times the points per unit |
    | drawn, decided | | | 1 of games that were drawn, or that were not, else 0; both are 0 of exact observations. |
    | | | | A win by a margin of victory counts as the share of these among wins with known margins |
    | doubt | | | probability that the record of a game is wrong, 0 of exact observations |
    """

    noise: Array
    low: Array
    high: Array
    low_steps: Array
    high_steps: Array
    advantage: Array
    handicap: Array
    covariates: Array
    drawn: Array
    decided: Array
    doubt: Array


@dataclass(frozen=True)
class LinkedGames:
    """Games as links of any number of variables, which stand beside the games of two players of a timeline.

    Variables are the skills of the timeline's nodes, then the extra ones: those with chains, then performances. A link
    has variables of its own period only. `reported` are pairs of variables with a covariance that a fit reports.
    `category_games`: what the links are if all of them are games in categories; `design`: how their numbers follow
    from the parameters of play, of links that are no such games. `loadings`: where links have shared parts of offsets.
    """

    rows: LinkRows
    extra: ExtraVariables
    reported: VariablePairs = NO_PAIRS
    category_games: CategoryGames | None = None
    design: LinkDesign | None = None
    loadings: LoadingEntries | None = None

    def __len__(self) -> int:
        return len(self.rows.weight)


def no_extra_variables(periods: int) -> ExtraVariables:
    """No variables but those of nodes."""
    start = np.zeros(periods + 1, np.int64)
    return ExtraVariables(
        start, np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0), np.empty(0), start
    )


def order_by_period(period: Ids) -> Places:
    """The order of links by the index of their period, (links,)."""
    return np.argsort(period, kind="stable")


def links_by_period(period: Ids, periods: int, rows: LinkRows) -> LinkRows:
    """Sort links by the index of their period, (links,), and keep their order within it; `rows.start` is not used."""
    order = order_by_period(period)
    length = np.diff(rows.row)
    row = np.append(0, np.cumsum(length[order])).astype(np.int64)
    # the entries of row i in the new order are those from `rows.row[order[i]]` on
    entry = np.arange(row[-1]) + np.repeat(rows.row[:-1][order] - row[:-1], length[order])
    return LinkRows(
        start=np.append(0, np.cumsum(np.bincount(period, minlength=periods))).astype(np.int64),
        row=row,
        variable=rows.variable[entry],
        coefficient=rows.coefficient[entry],
        offset=rows.offset[order],
        noise=rows.noise[order],
        low=rows.low[order],
        high=rows.high[order],
        weight=rows.weight[order],
        lapse=rows.lapse[order],
        base=rows.base[order],
    )
