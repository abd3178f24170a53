"""Probabilities of outcomes from skill differences: outcome rule, draw margins, and points per Elo point."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ttt_cli.support.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ttt_cli.support.arrays import Array, Mask
    from ttt_cli.timeline import Timeline

# Points above the year's level at which draw margins grow by e^draw_margin_strength.
STRENGTH_UNIT: Final = 400.0
STRENGTH_REACH: Final = 2.0  # units, at most


def is_gaussian(params: Mapping[str, Any]) -> bool:
    """Whether these are resolved parameters of a Gaussian system (`outcomes`)."""
    return "beta" in params


class OutcomeProbabilities(NamedTuple):
    """Probabilities for White, numbers or arrays."""

    loss: Any
    draw: Any
    win: Any


def outcomes(
    params: Mapping[str, Any],
    white: Mapping[str, Any],
    black: Mapping[str, Any],
    cdf: Callable[[Any], Any],
) -> OutcomeProbabilities:
    """Probabilities of loss, draw and win for White; `cdf` is the normal distribution function.

    `white` and `black` have `mean` and `sd`, and without a common margin in `params` also `draw_margin` and
    `draw_margin_sd`, points. `draw_margin_strength` scales margins with the mean skill above `draw_margin_level`,
    points.
    """
    difference = white["mean"] - black["mean"] + params.get("white_advantage", 0.0)
    variance = 2.0 * params["beta"] ** 2 + white["sd"] ** 2 + black["sd"] ** 2
    if "draw_margin" in params:
        margin = params["draw_margin"] * _grown(params, white, black)
        by_skill = by_margin(difference, variance, margin, cdf)
        return (
            with_lapse(by_skill, params["lapse"], params["lapse_draws"])
            if params.get("lapse")
            else by_skill
        )
    more = params.get("draw_margin_mean", 0.0) * (_grown(params, white, black) - 1.0)
    win = cdf(
        (difference - black["draw_margin"] - more)
        / (variance + black["draw_margin_sd"] ** 2) ** 0.5
    )
    loss = cdf(
        (-difference - white["draw_margin"] - more)
        / (variance + white["draw_margin_sd"] ** 2) ** 0.5
    )
    remaining = 1.0 - loss - win
    draw = 0.5 * (remaining + abs(remaining))
    total = loss + draw + win
    return OutcomeProbabilities(loss / total, draw / total, win / total)


def with_lapse(by_skill: OutcomeProbabilities, lapse: float, draws: float) -> OutcomeProbabilities:
    """Probabilities where chance decides a share of the games, of which a share is drawn (`inference/lapse.py`)."""
    loss, draw, win = by_skill
    decided = 0.5 * (1.0 - draws)
    return OutcomeProbabilities(
        loss=(1.0 - lapse) * loss + lapse * decided,
        draw=(1.0 - lapse) * draw + lapse * draws,
        win=(1.0 - lapse) * win + lapse * decided,
    )


def in_year(params: Mapping[str, Any], draws: Mapping[str, Any] | None) -> dict[str, Any]:
    """Parameters with the draw margin of a year, if margins move."""
    moved = {
        key: value for key, value in (draws or {}).items() if key != "draw_margin" or key in params
    }
    return {**params, **moved}


def _grown(params: Mapping[str, Any], white: Mapping[str, Any], black: Mapping[str, Any]) -> Any:
    """Ratio of the draw margin to that of players of the year's level."""
    strength = params.get("draw_margin_strength", 0.0)
    level = params.get("draw_margin_level")
    if not strength or level is None:  # no margin at all has no level
        return 1.0
    above = ((white["mean"] + black["mean"]) / 2.0 - level) / STRENGTH_UNIT
    within = (abs(above + STRENGTH_REACH) - abs(above - STRENGTH_REACH)) / 2.0
    return math.e ** (strength * within)


def by_margin(
    difference: Any, variance: Any, margin: Any, cdf: Callable[[Any], Any]
) -> OutcomeProbabilities:
    """Outcome probabilities when performances differ by N(difference, variance) and a draw is within `margin`."""
    scale = variance**-0.5
    distance = abs(difference)
    loss = cdf((-margin - difference) * scale)
    draw = cdf((margin - distance) * scale) - cdf((-margin - distance) * scale)
    win = cdf((difference - margin) * scale)
    return OutcomeProbabilities(loss, draw, win)


Side = Mapping[str, Any]

TINY: Final = 1e-130  # smallest probability, instead of 0
ELO_SCALE: Final = 400.0 / math.log(10.0)  # points in which the odds of winning grow by e


def predict(params: Mapping[str, Any], white: Side, black: Side) -> Array:
    """Probabilities (n, 3) of loss, draw and win for White in Gaussian systems, from quantities (n,), points."""
    import numpy as np
    from scipy.special import ndtr

    return np.stack(outcomes(params, white, black, ndtr), axis=-1)


def by_advantage_owner(
    predict: Callable[..., Array],
    params: Mapping[str, Any],
    white: Side,
    black: Side,
    advantage_owner: NDArray[np.int8],
) -> Array:
    """Predictions (n, 3) of a system, by who has White's advantage (`Timeline.advantage_owner`).

    Where that is unknown, the mean of both predictions; on neutral ground, without the advantage.
    """
    import numpy as np

    from ttt_cli.timeline import NEUTRAL, UNKNOWN

    probabilities = predict(dict(params), white, black)
    owner = advantage_owner[:, np.newaxis]
    if np.any(owner == UNKNOWN):
        exchanged = predict(dict(params), black, white)[:, ::-1]
        probabilities = np.where(owner == UNKNOWN, (probabilities + exchanged) / 2.0, probabilities)
    if np.any(owner == NEUTRAL):
        without_advantage = predict({**params, "white_advantage": 0.0}, white, black)
        probabilities = np.where(owner == NEUTRAL, without_advantage, probabilities)
    return probabilities


def predict_ratings(params: Mapping[str, Any], white: Side, black: Side) -> Array:
    """Probabilities (n, 3) from `mean` alone, Elo points."""
    difference = white["mean"] - black["mean"] + params["white_advantage"]
    return logistic_probabilities(difference, params["draw_margin"])


def logistic(difference: Array) -> Array:
    """Expected score of a difference in Elo points."""
    import numpy as np
    from scipy.special import expit

    expected: Array = expit(np.asarray(difference) / ELO_SCALE)
    return expected


def predict_as_expected(params: Mapping[str, Any], white: Side, black: Side) -> Array:
    """Probabilities (n, 3) from `mean` alone, Elo points, with the expected scores of `params["expectation"]`."""
    if params["expectation"] == "logistic":
        return predict_ratings(params, white, black)
    difference = white["mean"] - black["mean"] + params["white_advantage"]
    return normal_probabilities(difference, params["draw_margin"])


def normal_probabilities(difference: Array, margin: float) -> Array:
    """Probabilities (n, 3) as `logistic_probabilities`, with Elo's normal expected score."""
    import numpy as np
    from scipy.special import ndtr

    weaker = ndtr(-np.abs(difference) / (math.sqrt(2.0) * CLASS))
    return _probabilities_by_score(weaker, np.asarray(difference) >= 0.0, margin)


def logistic_probabilities(difference: Array, margin: float) -> Array:
    """Probabilities (n, 3) of loss, draw and win for differences (n,), Elo points, with the expected score of
    `logistic`.
    """
    import numpy as np

    weaker = logistic(-np.abs(difference))
    return _probabilities_by_score(weaker, np.asarray(difference) >= 0.0, margin)


def _probabilities_by_score(weaker: Array, ahead: Mask, margin: float) -> Array:
    """Probabilities (n, 3) of loss, draw and win with the `weaker` side's expected score; White is `ahead` or not.

    With u = 10^(x / 400) and t = 10^(margin / 400), P(win) = u / (u + t) and P(loss) = 1 / (1 + u t); u solves t (1 -
    s) u^2 - s (1 + t^2) u - t (1 + s) = 0 where s = 2 E - 1 is the excess of wins over losses.
    """
    import numpy as np

    t = 10.0 ** (margin / 400.0)
    # The weaker one's expected score, so that 1 - s keeps its digits.
    worse = np.maximum(weaker, TINY)
    excess = 1.0 - 2.0 * worse
    half = 0.5 * excess * (1.0 + t * t)
    u = (half + np.sqrt(half * half + 4.0 * t * t * worse * (1.0 - worse))) / (2.0 * t * worse)
    better = u / (u + t)
    loses = 1.0 / (1.0 + u * t)
    draw = (t * t - 1.0) * better * loses
    return np.stack([np.where(ahead, loses, better), draw, np.where(ahead, better, loses)], axis=-1)


def margin_probabilities(difference: Array, margin: float) -> Array:
    """Probabilities (n, 3) of loss, draw and win for differences (n,), Elo points (Rao and Kupper 1967)."""
    import numpy as np

    loss = logistic(-difference - margin)
    win = logistic(difference - margin)
    draw = math.expm1(2.0 * margin / ELO_SCALE) * win * loss
    return np.stack([loss, draw, win], axis=-1)


def log_score(probabilities: Array, outcome: NDArray[np.int8], weight: Array) -> float:
    """Sum of the log probabilities of the outcomes, nats; probabilities are at least the smallest float."""
    import numpy as np

    happened = probabilities[np.arange(len(outcome)), outcome]
    return float(weight @ np.log(np.maximum(happened, np.finfo(np.float64).tiny)))


CLASS: Final = 200.0  # Elo points, at which the better player is expected to score
EXPECTED: Final = 1.0 / (1.0 + 10.0**-0.5)  # 76 % (Elo 1978; the logistic form)


def normal_unit(beta: float, margin: float) -> float:
    """Points per Elo point where performances have the sd `beta`."""
    noise = NormalDist(0.0, math.sqrt(2.0) * beta)
    low = 0.0
    high = margin + 2.0 * noise.stdev
    while low < (middle := 0.5 * (low + high)) < high:
        if 0.5 * (noise.cdf(middle - margin) + noise.cdf(middle + margin)) < EXPECTED:
            low = middle
        else:
            high = middle
    return high / CLASS


def normal_unit_growth(beta: float, margin: float) -> tuple[float, float]:
    """Derivatives of log `normal_unit` in `beta` and `margin`, per point.

    The difference L at 76 % has the slope (f(L - m) - f(L + m)) / (f(L - m) + f(L + m)) in the margin, f normal.
    """
    difference = CLASS * normal_unit(beta, margin)
    by_margin = math.tanh(0.5 * difference * margin / beta**2) / difference
    return (1.0 - margin * by_margin) / beta, by_margin


def logistic_unit(margin: float) -> float:
    """Points per Elo point with logistic noise (Rao and Kupper)."""
    t = math.exp(min(margin / ELO_SCALE, 300.0))
    half = 0.5 * (2.0 * EXPECTED - 1.0) * (t + 1.0 / t)
    odds = (half + math.sqrt(half * half + 4.0 * EXPECTED * (1.0 - EXPECTED))) / (
        2.0 * (1.0 - EXPECTED)
    )
    return ELO_SCALE * math.log(odds) / CLASS


def draw_share(timeline: Timeline) -> float:
    """Weighted share of draws among the games; 0 without games."""
    from ttt_cli.games.table import DRAW

    total = float(timeline.weight.sum())
    return float(timeline.weight[timeline.outcome == DRAW].sum()) / total if total else 0.0


def margin_for(probability: float, beta: float) -> float:
    """Draw margin, points, with this probability of a draw between equals (TTT paper, section 4)."""
    return NormalDist().inv_cdf((probability + 1.0) / 2.0) * math.sqrt(2.0) * beta


def margin_slope(params: Any, timeline: Timeline) -> float:
    """Derivative of `margin_for` in the probability, points; 0 at its ends."""
    probability = params.draw_probability or draw_share(timeline)
    normal = NormalDist()
    if not 0.0 < probability < 1.0:
        return 0.0
    return (
        math.sqrt(0.5) * float(params.beta) / normal.pdf(normal.inv_cdf((probability + 1.0) / 2.0))
    )


def logistic_margin(probability: float) -> float:
    """Draw margin, Elo points, with this probability (below 1) of a draw between equals."""
    return 400.0 * math.log10((1.0 + probability) / (1.0 - probability))


def resolve_margin(params: Any, timeline: Timeline) -> float:
    """Draw margin in points, `auto` resolved. Raises ConfigError when it is impossible with these games."""
    return resolve_logistic_margin(
        params, timeline, lambda probability: margin_for(probability, params.beta)
    )


def resolve_logistic_margin(
    params: Any, timeline: Timeline, margin_of: Callable[[float], float] = logistic_margin
) -> float:
    """Draw margin of logistic performances, Elo points."""
    share = draw_share(timeline)
    if params.draw_margin == 0.0 and share > 0.0:
        raise ConfigError(
            "draw_margin is 0, but there are drawn games",
            hint="use draw_margin: auto, or a number above 0",
        )
    if params.draw_margin != "auto":
        return float(params.draw_margin)
    if params.draw_probability is None and share >= 1.0:
        raise ConfigError(
            "all games are draws, so their share gives no draw margin",
            hint="set model.draw_margin in points",
        )
    return margin_of(share if params.draw_probability is None else params.draw_probability)


class TypicalMargin(NamedTuple):
    """Mean of positive draw margins, points, and its derivatives in the mean and sd of their normal distribution."""

    mean: float
    by_mean: float
    by_sd: float


def typical_margin(mean: float, sd: float) -> TypicalMargin:
    """Mean of a positive draw margin N(mean, sd^2), points."""
    normal = NormalDist()
    x = mean / sd
    v = normal.pdf(x) / normal.cdf(x)
    w = v * (v + x)
    return TypicalMargin(mean + sd * v, 1.0 - w, v + w * x)
