"""Parameters as coordinates of a search: which can be tuned, their bounds and scales."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from scipy.special import expit, logit

from ttt_cli.config.margin_steps import PREFIX as STEPS
from ttt_cli.config.offsets import offset_params
from ttt_cli.config.schema import aliases
from ttt_cli.inference.params import MARGIN_STEP, PLAY, Params, Range
from ttt_cli.runs.meta import SWITCHES, in_use
from ttt_cli.support.arrays import rounded
from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.systems.resolve import Resolved, configured_numbers, number_bounds, numeric_params

NO_SIZES: Final[Mapping[str, float]] = MappingProxyType({})
NO_COVARIATES: Final[Mapping[str, float | None]] = MappingProxyType({})
NO_STEPS: Final[Mapping[str, float | None]] = MappingProxyType({})
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
    keys: Sequence[str],
    ranges: Mapping[str, Range],
    prior_sd: float,
    beta: float,
    sizes: Mapping[str, float] = NO_SIZES,
) -> tuple[Coordinate, ...]:
    """Coordinates for maximising the evidence, given the initial lengths in points.

    `sizes`: typical sizes of covariates, by key, of which points per unit have the range of White's advantage.
    """
    axes = []
    for key in keys:
        if key in sizes:
            most = PLAY["white_advantage"].high * prior_sd / sizes[key]
            axes.append(
                Coordinate(key, low=-most, high=most, form="linear", unit=beta / sizes[key])
            )
            continue
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
    params: Params,
    values: Mapping[str, Any],
    freed: Collection[str] = (),
    sizes: Mapping[str, float] = NO_SIZES,
) -> tuple[Coordinate, ...]:
    """Coordinates of all parameters that prediction can tune, from the schema and the resolved `values`.

    Positive numbers use their logarithm, shares their logit, others themselves. These parameters are fixed: those set
    to null, except those in `freed`; a share of draws if there is a draw margin; a positive number at 0, and
    parameters that depend on it; `prior_sd` if there is `beta`: one of the two sets the scale. Configured covariates
    have typical `sizes`, by key.
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
            axes.append(
                Coordinate(key, max(low, value - reach), min(high, value + reach), "linear", unit)
            )
        elif value > 0.0:
            axes.append(Coordinate(key, max(low, value / REACH), min(high, value * REACH), "log"))
    steps = {key: value for key, value in values.items() if key.startswith(STEPS)}
    for key, value in {**offset_params(params.offset_settings), **steps}.items():
        if value > 0.0:
            axes.append(Coordinate(key, value / REACH, value * REACH, "log"))
    for key, size in sizes.items():
        if key in values:
            unit = POINTS / size
            axes.append(
                Coordinate(key, values[key] - FAR * unit, values[key] + FAR * unit, "linear", unit)
            )
    return tuple(axes)


def parse_keys(
    spec: str,
    resolved: Resolved,
    covariates: Mapping[str, float | None] = NO_COVARIATES,
    steps: Mapping[str, float | None] = NO_STEPS,
    *,
    colours: bool = True,
) -> tuple[str, ...]:
    """Parameters of `beta,tau`, and those that are estimated, as white_advantage and covariates. Raises ConfigError.

    `covariates` and `steps`: those of the games, as in `covariate_params` and `step_params`; `colours`: whether known.
    """

    def refused(message: str, hint: str) -> ConfigError:
        return ConfigError(message, where=f"tune {spec}", hint=hint)

    params = resolved.params
    configured = configured_numbers(params)
    ranges = {
        **resolved.model.TRAITS.tunable,
        **params.offset_ranges,
        **dict.fromkeys(steps, MARGIN_STEP),
    }
    symbols = aliases(type(resolved.params))
    tunable = [*(key for key in numeric_params(resolved) if key in ranges), *covariates, *steps]
    keys: list[str] = []
    for word in (piece.strip() for piece in spec.split(",")):
        key = symbols.get(word, word)
        if key == "prior_mean":
            raise refused(
                "prior_mean shifts all skills and does not change the evidence", "leave it out"
            )
        if key not in tunable:
            hint = suggested(word, tunable, f"parameters are {', '.join(tunable)}", "{}")
            raise refused(f"{word!r} cannot be tuned", hint)
        if key in keys:
            raise refused(f"{key} is given twice", "name each parameter once")
        keys.append(key)
    if params.estimates_advantage and "white_advantage" not in keys and colours:
        keys.append("white_advantage")
    if params.estimates_lapse and "lapse" not in keys:
        keys.append("lapse")
    estimated = {**covariates, **steps}
    keys += [key for key, points in estimated.items() if points is None and key not in keys]
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
                f"{idle[0]} has an effect only while {switch} is not 0",
                f"tune {switch} too, or set it",
            )
    fixed_lengths = [
        configured.get(key)
        for key, bounds in ranges.items()
        if bounds.is_length and key not in keys
    ]
    if not any(isinstance(value, float) and value for value in fixed_lengths):
        raise refused(
            "with all lengths free there is no scale: only their ratios change the evidence",
            "leave one out, usually prior_sd",
        )
    return tuple(keys)
