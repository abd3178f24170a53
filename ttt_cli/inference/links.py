"""Games as links: two players who meet, equal games merged into one with a weight.

This is the form in which the smoothing models process a timeline (`docs/architecture.md`).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

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
    | handicap | (games, 2) | Elo points, 1 | of `first`, and -1 on neutral ground |
    | | (0, 2) | | the same where no game has any |
    | colours | | | whether games that differ in colours alone are kept apart |
    """

    games: Pairings
    balance: Array
    handicap: Array
    colours: bool

    def __len__(self) -> int:
        return len(self.games.first)


def merge_games(timeline: Timeline, *, colours: bool) -> MergedGames:
    """Merge equal games; without `colours`, or if all are unknown, a game and its mirror image are equal too."""
    from ttt_cli.kernels.layout import merge_pairs, sort_pairs

    first = timeline.game_white
    second = timeline.game_black
    outcome = timeline.outcome
    offset = timeline.offset
    sides = timeline.distinct_sides
    counted = np.abs(sides) if colours else np.maximum(sides, 0)
    balance = timeline.weight if counted.all() else counted * timeline.weight
    if not colours or np.any(sides != KNOWN):
        swap = (first > second) & ((sides != KNOWN) | (not colours))
        balance = np.where(swap & (sides == KNOWN), -1.0, 1.0) * balance
        first, second = np.where(swap, second, first), np.where(swap, first, second)
        outcome = np.where(swap, 2 - outcome, outcome)
        offset = np.where(swap, -offset, offset) if offset.any() else offset
    handicaps, level = distinct_handicaps(offset, (sides == NEUTRAL) & colours)
    unknown = np.where((sides == UNKNOWN_SIDES) & colours, np.uint8(UNKNOWN), np.uint8(0))
    code = (outcome + unknown).astype(np.uint8)
    games = first, second, code, level
    order = np.arange(timeline.n_games, dtype=np.int32)
    if len(level):
        games_of_periods = np.diff(timeline.game_start)  # a slice has those of its own periods alone
        period = np.repeat(np.arange(len(games_of_periods)), games_of_periods)
        order = np.lexsort((code, level, period)).astype(np.int32)
    spare = np.empty(timeline.n_games, np.int32)
    start = np.empty_like(timeline.game_start)
    distinct = sort_pairs(timeline.node_start, timeline.game_start, *games, order, spare, start)
    ends = np.empty((2, distinct), np.int32)
    numbers = np.empty((2, distinct))
    levels = np.empty(distinct if len(level) else 0, np.int32)
    pairs = Pairings(start, ends[0], ends[1], np.empty(distinct, np.uint8), numbers[0])
    merge_pairs(timeline.game_start, *games, timeline.weight, balance, order, pairs, numbers[1], levels)
    return MergedGames(pairs, numbers[1], handicaps[levels], colours)


def distinct_handicaps(offset: Array, neutral: Mask | bool) -> tuple[Array, Ids]:
    """The distinct handicaps (levels, 2), as in `MergedGames`, none first, and the level (games,) of each game.

    There are no levels where no game has a handicap.
    """
    if not (offset.any() or np.any(neutral)):
        return np.zeros((0, 2)), np.empty(0, np.int32)
    points, point = np.unique(np.append(0.0, offset), return_inverse=True)
    on_neutral_ground = np.append(False, np.broadcast_to(neutral, len(offset)))
    kinds, level = np.unique(
        np.where(point == point[0], -2, 2 * point) + on_neutral_ground, return_inverse=True
    )
    handicaps = np.stack([np.where(kinds < 0, 0.0, points[kinds // 2]), -1.0 * (kinds % 2)], axis=1)
    return handicaps, level[1:].astype(np.int32)


def points_given(handicap: Array, unit: float, advantage: float) -> Array:
    """What is added to `first`'s skill besides White's `advantage`, points, with so many to an Elo point (`unit`)."""
    return np.asarray(unit * handicap[:, 0] + advantage * handicap[:, 1])


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


@dataclass(frozen=True)
class LinkedGames:
    """Games as links of any number of variables, which stand beside the games of two players of a timeline.

    Variables are the skills of the timeline's nodes, then the extra ones: those with chains, then performances. A link
    has variables of its own period only.
    """

    rows: LinkRows
    extra: ExtraVariables

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
