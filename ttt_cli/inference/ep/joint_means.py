"""Solving for joint means: conjugate gradients around the kernels of `kernels/ep/joint_means.py`."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from ttt_cli.inference.ep.slices import Slices
from ttt_cli.inference.ep.walks import Vector, Walks

AddPulls = Callable[[int, int, Vector, Vector], float]

DELAY: Final = 4  # steps over which the part of the whole is estimated
STEPS: Final = 10_000  # at most
CROWDED: Final = 1 << 14  # variables in a period: of more, games find z and A z sooner side by side
LOST: Final = 1e-8  # share of a sum that rounding may have eaten
GROWN: Final = 1e4  # times its least is what r^T z grows to where it is but rounding


class JointSolver:
    """A x = b for the chains of `walks`; `diagonal` and `residual` are to be filled before each solution.

    `widest`: no variable is less certain than this before a game is seen, points.
    """

    def __init__(self, walks: Walks, widest: float, slices: Slices) -> None:
        from ttt_cli.kernels.ep import joint_means as joint

        self._kernels = joint
        self._walks, self._widest, self._slices = walks, widest, slices
        self._chain, self._variance = walks.before_games()
        variables, periods = len(walks.previous), slices.periods[-1][1]
        work = np.zeros((7, variables))
        self.residual, self.correction, self._scale, self._gain, self._gain_away = work[:5]
        self._step, self._image = work[5:]
        crowded = variables > CROWDED * periods
        self._z, self._az = np.zeros((variables, 2)).T if crowded else np.zeros((2, variables))
        self.diagonal = self._image  # not needed once it is factored

    def solve(self, add_pulls: AddPulls, tol: float, relative: float) -> float:
        """Solve A correction = residual.

        `add_pulls(begin, end, x, out)` adds (L - diag(L)) x of some games to out, and returns the product of x and what
        was added. `diagonal` and `residual` are used up.

        Stops when the error of every entry is bounded by `tol` points, or that of the whole is `relative` to the
        correction. Returns the bound, points: |e_i| <= sqrt(e^T A e) sqrt((A^-1)_ii), the second root at most `widest`,
        the first bounded by the Gauss-Radau rule (Meurant and Tichy 2013); the part of the whole is estimated from the
        last few steps (Hestenes and Stiefel 1952). One pass over memory does a step: the curvature along it follows
        from that of the step before (Chronopoulos and Gear 1989).
        """
        least = self._least_eigenvalue()
        self._factor()
        recent: deque[float] = deque(maxlen=DELAY)
        energy, before, bound, curvature, share, length = 0.0, math.inf, math.inf, 0.0, 0.0, 0.0
        lowest, radau = math.inf, 1.0 / least  # `radau` times `power`: no less than e^T A e
        for _ in range(STEPS):
            power, apart = self._precondition(add_pulls, share, length)
            if power <= 0.0:
                return 0.0
            lowest = min(lowest, power)
            share, further = power / before, radau - length
            if before < math.inf:
                radau = further / (least * further + share) if further > 0.0 else 1.0 / least
            bound = self._widest * math.sqrt(radau * power)
            curvature = power + apart - share * share * curvature
            if curvature < LOST * (power + apart):  # nothing but rounding is left of it: begin anew
                share, curvature, radau = 0.0, power + apart, 1.0 / least
            if curvature <= 0.0 or power > GROWN * lowest:  # the residual itself is rounding
                length = 0.0
                break
            before, length = power, power / curvature
            recent.append(length * power)
            energy += length * power
            if len(recent) == DELAY and (bound < tol or math.fsum(recent) < relative**2 * energy):
                break
        self._walks.run(partial(self._finish, share, length))
        if not math.isfinite(length):
            self._forget()
        return bound

    def _least_eigenvalue(self) -> float:
        """No eigenvalue of M^-1 A is below this: A >= T, and diag(L) <= k T, k the largest row sum of T^-1 diag(L)."""
        return float(1.0 / (1.0 + np.bincount(self._chain, self.diagonal * self._variance).max(initial=0.0)))

    def _factor(self) -> None:
        kernels, walks = self._kernels, self._walks
        filtered = self._step

        def factor(half: int) -> None:
            for way, away in zip(walks.inward(half), walks.outward(half), strict=True):
                kernels.factor(
                    *way, walks.prior_precision, away.source, away.variance, self.diagonal, filtered, self._scale,
                    self._gain, self._gain_away,
                )  # fmt: skip

        walks.run(factor)
        kernels.join(walks.later, walks.previous, walks.variance, filtered, self._scale, self._gain_away)
        self.correction.fill(0.0)

    def _forget(self) -> None:
        """Clear what a further solution multiplies by zero."""
        for vector in (self._z, self._az, self._step, self._image):
            vector.fill(0.0)

    def _precondition(self, add_pulls: AddPulls, share: float, length: float) -> tuple[float, float]:
        """Go `length` along the next direction; then z = M^-1 r and A z of the residual r left.

        Returns r^T z and z^T (A - M) z.
        """
        walks = self._walks
        walks.run(partial(self._inward, share, length))
        self._kernels.meet(walks.later, walks.previous, self._gain_away, self._z)
        power = math.fsum(walks.run(self._outward))
        slices = self._slices
        return power, math.fsum(
            slices.run(lambda number: add_pulls(*slices.games[number], self._z, self._az))
        )

    def _inward(self, share: float, length: float, half: int) -> None:
        for way in self._walks.inward(half):
            self._kernels.inward(
                *way[:4], self._gain, share, length, self._z, self._az, self._step, self._image, self.correction,
                self.residual,
            )  # fmt: skip

    def _outward(self, half: int) -> float:
        return math.fsum(
            self._kernels.outward(*way[:4], self._gain_away, self._scale, self._z, self._az)
            for way in self._walks.outward(half)
        )

    def _finish(self, share: float, length: float, half: int) -> None:
        for begin, end, *_ in self._walks.inward(half):
            self._kernels.finish(begin, end, share, length, self._z, self._step, self.correction)
