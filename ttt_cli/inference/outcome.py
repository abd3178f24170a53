"""From differences of skills to probabilities of outcomes: each rule once.

Gaussian performances: `gaussian.py`. Logistic: a difference of d Elo points is an expected score of
L(d) = 1 / (1 + 10^(-d / 400)), and draws follow a margin (Rao and Kupper 1967): a win has probability L(x - margin), a
loss L(-x - margin). Systems that predict a score rather than an outcome take for x the difference at which this rule
expects the score L(d), so that what the system predicts stays as it is.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array
from ttt_cli.inference import gaussian
from ttt_cli.timeline import NEUTRAL, UNKNOWN

Side = Mapping[str, Array]

TINY: Final = 1e-130  # the least chance that is told from none
ELO_SCALE: Final = 400.0 / math.log(10.0)  # points in which the odds of winning grow by e


def predict(params: Mapping[str, Any], white: Side, black: Side) -> Array:
    """Probabilities (n, 3) of loss, draw and win for White in Gaussian systems, from quantities (n,), points."""
    from scipy.special import ndtr

    return np.stack(gaussian.outcomes(params, white, black, ndtr), axis=-1)


def by_sides(
    predict: Callable[..., Array],
    params: Mapping[str, Any],
    white: Side,
    black: Side,
    sides: NDArray[np.int8],
) -> Array:
    """What a system predicts of games (n, 3), as it is known, by `sides`, who has White's advantage, or both alike."""
    found, way = predict(dict(params), white, black), sides[:, np.newaxis]
    if np.any(sides == UNKNOWN):
        other = predict(dict(params), black, white)[:, ::-1]
        found = np.where(way == UNKNOWN, (found + other) / 2.0, found)
    if np.any(sides == NEUTRAL):
        level = predict({**params, "white_advantage": 0.0}, white, black)
        found = np.where(way == NEUTRAL, level, found)
    return found


def predict_ratings(params: Mapping[str, Any], white: Side, black: Side) -> Array:
    """The same from the players' `mean` alone, Elo points: systems that predict a score."""
    difference = white["mean"] - black["mean"] + params["white_advantage"]
    return logistic_probabilities(difference, params["draw_margin"])


def logistic(difference: Array) -> Array:
    """The expected score of differences of so many Elo points."""
    from scipy.special import expit

    expected: Array = expit(np.asarray(difference) / ELO_SCALE)
    return expected


def logistic_probabilities(difference: Array, margin: float) -> Array:
    """Probabilities (n, 3) of loss, draw and win for differences (n,), Elo points; the expected score is `logistic`'s.

    With u = 10^(x / 400) and t = 10^(margin / 400) a win has u / (u + t) and a loss 1 / (1 + u t); u solves
    t (1 - s) u^2 - s (1 + t^2) u - t (1 + s) = 0 where s is the excess of wins over losses, 2 L(d) - 1.
    """
    t = 10.0 ** (margin / 400.0)
    # The weaker one's expected score, so that 1 - s keeps its digits.
    worse = np.maximum(logistic(-np.abs(difference)), TINY)
    excess = 1.0 - 2.0 * worse
    half = 0.5 * excess * (1.0 + t * t)
    u = (half + np.sqrt(half * half + 4.0 * t * t * worse * (1.0 - worse))) / (2.0 * t * worse)
    better, loses = u / (u + t), 1.0 / (1.0 + u * t)
    draw = (t * t - 1.0) * better * loses
    ahead = np.asarray(difference) >= 0.0
    return np.stack([np.where(ahead, loses, better), draw, np.where(ahead, better, loses)], axis=-1)


def margin_probabilities(difference: Array, margin: float) -> Array:
    """Probabilities (n, 3) of loss, draw and win for differences (n,) in the model of Rao and Kupper, Elo points."""
    loss, win = logistic(-difference - margin), logistic(difference - margin)
    draw = math.expm1(2.0 * margin / ELO_SCALE) * win * loss
    return np.stack([loss, draw, win], axis=-1)


def log_score(probabilities: Array, outcome: NDArray[np.int8], weight: Array) -> float:
    """The sum of the log probabilities of what happened, nats, none below that of the smallest number there is."""
    happened = probabilities[np.arange(len(outcome)), outcome]
    return float(weight @ np.log(np.maximum(happened, np.finfo(np.float64).tiny)))
