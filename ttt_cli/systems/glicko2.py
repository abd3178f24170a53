"""Glicko-2: Glicko with a volatility per player, raised by surprising results (Glickman 2013)."""

import math
from typing import Final

import numpy as np

from ttt_cli.config.schema import key
from ttt_cli.fitted import Fit
from ttt_cli.inference import filters as ratings
from ttt_cli.inference.filters import one_pass, rate_with_deviations
from ttt_cli.inference.outcome import ELO_SCALE
from ttt_cli.inference.params import Traits
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.timeline import Timeline

NAME: Final = "glicko2"
TRAITS: Final = Traits(kind="filtered", has_evidence=True, draws_apart=True)
predict: Final = ratings.predict


class Params(ratings.DeviationParams):
    """Parameters of Glicko-2. Volatilities are in units of 400 / ln 10 = 173.7 points per sqrt(period)."""

    volatility: float = key(
        0.06,
        "volatility at the first appearance: growth of the deviation over one period, in 173.7 points",
        gt=0,
    )
    volatility_change: float = key(
        0.5,
        "how freely volatilities change: sd of the change of ln(volatility^2) over one period, no unit",
        ge=0,
    )


@one_pass
def fit(timeline: Timeline, params: Params, advantage: float) -> Fit:
    """Filter the games once; the log-evidence is the sum of the predictions' log probabilities."""
    steps = STEPS_PER_YEAR[timeline.period]
    still = RandomWalk(timeline, params.prior_mean, params.prior_sd, 0.0)
    idle = np.rint(timeline.gap_years * steps) - 1.0
    mean, sd, volatility = rate_with_deviations(
        timeline,
        params,
        still,
        idle,
        params.volatility,
        params.volatility_change,
        advantage=advantage,
    )
    drift = ELO_SCALE * math.sqrt(steps) * volatility
    skill = RandomWalk(timeline, params.prior_mean, params.prior_sd, drift, ceiling=params.prior_sd)
    level = RandomWalk(timeline, params.volatility, math.nan, 0.0)
    volatilities = level.filtered(volatility, ratings.unknown_sd(len(volatility)))
    chains = {"skill": skill.filtered(mean, sd), "volatility": volatilities}
    return ratings.rated(NAME, timeline, params, advantage, chains, predict)
