"""The posterior of Whole-History Rating: Wiener processes that begin with virtual games, and what games say of them."""

import math
from functools import partial

import numpy as np
from pydantic import Field

from ttt_cli.arrays import Array
from ttt_cli.games.table import DRAW
from ttt_cli.inference.bradley_terry.comparisons import Draws, compare_games
from ttt_cli.inference.bradley_terry.laplace import Derivatives, difference_variances, differences
from ttt_cli.inference.bradley_terry.newton import Posterior
from ttt_cli.inference.bradley_terry.ratings import Deviations
from ttt_cli.inference.elo_unit import logistic_unit_growth
from ttt_cli.inference.outcome import ELO_SCALE
from ttt_cli.inference.params import DrawProbability, EloAdvantage, LogisticMargin, Params, PriorMean
from ttt_cli.inference.prior import Prior, RandomWalk
from ttt_cli.sparse.factor import Factor
from ttt_cli.timeline import Timeline


class WholeHistoryParams(Params):
    """The numbers of the model, points and years."""

    prior_mean: PriorMean = Field(
        default=1200.0, description="rating of the opponent in the virtual games, points"
    )
    virtual_draws: float = Field(
        default=1.2, gt=0, description="virtual games won, and as many lost, at the first appearance"
    )
    tau: float = Field(
        default=71.5,
        gt=0,
        description="sd of the change of rating over one year, points; tau * sqrt(g) over g years",
    )
    draws: Draws = Field(
        default="margin",
        description="how draws count: margin, as outcomes of their own; halves, as half a win and half a loss",
    )
    draw_margin: LogisticMargin = "auto"
    draw_probability: DrawProbability = None
    white_advantage: EloAdvantage = 0.0
    deviations: Deviations = "exact"

    def skill_prior(self, timeline: Timeline) -> Prior:
        """How ratings change; what is believed of the first ones is the virtual games."""
        names = "virtual_draws", "tau"
        return RandomWalk(timeline, self.prior_mean, math.nan, self.tau, names)


class History:
    """The log density of all histories and games, natural units; with draws as a margin it is normalised."""

    def __init__(self, timeline: Timeline, params: WholeHistoryParams, draw_margin: float) -> None:
        from ttt_cli.kernels.bradley_terry.whr import wiener

        self._prior, self._virtual = params.skill_prior(timeline), params.virtual_draws
        self._margin = draw_margin / ELO_SCALE if params.draws == "margin" else 0.0
        self._advantage = params.white_advantage / ELO_SCALE
        self._drawn = float(timeline.weight[timeline.outcome == DRAW].sum())
        self._previous = timeline.previous.copy()
        mean, variance = self._prior.steps()
        self._mean, self._variance = mean / ELO_SCALE, variance / ELO_SCALE**2
        histories = partial(wiener, self._previous, self._mean, self._variance, self._virtual)
        self._comparisons = compare_games(timeline, params.white_advantage, params.draws)
        self.posterior = Posterior(
            self._comparisons, self._margin, self._previous, timeline.next.copy(), histories
        )

    def constant(self) -> float:
        """What normalises the density: of draws, P(draw) = (exp(2 margin) - 1) P(win) P(loss), and of the priors."""
        from scipy.special import betaln

        players = int(np.sum(self._previous < 0))
        drawn = self._drawn * math.log(math.expm1(2.0 * self._margin)) if self._drawn else 0.0
        return drawn - players * float(betaln(self._virtual, self._virtual))

    def covariances(self, information: Factor) -> Array:
        """Of each node's rating with that of the node before (nodes,), 0 at the first."""
        later = np.flatnonzero(self._previous >= 0)
        covariance = np.zeros(len(self._previous))
        covariance[later] = information.covariances(later, self._previous[later])
        return covariance

    def gradient(self, rating: Array) -> dict[str, float]:
        """The gradient of the log-evidence at its maximum `rating`, see `inference/bradley_terry/laplace.py`."""
        self.posterior.at(rating)
        information = self.posterior.information()
        rows = self._comparisons
        at = Derivatives.at(differences(rows, rating), rows.won, rows.lost, self._margin)
        spread = difference_variances(information, rows.first, rows.second)
        answer = information.solve(self._tilt(rating, information, -at.third * spread))
        moved = answer[rows.first] - answer[rows.second]

        def of_games(value: Array, first: Array, second: Array) -> float:
            return float(value.sum() + 0.5 * (second @ spread) - 0.5 * (first @ moved))

        draws = 2.0 * self._drawn / -math.expm1(-2.0 * self._margin) if self._drawn else 0.0
        margin = of_games(at.margin, at.margin_first, at.margin_second) + draws
        given = rows.shift - rows.turn * self._advantage
        odds = of_games(given * at.first, given * at.second, given * at.third)
        advantage = of_games(rows.turn * at.first, rows.turn * at.second, rows.turn * at.third)
        return {
            "prior_mean": 0.0,
            **self._prior_slopes(rating, information, answer),
            "virtual_draws": self._virtual_slope(rating, information, answer),
            "draw_margin": margin / ELO_SCALE + odds * logistic_unit_growth(ELO_SCALE * self._margin),
            "white_advantage": advantage / ELO_SCALE,
        }

    def _tilt(self, rating: Array, information: Factor, of_rows: Array) -> Array:
        """tr(H^-1 dH / dr_k) for each rating r_k; of games by rows, and of the virtual games."""
        from scipy.special import expit

        n, rows = len(rating), self._comparisons
        score = expit(rating)
        own = np.where(self._previous < 0, 2.0 * self._virtual, 0.0)
        curved = own * score * (1.0 - score) * (1.0 - 2.0 * score) * information.variances
        return (
            curved
            + np.bincount(rows.first, of_rows, minlength=n)
            - np.bincount(rows.second, of_rows, minlength=n)
        )

    def _virtual_slope(self, rating: Array, information: Factor, answer: Array) -> float:
        """Of the evidence in the number of virtual draws."""
        from scipy.special import digamma, expit, log_expit

        first = self._previous < 0
        begin = rating[first]
        score = expit(begin)
        value = log_expit(begin) + log_expit(-begin)
        value -= 2.0 * (digamma(self._virtual) - digamma(2.0 * self._virtual))
        spread = 2.0 * score * (1.0 - score) * information.variances[first]
        return float(np.sum(value - 0.5 * spread - 0.5 * (1.0 - 2.0 * score) * answer[first]))

    def _prior_slopes(self, rating: Array, information: Factor, answer: Array) -> dict[str, float]:
        """Of the evidence in the parameters of the prior but for its beginning."""
        later = np.flatnonzero(self._previous >= 0)
        before, variance = self._previous[later], self._variance[later]
        change = rating[later] - rating[before] - self._mean[later]
        moved = answer[later] - answer[before]
        spread = difference_variances(information, later, before)
        by_mean, by_variance = np.zeros((2, len(rating)))
        by_mean[later] = (change - 0.5 * moved) / variance
        by_variance[later] = 0.5 * ((change * (change - moved) + spread) / variance - 1.0) / variance
        return self._prior.gradient(by_mean / ELO_SCALE, by_variance / ELO_SCALE**2)
