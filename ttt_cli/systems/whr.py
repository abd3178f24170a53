"""Whole-History Rating: the most probable Bradley-Terry histories under a Wiener process (R. Coulom, CG 2008).

Departures from the paper: draws are an outcome of their own (Rao and Kupper); Newton's method moves all players at
once; deviations are from the inverse of the whole information.
"""

import math
from functools import partial
from typing import Any, Final, Unpack

import numpy as np
from pydantic import Field

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.games.table import DRAW
from ttt_cli.gaussian.factor import Factor
from ttt_cli.inference.bradley_terry import (
    Derivatives,
    Deviations,
    Draws,
    LogDensity,
    compare_games,
    difference_variances,
    differences,
    initial_ratings,
    laplace_integral,
    leave_one_out,
    maximise,
    own_deviations,
)
from ttt_cli.inference.outcome import (
    ELO_SCALE,
    logistic_margin_slope,
    logistic_probabilities,
    logistic_unit,
    logistic_unit_growth,
    margin_probabilities,
    resolve_logistic_margin,
)
from ttt_cli.inference.params import DrawProbability, EloAdvantage, LogisticMargin, PriorMean, Traits
from ttt_cli.inference.params import Params as ModelParams
from ttt_cli.inference.prior import Prior, RandomWalk
from ttt_cli.inference.solver import Given
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import ConfigError
from ttt_cli.timeline import Timeline

NAME: Final = "whr"
TRAITS: Final = Traits(
    kind="smoothed", has_evidence=True, predicts_by_means=True, for_predictions={"deviations": "own"}
)


class Params(ModelParams):
    """Parameters of WHR, points and years."""

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
        """Walk of ratings; virtual games replace the prior of first ratings."""
        names = "virtual_draws", "tau"
        return RandomWalk(timeline, self.prior_mean, math.nan, self.tau, names)


class HistoryDensity:
    """Log density of all histories and games, natural units; normalised with draws as a margin."""

    def __init__(self, timeline: Timeline, params: Params, draw_margin: float) -> None:
        from ttt_cli.kernels.bradley_terry import wiener

        self._prior, self._virtual = params.skill_prior(timeline), params.virtual_draws
        self._margin = draw_margin / ELO_SCALE if params.draws == "margin" else 0.0
        self._advantage = params.white_advantage / ELO_SCALE
        self._drawn = float(timeline.weight[timeline.outcome == DRAW].sum())
        self._previous = timeline.previous.copy()
        mean, variance = self._prior.steps()
        self._mean, self._variance = mean / ELO_SCALE, variance / ELO_SCALE**2
        histories = partial(wiener, self._previous, self._mean, self._variance, self._virtual)
        self._comparisons = compare_games(timeline, params.white_advantage, params.draws)
        self.posterior = LogDensity(self._comparisons, self._margin, self._previous, histories)

    def constant(self) -> float:
        """Log normalising constant of draws, P(draw) = (exp(2 margin) - 1) P(win) P(loss), and of the priors."""
        from scipy.special import betaln

        players = int(np.sum(self._previous < 0))
        drawn = self._drawn * math.log(math.expm1(2.0 * self._margin)) if self._drawn else 0.0
        return drawn - players * float(betaln(self._virtual, self._virtual))

    def covariances(self, information: Factor) -> Array:
        """Covariances (nodes,) with the player's previous node, 0 at the first."""
        later = np.flatnonzero(self._previous >= 0)
        covariance = np.zeros(len(self._previous))
        covariance[later] = information.covariances(later, self._previous[later])
        return covariance

    def gradient(self, rating: Array) -> dict[str, float]:
        """Gradient of the log-evidence at its maximum `rating`."""
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
        """Gradient of the log-evidence in the number of virtual draws."""
        from scipy.special import digamma, expit, log_expit

        first = self._previous < 0
        initial = rating[first]
        score = expit(initial)
        value = log_expit(initial) + log_expit(-initial)
        value -= 2.0 * (digamma(self._virtual) - digamma(2.0 * self._virtual))
        spread = 2.0 * score * (1.0 - score) * information.variances[first]
        return float(np.sum(value - 0.5 * spread - 0.5 * (1.0 - 2.0 * score) * answer[first]))

    def _prior_slopes(self, rating: Array, information: Factor, answer: Array) -> dict[str, float]:
        """Gradient of the log-evidence in the parameters of the walk."""
        later = np.flatnonzero(self._previous >= 0)
        before, variance = self._previous[later], self._variance[later]
        change = rating[later] - rating[before] - self._mean[later]
        moved = answer[later] - answer[before]
        spread = difference_variances(information, later, before)
        by_mean, by_variance = np.zeros((2, len(rating)))
        by_mean[later] = (change - 0.5 * moved) / variance
        by_variance[later] = 0.5 * ((change * (change - moved) + spread) / variance - 1.0) / variance
        return self._prior.gradient(by_mean / ELO_SCALE, by_variance / ELO_SCALE**2)


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **given: Unpack[Given]) -> Fit:
    """Find the most probable histories and their deviations.

    The log-evidence is Laplace's approximation; NaN for draws as halves and for `own` deviations. Raises ConfigError
    when the draw margin and the games exclude each other, and for histories too large for `exact` deviations.
    """
    margin = _margin(params, timeline)
    unit = _elo_unit(params, margin)
    history = _history(timeline, params, margin)
    if params.deviations == "exact":
        history.posterior.require_information()
    initial = initial_ratings(timeline, given.get("start"))
    maximum = maximise(history.posterior, initial, solver.tol, solver.max_sweeps, given.get("on_sweep"))
    evidence, predicted = math.nan, math.nan
    if params.deviations == "own":
        variance, covariance = own_deviations(history.posterior, history.posterior.diagonal)
    else:
        information = history.posterior.information()
        variance, covariance = information.variances, history.covariances(information)
        if params.draws == "margin":
            evidence = laplace_integral(maximum.value, information) + history.constant()
            points = timeline.in_points(unit)
            predicted = leave_one_out(points, maximum.rating, information, margin, params.white_advantage)
    prior = params.skill_prior(timeline)
    mean, sd = prior.origin + ELO_SCALE * maximum.rating, ELO_SCALE * np.sqrt(variance)
    return Fit(
        model=NAME,
        kind=TRAITS.kind,
        params={**params.model_dump(), "draw_margin": margin},
        chains={"skill": prior.history(mean, sd, ELO_SCALE**2 * covariance)},
        log_evidence=evidence,
        leave_one_out=predicted,
        elo_unit=unit,
        status=maximum.status,
        trace=maximum.trace,
        state={"rating": maximum.rating},
    )


def gradient(timeline: Timeline, params: Params, fit: Fit) -> dict[str, float]:
    """Gradient of the log-evidence at a fit in numeric parameters; {} without evidence."""
    if math.isnan(fit.log_evidence):
        return {}
    history = _history(timeline, params, fit.params["draw_margin"])
    slopes = history.gradient(fit.state["rating"])
    return {**slopes, "draw_probability": slopes["draw_margin"] * logistic_margin_slope(params, timeline)}


def predict(params: dict[str, Any], white: dict[str, Array], black: dict[str, Array]) -> Array:
    """Probabilities (n, 3) of loss, draw and win for White, from the most probable ratings (`mean`) alone."""
    difference = white["mean"] - black["mean"] + params["white_advantage"]
    rule = margin_probabilities if params["draws"] == "margin" else logistic_probabilities
    return rule(difference, params["draw_margin"])


def _elo_unit(params: Params, margin: float) -> float:
    """Points per Elo point."""
    return logistic_unit(margin) if params.draws == "margin" else 1.0


def _history(timeline: Timeline, params: Params, margin: float) -> HistoryDensity:
    return HistoryDensity(timeline.in_points(_elo_unit(params, margin)), params, margin)


def _margin(params: Params, timeline: Timeline) -> float:
    """Draw margin in points. Raises ConfigError when it is impossible with these games."""
    if params.draw_margin == 0.0 and params.draws == "halves":
        return 0.0
    try:
        return resolve_logistic_margin(params, timeline)
    except ConfigError as error:
        halves = f"{error.hint}, or draws: halves" if params.draw_margin == 0.0 else error.hint
        raise ConfigError(error.message, hint=halves) from error
