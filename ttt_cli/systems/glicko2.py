"""Glicko-2: Glicko with a volatility per player, raised by surprising results (Glickman 2013)."""

import math
from typing import Final

import numpy as np
from pydantic import Field

from ttt_cli.fitted import Fit
from ttt_cli.histories import Filter
from ttt_cli.inference import filters as ratings
from ttt_cli.inference.filters import one_pass, rows_of, whole_periods
from ttt_cli.inference.outcome import ELO_SCALE
from ttt_cli.inference.params import Traits
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.kernels.elo import Beliefs, Slopes
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.timeline import Timeline

NAME: Final = "glicko2"
TRAITS: Final = Traits(kind="filtered", has_evidence=True, draws_apart=True)
predict: Final = ratings.predict


class Params(ratings.DeviationParams):
    """Parameters of Glicko-2. Volatilities are in units of 400 / ln 10 = 173.7 points per sqrt(period)."""

    volatility: float = Field(
        default=0.06,
        gt=0,
        description="volatility at the first appearance: growth of the deviation over one period, in 173.7 points",
    )
    volatility_change: float = Field(
        default=0.5,
        ge=0,
        description="how freely volatilities change: sd of the change of ln(volatility^2) over one period, no unit",
    )


@one_pass
def fit(timeline: Timeline, params: Params) -> Fit:
    """Filter the games once; the log-evidence is the sum of the predictions' log probabilities."""
    return ratings.rated(NAME, timeline, params, _filter)


def _filter(timeline: Timeline, params: Params, advantage: float) -> dict[str, Filter]:
    from ttt_cli.kernels.glicko import Newcomer, filter_volatile

    steps = STEPS_PER_YEAR[timeline.period]
    mean, variance, volatility = np.empty((3, timeline.n_nodes))
    slopes = Slopes(*np.zeros((2, timeline.n_nodes)))
    prior = params.prior_mean, params.prior_sd**2, params.volatility
    newcomer = Newcomer(*prior, ELO_SCALE, params.volatility_change)
    previous, games = timeline.previous.copy(), rows_of(timeline, advantage)
    idle = np.rint(timeline.gap_years * steps) - 1.0
    for piece in whole_periods(timeline):
        filter_volatile(piece, previous, idle, games, newcomer, Beliefs(mean, variance), volatility, slopes)
    drift = ELO_SCALE * math.sqrt(steps) * volatility
    skill = RandomWalk(timeline, params.prior_mean, params.prior_sd, drift, ceiling=params.prior_sd)
    unknown = np.full(timeline.n_nodes, math.nan)
    level = RandomWalk(timeline, params.volatility, math.nan, 0.0)
    return {
        "skill": skill.filtered(mean, np.sqrt(variance)), "volatility": level.filtered(volatility, unknown),
    }  # fmt: skip
