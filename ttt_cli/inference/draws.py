"""Draw margins from the share of draws among games, where performances are Gaussian and where they are logistic."""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Literal, Protocol

from ttt_cli.errors import ConfigError
from ttt_cli.games.table import DRAW
from ttt_cli.inference.outcome import ELO_SCALE
from ttt_cli.timeline import Timeline


class DrawParams(Protocol):
    """How frequent draws are: a margin, points, or auto: by their chance between equals, None: that of the games."""

    draw_margin: float | Literal["auto"]
    draw_probability: float | None


class GaussianDrawParams(DrawParams, Protocol):
    """The same, of performances with the sd `beta`, points."""

    beta: float


def draw_share(timeline: Timeline) -> float:
    """The weighted share of draws among the games; 0 without games."""
    total = float(timeline.weight.sum())
    return float(timeline.weight[timeline.outcome == DRAW].sum()) / total if total else 0.0


def margin_for(probability: float, beta: float) -> float:
    """The draw margin, points, at which equals draw with that probability (TTT paper, section 4)."""
    return NormalDist().inv_cdf((probability + 1.0) / 2.0) * math.sqrt(2.0) * beta


def margin_slope(params: GaussianDrawParams, timeline: Timeline) -> float:
    """How fast `margin_for` grows with the probability, points; 0 at its ends."""
    probability, normal = params.draw_probability or draw_share(timeline), NormalDist()
    if not 0.0 < probability < 1.0:
        return 0.0
    return math.sqrt(0.5) * params.beta / normal.pdf(normal.inv_cdf((probability + 1.0) / 2.0))


def logistic_margin(probability: float) -> float:
    """The margin, Elo points, at which equals draw with that probability (below 1)."""
    return 400.0 * math.log10((1.0 + probability) / (1.0 - probability))


def logistic_margin_slope(params: DrawParams, timeline: Timeline) -> float:
    """How fast `logistic_margin` grows with the probability, Elo points; 0 at its ends."""
    probability = params.draw_probability or draw_share(timeline)
    return 2.0 * ELO_SCALE / (1.0 - probability**2) if 0.0 < probability < 1.0 else 0.0


def resolve_margin(params: GaussianDrawParams, timeline: Timeline) -> float:
    """The draw margin in points, `auto` worked out. Raises ConfigError when the games cannot have come from it."""
    return _resolve(params, timeline, lambda probability: margin_for(probability, params.beta))


def resolve_logistic_margin(params: DrawParams, timeline: Timeline) -> float:
    """The same in Elo points, of logistic performances."""
    return _resolve(params, timeline, logistic_margin)


def _resolve(params: DrawParams, timeline: Timeline, margin_of: Callable[[float], float]) -> float:
    share = draw_share(timeline)
    if params.draw_margin == 0.0 and share > 0.0:
        raise ConfigError(
            "draw_margin is 0, but there are drawn games", hint="use draw_margin: auto, or a number above 0"
        )
    if params.draw_margin != "auto":
        return params.draw_margin
    if params.draw_probability is None and share >= 1.0:
        raise ConfigError(
            "all games are draws, so their share gives no draw margin", hint="set model.draw_margin in points"
        )
    return margin_of(share if params.draw_probability is None else params.draw_probability)


def typical_margin(mean: float, sd: float) -> tuple[float, float, float]:
    """The mean of a draw margin N(mean, sd^2) that is positive, points; and its slopes in `mean` and `sd`."""
    normal, x = NormalDist(), mean / sd
    v = normal.pdf(x) / normal.cdf(x)
    w = v * (v + x)
    return mean + sd * v, 1.0 - w, v + w * x
