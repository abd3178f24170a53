"""Who wins where performances are Gaussian, for numbers and arrays alike: nothing heavy is imported."""

from collections.abc import Callable, Mapping
from typing import Any


def is_gaussian(params: Mapping[str, Any]) -> bool:
    """Whether these are the resolved parameters of a system that `outcomes` is of."""
    return "beta" in params


def outcomes(
    params: Mapping[str, Any], white: Mapping[str, Any], black: Mapping[str, Any], cdf: Callable[[Any], Any]
) -> tuple[Any, Any, Any]:
    """Probabilities of loss, draw and win for White; `cdf` is the normal distribution function.

    `white` and `black` hold `mean` and `sd`, and where `params` have no draw margin for all, each player's
    `draw_margin` and `draw_margin_sd`, points.
    """
    difference = white["mean"] - black["mean"] + params.get("white_advantage", 0.0)
    variance = 2.0 * params["beta"] ** 2 + white["sd"] ** 2 + black["sd"] ** 2
    if "draw_margin" in params:
        return by_margin(difference, variance, params["draw_margin"], cdf)
    win = cdf((difference - black["draw_margin"]) / (variance + black["draw_margin_sd"] ** 2) ** 0.5)
    loss = cdf((-difference - white["draw_margin"]) / (variance + white["draw_margin_sd"] ** 2) ** 0.5)
    rest = 1.0 - loss - win
    draw = 0.5 * (rest + abs(rest))
    total = loss + draw + win
    return loss / total, draw / total, win / total


def by_margin(
    difference: Any, variance: Any, margin: float, cdf: Callable[[Any], Any]
) -> tuple[Any, Any, Any]:
    """The same when the performances differ by N(difference, variance) and differences up to `margin` are draws."""
    scale, distance = variance**-0.5, abs(difference)
    draw = cdf((margin - distance) * scale) - cdf((-margin - distance) * scale)
    return cdf((-margin - difference) * scale), draw, cdf((difference - margin) * scale)
