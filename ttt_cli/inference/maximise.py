"""Maximise a smooth function of a few coordinates, undefined in places, and compute its curvature at the maximum."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.support.arrays import Array

MOST_STEPS: Final = 200  # steps of a search
GAIN: Final = 1e-3  # a smaller gain ends the search
FIRST_STEP: Final = 0.3  # the longest that the first step may be in a coordinate
DIFFERENCE: Final = 0.02  # step of the differences that give the curvature
LEAP: Final = 0.5  # the first step off a slope that is curved upwards
CORRECTIONS: Final = 3  # Newton steps at most, after the search
CLOSE: Final = 0.02  # standard errors from the maximum within which nothing is left to gain
# Second derivatives below this are none: a standard error would be beyond a thousand units.
FLAT: Final = 1e-6
REACHED: Final = 0.1  # standard errors from the maximum within which it counts as reached
_EDGE: Final = 1e-9  # from a bound: closer coordinates are at it


@dataclass(frozen=True)
class FunctionValue:
    """Coordinates, the value there (a log-likelihood), and its gradient."""

    at: Array
    value: float
    gradient: Array


Function = Callable[[Array], FunctionValue | None]  # None: undefined


@dataclass(frozen=True)
class Optimum:
    """Result of a search from `start`; both values are -inf when the start is undefined.

    `side`: per coordinate -1 at its lower bound, 1 at its upper one, else 0. `covariance`: the inverse of the
    negative curvature, NaN for coordinates at bounds, for `flat` ones (without curvature), and where the function is
    not concave. `distance` from `point` to the maximum, standard errors; None without curvature.
    """

    start: FunctionValue
    point: FunctionValue
    reached: bool
    side: NDArray[np.int8]
    covariance: Array
    distance: float | None
    flat: NDArray[np.bool_]


def maximise(function: Function, begin: Array, low: Array, high: Array) -> Optimum:
    """Maximise from `begin` between the bounds, by L-BFGS-B and Newton steps.

    Points where the function is undefined count as falls, so that line searches step back from them. Where the
    function is convex in some direction, the search steps along that direction and restarts. It ends where a maximum is
    reached, where steps are used up or the curvature is undefined, and where a round gains no more than GAIN.
    """
    n = len(begin)
    unknown = np.full((n, n), math.nan)
    if not (start := function(begin)):
        nowhere = FunctionValue(begin, -math.inf, unknown[0])
        return Optimum(
            nowhere, nowhere, False, np.zeros(n, np.int8), unknown, None, np.zeros(n, np.bool_)
        )
    search = _BoundedSearch(function, start, low, high)
    while True:
        value_before = search.best.value
        ended = search.ascend()
        at = search.best.at
        side = (at >= high - _EDGE).astype(np.int8) - (at <= low + _EDGE).astype(np.int8)
        curvature = search.curvature(np.flatnonzero(side == 0))
        if curvature is None:
            return Optimum(start, search.best, ended, side, unknown, None, np.zeros(n, np.bool_))
        distance = None
        covariance = unknown.copy()
        if curvature.is_concave:
            free = curvature.free
            inverse = np.linalg.inv(curvature.matrix).astype(np.float64)
            distance = search.correct(free, inverse)
            reached = distance < REACHED
            covariance[np.ix_(free, free)] = inverse
        else:
            reached = ended and not curvature.is_upwards
        may_rise = ended and not reached
        if may_rise and curvature.is_upwards:
            search.leap(curvature)
        has_gained = search.best.value > value_before + GAIN
        if not may_rise or not has_gained:
            return Optimum(start, search.best, reached, side, covariance, distance, curvature.flat)


class _Curvature(NamedTuple):
    """Negative second derivatives at a point, positive at a maximum.

    | name | shape | |
    |---|---|---|
    | free | (free,) | coordinates that are curved and not at a bound |
    | flat | (coordinates,) | mask of those that are neither curved nor at a bound |
    | matrix | (free, free) | |
    | lowest | | lowest eigenvalue; infinite without free coordinates |
    """

    free: NDArray[np.intp]
    flat: NDArray[np.bool_]
    matrix: Array
    lowest: float

    @property
    def is_concave(self) -> bool:
        """Whether the function curves downwards in all free coordinates, of which there are some."""
        return len(self.free) > 0 and self.lowest > 0.0

    @property
    def is_upwards(self) -> bool:
        """Whether the function curves upwards in some direction."""
        return self.lowest <= -GAIN


def _curvature_of(differences: Array, inner: NDArray[np.intp], n: int) -> _Curvature:
    """The curvature of `n` coordinates from that of the ones not at bounds, `inner`; flat ones are left out."""
    is_curved = np.abs(np.diag(differences)) > FLAT
    is_curved_with_others = np.abs(differences).max(axis=1) > GAIN  # by a mixed derivative
    curved = is_curved | is_curved_with_others
    flat = np.zeros(n, np.bool_)
    flat[inner] = ~curved
    matrix = differences[np.ix_(curved, curved)]
    lowest = float(np.linalg.eigvalsh(matrix).min(initial=math.inf))
    return _Curvature(inner[curved], flat, matrix, lowest)


class _BoundedSearch:
    """The `best` point so far of a function between bounds."""

    def __init__(self, function: Function, start: FunctionValue, low: Array, high: Array) -> None:
        self._function = function
        self._low = low
        self._high = high
        self.best = start
        self._left = MOST_STEPS
        self.undefined = 0

    def evaluate(self, at: Array) -> FunctionValue | None:
        """Value at a point, None where it is undefined."""
        point = self._function(np.clip(at, self._low, self._high))
        if point and point.value > self.best.value:
            self.best = point
        return point

    def ascend(self) -> bool:
        """Search by L-BFGS-B until the value no longer rises; return whether that is a maximum.

        The first step of L-BFGS-B is the gradient. The function is divided by a `unit`, so that this step is at most
        FIRST_STEP in each coordinate.
        """
        from scipy.optimize import minimize

        bounds = list(zip(self._low.tolist(), self._high.tolist(), strict=True))
        while True:
            first = self.best
            undefined = self.undefined
            unit = max(1.0, float(np.abs(first.gradient).max()) / FIRST_STEP)
            options: Any = {"ftol": GAIN / max(abs(first.value), unit), "gtol": GAIN / unit}
            try:
                result = minimize(
                    self._cost,
                    first.at,
                    (unit,),
                    jac=True,
                    method="L-BFGS-B",
                    bounds=bounds,
                    options=options,
                )
                ended = bool(result.success) and self.undefined == undefined
            except StopIteration:
                ended = False
            if ended or self.best.value <= first.value + GAIN:
                return ended

    def _cost(self, at: Array, unit: float) -> tuple[float, Array]:
        """Negative value and gradient in the unit; a fall from the best point where they are undefined."""
        point: FunctionValue | None = self.best
        if not np.array_equal(at, self.best.at):
            if not self._left:
                raise StopIteration
            self._left -= 1
            point = self.evaluate(at)
        if point is None:
            self.undefined += 1
            fall = float(np.abs(self.best.gradient) @ np.abs(at - self.best.at))
            return (fall - self.best.value) / unit, np.zeros(len(at))
        return -point.value / unit, -point.gradient / unit

    def leap(self, curvature: _Curvature) -> None:
        """Step along the most convex direction, doubling the step while the value rises."""
        _, directions = np.linalg.eigh(curvature.matrix)
        step = np.zeros(len(self.best.at))
        step[curvature.free] = directions[:, 0]
        step *= math.copysign(LEAP, step @ self.best.gradient)
        while (point := self.evaluate(self.best.at + step)) and point is self.best:
            step *= 2.0

    def curvature(self, inner: NDArray[np.intp]) -> _Curvature | None:
        """The curvature at the best point by differences of gradients; `inner`: coordinates that are not at bounds.

        None where there are none or the function is undefined.
        """
        if not len(inner):
            return None
        centre = self.best.at
        rows = []
        for i in inner:
            step = np.zeros(len(centre))
            step[i] = DIFFERENCE
            below = self.evaluate(centre - step)
            above = self.evaluate(centre + step)
            if below is None or above is None:
                return None
            rows.append(
                (below.gradient[inner] - above.gradient[inner]) / (above.at[i] - below.at[i])
            )
        differences = np.array(rows)
        return _curvature_of(0.5 * (differences + differences.T), inner, len(centre))

    def correct(self, free: NDArray[np.intp], inverse: Array) -> float:
        """Take Newton steps from the best point; return the remaining distance, standard errors."""
        for remaining in range(CORRECTIONS, -1, -1):
            before = self.best
            gradient = self.best.gradient[free]
            distance = math.sqrt(gradient @ inverse @ gradient)
            if distance < CLOSE or not remaining:
                break
            at = before.at.copy()
            at[free] += inverse @ gradient
            self.evaluate(at)
            if self.best is before:
                break
        return distance
