"""The joint means of all slices: A x = b by conjugate gradients, preconditioned with the chains across all borders."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.inference.ep.borders import ChainsAcrossSlices, couple_chains
from ttt_cli.inference.ep.joint_means import (
    Prepared,
    Products,
    add_what_crosses,
    factor,
    finish,
    newcomer_levels,
    solve_own_chains,
)
from ttt_cli.inference.ep.transport import Exchange, Slices
from ttt_cli.inference.newcomers import LevelCorrection, Newcomers, YearSums
from ttt_cli.support.arrays import Array

TOL: Final = 1e-3  # points: error of the joint means at which a solution ends
RELATIVE: Final = 1e-2  # error relative to the correction of the means at which a solution ends
DELAY: Final = 4  # steps over which that relative error is estimated
STEPS: Final = 10_000  # of conjugate gradients at most
LOST: Final = 1e-8  # curvatures below this part of their terms are rounding
GROWN: Final = 1e4  # once r'z is this many times its least value, the residual is rounding


class CoupledChains(NamedTuple):
    """The factor of M across slices, and a bound below all eigenvalues of M^-1 A."""

    coupling: ChainsAcrossSlices
    least: float


class JointSolution(NamedTuple):
    """A bound on the distance from the joint means, points; where slices moved there, maps of their sites."""

    distance: float
    maps: list[Array] | None


class StepProducts(NamedTuple):
    """r'z and z'(A - M)z of all slices."""

    residual: float
    coupling: float


class LastStep(NamedTuple):
    """How conjugate gradients ended: a bound on the error, points, and the last step, which is still to be taken."""

    bound: float
    beta: float
    alpha: float


StepAndSolve = Callable[[float, float], StepProducts]


class JointSolver:
    """Solutions for the joint means; `largest_prior_sd` is the largest prior sd of a variable, points.

    `steps`: of conjugate gradients so far.
    """

    def __init__(
        self, exchange: Exchange, newcomers: Newcomers | None, largest_prior_sd: float
    ) -> None:
        self._exchange = exchange
        self._newcomers = newcomers
        self._largest_prior_sd = largest_prior_sd
        self.steps = 0

    def for_slices(self, slices: Slices) -> JointSolver:
        """The solver of the same system in other slices."""
        return JointSolver(
            Exchange(slices, self._exchange.borders), self._newcomers, self._largest_prior_sd
        )

    def prepare_levels(self) -> None:
        """Learn the levels of years of all slices, if newcomers' mean moves."""
        if self._newcomers:
            self._newcomers.collect(self._exchange.broadcast(newcomer_levels))

    def couple(self, prepared: Sequence[Prepared]) -> CoupledChains:
        """Factor M in all slices; returns how they are coupled, and a bound below all eigenvalues of M^-1 A.

        The latter is 1 / (1 + k), where k is the largest row sum of T^-1 diag(L), since A >= T and diag(L) <= k T; less
        where the skills' precision given newcomers' mean is more than that without.
        """
        maps = np.concatenate([part.maps for part in prepared])
        sums = np.concatenate([part.sums for part in prepared])
        crossing = float(self._exchange.borders.sums(sums).max(initial=0.0))
        coupling = couple_chains(self._exchange.borders, maps)
        self._exchange.scatter(factor, coupling.precision)
        most = max(*(part.largest_sum for part in prepared), crossing)
        shared = self._newcomers.most_shared if self._newcomers else 1.0
        return CoupledChains(coupling, 1.0 / (shared * (1.0 + most)))

    def solve(
        self, coupled: CoupledChains, *, move: bool, tol: float = TOL, relative: float = RELATIVE
    ) -> JointSolution:
        """Solve for the joint means and `move` there.

        `tol` is in points, `relative` to the corrections, in the norm of A: either ends the solution.
        """
        correction: LevelCorrection | None = None  # of newcomers, for the next step

        def step_and_solve(beta: float, alpha: float) -> StepProducts:
            nonlocal correction
            self.steps += 1
            sent = np.concatenate(
                self._exchange.broadcast(solve_own_chains, beta, alpha, correction)
            )
            products = self._exchange.scatter(add_what_crosses, coupled.coupling.arrived(sent))
            total = StepProducts(
                math.fsum(part.residual for part in products),
                math.fsum(part.coupling for part in products),
            )
            if self._newcomers is None:
                return total
            solution = self._newcomers.correction(*_newcomer_sums(products))
            correction = solution.correction
            return StepProducts(
                total.residual + solution.product, total.coupling + solution.coupling
            )

        last = conjugate_gradients(
            step_and_solve, coupled.least, self._largest_prior_sd, tol, relative
        )
        finished = self._exchange.broadcast(finish, last.beta, last.alpha, correction, move)
        if move:
            return JointSolution(last.bound, [part.maps for part in finished])
        return JointSolution(last.bound + max(part.largest for part in finished), None)


class NewcomerSums(NamedTuple):
    """Sums of newcomers in all slices, as `Newcomers.correction` takes them."""

    by_year: YearSums
    product: float


def _newcomer_sums(products: Sequence[Products]) -> NewcomerSums:
    parts = [part.newcomers for part in products if part.newcomers is not None]
    by_year = YearSums(*np.sum([part.by_year for part in parts], axis=0))
    return NewcomerSums(by_year, math.fsum(part.product for part in parts))


class _Radau:
    """The Gauss-Radau bound: `factor` times r^T z is no less than e^T A e, the squared error in the norm of A.

    `least`: no eigenvalue of M^-1 A is below it, so that 1 / `least` is a bound before the first step.
    """

    def __init__(self, least: float) -> None:
        self._least = least
        self.factor = 1.0 / least

    def restart(self) -> None:
        """Forget the steps so far."""
        self.factor = 1.0 / self._least

    def after_step(self, beta: float, alpha: float) -> None:
        """Follow a step by `alpha`, after which r^T z is `beta` times what it was."""
        remainder = self.factor - alpha
        if remainder > 0.0:
            self.factor = remainder / (self._least * remainder + beta)
        else:
            self.restart()


def conjugate_gradients(
    step_and_solve: StepAndSolve, least: float, largest_prior_sd: float, tol: float, relative: float
) -> LastStep:
    """Step towards the solution of A x = b from 0; returns the last step, which is found but not taken yet.

    `step_and_solve(beta, alpha)` moves x by `alpha` along the direction p = z + `beta` p. For the residual r that is
    left it computes z = M^-1 r and A z, and returns r'z and z'(A - M)z. No eigenvalue of M^-1 A is below `least`. No
    entry of the diagonal of A^-1 is above `largest_prior_sd` squared.

    With the error e = A^-1 b - x, steps end when one of two holds:

    - Every entry is within `tol` points. |e_i| <= sqrt(e'Ae) sqrt((A^-1)_ii), and the Gauss-Radau rule bounds e'Ae
      (Meurant and Tichy 2013).
    - sqrt(e'Ae) is at most `relative` times sqrt(x'Ax), both estimated by sums of alpha r'z over steps: e'Ae by the
      last `DELAY` ones, x'Ax by all (Hestenes and Stiefel 1952).

    The curvature p'Ap follows from that of the step before: r'z + z'(A - M)z - beta^2 p'Ap (Chronopoulos and Gear
    1989).
    """
    recent: deque[float] = deque(maxlen=DELAY)
    energy = 0.0
    last_rz = math.inf  # so that the first step has beta = 0
    lowest_rz = math.inf
    bound = math.inf
    curvature = 0.0
    # of the step that was found last: the next call of `step_and_solve` takes it, at the end the caller
    beta = 0.0
    alpha = 0.0
    radau = _Radau(least)
    for _ in range(STEPS):
        rz, coupling = step_and_solve(beta, alpha)
        if rz <= 0.0:  # nothing is left: no step, and no error
            return LastStep(0.0, 0.0, 0.0)
        lowest_rz = min(lowest_rz, rz)
        beta = rz / last_rz
        if last_rz < math.inf:
            radau.after_step(beta, alpha)
        bound = largest_prior_sd * math.sqrt(radau.factor * rz)  # before the step that is found now
        curvature = rz + coupling - beta * beta * curvature
        if curvature < LOST * (rz + coupling):  # all but rounding: start again from here, along z
            beta = 0.0
            curvature = rz + coupling
            radau.restart()
        if (
            curvature <= 0.0 or rz > GROWN * lowest_rz
        ):  # the residual is rounding: a step of length 0
            alpha = 0.0
            break
        last_rz = rz
        alpha = rz / curvature
        recent.append(alpha * rz)
        energy += alpha * rz
        if len(recent) == DELAY and (bound < tol or math.fsum(recent) < relative**2 * energy):
            break
    return LastStep(bound, beta, alpha)
