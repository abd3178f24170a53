"""The maximum of a smooth function of a few coordinates, undefined in places, and the curvature there."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array

MOST: Final = 200  # steps of one search
GAIN: Final = 1e-3  # a smaller gain ends the search
FIRST_STEP: Final = 0.3  # the longest that the first step may be in a coordinate
SHORTEST: Final = 1e-3  # reach below which undefined points are in the way for good
DIFFERENCE: Final = 0.02  # step of the differences that give the curvature
LEAP: Final = 0.5  # the first step off a slope that is curved upwards
CORRECTIONS: Final = 3  # Newton steps at most, after the search
CLOSE: Final = 0.02  # standard errors from the maximum within which nothing is left to gain
# Second derivatives below this are none: a standard error would be beyond a thousand units.
FLAT: Final = 1e-6
REACHED: Final = 0.1  # standard errors from the maximum within which it counts as reached
_EDGE: Final = 1e-9


class Undefined(Exception):
    """The function has no value at a point."""


class _OutOfSteps(Exception):
    """The search has taken as many steps as it may."""


@dataclass(frozen=True)
class Point:
    """Coordinates, the value there (a log-likelihood), and its gradient."""

    at: Array
    value: float
    gradient: Array


@dataclass(frozen=True)
class Optimum:
    """Where a search from `start` ended; both values are -inf when there is none where it began.

    `side`: per coordinate -1 at its lower bound, 1 at its upper one, else 0. `covariance`: the inverse of the negative
    curvature, NaN for coordinates at bounds or `flat`, without any, and where the function is not concave. `distance`:
    from `point` to the maximum, standard errors; None without curvature.
    """

    start: Point
    point: Point
    reached: bool
    side: NDArray[np.int8]
    covariance: Array
    distance: float | None
    flat: NDArray[np.bool_]


def maximise(function: Callable[[Array], Point], begin: Array, low: Array, high: Array) -> Optimum:
    """Maximise from `begin` on between the bounds, by L-BFGS-B and Newton steps.

    Where the function raises Undefined, the search begins again at the best point so far with half that reach, and goes
    further again where that succeeds. Where it ends on a slope that is curved upwards, it leaps on and begins again.
    """
    unknown = np.full((len(begin), len(begin)), math.nan)
    try:
        start = function(begin)
    except Undefined:
        nowhere = Point(begin, -math.inf, np.full(len(begin), math.nan))
        side, flat = np.zeros(len(begin), np.int8), np.zeros(len(begin), np.bool_)
        return Optimum(nowhere, nowhere, False, side, unknown, None, flat)
    search = _Maximiser(function, start, low, high)
    while True:
        before, ended = search.best.value, search.ascend()
        reached, distance, covariance = ended, None, unknown.copy()
        side, flat = search.side(), np.zeros(len(begin), np.bool_)
        free = np.flatnonzero(side == 0)
        curvature = search.curvature(free) if len(free) else None
        if curvature is None:
            break
        curved = (np.abs(np.diag(curvature)) > FLAT) | (np.abs(curvature).max(axis=1) > GAIN)
        flat[free], free, curvature = ~curved, free[curved], curvature[np.ix_(curved, curved)]
        lowest = float(np.linalg.eigvalsh(curvature).min(initial=math.inf))
        upwards = lowest <= -GAIN
        if len(free) and lowest > 0.0:
            inverse = np.linalg.inv(curvature).astype(np.float64)
            distance = search.correct(free, inverse)
            reached = distance < REACHED
            covariance[np.ix_(free, free)] = inverse
        elif upwards:
            reached = False
        if reached or not ended:
            break
        if not (search.leap(free, curvature) if upwards else search.best.value > before + GAIN):
            break
    return Optimum(start, search.best, reached, side, covariance, distance, flat)


class _Maximiser:
    def __init__(self, function: Callable[[Array], Point], start: Point, low: Array, high: Array) -> None:
        self._function, self._low, self._high = function, low, high
        self.best = start
        self._steps = 0

    def _evaluate(self, at: Array) -> Point:
        point = self._function(np.clip(at, self._low, self._high))
        if point.value > self.best.value:
            self.best = point
        return point

    def ascend(self) -> bool:
        """Go on until nothing is gained; whether that is a maximum."""
        reach = math.inf
        while reach > SHORTEST:
            centre = self.best.at
            low, high = np.maximum(self._low, centre - reach), np.minimum(self._high, centre + reach)
            tried = [centre]
            try:
                ended = self._ascend_within(low, high, tried)
            except Undefined:
                reach = 0.5 * float(np.abs(tried[-1] - self.best.at).max())
                continue
            except _OutOfSteps:
                return False
            if not self._cut_short(low, high):
                return ended
            reach *= 2.0
        return False

    def _ascend_within(self, low: Array, high: Array, tried: list[Array]) -> bool:
        from scipy.optimize import minimize

        first = self.best
        unit = max(1.0, float(np.abs(first.gradient).max()) / FIRST_STEP)

        def cost(at: NDArray[Any]) -> tuple[float, NDArray[Any]]:
            if np.array_equal(at, first.at):
                return -first.value / unit, -first.gradient / unit
            if self._steps == MOST:
                raise _OutOfSteps
            self._steps += 1
            tried.append(at.copy())
            point = self._evaluate(at)
            return -point.value / unit, -point.gradient / unit

        result = minimize(
            cost,
            first.at,
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low.tolist(), high.tolist(), strict=True)),
            options={
                "ftol": GAIN / max(abs(first.value), unit),
                "gtol": GAIN / unit,
                "maxiter": MOST,
                "maxfun": 2 * MOST,
            },
        )
        return bool(result.success)

    def _cut_short(self, low: Array, high: Array) -> bool:
        """Whether the best point lies where only the reach ended, not at a bound."""
        at = self.best.at
        below = (at <= low + _EDGE) & (low > self._low)
        above = (at >= high - _EDGE) & (high < self._high)
        return bool(np.any(below | above))

    def side(self) -> NDArray[np.int8]:
        """Which coordinates of the best point lie at their bounds; see `Optimum`."""
        at = self.best.at
        return (at >= self._high - _EDGE).astype(np.int8) - (at <= self._low + _EDGE).astype(np.int8)

    def curvature(self, free: NDArray[np.intp]) -> Array | None:
        """Minus the second derivatives at the best point, by differences of gradients; None with Undefined nearby."""
        centre = self.best.at
        rows = []
        for i in free:
            step = np.zeros(len(centre))
            step[i] = DIFFERENCE
            try:
                ends = [self._evaluate(centre + sign * step) for sign in (-1.0, 1.0)]
            except Undefined:
                return None
            rows.append((ends[0].gradient[free] - ends[1].gradient[free]) / (ends[1].at[i] - ends[0].at[i]))
        found = np.array(rows)
        return np.asarray(0.5 * (found + found.T))

    def leap(self, free: NDArray[np.intp], curvature: Array) -> bool:
        """Go the way along which the function is curved upwards most, twice as far while that gains; whether it did."""
        begin = self.best
        way = np.zeros(len(begin.at))
        way[free] = np.linalg.eigh(curvature)[1][:, 0]
        way *= math.copysign(LEAP, way @ begin.gradient)
        try:
            while self._evaluate(self.best.at + way) is self.best:
                way *= 2.0
        except Undefined:
            pass
        return self.best.value > begin.value + GAIN

    def correct(self, free: NDArray[np.intp], inverse: Array) -> float:
        """Newton steps from the best point with that curvature; returns the distance left, standard errors."""
        for _ in range(CORRECTIONS):
            before = self.best
            gradient = before.gradient[free]
            if math.sqrt(gradient @ inverse @ gradient) < CLOSE:
                break
            at = before.at.copy()
            at[free] += inverse @ gradient
            try:
                self._evaluate(at)
            except Undefined:
                break
            if self.best is before:
                break
        gradient = self.best.gradient[free]
        return math.sqrt(gradient @ inverse @ gradient)
