"""Maximise a smooth function of a few coordinates, undefined in places, and compute its curvature at the maximum."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ttt_cli.config.schema import aliases
from ttt_cli.inference.params import Params, Range
from ttt_cli.runs.meta import SWITCHES, in_use
from ttt_cli.support.arrays import Array, rounded
from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.systems.resolve import Resolved, number_bounds, numeric_params

MOST: Final = 200  # steps of a search
GAIN: Final = 1e-3  # a smaller gain ends the search
FIRST_STEP: Final = 0.3  # the longest that the first step may be in a coordinate
DIFFERENCE: Final = 0.02  # step of the differences that give the curvature
LEAP: Final = 0.5  # the first step off a slope that is curved upwards
CORRECTIONS: Final = 3  # Newton steps at most, after the search
CLOSE: Final = 0.02  # standard errors from the maximum within which nothing is left to gain
# Second derivatives below this are none: a standard error would be beyond a thousand units.
FLAT: Final = 1e-6
REACHED: Final = 0.1  # standard errors from the maximum within which it counts as reached
_EDGE: Final = 1e-9


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
    function is convex in some direction, the search steps along that direction and restarts.
    """
    n = len(begin)
    unknown = np.full((n, n), math.nan)
    if not (start := function(begin)):
        nowhere = FunctionValue(begin, -math.inf, unknown[0])
        return Optimum(nowhere, nowhere, False, np.zeros(n, np.int8), unknown, None, np.zeros(n, np.bool_))
    search = _Search(function, start, low, high)
    while True:
        before = search.best.value
        ended = search.ascend()
        reached = ended
        distance = None
        covariance = unknown.copy()
        at = search.best.at
        flat = np.zeros(n, np.bool_)
        side = (at >= high - _EDGE).astype(np.int8) - (at <= low + _EDGE).astype(np.int8)
        free = np.flatnonzero(side == 0)
        curvature = search.curvature(free) if len(free) else None
        if curvature is None:
            break
        curved = (np.abs(np.diag(curvature)) > FLAT) | (np.abs(curvature).max(axis=1) > GAIN)
        flat[free] = ~curved
        free = free[curved]
        curvature = curvature[np.ix_(curved, curved)]
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
        if upwards:  # along the most convex direction, doubling the step while the value rises
            step = np.zeros(n)
            step[free] = np.linalg.eigh(curvature)[1][:, 0]
            step *= math.copysign(LEAP, step @ search.best.gradient)
            while (point := search.evaluate(search.best.at + step)) and point is search.best:
                step *= 2.0
        if not search.best.value > before + GAIN:
            break
    return Optimum(start, search.best, reached, side, covariance, distance, flat)


class _Search:
    """The `best` point so far of a function between bounds."""

    def __init__(self, function: Function, start: FunctionValue, low: Array, high: Array) -> None:
        self._function = function
        self._low = low
        self._high = high
        self.best = start
        self._left = MOST
        self.undefined = 0

    def evaluate(self, at: Array) -> FunctionValue | None:
        """Value at a point, None where it is undefined."""
        point = self._function(np.clip(at, self._low, self._high))
        if point and point.value > self.best.value:
            self.best = point
        return point

    def ascend(self) -> bool:
        """Search by L-BFGS-B until the value no longer rises; return whether that is a maximum."""
        from scipy.optimize import minimize

        bounds = list(zip(self._low.tolist(), self._high.tolist(), strict=True))
        while True:
            first = self.best
            undefined = self.undefined
            unit = max(1.0, float(np.abs(first.gradient).max()) / FIRST_STEP)
            options: Any = {"ftol": GAIN / max(abs(first.value), unit), "gtol": GAIN / unit}
            try:
                result = minimize(
                    self._cost, first.at, (unit,), jac=True, method="L-BFGS-B", bounds=bounds, options=options
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

    def curvature(self, free: NDArray[np.intp]) -> Array | None:
        """Negative second derivatives at the best point by differences of gradients; None where it is undefined."""
        centre = self.best.at
        rows = []
        for i in free:
            step = np.zeros(len(centre))
            step[i] = DIFFERENCE
            below = self.evaluate(centre - step)
            above = self.evaluate(centre + step)
            if below is None or above is None:
                return None
            rows.append((below.gradient[free] - above.gradient[free]) / (above.at[i] - below.at[i]))
        differences = np.array(rows)
        return np.asarray(0.5 * (differences + differences.T))

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


DIGITS: Final = 13
REACH: Final = 30.0  # largest factor between a positive number and its start
POINTS: Final = 100.0  # unit of what may have either sign
FAR: Final = 10.0  # units from the start, at most
EDGE: Final = 1e-3  # distance of a share from 0 and 1, at least

# value to coordinate, coordinate to value, and the derivative of the latter by value
FORMS: Final[dict[str, tuple[Callable[[float], float], ...]]] = {
    "log": (math.log, math.exp, float),
    "logit": (logit, expit, lambda value: value * (1.0 - value)),
    "linear": (float, float, lambda _: 1.0),
}


@dataclass(frozen=True)
class Coordinate:
    """A parameter with its bounds, as logarithm, logit or multiple of `unit`; searches start at `least` or above."""

    key: str
    low: float
    high: float
    form: Literal["log", "logit", "linear"]
    unit: float = 1.0
    least: float = -math.inf

    def position(self, value: float) -> float:
        """Coordinate of a value, clipped to the bounds."""
        return FORMS[self.form][0](min(max(value, self.low), self.high)) / self.unit

    def value(self, position: float) -> float:
        """Parameter at a coordinate, rounded to DIGITS digits so that conversions both ways agree."""
        return rounded(FORMS[self.form][1](position * self.unit), DIGITS)

    def slope(self, value: float) -> float:
        """Derivative of the parameter by its coordinate."""
        return FORMS[self.form][2](value) * self.unit

    @property
    def bounds(self) -> tuple[float, float]:
        """Coordinates of the bounds."""
        return self.position(self.low), self.position(self.high)


def coordinates(
    keys: Sequence[str], ranges: Mapping[str, Range], prior_sd: float, beta: float
) -> tuple[Coordinate, ...]:
    """Coordinates for maximising the evidence, given the initial lengths in points."""
    axes = []
    for key in keys:
        bounds = ranges[key]
        length = prior_sd if bounds.is_length else 1.0
        unit = beta if bounds.form == "linear" and bounds.is_length else 1.0
        axes.append(
            Coordinate(
                key,
                low=bounds.low * length,
                high=bounds.high * length,
                form=bounds.form,
                unit=unit,
                least=max(bounds.low, bounds.least) * length,
            )
        )
    return tuple(axes)


def free_coordinates(
    params: Params, values: Mapping[str, Any], freed: Collection[str] = ()
) -> tuple[Coordinate, ...]:
    """Coordinates of all parameters that prediction can tune, from the schema and the resolved `values`.

    Positive numbers use their logarithm, shares their logit, others themselves. These parameters are fixed: those set
    to null, except those in `freed`; a share of draws if there is a draw margin; a positive number at 0, and
    parameters that depend on it; `prior_sd` if there is `beta`: one of the two sets the scale.
    """
    bounds = number_bounds(type(params), "number")
    configured = params.model_dump()
    fixed = {key for key in bounds if configured[key] is None and key not in freed}
    if "draw_margin" in bounds:
        fixed.add("draw_probability")
    if "beta" in bounds:
        fixed.add("prior_sd")
    fixed |= values.keys() - in_use(values).keys()
    axes = []
    for key, (low, high) in bounds.items():
        value = values.get(key)
        if key in fixed or not isinstance(value, int | float) or not math.isfinite(value):
            continue
        if (low, high) == (0.0, 1.0):
            axes.append(Coordinate(key, EDGE, 1.0 - EDGE, "logit"))
        elif low < 0.0:
            unit = min(POINTS, high)
            reach = FAR * unit
            axes.append(Coordinate(key, max(low, value - reach), min(high, value + reach), "linear", unit))
        elif value > 0.0:
            axes.append(Coordinate(key, max(low, value / REACH), min(high, value * REACH), "log"))
    return tuple(axes)


def parse_keys(spec: str, resolved: Resolved, *, colours: bool = True) -> tuple[str, ...]:
    """Parameters of `beta,tau`, and an estimated white_advantage; `colours`: whether known. Raises ConfigError."""

    def refused(message: str, hint: str) -> ConfigError:
        return ConfigError(message, where=f"tune {spec}", hint=hint)

    params = resolved.params
    configured = params.model_dump()
    ranges = resolved.model.TRAITS.tunable
    symbols = aliases(type(resolved.params))
    tunable = [key for key in numeric_params(resolved) if key in ranges]
    keys: list[str] = []
    for word in (piece.strip() for piece in spec.split(",")):
        key = symbols.get(word, word)
        if key == "prior_mean":
            raise refused("prior_mean shifts all skills and does not change the evidence", "leave it out")
        if key not in tunable:
            hint = suggested(word, tunable, f"parameters are {', '.join(tunable)}", "{}")
            raise refused(f"{word!r} cannot be tuned", hint)
        if key in keys:
            raise refused(f"{key} is given twice", "name each parameter once")
        keys.append(key)
    if params.estimates_advantage and "white_advantage" not in keys and colours:
        keys.append("white_advantage")
    if "white_advantage" in keys and not (colours and resolved.config.data.colours != "unknown"):
        raise refused(
            "white_advantage cannot be tuned on games whose colours are unknown",
            "leave it out, or fit the games again with data.colours: known",
        )
    if "draw_probability" in keys and (
        "draw_margin" in keys or getattr(params, "draw_margin", None) != "auto"
    ):
        raise refused(
            "draw_probability has an effect only while draw_margin is auto",
            "tune draw_margin, or set it to auto with -s model.draw_margin=auto",
        )
    for switch, dependents in SWITCHES.items():
        off = switch not in keys and not configured.get(switch)
        idle = [key for key in keys if key in dependents and off]
        if idle:
            raise refused(
                f"{idle[0]} has an effect only while {switch} is not 0", f"tune {switch} too, or set it"
            )
    fixed_lengths = [
        configured[key] for key, bounds in ranges.items() if bounds.is_length and key not in keys
    ]
    if not any(isinstance(value, float) and value for value in fixed_lengths):
        raise refused(
            "with all lengths free there is no scale: only their ratios change the evidence",
            "leave one out, usually prior_sd",
        )
    return tuple(keys)
