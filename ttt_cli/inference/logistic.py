"""Systems that foresee a score rather than an outcome: logistic expectation with draws by one margin, in Elo points.

A lead of d points is an expected score of L(d) = 1 / (1 + 10^(-d / 400)). Draws follow a margin (Rao and Kupper 1967):
a win has probability L(x - margin), a loss L(-x - margin), where x is the lead at which their rule expects the score
L(d), so that what the system foresees stays as it is.
"""

from __future__ import annotations

import math
from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ttt_cli.errors import ConfigError
from ttt_cli.inference.outcome import draw_share, refuse_draws_without_margin
from ttt_cli.inference.params import DrawProbability, Params, WhiteAdvantage, alias
from ttt_cli.timeline import Timeline

Array = NDArray[np.float64]

MOST_ADVANTAGE: Final = 2_000.0  # Elo points: a queen is 1008
MOST_MARGIN: Final = 4_000.0  # Elo points: at 2,520 one game in a million between equals is not drawn
TINY: Final = 1e-130  # the least chance that is told from none
ELO_SCALE: Final = 400.0 / math.log(10.0)  # points in which the odds of winning grow by e


LogisticMargin = Annotated[
    Literal["auto"] | Annotated[float, Field(ge=0, le=MOST_MARGIN)],
    Field(
        validation_alias=alias("draw_margin", "epsilon"),
        description="draws are as frequent as this margin makes them, Elo points; auto: from the share of draws",
    ),
]
EloAdvantage = Annotated[
    WhiteAdvantage,
    Field(ge=-MOST_ADVANTAGE, le=MOST_ADVANTAGE, description="added to White's rating, points"),
]


class ExpectedParams(Params):
    """How rating differences become outcomes, in Elo points."""

    draw_margin: LogisticMargin = "auto"
    draw_probability: DrawProbability = None
    white_advantage: EloAdvantage = 0.0


def logistic_margin(probability: float) -> float:
    """The margin, Elo points, at which equals draw with that probability (below 1)."""
    return 400.0 * math.log10((1.0 + probability) / (1.0 - probability))


def resolve_logistic_margin(params: ExpectedParams, timeline: Timeline) -> float:
    """The draw margin in Elo points, `auto` worked out.

    Raises ConfigError when the games cannot have come from the margin: draws without one, or nothing but draws.
    """
    share = draw_share(timeline)
    if params.draw_margin != "auto":
        refuse_draws_without_margin(params.draw_margin, share)
        return params.draw_margin
    if params.draw_probability is not None:
        return logistic_margin(params.draw_probability)
    if share >= 1.0:
        raise ConfigError(
            "all games are draws, so their share gives no draw margin", hint="set model.draw_margin in points"
        )
    return logistic_margin(share)


def logistic(difference: Array) -> Array:
    """The expected score of leads of so many Elo points."""
    from scipy.special import expit

    expected: Array = expit(np.asarray(difference) / ELO_SCALE)
    return expected


def logistic_probabilities(difference: Array, margin: float) -> Array:
    """Probabilities (n, 3) of loss, draw and win for leads (n,), Elo points; the expected score is `logistic`'s.

    With u = 10^(x / 400) and t = 10^(margin / 400) a win has u / (u + t) and a loss 1 / (1 + u t); u solves
    t (1 - s) u^2 - s (1 + t^2) u - t (1 + s) = 0 where s is the excess of wins over losses, 2 L(d) - 1.
    """
    t = 10.0 ** (margin / 400.0)
    worse = np.maximum(
        logistic(-np.abs(difference)), TINY
    )  # the weaker one's expected score, so that 1 - s keeps its digits
    excess = 1.0 - 2.0 * worse
    half = 0.5 * excess * (1.0 + t * t)
    u = (half + np.sqrt(half * half + 4.0 * t * t * worse * (1.0 - worse))) / (2.0 * t * worse)
    better, loses = u / (u + t), 1.0 / (1.0 + u * t)
    draw = (t * t - 1.0) * better * loses
    ahead = np.asarray(difference) >= 0.0
    return np.stack([np.where(ahead, loses, better), draw, np.where(ahead, better, loses)], axis=-1)


def foreseen(probabilities: Array, outcome: NDArray[np.int8], weight: Array) -> float:
    """The sum of the log probabilities of what happened, nats: the evidence of a filter.

    What was foreseen with less than the smallest number there is counts as foreseen with that.
    """
    happened = probabilities[np.arange(len(outcome)), outcome]
    return float(weight @ np.log(np.maximum(happened, np.finfo(np.float64).tiny)))
