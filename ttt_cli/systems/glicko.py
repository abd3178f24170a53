"""Glicko: ratings with deviations that control how far a period's games move them (Glickman 1999)."""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from pydantic import AliasChoices

from ttt_cli.config.schema import key
from ttt_cli.fitted import Bridge, Filter, Fit, Nodes, Walk
from ttt_cli.inference import filters as ratings
from ttt_cli.inference.filters import one_pass, rate_with_deviations
from ttt_cli.inference.params import Traits
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.kernels.elo import Beliefs
from ttt_cli.support.arrays import Array
from ttt_cli.timeline import Timeline

NAME: Final = "glicko"
TRAITS: Final = Traits(kind="filtered", has_evidence=True, draws_apart=True)
predict: Final = ratings.predict


class Params(ratings.DeviationParams):
    """Parameters of Glicko."""

    tau: float = key(
        40.0,
        "growth of the deviation over one idle year, points; tau * sqrt(g) over g years",
        ge=0,
        validation_alias=AliasChoices("tau", "c"),
    )
    smooth: bool = key(
        False, "whether a pass back in time lets later games speak about earlier ratings"
    )

    def skill_prior(self, timeline: Timeline) -> RandomWalk:
        """Prior of skills; idle years make nobody less certain than a newcomer."""
        names = "prior_sd", "tau"
        return RandomWalk(timeline, self.prior_mean, self.prior_sd, self.tau, names, self.prior_sd)


@dataclass(frozen=True, kw_only=True)
class Smoothed(Filter):
    """Smoothed ratings with covariances with the previous node; predictions before games are the filter's."""

    covariance: Array

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:
        """Bridge between two uncertain ends, with the sd at most the ceiling."""
        walk = Walk(self.mean, self.sd, self.covariance, self.drift)
        return walk.bridge(earlier, later, years)._replace(most_sd=self.ceiling)


@one_pass
def fit(timeline: Timeline, params: Params, advantage: float) -> Fit:
    """Filter the games once and smooth if configured; the log-evidence is the filter's."""
    prior = params.skill_prior(timeline)
    idle = np.zeros(timeline.n_nodes)
    after_games = rate_with_deviations(timeline, params, prior, idle, advantage=advantage)
    chain = prior.filtered(after_games.mean, after_games.sd)
    fitted = ratings.rated(NAME, timeline, params, advantage, {"skill": chain}, predict)
    if not params.smooth:
        return fitted
    from ttt_cli.kernels.glicko import smooth_back

    before = Beliefs(chain.before_mean, chain.before_sd**2)
    after = Beliefs(chain.mean.copy(), chain.sd**2)
    covariance = np.empty(timeline.n_nodes)
    smooth_back(timeline.previous.copy(), before, after, covariance)
    smoothed = Smoothed(
        mean=after.mean,
        sd=np.sqrt(after.variance),
        before_mean=chain.before_mean,
        before_sd=chain.before_sd,
        drift=chain.drift,
        ceiling=chain.ceiling,
        curve=chain.curve,
        covariance=covariance,
    )
    return replace(fitted, kind="smoothed", chains={"skill": smoothed}, leave_one_out=math.nan)
