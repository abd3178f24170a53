"""The top of a smooth function of a few coordinates, which may have no value in places, and the curvature there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

MOST: Final = 200  # steps of one climb
GAIN: Final = 1e-3  # a smaller gain in height ends the climb
FIRST_STEP: Final = 0.3  # the longest that the first step of a climb may be in a coordinate
SHORTEST: Final = 1e-3  # reach of a climb below which places without a value are in the way for good
DIFFERENCE: Final = 0.02  # step of the differences that give the curvature
CORRECTIONS: Final = 3  # Newton steps at most, after the climb
CLOSE: Final = 0.02  # standard errors from the top within which nothing is left to gain
REACHED: Final = 0.1  # standard errors from the top within which it counts as reached
_EDGE: Final = 1e-9


class NoHeight(Exception):
    """The function has no value at a place."""


class _OutOfSteps(Exception):
    """The climb has taken as many steps as it may."""


@dataclass(frozen=True)
class Place:
    """Coordinates, the height there (a log-likelihood), and its slopes in each coordinate."""

    at: Vector
    height: float
    slopes: Vector


@dataclass(frozen=True)
class Top:
    """Where a climb that began at `start` ended; both -inf high when there is no height where it began.

    `side`: per coordinate -1 at its lower bound, 1 at its upper one, else 0. `covariance` is the inverse of the
    curvature turned round, shape (coordinates, coordinates), NaN for coordinates at bounds and wherever the height
    is not curved downwards. `distance`: from `place` to the top, standard errors; None without curvature.
    """

    start: Place
    place: Place
    reached: bool
    side: NDArray[np.int8]
    covariance: Vector
    distance: float | None


def climb(function: Callable[[Vector], Place], begin: Vector, low: Vector, high: Vector) -> Top:
    """Climb from `begin` to a top between the bounds, by L-BFGS-B and Newton steps.

    Where the function raises NoHeight, the climb begins again at the best place so far with half that reach, and goes
    further again where that succeeds.
    """
    unknown = np.full((len(begin), len(begin)), math.nan)
    try:
        start = function(begin)
    except NoHeight:
        nowhere = Place(begin, -math.inf, np.full(len(begin), math.nan))
        return Top(nowhere, nowhere, False, np.zeros(len(begin), np.int8), unknown, None)
    climber = _Climber(function, start, low, high)
    reached, distance = climber.ascend(), None
    side = climber.side()
    free = np.flatnonzero(side == 0)
    covariance = unknown
    if len(free) and (curvature := climber.curvature(free)) is not None:
        lowest = float(np.linalg.eigvalsh(curvature)[0])
        reached = reached and lowest > -GAIN
        if lowest > 0.0:
            inverse = np.linalg.inv(curvature).astype(np.float64)
            distance = climber.correct(free, inverse)
            reached = distance < REACHED
            covariance[np.ix_(free, free)] = inverse
    return Top(start, climber.best, reached, side, covariance, distance)


class _Climber:
    def __init__(self, function: Callable[[Vector], Place], start: Place, low: Vector, high: Vector) -> None:
        self._function, self._low, self._high = function, low, high
        self.best = start
        self._steps = 0

    def _visit(self, at: Vector) -> Place:
        place = self._function(at)
        if place.height > self.best.height:
            self.best = place
        return place

    def _visit_within(self, at: Vector) -> Place:
        return self._visit(np.clip(at, self._low, self._high))

    def ascend(self) -> bool:
        """Go up until nothing is gained; whether that is a top."""
        reach = math.inf
        while reach > SHORTEST:
            centre = self.best.at
            low, high = np.maximum(self._low, centre - reach), np.minimum(self._high, centre + reach)
            tried = [centre]
            try:
                ended = self._ascend_within(low, high, tried)
            except NoHeight:
                reach = 0.5 * float(np.abs(tried[-1] - self.best.at).max())
                continue
            except _OutOfSteps:
                return False
            if not self._cut_short(low, high):
                return ended
            reach *= 2.0
        return False

    def _ascend_within(self, low: Vector, high: Vector, tried: list[Vector]) -> bool:
        from scipy.optimize import minimize

        first = self.best
        unit = max(1.0, float(np.abs(first.slopes).max()) / FIRST_STEP)

        def cost(at: NDArray[Any]) -> tuple[float, NDArray[Any]]:
            if np.array_equal(at, first.at):
                return -first.height / unit, -first.slopes / unit
            if self._steps == MOST:
                raise _OutOfSteps
            self._steps += 1
            tried.append(at.copy())
            place = self._visit(at.copy())
            return -place.height / unit, -place.slopes / unit

        result = minimize(
            cost,
            first.at,
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low.tolist(), high.tolist(), strict=True)),
            options={
                "ftol": GAIN / max(abs(first.height), unit),
                "gtol": GAIN / unit,
                "maxiter": MOST,
                "maxfun": 2 * MOST,
            },
        )
        return bool(result.success)

    def _cut_short(self, low: Vector, high: Vector) -> bool:
        """Whether the best place lies where only the reach ended, not at a bound."""
        at = self.best.at
        below = (at <= low + _EDGE) & (low > self._low)
        above = (at >= high - _EDGE) & (high < self._high)
        return bool(np.any(below | above))

    def side(self) -> NDArray[np.int8]:
        """Which coordinates of the best place lie at their bounds; see `Top`."""
        at = self.best.at
        return (at >= self._high - _EDGE).astype(np.int8) - (at <= self._low + _EDGE).astype(np.int8)

    def curvature(self, free: NDArray[np.intp]) -> Vector | None:
        """Minus the second derivatives at the best place, by differences of slopes; None with NoHeight nearby."""
        centre = self.best.at
        rows = []
        for i in free:
            step = np.zeros(len(centre))
            step[i] = DIFFERENCE
            try:
                ends = [self._visit_within(centre + sign * step) for sign in (-1.0, 1.0)]
            except NoHeight:
                return None
            rows.append((ends[0].slopes[free] - ends[1].slopes[free]) / (ends[1].at[i] - ends[0].at[i]))
        found = np.array(rows)
        return np.asarray(0.5 * (found + found.T))

    def correct(self, free: NDArray[np.intp], inverse: Vector) -> float:
        """Newton steps from the best place with that curvature; returns the distance left, standard errors."""
        for _ in range(CORRECTIONS):
            before = self.best
            slopes = before.slopes[free]
            if math.sqrt(slopes @ inverse @ slopes) < CLOSE:
                break
            at = before.at.copy()
            at[free] += inverse @ slopes
            try:
                self._visit_within(at)
            except NoHeight:
                break
            if self.best is before:
                break
        slopes = self.best.slopes[free]
        return math.sqrt(slopes @ inverse @ slopes)
