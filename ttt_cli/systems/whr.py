"""Whole-History Rating: the most probable Bradley-Terry histories under a Wiener process (R. Coulom, CG 2008).

Departures from the paper: draws are outcomes of their own, by the model of Rao and Kupper; all players move at once by
Newton's method on the whole system; deviations come from the inverse of the whole information.
"""

import math
from typing import Any, Final, Unpack

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.config.schema import SolverConfig
from ttt_cli.errors import ConfigError
from ttt_cli.fitted import Fit
from ttt_cli.inference.bradley_terry.laplace import laplace_integral, leave_one_out
from ttt_cli.inference.bradley_terry.newton import maximise
from ttt_cli.inference.bradley_terry.ratings import own_deviations, started_ratings
from ttt_cli.inference.bradley_terry.whole_history import History, WholeHistoryParams
from ttt_cli.inference.draws import logistic_margin_slope, resolve_logistic_margin
from ttt_cli.inference.elo_unit import logistic_unit
from ttt_cli.inference.outcome import ELO_SCALE, logistic_probabilities, margin_probabilities
from ttt_cli.inference.solver import Given
from ttt_cli.inference.traits import Traits
from ttt_cli.timeline import Timeline

NAME: Final = "whr"
TRAITS: Final = Traits(
    kind="smoothed", has_evidence=True, predicts_by_means=True, for_predictions={"deviations": "own"}
)


class Params(WholeHistoryParams):
    """Parameters of WHR."""


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **given: Unpack[Given]) -> Fit:
    """Find the most probable histories and how sure they are.

    The log-evidence is Laplace's approximation; there is none for draws as halves, which give outcomes no
    probabilities, nor with deviations `own`, which leave the determinant out. Raises ConfigError when the draw margin
    and the games exclude each other, and for histories too large for `exact` deviations.
    """
    margin = _margin(params, timeline)
    unit = _elo_unit(params, margin)
    history = _history(timeline, params, margin)
    if params.deviations == "exact":
        history.posterior.require_information()
    begin = started_ratings(timeline, given.get("start"))
    maximum = maximise(history.posterior, begin, solver.tol, solver.max_sweeps, given.get("on_sweep"))
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
    """The gradient of the log-evidence at a fit, per point (or unit) of the numeric parameters; {} without evidence."""
    if math.isnan(fit.log_evidence):
        return {}
    history = _history(timeline, params, fit.params["draw_margin"])
    slopes = history.gradient(fit.state["rating"])
    return {**slopes, "draw_probability": slopes["draw_margin"] * logistic_margin_slope(params, timeline)}


def predict(params: dict[str, Any], white: dict[str, Array], black: dict[str, Array]) -> Array:
    """Probabilities (n, 3) of loss, draw and win for White, of the most probable ratings (`mean`) alone."""
    difference = white["mean"] - black["mean"] + params["white_advantage"]
    rule = margin_probabilities if params["draws"] == "margin" else logistic_probabilities
    return rule(difference, params["draw_margin"])


def _elo_unit(params: Params, margin: float) -> float:
    """Points that are one Elo point."""
    return logistic_unit(margin) if params.draws == "margin" else 1.0


def _history(timeline: Timeline, params: Params, margin: float) -> History:
    return History(timeline.in_points(_elo_unit(params, margin)), params, margin)


def _margin(params: Params, timeline: Timeline) -> float:
    """The draw margin in points. Raises ConfigError when the games cannot have come from it."""
    if params.draw_margin == 0.0 and params.draws == "halves":
        return 0.0
    try:
        return resolve_logistic_margin(params, timeline)
    except ConfigError as error:
        halves = f"{error.hint}, or draws: halves" if params.draw_margin == 0.0 else error.hint
        raise ConfigError(error.message, hint=halves) from error
