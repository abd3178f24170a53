"""How far the sites of joint expectation propagation go, and how far its beliefs may still be off."""

import math
from collections import deque
from itertools import pairwise
from typing import Final

import numpy as np

from ttt_cli.arrays import Array

OVERSHOT: Final = -0.25  # of the last move goes back: then sites go less far
LEAST: Final = 0.4  # of the way
STEEPEST: Final = -3.0  # the slope of a move in the one before that is reckoned with
DOUBT: Final = 3.0  # times the sum of the moves to come: the slowest hide behind faster ones
EARLY_DOUBT: Final = 10.0  # the same while few are known, and for long where they are not small
LONG: Final = 8  # moves
SMALL: Final = 0.3  # a rate
RECENT: Final = 3  # rates of which the largest counts
TOGETHER: Final = 5  # moves that are extrapolated from


class Damping:
    """Looks at one move of all beliefs after the other; moves below `least`, points, are rounding.

    The moves of means and of sds may be large by turns. So the larger of two moves counts as an error that remains;
    where errors count in the second order only (`evidence_only`), what the last move leads to expect.

    With moves D' after D and sites that went the share d of the way, r = D'.D / |D|^2 is what a move leaves of itself,
    l = 1 - (1 - r) / d the same undamped; where it turns back, d becomes 2 / (2 - l), best for slopes between l and 0.
    """

    def __init__(self, least: float, *, evidence_only: bool = False) -> None:
        self.share, self.change, self._least, self._evidence_only = 1.0, math.inf, least, evidence_only
        self._changes: list[float] = []
        self._moves: deque[Array] = deque(maxlen=TOGETHER)

    def after(self, move: Array) -> float:
        """Take note of a move (2, variables), points; the estimated largest error of a belief that remains, points."""
        largest = float(np.abs(move).max(initial=0.0))
        self.change = largest if largest > self._least else 0.0
        self._changes.append(self.change)
        last = self._moves[-1] if self._moves else None
        if last is not None and (size := float(np.vdot(last, last))) > 0.0:
            left = float(np.vdot(move, last)) / size
            if left < OVERSHOT:
                slope = max(1.0 - (1.0 - left) / self.share, STEEPEST)
                self.share = min(self.share, max(LEAST, 2.0 / (2.0 - slope)))
        if len(self._changes) == 2:  # the first led from another posterior
            self._moves.clear()
        self._moves.append(move)
        return self._remaining()

    def _remaining(self) -> float:
        """The larger of the last two moves, or the sum of those to come as pairs shrink, or what is extrapolated."""
        if len(self._changes) < 3:
            return math.inf
        pairs = [max(pair) for pair in pairwise(self._changes[-RECENT - 2 :])]
        if pairs[-1] == 0.0:
            return 0.0
        rates = [now / before for before, now in pairwise(pairs)]
        if (rate := max(rates)) >= 1.0:
            return math.inf
        known = len(rates) == RECENT and (len(self._changes) >= LONG or rate < SMALL)
        ahead = (DOUBT if known else EARLY_DOUBT) * rate / (1.0 - rate)
        least = DOUBT * self.change if self._evidence_only else pairs[-1]
        return max(least, pairs[-1] * ahead, DOUBT * self._extrapolated())

    def _extrapolated(self) -> float:
        """How far the last belief is from the sum of recent ones that moves least, points (Eddy 1979)."""
        moves = np.array([move.ravel() for move in self._moves])
        products = moves @ moves.T
        if not (size := np.trace(products)):
            return 0.0
        weights = np.linalg.solve(products + 1e-14 * size * np.eye(len(moves)), np.ones(len(moves)))
        before = np.cumsum(weights / weights.sum())[:-1]
        return float(np.abs(before @ moves[1:]).max(initial=0.0))
