"""What systems of ratings share: where players begin, with a deviation or without, and what follows for games."""

import math
from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from ttt_cli.arrays import Array
from ttt_cli.fitted import Fit
from ttt_cli.histories import Filter
from ttt_cli.inference.draws import resolve_logistic_margin
from ttt_cli.inference.outcome import ELO_SCALE, log_score, logistic_probabilities
from ttt_cli.inference.params import ExpectedParams, PriorMean, PriorSd
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.inference.scores.filtering import filter_fit
from ttt_cli.timeline import Timeline

Filtered = Callable[[Timeline, Any, float], dict[str, Filter]]  # by White's advantage
Expectation = Annotated[
    Literal["logistic", "normal"],
    Field(description="how a rating difference becomes an expected score in the update"),
]


class RatingParams(ExpectedParams):
    """Elo points, and where players begin."""

    prior_mean: PriorMean = Field(
        default=1500.0, description="rating of a player at the first appearance, points"
    )

    def filtered(self, timeline: Timeline, rating: Array) -> Filter:
        """The chain of ratings after the nodes' games, which stand until the next."""
        return RandomWalk(timeline, self.prior_mean, np.nan, 0.0).filtered(rating, unknown_sd(len(rating)))


def unknown_sd(nodes: int) -> Array:
    """The sds of a system without uncertainty, shape (nodes,): NaN."""
    return np.full(nodes, np.nan)


class DeviationParams(ExpectedParams):
    """The rating and deviation of a newcomer, beside how rating differences become outcomes."""

    prior_mean: PriorMean = Field(default=1500.0, description="rating at the first appearance, points")
    prior_sd: PriorSd = Field(
        default=350.0,
        description="rating deviation at the first appearance, and the most that idle years leave, points",
    )


def damping(variance: Array) -> Array:
    """The factor g by which differences count less when a rating has this variance, points^2 (Glickman 1999)."""
    return np.asarray(1.0 / np.sqrt(1.0 + 3.0 * variance / (math.pi * ELO_SCALE) ** 2))


def predict(params: dict[str, Any], white: dict[str, Array], black: dict[str, Array]) -> Array:
    """Probabilities (n, 3) of loss, draw and win for White, from the players' `mean` and `sd`, points."""
    difference = white["mean"] - black["mean"] + params["white_advantage"]
    return _probabilities(difference, white["sd"] ** 2 + black["sd"] ** 2, params["draw_margin"])


def rated(name: str, timeline: Timeline, params: DeviationParams, filtered: Filtered) -> Fit:
    """The fit of a filter with a skill chain; its evidence is that of games by what was believed before their periods.

    White's advantage is none where colours are unknown.
    """
    margin = resolve_logistic_margin(params, timeline)
    advantage = params.white_advantage if timeline.colours else 0.0
    chains = filtered(timeline, params, advantage)
    white, black, chain = timeline.game_white, timeline.game_black, chains["skill"]
    difference = chain.before_mean[white] - chain.before_mean[black] + timeline.ahead(advantage)
    variance = chain.before_sd[white] ** 2 + chain.before_sd[black] ** 2
    evidence = log_score(_probabilities(difference, variance, margin), timeline.outcome, timeline.weight)
    worked_out = {"draw_margin": margin, "white_advantage": advantage}
    return filter_fit(name, params, worked_out, chains, evidence)


def _probabilities(difference: Array, variance: Array, margin: float) -> Array:
    return logistic_probabilities(damping(variance) * difference, margin)
