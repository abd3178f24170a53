"""Step length and remaining error of joint expectation propagation, from successive moves of all marginals."""

import math
from collections import deque
from typing import Final

import numpy as np

from ttt_cli.inference.solver import largest
from ttt_cli.support.arrays import Array

# Steps become shorter where r, the part of the last move in this one, is below this
OVERSHOT: Final = -0.25
LEAST_SHARE: Final = 0.4  # step lengths are at least this share of the full way
STEEPEST: Final = -3.0  # l is taken to be at least this
# Estimates of the error are multiplied by DOUBT, since fast moves hide slow ones. That by the sum of further moves is
# multiplied by EARLY_DOUBT while there are fewer than RECENT rates, or fewer than LONG moves and a rate above SMALL.
DOUBT: Final = 3.0
EARLY_DOUBT: Final = 10.0
LONG: Final = 8
SMALL: Final = 0.3
RECENT: Final = 3  # the largest of so many rates counts
TOGETHER: Final = 5  # moves that the marginals are extrapolated from
# This part of the sum of squares of moves is added to the diagonal of their products
REGULAR: Final = 1e-14


class Damping:
    """Step length of the sites, and the remaining error, from successive moves of all marginals.

    Moves below `least` points count as rounding. Moves of means and of sds may be large in turn, so the error is at
    least the larger of the last two moves; with `evidence_only` at least `DOUBT` times the last one.

    D and D' are successive moves, d the step length (`share`). Undamped, D' would be about l D with l = 1 - (1 - r) / d
    and r = D'.D / |D|^2. Where moves reverse, d becomes 2 / (2 - l), optimal for ratios between l and 0.
    """

    def __init__(self, least: float, *, evidence_only: bool = False) -> None:
        self.share = 1.0
        self.change = math.inf
        self._least = least
        self._evidence_only = evidence_only
        self._changes: list[float] = []
        self._moves: deque[Array] = deque(maxlen=TOGETHER)

    def after(self, move: Array) -> float:
        """Record a move (2, variables) and return the estimated largest remaining error, points."""
        change = largest(move)
        self.change = change if change > self._least else 0.0
        self._changes.append(self.change)
        if self._moves:
            self._shorten(move, self._moves[-1])
        if len(self._changes) == 2:  # the first led from another posterior
            self._moves.clear()
        self._moves.append(move)
        return self._remaining_error()

    def _shorten(self, move: Array, last: Array) -> None:
        """Take shorter steps where this move reverses the last one."""
        size = float(np.vdot(last, last))
        if size <= 0.0:
            return
        part_of_last = float(np.vdot(move, last)) / size  # r
        if part_of_last < OVERSHOT:
            undamped_part = max(1.0 - (1.0 - part_of_last) / self.share, STEEPEST)  # l
            self.share = min(self.share, max(LEAST_SHARE, 2.0 / (2.0 - undamped_part)))

    def _remaining_error(self) -> float:
        """The largest of three estimates: recent moves, the geometric sum of further moves, and the extrapolation."""
        if len(self._changes) < 3:
            return math.inf
        changes = np.array(self._changes[-RECENT - 2 :])  # 3 to RECENT + 2 of them
        larger_of_two = np.maximum(changes[:-1], changes[1:])  # one fewer, of moves in turn
        if larger_of_two[-1] == 0.0:
            return 0.0
        # 1 to RECENT of them; moves that counted as rounding were as large as rounding may be
        rates = larger_of_two[1:] / np.maximum(larger_of_two[:-1], self._least)
        rate = rates.max()
        if rate >= 1.0:
            return math.inf
        is_reliable = len(rates) == RECENT and (len(self._changes) >= LONG or rate < SMALL)
        doubt = DOUBT if is_reliable else EARLY_DOUBT
        by_recent_moves = DOUBT * self.change if self._evidence_only else larger_of_two[-1]
        by_further_moves = larger_of_two[-1] * (doubt * rate / (1.0 - rate))
        by_extrapolation = DOUBT * self._extrapolated()
        return float(max(by_recent_moves, by_further_moves, by_extrapolation))

    def _extrapolated(self) -> float:
        """How far the marginals are from what they are extrapolated to, by Eddy's method (1979)."""
        moves = np.array(self._moves).reshape(len(self._moves), -1)
        products = moves @ moves.T
        size = np.trace(products)
        if not size:
            return 0.0
        weights = np.linalg.solve(
            products + REGULAR * size * np.eye(len(moves)), np.ones(len(moves))
        )
        before = np.cumsum(weights / weights.sum())[:-1]
        return largest(before @ moves[1:])
