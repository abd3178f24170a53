"""The most probable ratings at all times by Newton's method, with conjugate gradients as exact as it pays."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ttt_cli.arrays import Array, Ids
from ttt_cli.fitted import Status
from ttt_cli.inference.bradley_terry.comparisons import Comparisons
from ttt_cli.inference.outcome import ELO_SCALE
from ttt_cli.inference.solver import OnSweep, largest
from ttt_cli.sparse.factor import Factor, require_affordable
from ttt_cli.sparse.pattern import Pattern

FLAT: Final = 1e-8  # largest slope at a maximum, in games: expected scores are right to this
ROUGH: Final = 0.1  # points: with a tolerance of more slopes may be what they are,
# but steps are then to be below this: scores of different starts agree to 1e-7 nats a game
STILL: Final = 0.01
EXACTNESS: Final = 1e-2  # of the first steps; later as exact as the slopes are small
STEPS: Final = 10_000  # of conjugate gradients, at most
HALVINGS: Final = 40
ROUNDING: Final = 1e-9  # of a log density
FARTHEST: Final = 5.0  # of a step, in units of the logistic scale
SAFETY: Final = 1.1  # on the length of a step that is known to one in a hundred

# (rating, gradient, link_precision, own) -> log density: fills or adds what the ratings of one player say of each other
Histories = Callable[[Array, Array, Array, Array], float]


class Posterior:
    """The log density of ratings in natural units, with its slopes and curvatures at the last point asked for.

    Of shape (nodes,), the precision of links with the node before; that of `coupling` is the comparisons'.
    """

    def __init__(
        self, comparisons: Comparisons, margin: float, previous: Ids, following: Ids, histories: Histories
    ) -> None:
        from ttt_cli.kernels.bradley_terry import likelihood as bradley_terry
        from ttt_cli.kernels.bradley_terry import newton

        n = len(previous)
        self._newton = newton
        self._kernels = bradley_terry
        self._histories = histories
        self._margin = margin
        self.comparisons = comparisons
        self.previous, self.following = previous, following
        self.gradient, self.diagonal, self.link_precision, self._own = np.zeros((4, n))
        self.coupling = np.zeros(len(comparisons))

    def at(self, rating: Array) -> float:
        """The log density at ratings (nodes,)."""
        self.gradient.fill(0.0)
        self.diagonal.fill(0.0)
        value = self._kernels.compare(
            *self.comparisons.arrays, self._margin, rating, self.gradient, self.coupling, self.diagonal
        )
        value += self._histories(rating, self.gradient, self.link_precision, self._own)
        self.diagonal += self._own
        return float(value)

    def step(self, relative: float) -> Array:
        """Newton's step from the last point, to a relative exactness of its energy norm."""
        step = np.empty(len(self.previous))
        self._newton.solve(
            self.previous, self.following, self.link_precision, self.diagonal,
            self.comparisons.first, self.comparisons.second, self.coupling,
            relative, STEPS, self.gradient.copy(), step,
        )  # fmt: skip
        return step

    @cached_property
    def pattern(self) -> Pattern:
        """Which nodes games and histories join."""
        later, earlier = self._links
        first, second = self.comparisons.first, self.comparisons.second
        return Pattern(np.append(first, later), np.append(second, earlier), len(self.previous))

    def require_information(self) -> None:
        """Raise ConfigError at once where `information` would."""
        require_affordable(self.pattern, "exact deviations", "-s model.deviations=own, or longer periods")

    def information(self) -> Factor:
        """The negative Hessian at the last point, factorised."""
        later, earlier = self._links
        link_precision = self.link_precision[later]
        diagonal = self.diagonal + self.link_precision
        np.add.at(diagonal, earlier, link_precision)
        return Factor(self.pattern, np.append(self.coupling, link_precision), diagonal)

    @property
    def _links(self) -> tuple[Ids, Ids]:
        """The nodes that have one before, and those before."""
        later = np.flatnonzero(self.previous >= 0).astype(np.int32)
        return later, self.previous[later]


@dataclass(frozen=True)
class Maximum:
    """The ratings (nodes,) that maximise a posterior, natural units, its log density there, and how they were found."""

    rating: Array
    value: float
    status: Status
    trace: tuple[tuple[float, float], ...]


def maximise(
    posterior: Posterior, start: Array, tol: float, max_sweeps: int, on_sweep: OnSweep | None
) -> Maximum:
    """Optimise from `start` until all slopes are below `FLAT` and the next step below `tol` points.

    With a `tol` above `ROUGH` the step alone counts, and is to be below `STILL`: no curvature changes by more than a
    factor of e over one natural unit, so that a step of a few points leaves less than a tenth of itself. No step goes
    further than `FARTHEST`: from a bad start the density is so flat that the method would leave the numbers there are.
    """
    rating, value = start, posterior.at(start)
    step = posterior.step(EXACTNESS)
    trace: list[tuple[float, float]] = []
    rough = tol > ROUGH
    converged, remaining = False, np.inf
    while not converged and len(trace) < max_sweeps:
        step = step * min(1.0, FARTHEST / max(largest(step), FARTHEST))
        rating, value, moved = _line_search(posterior, rating, value, step)
        slope = largest(posterior.gradient)
        step = posterior.step(min(EXACTNESS, slope))
        remaining = SAFETY * largest(step) * ELO_SCALE
        converged = remaining < STILL if rough else slope <= FLAT and remaining < tol
        trace.append((largest(moved) * ELO_SCALE, remaining))
        if on_sweep:
            on_sweep(len(trace), *trace[-1])
        if not np.isfinite(remaining):
            break
    return Maximum(rating, value, Status(converged, len(trace), remaining), tuple(trace))


def _line_search(
    posterior: Posterior, rating: Array, value: float, step: Array
) -> tuple[Array, float, Array]:
    """Go along a step until the density, which is concave, has not fallen: (ratings, log density, step taken)."""
    slope = _along(posterior.gradient, step)
    for _ in range(HALVINGS):
        reached = posterior.at(rating + step)
        if _along(posterior.gradient, step) >= -0.5 * slope and reached >= value - ROUNDING * abs(value):
            break
        slope, step = 0.5 * slope, 0.5 * step
    return rating + step, reached, step


def _along(slopes: Array, step: Array) -> float:
    """Their product, summed by this thread: the others of BLAS take longer to come than the sum takes."""
    return float(np.einsum("i,i->", slopes, step))
