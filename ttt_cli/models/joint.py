"""Solving for joint means: conjugate gradients around the kernels of `kernels/joint.py`."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ttt_cli.models.slices import Slices, variable_ranges

Vector = NDArray[np.float64]
AddPulls = Callable[[int, int, Vector, Vector], object]

DELAY = 8  # steps over which the error is estimated
STEPS = 10_000  # at most


class JointSolver:
    """A x = b for one layout of chains; `diagonal` and `residual` are to be filled before each solution.

    `widest`: no variable is less certain than this before a game is seen, points.
    """

    def __init__(
        self,
        chains: tuple[NDArray[np.int32], NDArray[np.int32], Vector],
        prior_precision: Vector,
        widest: float,
        slices: Slices,
    ) -> None:
        from ttt_cli.kernels import joint

        self._kernels = joint
        self._chains = chains
        self._prior_precision = prior_precision
        self._widest = widest
        self._slices = slices
        self._ranges = variable_ranges(slices, len(prior_precision))
        work = np.zeros((9, len(prior_precision)))
        self.diagonal, self.residual, self.correction = work[:3]
        self._filtered, self._gain, self._z, self._step, self._chain_step, self._image = work[3:]

    def solve(self, add_pulls: AddPulls, tol: float, relative: float) -> float:
        """Solve A correction = residual; `add_pulls(begin, end, x, out)` adds (L - diag(L)) x of some games to out.

        `residual` is used up.

        Stops when the error of every entry is bounded by `tol` points, or that of the whole is `relative` to the
        correction. Returns the bound, points: |e_i| <= sqrt(e^T A e) sqrt((A^-1)_ii), the first root estimated from
        the last few steps (Hestenes and Stiefel 1952), the second at most `widest`.
        """
        previous, following, variance = self._chains
        for vector in (self.correction, self._step, self._chain_step):
            vector.fill(0.0)
        self._kernels.factor(
            previous, following, variance, self._prior_precision, self.diagonal, self._filtered, self._gain
        )
        recent: deque[float] = deque(maxlen=DELAY)
        energy, before, bound = 0.0, math.inf, math.inf
        for _ in range(STEPS):
            power = self._kernels.precondition(
                previous, following, self._filtered, self._gain, self.residual, self._z
            )
            if power <= 0.0:
                return 0.0
            length = power / math.fsum(self._slices.run(partial(self._turn, add_pulls, power / before)))
            self._slices.run(partial(self._advance, length))
            before = power
            recent.append(length * power)
            energy += length * power
            if len(recent) == DELAY:
                error = math.sqrt(math.fsum(recent))
                bound = error * self._widest
                if bound < tol or error < relative * math.sqrt(energy):
                    break
        return bound

    def _turn(self, add_pulls: AddPulls, share: float, number: int) -> float:
        """The next direction in one slice, and the curvature along it there."""
        for begin, end in self._ranges[number]:
            self._kernels.turn(
                begin,
                end,
                share,
                self.diagonal,
                self.residual,
                self._z,
                self._step,
                self._chain_step,
                self._image,
            )
        add_pulls(*self._slices.games[number], self._step, self._image)
        return math.fsum(
            self._kernels.curvature(begin, end, self._step, self._image)
            for begin, end in self._ranges[number]
        )

    def _advance(self, length: float, number: int) -> None:
        for begin, end in self._ranges[number]:
            self._kernels.advance(begin, end, length, self._step, self._image, self.correction, self.residual)
