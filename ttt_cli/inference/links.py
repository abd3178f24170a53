"""Equal games merged into one with a weight: the form in which the smoothing models process a timeline."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.ep.structures import Pairings
from ttt_cli.support.arrays import Array, Mask
from ttt_cli.support.errors import DataError
from ttt_cli.timeline import KNOWN, NEUTRAL, Timeline
from ttt_cli.timeline import UNKNOWN as UNKNOWN_SIDES

UNKNOWN: Final = 3  # added to an outcome whose colours are unknown, as in `kernels/codes.py`
OUTCOME_BITS: Final = 3  # of a code; the others tell the handicap, as in `kernels/codes.py`
MOST_HANDICAPS: Final = 1 << (8 - OUTCOME_BITS)


@dataclass(frozen=True)
class MergedGames:
    """Distinct (node, node, code) with their weights, by period.

    | name | shape | unit | |
    |---|---|---|---|
    | games | | | as kernels take them; a weight w means w equal games |
    | balance | (games,) | games | the weight of those in which `first` had White less that of the others |
    | | | | where colours are unknown their weight, 0 if these do not count and on neutral ground |
    | handicap | (places, 2) | Elo points, 1 | of `first`, by the place in a code, and -1 on neutral ground |
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
    handicap, place = handicap_places(offset, (sides == NEUTRAL) & colours)
    unknown = np.where((sides == UNKNOWN_SIDES) & colours, np.uint8(UNKNOWN), np.uint8(0))
    code = (outcome + unknown + (place << OUTCOME_BITS)).astype(np.uint8)
    games = first, second, code
    order = np.arange(timeline.n_games, dtype=np.int32)
    spare = np.empty(timeline.n_games, np.int32)
    start = np.empty_like(timeline.game_start)
    distinct = sort_pairs(
        timeline.node_start, timeline.game_start, len(handicap) << OUTCOME_BITS, *games, order, spare, start
    )
    ends = np.empty((2, distinct), np.int32)
    numbers = np.empty((2, distinct))
    pairs = Pairings(start, ends[0], ends[1], np.empty(distinct, np.uint8), numbers[0])
    merge_pairs(timeline.game_start, *games, timeline.weight, balance, order, pairs, numbers[1])
    return MergedGames(pairs, numbers[1], handicap, colours)


def handicap_places(offset: Array, neutral: Mask | bool) -> tuple[Array, NDArray[np.integer]]:
    """The handicaps there are, 0 first, and the place of each game's, (games,). Raises DataError when too many."""
    if not (offset.any() or np.any(neutral)):
        return np.zeros((1, 2)), np.broadcast_to(np.uint8(0), len(offset))
    points, point = np.unique(np.append(0.0, offset), return_inverse=True)
    back = np.append(False, np.broadcast_to(neutral, len(offset)))
    kinds, place = np.unique(np.where(point == point[0], -2, 2 * point) + back, return_inverse=True)
    handicap = np.stack([np.where(kinds < 0, 0.0, points[kinds // 2]), -1.0 * (kinds % 2)], axis=1)
    if len(handicap) > MOST_HANDICAPS:
        raise DataError(
            f"games are played at {len(handicap) - 1} different odds, {MOST_HANDICAPS - 1} are possible",
            hint="give similar odds the same worth in data.odds",
        )
    return handicap, place[1:]


def points_given(handicap: Array, unit: float, advantage: float) -> Array:
    """What is added to `first`'s skill besides White's `advantage`, points, with so many to an Elo point (`unit`)."""
    return np.asarray(unit * handicap[:, 0] + advantage * handicap[:, 1])
