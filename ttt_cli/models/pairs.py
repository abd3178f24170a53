"""Equal games held once: the form in which the smoothing models go through a timeline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttt_cli.timeline import Timeline

UNKNOWN = 3  # added to an outcome whose colours are unknown, as in `kernels/colours.py`
_STRIDE = 2654435761  # prime


PairArrays = tuple[
    NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int8], NDArray[np.float64]
]


@dataclass(frozen=True)
class Pairs:
    """Distinct (node, node, outcome) with their weights, by period; arrays of shape (pairs,) but `start` (periods + 1).

    `outcome` is that of `first`, 3 more where the colours are unknown and count (`kernels/colours.py`). A weight w
    stands for w equal games; `balance` is the weight of those in which `first` had White less that of the others,
    and where colours are unknown that of the games if they count, else 0.
    """

    start: NDArray[np.int64]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]
    balance: NDArray[np.float64]

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
    white = timeline.game_white.astype(np.int64)
    black = timeline.game_black.astype(np.int64)
    outcome = timeline.outcome.astype(np.int64)
    turned = np.full(timeline.n_games, float(colours or timeline.colours))
    known = colours and timeline.colours
    if not known:
        swap = white > black
        turned[swap & timeline.colours] = -1.0
        white, black = np.where(swap, black, white), np.where(swap, white, black)
        outcome = np.where(swap, 2 - outcome, outcome)
    nodes = max(timeline.n_nodes, 1)
    keys, index = np.unique((white * nodes + black) * 3 + outcome, return_inverse=True)
    weight = np.bincount(index, timeline.weight, minlength=len(keys)).astype(np.float64)
    balance = np.bincount(index, turned * timeline.weight, minlength=len(keys)).astype(np.float64)
    ends = keys // 3
    first = ends // nodes
    start = np.searchsorted(first, timeline.node_start).astype(np.int64)
    order = _strided(start)
    return Pairs(
        start=start,
        first=first[order].astype(np.int32),
        second=(ends % nodes)[order].astype(np.int32),
        outcome=(keys % 3 + (UNKNOWN if colours and not known else 0))[order].astype(np.int8),
        weight=weight[order],
        balance=balance[order],
    )


def _strided(start: NDArray[np.int64]) -> NDArray[np.int64]:
    """A permutation of range(start[-1]) that keeps every block start[p]..start[p + 1] to itself."""
    sizes = np.diff(start)
    begin = np.repeat(start[:-1], sizes)
    size = np.repeat(sizes, sizes)
    strided: NDArray[np.int64] = begin + (np.arange(start[-1]) - begin) * _STRIDE % size
    return strided
