"""Which parameters of any model can be tuned by what they foresee, told from its schema alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ttt_cli.evaluate.evidence.tunable import LENGTHS, Coordinate
from ttt_cli.inference.params import Params

REACH: Final = 30.0  # times the start and its inverse: how far a positive number may go
POINTS: Final = 100.0  # unit of what may have either sign
FAR: Final = 10.0  # units that it may go from the start
EDGE: Final = 1e-3  # how near a share may come to 0 and 1


def free_coordinates(params: Params, values: Mapping[str, Any]) -> tuple[Coordinate, ...]:
    """The coordinates of the parameters that are free to be tuned, beginning at `values`, a Fit's resolved ones.

    Free are numbers with a fraction: positive ones climb in their logarithm, shares in their logit, others as they
    are. Held are: whole numbers and words; what is null, which means that it is not used or follows another (but the
    draw margins of TTT-D are freed); a share of draws beside a draw margin; a positive number at 0; and `prior_sd`
    beside `beta`, which sets the scale.
    """
    options = _numbers(type(params))
    found = []
    for key, (low, high) in options.items():
        value = values.get(key)
        if _held(key, params, options) or not isinstance(value, int | float) or not math.isfinite(value):
            continue
        coordinate = _coordinate(key, float(value), low, high)
        if coordinate is not None:
            found.append(coordinate)
    return tuple(found)


def _held(key: str, params: Params, options: Mapping[str, object]) -> bool:
    if key == "draw_probability":
        return "draw_margin" in options
    if key == "prior_sd":
        return "beta" in options
    return getattr(params, key) is None and key not in LENGTHS


def _coordinate(key: str, value: float, low: float, high: float) -> Coordinate | None:
    if (low, high) == (0.0, 1.0):
        return Coordinate(key, EDGE, 1.0 - EDGE, "logit", 1.0)
    if low >= 0.0:
        if value <= 0.0:
            return None
        return Coordinate(key, max(low, value / REACH), min(high, value * REACH), "log", 1.0)
    reach = FAR * POINTS
    return Coordinate(key, max(low, value - reach), min(high, value + reach), "linear", POINTS)


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
