"""Which parameters can be tuned, by the evidence or by predictions, between which bounds, in which coordinates."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ttt_cli.config.document import aliases
from ttt_cli.errors import ConfigError, suggested
from ttt_cli.inference.params import Params
from ttt_cli.inference.switches import SWITCHES, in_use
from ttt_cli.inference.traits import Range
from ttt_cli.systems.resolve import Resolved, numeric_params

DIGITS: Final = 13
REACH: Final = 30.0  # times the start and its inverse: how far a positive number may go
POINTS: Final = 100.0  # unit of what may have either sign
FAR: Final = 10.0  # units that it may go from the start
EDGE: Final = 1e-3  # how near a share may come to 0 and 1

Map = Callable[[float], float]
# from values to coordinates, back, and the derivative of the way back as a function of the value
FORMS: Final[dict[str, tuple[Map, Map, Map]]] = {
    "log": (math.log, math.exp, lambda value: value),
    "logit": (
        lambda value: math.log(value / (1.0 - value)),
        lambda place: 1.0 / (1.0 + math.exp(-place)),
        lambda value: value * (1.0 - value),
    ),
    "linear": (float, float, lambda _: 1.0),
}


@dataclass(frozen=True)
class Coordinate:
    """A parameter with its bounds as its logarithm, its logit, or itself in units of `unit`; `least` to begin with."""

    key: str
    low: float
    high: float
    form: Literal["log", "logit", "linear"]
    unit: float = 1.0
    least: float = -math.inf

    def place(self, value: float) -> float:
        """The coordinate of a value, moved to the nearest bound if it is beyond."""
        return FORMS[self.form][0](min(max(value, self.low), self.high)) / self.unit

    def value(self, place: float) -> float:
        """The parameter at a place, to DIGITS digits: there and back again gives the number as it was written."""
        return float(f"{FORMS[self.form][1](place * self.unit):.{DIGITS}g}")

    def slope(self, value: float) -> float:
        """The derivative of the parameter in its coordinate, at a value."""
        return FORMS[self.form][2](value) * self.unit

    @property
    def bounds(self) -> tuple[float, float]:
        """The coordinates of the bounds."""
        return self.place(self.low), self.place(self.high)


def coordinates(
    keys: Sequence[str], ranges: Mapping[str, Range], prior_sd: float, beta: float
) -> tuple[Coordinate, ...]:
    """The coordinates of an optimisation of the evidence that begins with these lengths, points."""
    found = []
    for key in keys:
        low, high, form, least, is_length = ranges[key]
        length = prior_sd if is_length else 1.0
        unit = beta if form == "linear" and is_length else 1.0
        found.append(Coordinate(key, low * length, high * length, form, unit, max(low, least) * length))
    return tuple(found)


def free_coordinates(
    params: Params, values: Mapping[str, Any], freed: Collection[str] = ()
) -> tuple[Coordinate, ...]:
    """The coordinates of all parameters that are free to be tuned by predictions, told from the schema alone.

    They begin at `values`, a Fit's resolved ones. Free are numbers with a fraction: positive ones as their logarithm,
    shares as their logit, others as they are. Held are what is null, but of `freed`, a share of draws beside a draw
    margin, a positive number at 0 and what counts only with it, and `prior_sd` beside `beta`, which sets the scale.
    """
    options = _numbers(type(params))
    held = {key for key in options if getattr(params, key) is None and key not in freed}
    held |= {"draw_probability"} if "draw_margin" in options else set()
    held |= {"prior_sd"} if "beta" in options else set()
    held |= values.keys() - in_use(values).keys()
    found = []
    for key, (low, high) in options.items():
        value = values.get(key)
        if key in held or not isinstance(value, int | float) or not math.isfinite(value):
            continue
        if (low, high) == (0.0, 1.0):
            found.append(Coordinate(key, EDGE, 1.0 - EDGE, "logit"))
        elif low < 0.0:
            unit = min(POINTS, high)
            reach = FAR * unit
            found.append(Coordinate(key, max(low, value - reach), min(high, value + reach), "linear", unit))
        elif value > 0.0:
            found.append(Coordinate(key, max(low, value / REACH), min(high, value * REACH), "log"))
    return tuple(found)


def _numbers(schema: type[Params]) -> dict[str, tuple[float, float]]:
    """The bounds of the parameters that may be numbers with a fraction."""
    found = {}
    for key, described in schema.model_json_schema(by_alias=False)["properties"].items():
        options: Sequence[dict[str, Any]] = described.get("anyOf", [described])
        for option in options:
            if option.get("type") == "number":
                low = option.get("minimum", option.get("exclusiveMinimum", -math.inf))
                high = option.get("maximum", option.get("exclusiveMaximum", math.inf))
                found[key] = (float(low), float(high))
    return found


def parse_keys(spec: str, resolved: Resolved, *, colours: bool = True) -> tuple[str, ...]:
    """The parameters of `beta,tau`, symbols understood; white_advantage too where the config has it estimated.

    `colours`: whether the games tell who had White. Raises ConfigError for what cannot be tuned, or not together.
    """
    params, ranges = resolved.params, resolved.model.TRAITS.tunable
    symbols = aliases(type(params))
    tunable = [key for key in numeric_params(resolved) if key in ranges]
    keys: list[str] = []
    for word in (piece.strip() for piece in spec.split(",")):
        key = symbols.get(word, word)
        if key == "prior_mean":
            raise _refused(spec, "prior_mean moves all skills alike and changes no evidence", "leave it out")
        if key not in tunable:
            raise _unknown(spec, word, tunable)
        if key in keys:
            raise _refused(spec, f"{key} is given twice", "name each parameter once")
        keys.append(key)
    if params.estimates_advantage and "white_advantage" not in keys and colours:
        keys.append("white_advantage")
    if "white_advantage" in keys and not (colours and resolved.config.data.colours != "unknown"):
        message = "white_advantage cannot be tuned on games whose colours are unknown"
        raise _refused(spec, message, "leave it out, or fit the games again with data.colours: known")
    if "draw_probability" in keys and (
        "draw_margin" in keys or getattr(params, "draw_margin", None) != "auto"
    ):
        message = "draw_probability counts only while draw_margin is auto"
        raise _refused(spec, message, "tune draw_margin, or set it to auto with -s model.draw_margin=auto")
    for switch, others in SWITCHES.items():
        idle = [key for key in keys if key in others and switch not in keys and not getattr(params, switch)]
        if idle:
            raise _refused(
                spec, f"{idle[0]} counts only while {switch} is not 0", f"tune {switch} too, or set it"
            )
    _refuse_free_scale(spec, keys, resolved)
    return tuple(keys)


def _unknown(spec: str, word: str, tunable: Sequence[str]) -> ConfigError:
    if not word:
        return _refused(spec, "a parameter is missing", "for instance `ttt tune beta,tau`")
    hint = suggested(word, tunable, f"parameters are {', '.join(tunable)}", "{}")
    return _refused(spec, f"{word} is no parameter that can be tuned", hint)


def _refuse_free_scale(spec: str, keys: Sequence[str], resolved: Resolved) -> None:
    """Multiplying all lengths by one number changes no probability: one of them has to stay."""
    lengths = (key for key, one in resolved.model.TRAITS.tunable.items() if one.is_length)
    kept = [getattr(resolved.params, key) for key in lengths if key not in keys]
    if not any(isinstance(value, float) and value != 0.0 for value in kept):
        message = "with all lengths free there is no scale: only their ratios change the evidence"
        raise _refused(spec, message, "leave one out, usually prior_sd")


def _refused(spec: str, message: str, hint: str) -> ConfigError:
    return ConfigError(message, where=f"tune {spec}", hint=hint)
