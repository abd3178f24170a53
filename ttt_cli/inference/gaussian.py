"""Who wins where performances are Gaussian, for numbers and arrays alike: nothing heavy is imported."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

# Points above the year's level at which draw margins grow by e^draw_margin_strength.
STRENGTH_UNIT: Final = 400.0
STRENGTH_REACH: Final = 2.0  # units, at most


def is_gaussian(params: Mapping[str, Any]) -> bool:
    """Whether these are the resolved parameters of a system that `outcomes` is of."""
    return "beta" in params


def outcomes(
    params: Mapping[str, Any], white: Mapping[str, Any], black: Mapping[str, Any], cdf: Callable[[Any], Any]
) -> tuple[Any, Any, Any]:
    """Probabilities of loss, draw and win for White; `cdf` is the normal distribution function.

    `white` and `black` hold `mean` and `sd`, and where `params` have no draw margin for all, each player's
    `draw_margin` and `draw_margin_sd`, points. `draw_margin_strength` in `params` lets margins grow with the mean of
    `white` and `black` above `draw_margin_level`, points.
    """
    difference = white["mean"] - black["mean"] + params.get("white_advantage", 0.0)
    variance = 2.0 * params["beta"] ** 2 + white["sd"] ** 2 + black["sd"] ** 2
    if "draw_margin" in params:
        margin = params["draw_margin"] * _grown(params, white, black)
        return by_margin(difference, variance, margin, cdf)
    more = params.get("draw_margin_mean", 0.0) * (_grown(params, white, black) - 1.0)
    win = cdf((difference - black["draw_margin"] - more) / (variance + black["draw_margin_sd"] ** 2) ** 0.5)
    loss = cdf((-difference - white["draw_margin"] - more) / (variance + white["draw_margin_sd"] ** 2) ** 0.5)
    rest = 1.0 - loss - win
    draw = 0.5 * (rest + abs(rest))
    total = loss + draw + win
    return loss / total, draw / total, win / total


def in_year(params: Mapping[str, Any], draws: Mapping[str, float] | None) -> dict[str, Any]:
    """The parameters in a year with these draw margins, if they move; players with margins of their own keep them."""
    moved = {key: value for key, value in (draws or {}).items() if key != "draw_margin" or key in params}
    return {**params, **moved}


def _grown(params: Mapping[str, Any], white: Mapping[str, Any], black: Mapping[str, Any]) -> Any:
    """How many times the draw margin is that of players of the year's level."""
    strength, level = params.get("draw_margin_strength", 0.0), params.get("draw_margin_level")
    if not strength or level is None:  # no margin at all has no level
        return 1.0
    above = ((white["mean"] + black["mean"]) / 2.0 - level) / STRENGTH_UNIT
    within = (abs(above + STRENGTH_REACH) - abs(above - STRENGTH_REACH)) / 2.0
    return math.e ** (strength * within)


def by_margin(difference: Any, variance: Any, margin: Any, cdf: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    """The same when the performances differ by N(difference, variance) and differences up to `margin` are draws."""
    scale, distance = variance**-0.5, abs(difference)
    draw = cdf((margin - distance) * scale) - cdf((-margin - distance) * scale)
    return cdf((-margin - difference) * scale), draw, cdf((difference - margin) * scale)
