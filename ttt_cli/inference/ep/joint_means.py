"""Solving for joint means: conjugate gradients around the kernels of `kernels/ep/joint_means.py`."""

import math
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.inference.ep.levels import Levels, YearLevels
from ttt_cli.inference.ep.slices import Slices
from ttt_cli.inference.ep.two_filter import TwoFilter
from ttt_cli.kernels.ep.structures import Descent

Vector = Array
Precondition = Callable[[float, float], tuple[float, float]]
AddCouplings = Callable[[int, int, Vector, Vector], float]

DELAY: Final = 4  # steps over which the part of the whole is estimated
STEPS: Final = 10_000  # at most
CROWDED: Final = 1 << 14  # variables in a period: of more, games find z and A z sooner side by side
LOST: Final = 1e-8  # of a sum: what rounding may have eaten
GROWN: Final = 1e4  # times its least is what r^T z grows to where it is but rounding


def conjugate_gradients(
    precondition: Precondition, least: float, widest: float, tol: float, relative: float
) -> tuple[float, float, float]:
    """Step towards the solution of A x = b from 0.

    `precondition(beta, alpha)` goes `alpha` along the direction z + `beta` p, for the residual r left finds z = M^-1 r
    and A z, and returns r^T z and z^T (A - M) z. No eigenvalue of M^-1 A is below `least`, no root of an entry of the
    diagonal of A^-1 above `widest`.

    Stops when the error of every entry is bounded by `tol` points, or that of the whole is `relative` to the solution.
    Returns the bound, points, with beta and alpha of the step still to be gone: |e_i| <= sqrt(e^T A e)
    sqrt((A^-1)_ii), the first root bounded by the Gauss-Radau rule (Meurant and Tichy 2013), that of the whole by the
    last few steps (Hestenes and Stiefel 1952). The curvature follows from that before (Chronopoulos and Gear 1989).
    """
    recent: deque[float] = deque(maxlen=DELAY)
    energy, before, bound, curvature, beta, alpha = 0.0, math.inf, math.inf, 0.0, 0.0, 0.0
    lowest, radau = math.inf, 1.0 / least  # `radau` times `rz`: no less than e^T A e
    for _ in range(STEPS):
        rz, apart = precondition(beta, alpha)
        if rz <= 0.0:
            return 0.0, 0.0, 0.0
        lowest = min(lowest, rz)
        beta, further = rz / before, radau - alpha
        if before < math.inf:
            radau = further / (least * further + beta) if further > 0.0 else 1.0 / least
        bound = widest * math.sqrt(radau * rz)
        curvature = rz + apart - beta * beta * curvature
        if curvature < LOST * (rz + apart):  # nothing but rounding is left of it: restart
            beta, curvature, radau = 0.0, rz + apart, 1.0 / least
        if curvature <= 0.0 or rz > GROWN * lowest:  # the residual itself is rounding
            alpha = 0.0
            break
        before, alpha = rz, rz / curvature
        recent.append(alpha * rz)
        energy += alpha * rz
        if len(recent) == DELAY and (bound < tol or math.fsum(recent) < relative**2 * energy):
            break
    return bound, beta, alpha


class JointSolver:
    """A x = b for the chains of `filters`; `diagonal` is filled before they are factored, `residual` with b.

    `widest`: the largest sd of a variable before a game is seen, points. `shared`: what A has beyond chains and games.
    """

    def __init__(
        self, filters: TwoFilter, slices: Slices, shared: tuple[Levels, YearLevels] | None = None
    ) -> None:
        from ttt_cli.kernels.ep import joint_means as joint

        self._kernels = joint
        self.filters, self._slices, self._shared = filters, slices, shared
        variables, periods = len(filters.chains.previous), slices.parts[-1].period_end
        work, self._chain = np.zeros((7, variables)), np.empty(variables, np.int32)
        self._variance = np.empty(variables)
        joint.before_games(filters.chains, self._chain, self._variance)
        self.widest = float(np.sqrt(self._variance.max(initial=0.0)))
        self.residual, self.correction, self._scale, self._gain, self._gain_away, self._p, self._ap = work
        crowded = variables > CROWDED * periods
        self._z, self._az = np.zeros((variables, 2)).T if crowded else np.zeros((2, variables))
        self._descent = Descent(self._p, self._ap, self.correction, self.residual)
        self.diagonal = self._ap  # not needed once it is factored

    def solve(self, add_couplings: AddCouplings, tol: float, relative: float) -> float:
        """Solve A correction = residual; stops, and returns a bound on the error, points, as `conjugate_gradients`.

        `add_couplings(begin, end, x, out)` adds (L - diag(L)) x of some games to out, and returns the product of x and
        what was added. `diagonal` and `residual` are used up.
        """
        self.correction.fill(0.0)
        bound, beta, alpha = conjugate_gradients(
            partial(self._precondition, add_couplings), self._least, self.widest, tol, relative
        )
        self.filters.run(partial(self._finish, beta, alpha))
        if not math.isfinite(alpha):  # clear what a further solution multiplies by zero
            for vector in (self._z, self._az, self._p, self._ap):
                vector.fill(0.0)
        return bound

    def _least_eigenvalue(self) -> float:
        """No eigenvalue of M^-1 A is below this: A >= T, and diag(L) <= k T, k the largest row sum of T^-1 diag(L)."""
        self.correction.fill(0.0)
        chains = self._chain, self.diagonal, self._variance, self.correction
        spread = self._shared[0].spread if self._shared else 1.0
        return 1.0 / (spread * (1.0 + float(self._kernels.largest_sum(*chains))))

    def factor(self) -> None:
        """Make M^-1 for all solutions with the same `diagonal`."""
        kernels, filters = self._kernels, self.filters
        self._least = self._least_eigenvalue()
        filtered = self._p

        def factor(half: int) -> None:
            for way in filters.elimination[half]:
                kernels.factor(
                    way, filters.chains, self.diagonal, filtered, self._scale, self._gain, self._gain_away
                )

        filters.run(factor)
        kernels.join_factors(filters.later, filters.chains, filtered, self._scale, self._gain_away)

    def of_chains(self, right: Vector) -> Vector:
        """M^-1 b."""
        self.residual[:] = right
        self._by_chains(0.0, 0.0)
        return self._z.copy()

    def _precondition(self, add_couplings: AddCouplings, beta: float, alpha: float) -> tuple[float, float]:
        """Go `alpha` along the next direction; z = M^-1 r, A z of the residual r left; r^T z and z^T (A - M) z."""
        parts = self._slices.parts
        rz = self._by_chains(beta, alpha)

        def add(number: int) -> float:
            return add_couplings(parts[number].game, parts[number].game_end, self._z, self._az)

        apart = math.fsum(self._slices.run(add))
        if self._shared:
            levels, of_years = self._shared
            by, more, further = levels.correction(*of_years.sums(self.residual, self._z, self._az))
            of_years.correct(by, self._z, self._az)
            rz, apart = rz + more, apart + further
        return rz, apart

    def _by_chains(self, beta: float, alpha: float) -> float:
        """z = M^-1 r, after going `alpha` along the next direction; returns r^T z."""
        filters = self.filters
        filters.run(partial(self._eliminate, beta, alpha))
        self._kernels.join(filters.later, filters.chains.previous, self._gain_away, self._z)
        return math.fsum(filters.run(self._substitute))

    def _eliminate(self, beta: float, alpha: float, half: int) -> None:
        for way in self.filters.elimination[half]:
            self._kernels.eliminate(way, self._gain, beta, alpha, self._z, self._az, self._descent)

    def _substitute(self, half: int) -> float:
        return math.fsum(
            self._kernels.substitute(way, self._gain_away, self._scale, self._z, self._az)
            for way in self.filters.substitution[half]
        )

    def _finish(self, beta: float, alpha: float, half: int) -> None:
        for begin, end, *_ in self.filters.elimination[half]:
            self._kernels.finish(begin, end, beta, alpha, self._z, self._p, self.correction)
