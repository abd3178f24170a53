"""From the draw margin to probabilities and back: what all models with Gaussian performances share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.errors import ConfigError
from ttt_cli.games.table import DRAW
from ttt_cli.inference.params import SkillParams
from ttt_cli.timeline import Timeline

Array = NDArray[np.float64]
Sides = Mapping[str, Array]


def draw_share(timeline: Timeline) -> float:
    """The weighted share of draws among the games; 0 without games."""
    total = float(timeline.weight.sum())
    return float(timeline.weight[timeline.outcome == DRAW].sum()) / total if total else 0.0


def margin_for(probability: float, beta: float) -> float:
    """The draw margin, points, at which equals draw with that probability (TTT paper, section 4)."""
    return NormalDist().inv_cdf((probability + 1.0) / 2.0) * math.sqrt(2.0) * beta


def typical_margin(mean: float, sd: float) -> tuple[float, float, float]:
    """The mean of a draw margin N(mean, sd^2) that is positive, points; and its slopes in `mean` and `sd`."""
    normal, x = NormalDist(), mean / sd
    v = normal.pdf(x) / normal.cdf(x)
    w = v * (v + x)
    return mean + sd * v, 1.0 - w, v + w * x


def margin_slope(probability: float, beta: float) -> float:
    """How fast `margin_for` grows with the probability, points; 0 at its ends."""
    if not 0.0 < probability < 1.0:
        return 0.0
    normal = NormalDist()
    return math.sqrt(0.5) * beta / normal.pdf(normal.inv_cdf((probability + 1.0) / 2.0))


def resolve_margin(params: SkillParams, timeline: Timeline) -> float:
    """The draw margin in points, `auto` worked out.

    Raises ConfigError when the games cannot have come from the margin: draws without one, or nothing but draws.
    """
    share = draw_share(timeline)
    if params.draw_margin != "auto":
        refuse_draws_without_margin(params.draw_margin, share)
        return params.draw_margin
    if params.draw_probability is not None:
        return margin_for(params.draw_probability, params.beta)
    if share >= 1.0:
        raise ConfigError(
            "all games are draws, so their share gives no draw margin", hint="set model.draw_margin in points"
        )
    return margin_for(share, params.beta)


def refuse_draws_without_margin(margin: float, share: float) -> None:
    """Raises ConfigError for a share of draws above 0 that have no chance."""
    if margin == 0.0 and share > 0.0:
        raise ConfigError(
            "draw_margin is 0, but there are drawn games", hint="use draw_margin: auto, or a number above 0"
        )


def outcome_probabilities(
    difference: NDArray[np.float64], variance: NDArray[np.float64], margin: float
) -> NDArray[np.float64]:
    """Probabilities (n, 3) of loss, draw and win when the performances differ by N(difference, variance)."""
    from scipy.special import ndtr

    scale = 1.0 / np.sqrt(variance)
    lead = np.abs(difference)
    loss = ndtr((-margin - difference) * scale)
    draw = ndtr((margin - lead) * scale) - ndtr((-margin - lead) * scale)
    win = ndtr((difference - margin) * scale)
    return np.stack([loss, draw, win], axis=-1)


def predict_outcomes(params: Mapping[str, Any], white: Sides, black: Sides) -> Array:
    """Probabilities (n, 3) of loss, draw and win for White with one draw margin, from `mean` and `sd`, points."""
    variance = 2.0 * params["beta"] ** 2 + white["sd"] ** 2 + black["sd"] ** 2
    difference = white["mean"] - black["mean"] + params["white_advantage"]
    return outcome_probabilities(difference, variance, params["draw_margin"])


def predict_with_own_margins(params: Mapping[str, Any], white: Sides, black: Sides) -> Array:
    """The same with a draw margin for each player, from `mean`, `sd`, `draw_margin` and `draw_margin_sd`, points."""
    from scipy.special import ndtr

    difference = white["mean"] - black["mean"] + params["white_advantage"]
    variance = 2.0 * params["beta"] ** 2 + white["sd"] ** 2 + black["sd"] ** 2
    win = ndtr((difference - black["draw_margin"]) / np.sqrt(variance + black["draw_margin_sd"] ** 2))
    loss = ndtr((-difference - white["draw_margin"]) / np.sqrt(variance + white["draw_margin_sd"] ** 2))
    outcomes = np.stack([loss, np.maximum(1.0 - loss - win, 0.0), win], axis=-1)
    probabilities: Array = outcomes / outcomes.sum(axis=-1, keepdims=True)
    return probabilities
