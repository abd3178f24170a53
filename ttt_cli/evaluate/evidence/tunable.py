"""Which parameters can be tuned together, between which bounds, and in which coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, assert_never

from ttt_cli.config.validate import aliases
from ttt_cli.errors import ConfigError, nearest
from ttt_cli.inference.params import Params
from ttt_cli.systems.resolve import Resolved, numeric_params

LENGTHS: Final[dict[str, tuple[float, float]]] = {  # bounds of what is in points, in units of prior_sd
    "prior_sd": (0.05, 20.0),
    "beta": (0.05, 20.0),
    "tau": (1e-4, 5.0),
    "white_advantage": (-5.0, 5.0),
    "draw_margin": (1e-4, 20.0),
    "draw_margin_mean": (1e-3, 20.0),
    "draw_margin_sd": (1e-3, 20.0),
    "draw_margin_tau": (1e-4, 5.0),
}
DRIFTS: Final = (
    "tau",
    "draw_margin_tau",
)  # evidence depends on their squares: near zero no slope shows the way up
LEAST_DRIFT: Final = 0.01  # of prior_sd: where a climb begins at least
LOCATIONS: Final = ("white_advantage", "draw_margin_mean")  # nothing special happens to these near zero
DIGITS: Final = 13
SHARES: Final[dict[str, tuple[float, float]]] = {"draw_probability": (1e-4, 1.0 - 1e-4)}


def parse_keys(spec: str, resolved: Resolved, *, colours: bool = True) -> tuple[str, ...]:
    """The parameters of `beta,tau`, symbols understood; white_advantage too where the config has it estimated.

    `colours`: whether the games tell who had White. Raises ConfigError for what cannot be tuned, or not together.
    """
    params = resolved.params
    symbols = aliases(type(params))
    tunable = [key for key in numeric_params(resolved) if key in LENGTHS or key in SHARES]
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
    if getattr(params, "white_advantage", None) == "estimate" and "white_advantage" not in keys and colours:
        keys.append("white_advantage")
    if "white_advantage" in keys and not (colours and resolved.config.data.colours != "unknown"):
        message = "white_advantage cannot be tuned on games whose colours are unknown"
        raise _refused(spec, message, "leave it out, or fit the games again with data.colours: known")
    _refuse_idle_probability(spec, keys, params)
    _refuse_free_scale(spec, keys, params)
    return tuple(keys)


def _unknown(spec: str, word: str, tunable: Sequence[str]) -> ConfigError:
    if not word:
        return _refused(spec, "a parameter is missing", "for instance `ttt tune beta,tau`")
    near = nearest(word, tunable)
    hint = f"did you mean {near}?" if near else f"parameters are {', '.join(tunable)}"
    return _refused(spec, f"{word} is no parameter that can be tuned", hint)


def _refuse_idle_probability(spec: str, keys: Sequence[str], params: Params) -> None:
    if "draw_probability" not in keys:
        return
    if "draw_margin" in keys or getattr(params, "draw_margin", None) != "auto":
        message = "draw_probability counts only while draw_margin is auto"
        raise _refused(spec, message, "tune draw_margin, or set it to auto with -s model.draw_margin=auto")


def _refuse_free_scale(spec: str, keys: Sequence[str], params: Params) -> None:
    """Multiplying all lengths by one number changes no probability: one of them has to stay."""
    kept = [getattr(params, key, None) for key in LENGTHS if key not in keys]
    if not any(isinstance(value, float) and value != 0.0 for value in kept):
        message = "with all lengths free there is no scale: only their ratios change the evidence"
        raise _refused(spec, message, "leave one out, usually prior_sd")


def _refused(spec: str, message: str, hint: str) -> ConfigError:
    return ConfigError(message, where=f"tune {spec}", hint=hint)


@dataclass(frozen=True)
class Coordinate:
    """How a climb sees a parameter with these bounds: its logarithm, its logit, or itself in units of `unit`."""

    key: str
    low: float
    high: float
    form: Literal["log", "logit", "linear"]
    unit: float

    def place(self, value: float) -> float:
        """Where a value of the parameter lies, moved to the nearest bound if it is beyond."""
        value = min(max(value, self.low), self.high)
        match self.form:
            case "log":
                return math.log(value)
            case "logit":
                return math.log(value / (1.0 - value))
            case "linear":
                return value / self.unit
        assert_never(self.form)

    @property
    def least(self) -> float:
        """The least value with which a climb should begin."""
        return self.low * LEAST_DRIFT / LENGTHS[self.key][0] if self.key in DRIFTS else self.low

    def value(self, place: float) -> float:
        """The parameter at a place, to DIGITS digits: there and back again gives the number as it was written."""
        return float(f"{self._value(place):.{DIGITS}g}")

    def _value(self, place: float) -> float:
        match self.form:
            case "log":
                return math.exp(place)
            case "logit":
                return 1.0 / (1.0 + math.exp(-place))
            case "linear":
                return place * self.unit
        assert_never(self.form)

    def slope(self, value: float) -> float:
        """How fast the parameter grows with its place, at a value."""
        match self.form:
            case "log":
                return value
            case "logit":
                return value * (1.0 - value)
            case "linear":
                return self.unit
        assert_never(self.form)

    @property
    def bounds(self) -> tuple[float, float]:
        """Where the bounds lie."""
        return self.place(self.low), self.place(self.high)


def coordinates(keys: Sequence[str], prior_sd: float, beta: float) -> tuple[Coordinate, ...]:
    """The coordinates of a climb that begins with these lengths, points."""
    found = []
    for key in keys:
        if key in SHARES:
            found.append(Coordinate(key, *SHARES[key], "logit", 1.0))
        else:
            low, high = (bound * prior_sd for bound in LENGTHS[key])
            found.append(Coordinate(key, low, high, "linear" if key in LOCATIONS else "log", beta))
    return tuple(found)
