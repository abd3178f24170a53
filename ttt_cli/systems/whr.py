"""Whole-History Rating: the most probable Bradley-Terry histories under a Wiener process (R. Coulom, CG 2008).

Departures from the paper: draws are an outcome of their own (Rao and Kupper); Newton's method moves all players at
once; deviations are from the inverse of the whole information.
"""

import math
from typing import Any, Final, Unpack

import numpy as np

from ttt_cli.config.schema import SolverConfig, key
from ttt_cli.fitted import Fit
from ttt_cli.games.table import DRAW
from ttt_cli.inference import bradley_terry as ratings
from ttt_cli.inference import outcome
from ttt_cli.inference.advantage import fit_with_advantage
from ttt_cli.inference.covariates import with_given_points, with_points_added
from ttt_cli.inference.outcome import ELO_SCALE
from ttt_cli.inference.params import (
    AUTO,
    DrawProbability,
    EstimatedAdvantage,
    GivenCovariates,
    LogisticMargin,
    PriorMean,
    Traits,
)
from ttt_cli.inference.params import Params as ModelParams
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.inference.solver import Given, OnSweep
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import ConfigError
from ttt_cli.timeline import Timeline

NAME: Final = "whr"
TRAITS: Final = Traits(
    kind="smoothed",
    has_evidence=True,
    predicts_by_means=True,
    for_predictions={"deviations": "own"},
)


class Params(GivenCovariates, ModelParams):
    """Parameters of WHR, points and years."""

    prior_mean: PriorMean = key(1200.0, "rating of the opponent in the virtual games, points")
    virtual_draws: float = key(
        1.2, "virtual games won, and as many lost, at the first appearance", gt=0
    )
    tau: float = key(
        71.5, "sd of the change of rating over one year, points; tau * sqrt(g) over g years", gt=0
    )
    draws: ratings.Draws = key(
        "margin",
        "how draws count: margin, as outcomes of their own; halves, as half a win and half a loss",
    )
    draw_margin: LogisticMargin = "auto"
    draw_probability: DrawProbability = None
    white_advantage: EstimatedAdvantage = AUTO
    deviations: ratings.Deviations = "exact"

    @property
    def has_evidence(self) -> bool:
        """Whether fits have a log-evidence."""
        return self.draws == "margin" and self.deviations == "exact"

    def skill_prior(self, timeline: Timeline) -> RandomWalk:
        """Walk of ratings; virtual games replace the prior of first ratings."""
        return RandomWalk(timeline, self.prior_mean, math.nan, self.tau)


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **options: Unpack[Given]) -> Fit:
    """Find the most probable histories and their deviations.

    The log-evidence is Laplace's approximation; NaN for draws as halves and for `own` deviations. Raises ConfigError
    when the draw margin and the games exclude each other, for histories too large for `exact` deviations, and for an
    advantage to be estimated without evidence.
    """
    if params.estimates_advantage and not params.has_evidence:
        raise ConfigError(
            "white_advantage can be estimated only with draws: margin and deviations: exact, which give an evidence",
            hint="give model.white_advantage in points",
        )

    def fit_at(
        advantage: float, start: Fit | None, solver: SolverConfig, **_options: object
    ) -> Fit:
        return fit_histories(timeline, params, solver, advantage, start, options.get("on_sweep"))

    fitted = fit_with_advantage(
        fit_at, params, options.get("start"), solver, colours=timeline.colours
    )
    return with_given_points(fitted, params, timeline)


def fit_histories(
    timeline: Timeline,
    params: Params,
    solver: SolverConfig,
    advantage: float,
    start: Fit | None,
    on_sweep: OnSweep | None,
) -> Fit:
    """Fit with White's `advantage`, points."""
    from scipy.special import betaln

    from ttt_cli.kernels.bradley_terry import wiener

    own_outcome = params.draws == "margin"
    without = params.draw_margin == 0.0 and not own_outcome  # draws are no contradiction then
    margin = 0.0 if without else outcome.resolve_logistic_margin(params, timeline)
    unit = outcome.logistic_unit(margin) if own_outcome else 1.0  # points per Elo point
    points = with_points_added(timeline.in_points(unit), params)
    previous = timeline.previous.copy()
    virtual = params.virtual_draws
    prior = params.skill_prior(points)
    mean, variance = prior.steps()
    step_mean = mean / ELO_SCALE
    step_variance = variance / ELO_SCALE**2

    def add_histories(
        rating: Array, gradient: Array, link_precision: Array, node_precision: Array
    ) -> float:
        density: float = wiener(
            previous,
            step_mean,
            step_variance,
            virtual,
            rating,
            gradient,
            link_precision,
            node_precision,
        )
        return density

    comparisons = ratings.compare_games(points, advantage, params.draws)
    posterior = ratings.LogDensity(
        comparisons, margin / ELO_SCALE if own_outcome else 0.0, previous, add_histories
    )
    if params.deviations == "exact":
        posterior.require_information()
    initial = ratings.initial_ratings(timeline, start)
    maximum = ratings.maximise(posterior, initial, solver.tol, solver.max_sweeps, on_sweep)
    evidence = math.nan
    predicted = math.nan
    if params.deviations == "own":
        variance, covariance = ratings.own_deviations(posterior, posterior.diagonal)
    else:
        information = posterior.information()
        variance = information.variances
        covariance = np.zeros(len(previous))
        later = np.flatnonzero(previous >= 0)
        covariance[later] = information.covariances(later, previous[later])
        if own_outcome:
            evidence = maximum.value - 0.5 * information.log_determinant
            evidence += 0.5 * len(previous) * math.log(2.0 * math.pi)
            evidence -= (len(previous) - len(later)) * float(betaln(virtual, virtual))
            if drawn := float(timeline.weight[timeline.outcome == DRAW].sum()):
                evidence += drawn * math.log(math.expm1(2.0 * margin / ELO_SCALE))
            predicted = ratings.leave_one_out(
                points, maximum.rating, information, margin, advantage
            )
    chain = prior.history(
        prior.origin + ELO_SCALE * maximum.rating,
        ELO_SCALE * np.sqrt(variance),
        ELO_SCALE**2 * covariance,
    )
    return Fit(
        model=NAME,
        kind=TRAITS.kind,
        params={**params.model_dump(), "draw_margin": margin, "white_advantage": advantage},
        chains={"skill": chain},
        log_evidence=evidence,
        leave_one_out=predicted,
        elo_unit=unit,
        status=maximum.status,
        trace=maximum.trace,
        state={"rating": maximum.rating},
    )


def predict(params: dict[str, Any], white: dict[str, Array], black: dict[str, Array]) -> Array:
    """Probabilities (n, 3) of loss, draw and win for White, from the most probable ratings (`mean`) alone."""
    difference = white["mean"] - black["mean"] + params["white_advantage"]
    rule = (
        outcome.margin_probabilities
        if params["draws"] == "margin"
        else outcome.logistic_probabilities
    )
    return rule(difference, params["draw_margin"])
