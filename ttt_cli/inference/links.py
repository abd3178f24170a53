"""Games as links: two players who meet, equal games merged into one with a weight.

This is the form in which the smoothing models process a timeline (`docs/architecture.md`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.ep.structures import LinkRows, Pairings
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.timeline import KNOWN, NEUTRAL, Timeline
from ttt_cli.timeline import UNKNOWN as UNKNOWN_SIDES

UNKNOWN: Final = 3  # added to an outcome whose colours are unknown, as in `kernels/outcomes.py`


@dataclass(frozen=True)
class MergedGames:
    """Distinct games of two players with their weights, by period.

    | name | shape | unit | |
    |---|---|---|---|
    | games | | | as kernels take them; a weight w means w equal games |
    | balance | (games,) | games | the weight of those in which `first` had White less that of the others |
    | | | | where colours are unknown their weight, 0 if these do not count and on neutral ground |
    | handicap | (games, 2 + terms) | Elo points, 1, ... | of `first`, -1 on neutral ground, values of covariates |
    | | (0, 2 + terms) | | the same where no game has any |
    | colours | | | whether games that differ in colours alone are kept apart |
    | terms | | | covariates that count |
    """

    games: Pairings
    balance: Array
    handicap: Array
    colours: bool
    terms: tuple[str, ...] = ()

    @property
    def balance_for_slopes(self) -> Array:
        """The balance where covariates are estimated together with White's advantage, else nothing."""
        return self.balance if self.terms else np.empty(0)

    def __len__(self) -> int:
        return len(self.games.first)


class OrientedGames(NamedTuple):
    """Games before merging, (games,) each: of those that count as equal to their mirror image one of the two.

    | name | unit | |
    |---|---|---|
    | first, second | | nodes |
    | outcome | | of `first` |
    | offset | Elo points | added to the skill of `first` |
    | balance | games | weight with the sign of White's advantage for `first`, as in `MergedGames` |
    | covariates | | of `first`, (games, terms) |
    """

    first: Ids
    second: Ids
    outcome: NDArray[np.integer]
    offset: Array
    balance: Array
    covariates: Array


def merge_games(timeline: Timeline, *, colours: bool, terms: tuple[str, ...] = ()) -> MergedGames:
    """Merge equal games; without `colours`, or if all are unknown, a game and its mirror image are equal too.

    Games with different values of the covariates `terms` are different.
    """
    from ttt_cli.kernels.layout import merge_pairs, sort_pairs

    sides = timeline.distinct_sides
    oriented = _oriented(timeline, sides, timeline.covariate_columns(terms), colours=colours)
    handicaps, level = distinct_handicaps(oriented.offset, (sides == NEUTRAL) & colours, oriented.covariates)
    unknown = np.where((sides == UNKNOWN_SIDES) & colours, np.uint8(UNKNOWN), np.uint8(0))
    code = (oriented.outcome + unknown).astype(np.uint8)
    games = oriented.first, oriented.second, code, level
    order = _order(timeline, code, level)
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
    levels = np.empty(distinct if len(level) else 0, np.int32)
    merge_pairs(timeline.game_start, *games, timeline.weight, oriented.balance, order, pairs, balance, levels)
    return MergedGames(pairs, balance, handicaps[levels], colours, terms)


def _oriented(
    timeline: Timeline, sides: NDArray[np.int8], covariates: Array, *, colours: bool
) -> OrientedGames:
    """Games with the smaller node first where colours do not count or are unknown, else with White first."""
    first = timeline.game_white
    second = timeline.game_black
    outcome = timeline.outcome
    offset = timeline.offset
    counted = np.abs(sides) if colours else np.maximum(sides, 0)
    balance = timeline.weight if counted.all() else counted * timeline.weight
    if colours and np.all(sides == KNOWN):
        return OrientedGames(first, second, outcome, offset, balance, covariates)
    swap = (first > second) & ((sides != KNOWN) | (not colours))
    return OrientedGames(
        first=np.where(swap, second, first),
        second=np.where(swap, first, second),
        outcome=np.where(swap, 2 - outcome, outcome),
        offset=np.where(swap, -offset, offset) if offset.any() else offset,
        balance=np.where(swap & (sides == KNOWN), -1.0, 1.0) * balance,
        covariates=np.where(swap[:, np.newaxis], -covariates, covariates),
    )


def _order(timeline: Timeline, code: NDArray[np.uint8], level: Ids) -> Ids:
    """Games in the order from which `sort_pairs` sorts on: by level and code within periods, if there are levels."""
    if not len(level):
        return np.arange(timeline.n_games, dtype=np.int32)
    games_of_periods = np.diff(timeline.game_start)  # a slice has those of its own periods alone
    period = np.repeat(np.arange(len(games_of_periods)), games_of_periods)
    return np.lexsort((code, level, period)).astype(np.int32)


def distinct_handicaps(offset: Array, neutral: Mask | bool, covariates: Array) -> tuple[Array, Ids]:
    """The distinct handicaps (levels, 2 + terms), as in `MergedGames`, and the level (games,) of each game.

    `covariates`: (games, terms). There are no levels where no game has a handicap.
    """
    if not covariates.any():
        handicaps, level = _distinct_without_covariates(offset, neutral)
        return np.hstack([handicaps, np.zeros((len(handicaps), covariates.shape[1]))]), level
    by_advantage = np.broadcast_to(-1.0 * np.asarray(neutral), len(offset))
    handicaps = np.column_stack([offset, by_advantage, covariates]) + 0.0  # -0 is 0
    number = np.zeros(len(offset), np.int64)
    first = np.zeros(1, np.int64)
    for column in handicaps.T:
        values, value = np.unique(column, return_inverse=True)
        _, first, number = np.unique(number * len(values) + value, return_index=True, return_inverse=True)
    return handicaps[first], number.astype(np.int32)


def _distinct_without_covariates(offset: Array, neutral: Mask | bool) -> tuple[Array, Ids]:
    """The distinct handicaps (levels, 2), as in `MergedGames`, none first, and the level (games,) of each game.

    There are no levels where no game has a handicap.
    """
    if not (offset.any() or np.any(neutral)):
        return np.zeros((0, 2)), np.empty(0, np.int32)
    offsets, index = np.unique(np.append(0.0, offset), return_inverse=True)
    has_none = index == index[0]
    on_neutral_ground = np.append(False, np.broadcast_to(neutral, len(offset)))
    # a code for each handicap: twice the index of its offset, or -2 to come first, and 1 more on neutral ground
    codes, level = np.unique(np.where(has_none, -2, 2 * index) + on_neutral_ground, return_inverse=True)
    points = np.where(codes < 0, 0.0, offsets[codes // 2])
    by_advantage = -1.0 * (codes % 2)
    return np.stack([points, by_advantage], axis=1), level[1:].astype(np.int32)


def points_given(handicap: Array, unit: float, advantage: float, covariates: Sequence[float] = ()) -> Array:
    """What is added to `first`'s skill besides White's `advantage`, points, with so many to an Elo point (`unit`).

    `covariates`: points per unit of each.
    """
    points: Array = unit * handicap[:, 0] + advantage * handicap[:, 1]
    for number, points_per_unit in enumerate(covariates, 2):
        points += points_per_unit * handicap[:, number]
    return points


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
        return len(self.previous) + int(self.performances[-1])


class VariablePairs(NamedTuple):
    """Pairs of variables, (pairs,) each."""

    first: NDArray[np.integer]
    second: NDArray[np.integer]


NO_PAIRS: Final = VariablePairs(np.empty(0, np.int32), np.empty(0, np.int32))


class CategoryGames(NamedTuple):
    """Links that are games of two players in a category: which games they are, so that draw margins can move.

    | name | shape | |
    |---|---|---|
    | merged | | the games in the order of the links; `first` and `second` are chained variables, offsets of players |
    | node | (chained,) | the node of each chained variable; the skill in the category is the sum of both |
    """

    merged: MergedGames
    node: Ids


@dataclass(frozen=True)
class LinkedGames:
    """Games as links of any number of variables, which stand beside the games of two players of a timeline.

    Variables are the skills of the timeline's nodes, then the extra ones: those with chains, then performances. A link
    has variables of its own period only. `reported` are pairs of variables with a covariance that a fit reports.
    `category_games`: what the links are if all of them are games in categories.
    """

    rows: LinkRows
    extra: ExtraVariables
    reported: VariablePairs = NO_PAIRS
    category_games: CategoryGames | None = None

    def __len__(self) -> int:
        return len(self.rows.weight)


def no_extra_variables(periods: int) -> ExtraVariables:
    """No variables but those of nodes."""
    start = np.zeros(periods + 1, np.int64)
    return ExtraVariables(
        start, np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0), np.empty(0), start
    )


def links_by_period(period: Ids, periods: int, rows: LinkRows) -> LinkRows:
    """Sort links by the index of their period, (links,), and keep their order within it; `rows.start` is not used."""
    order = np.argsort(period, kind="stable")
    length = np.diff(rows.row)
    row = np.append(0, np.cumsum(length[order])).astype(np.int64)
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
    )
