"""Equal games held once: the form in which the smoothing models go through a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.errors import DataError
from ttt_cli.timeline import Timeline

UNKNOWN: Final = 3  # added to an outcome whose colours are unknown, as in `kernels/colours.py`
OUTCOME_BITS: Final = 3  # of a code; the others tell the odds, as in `kernels/odds.py`
ODDS_LIMIT: Final = 1 << (8 - OUTCOME_BITS)

Number = TypeVar("Number", np.int32, np.float64)

PairArrays = tuple[
    NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8], NDArray[np.float64]
]


@dataclass(frozen=True)
class Pairs:
    """Distinct (node, node, outcome) with their weights, by period; arrays of shape (pairs,) but `start` (periods + 1).

    `outcome` is that of `first`, 3 more where the colours are unknown and count (`kernels/colours.py`), with the place
    of the odds in `odds`, Elo points, in its higher bits (`kernels/odds.py`). A weight w
    stands for w equal games; `balance` is the weight of those in which `first` had White less that of the others,
    and where colours are unknown that of the games if they count, else 0.
    """

    start: NDArray[np.int64]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    outcome: NDArray[np.uint8]
    weight: NDArray[np.float64]
    balance: NDArray[np.float64]
    odds: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)

    def none(self) -> Pairs:
        """The same periods without games."""
        return Pairs(
            np.zeros_like(self.start),
            self.first[:0],
            self.second[:0],
            self.outcome[:0],
            self.weight[:0],
            self.balance[:0],
            self.odds,
        )

    @property
    def arrays(self) -> PairArrays:
        """The columns in the order in which kernels take them."""
        return self.start, self.first, self.second, self.outcome, self.weight


def merge_games(timeline: Timeline, *, colours: bool) -> Pairs:
    """Hold equal games once; without `colours`, or when nobody knows them, a game and its mirror image are equal too.

    Inside a period neighbours are set apart (by a fixed stride): updates of one player's games wait for each other,
    and a processor that need not wait is a third faster.
    """
    from ttt_cli.kernels.layout import merge_pairs, sort_pairs

    known = colours and timeline.colours
    odds, place = odds_places(timeline)
    first, second, outcome = timeline.game_white, timeline.game_black, timeline.outcome
    balance = timeline.weight if colours or timeline.colours else np.zeros(1)
    if not known:
        swap = first > second
        balance = np.where(swap & timeline.colours, -1.0, 1.0) * balance
        first, second = np.minimum(first, second), np.maximum(first, second)
        outcome = np.where(swap, 2 - outcome, outcome)
        place = np.where(swap, -place % len(odds), place)
    ends = _own(first), _own(second), codes(outcome, place, known=known or not colours)
    order, spare = np.arange(timeline.n_games, dtype=np.int32), np.empty(timeline.n_games, np.int32)
    start = np.empty_like(timeline.game_start)
    pairs = sort_pairs(
        timeline.node_start, timeline.game_start, len(odds) << OUTCOME_BITS, *ends, order, spare, start
    )
    columns = (
        np.empty(pairs, np.int32),
        np.empty(pairs, np.int32),
        np.empty(pairs, np.uint8),
        np.empty(pairs),
        np.empty(pairs),
    )
    weight = _compact(timeline.weight)
    merge_pairs(timeline.game_start, *ends, weight, _compact(balance), order, start, *columns)
    return Pairs(start, *columns, odds)


def _compact(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """A column that may be written to; one entry of it where all are one."""
    return _own(column) if column.strides[0] or len(column) < 2 else column[:1].copy()


def _own(column: NDArray[Number]) -> NDArray[Number]:
    """A column that may be written to."""
    return column if column.flags.writeable else column.copy()


def odds_places(timeline: Timeline) -> tuple[NDArray[np.float64], NDArray[np.integer]]:
    """The odds there are, Elo points, and the place of each game's among them, shape (games,).

    None is at place 0, and the odds at place k are opposite to those at -k. Raises DataError when there are too many.
    """
    if not timeline.offset.any():
        return np.zeros(1), np.broadcast_to(np.uint8(0), timeline.n_games)
    given = np.unique(np.abs(timeline.offset))
    given = given[given > 0.0]
    odds = np.concatenate([[0.0], given, -given[::-1]])
    if len(odds) > ODDS_LIMIT:
        raise DataError(
            f"games are played at {len(given)} different odds, {ODDS_LIMIT // 2 - 1} are possible",
            hint="give similar odds the same worth in data.odds",
        )
    place = np.searchsorted(given, np.abs(timeline.offset)) + 1
    return odds, np.where(
        timeline.offset == 0.0, 0, np.where(timeline.offset > 0.0, place, len(odds) - place)
    )


def codes(outcome: NDArray[np.integer], place: NDArray[np.integer], *, known: bool) -> NDArray[np.uint8]:
    """Outcomes and places of odds as kernels take them; `known`: the colours."""
    return (outcome + (0 if known else UNKNOWN) + (place << OUTCOME_BITS)).astype(np.uint8)
