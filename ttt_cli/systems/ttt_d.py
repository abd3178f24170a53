"""TTT-D: TrueSkill Through Time with a draw margin per player and period (TTT paper, section 3.3).

Departures from the paper: draws use the exact moments of the two-dimensional truncated Gaussian instead of two
one-sided factors, and after each sweep all means are set to those of the joint Gaussian, as in TTT.
"""

from __future__ import annotations

from typing import Any, Final, Unpack

from pydantic import model_validator

from ttt_cli.config.schema import SolverConfig, key
from ttt_cli.fitted import Fit
from ttt_cli.inference import outcome
from ttt_cli.inference.covariates import with_computed
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.ep.through_time import ThroughTime, ThroughTimeParams, fit_through_time
from ttt_cli.inference.joint.sites import JointInference
from ttt_cli.inference.model import SweepRates
from ttt_cli.inference.newcomer_groups import with_groups_of_fit
from ttt_cli.inference.outcome import normal_unit, normal_unit_growth, typical_margin
from ttt_cli.inference.params import CAREER, DRIFT, MOVING_MARGINS, OWN_MARGINS, PLAY, Traits
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.inference.solver import Given
from ttt_cli.timeline import Timeline

NAME: Final = "ttt-d"
TRAITS: Final = Traits(
    kind="smoothed",
    has_evidence=True,
    quantities=2,
    tunable={
        **PLAY,
        "tau": DRIFT,
        **CAREER,
        **OWN_MARGINS,
        **MOVING_MARGINS,
        "prior_mean_drift": DRIFT,
    },
    exact_gradient=lambda params: not params.draws_move,
)
predict = outcome.predict
# Margins may pause away from their fixed point; rates of 0.05 are seen, after better first sweeps.
RATES: Final = SweepRates(least=0.3, too_early=1)
GRADIENT_TOL: Final = 1e-6  # points: of the margins before any game, where the gradient is not flat


class Params(ThroughTimeParams):
    """Parameters of TTT-D."""

    draw_margin_mean: float | None = key(
        None, "mean draw margin at the first appearance, points; null: 0.55 * beta", gt=0
    )
    draw_margin_sd: float | None = key(
        None, "sd of the draw margin at the first appearance, points; null: beta / 6", gt=0
    )
    draw_margin_tau: float | None = key(
        None,
        "sd of the change of the draw margin over one year, points; null: 0.1 * beta / 6",
        ge=0,
    )

    @model_validator(mode="before")
    @classmethod
    def _has_no_lapses(cls, values: Any) -> Any:
        if "lapse" in values:
            raise ValueError("ttt-d has no lapse; ttt has")
        return values

    def resolved(self) -> Params:
        """Parameters with all defaults as numbers."""
        numbers = {
            "draw_margin_mean": 0.55 * self.beta,
            "draw_margin_sd": self.beta / 6.0,
            "draw_margin_tau": 0.1 * self.beta / 6.0,
        }
        configured = self.model_dump(include=set(numbers))
        numbers |= {key: value for key, value in configured.items() if value is not None}
        return self.model_copy(update=numbers)

    @property
    def margin(self) -> tuple[float, float]:
        """Mean and sd of a newcomer's draw margin, of resolved parameters."""
        return float(self.draw_margin_mean or 0.0), float(self.draw_margin_sd or 0.0)


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **options: Unpack[Given]) -> Fit:
    """Find the fixed point of expectation propagation, and the log-evidence normalised by that without games."""

    def make_fit(**fields: Any) -> Fit:
        return Fit(NAME, TRAITS.kind, {}, **fields)

    numbers = params.resolved()

    def through_time_of(timeline: Timeline) -> ThroughTime:
        return through_time(timeline, numbers)

    return fit_through_time(through_time_of, timeline, numbers, make_fit, solver, options, RATES)


def through_time(timeline: Timeline, params: Params) -> ThroughTime:
    """parameters of `ThroughTime` shared with TTT, from resolved parameters."""
    timeline = with_computed(timeline, params)
    margin, sd = params.margin
    unit = normal_unit(params.beta, typical_margin(*params.margin)[0])

    def priors() -> dict[str, RandomWalk]:
        tau = float(params.draw_margin_tau or 0.0)
        names = ("draw_margin_sd", "draw_margin_tau")
        margins = RandomWalk(timeline, margin, sd, tau, names)
        return {"skill": params.skill_prior(timeline), "draw_margin": margins}

    return ThroughTime(timeline, params, priors, params.play(margin, unit, sd))


def gradient(timeline: Timeline, params: Params, fit: Fit) -> dict[str, float]:
    """Gradient of the log-evidence in numeric parameters at a converged fit, with defaults that follow beta."""
    numbers = params.resolved()
    shared = through_time(with_groups_of_fit(timeline, fit), numbers)
    with_games = _gradient(numbers, shared, shared.posterior(fit))
    without_games = _gradient(numbers, shared, shared.without_games(GRADIENT_TOL))
    slopes = {key: slope - without_games.get(key, 0.0) for key, slope in with_games.items()}
    configured = params.model_dump()
    resolved = numbers.model_dump()
    for name in ("draw_margin_mean", "draw_margin_sd", "draw_margin_tau"):
        if configured[name] is None:  # it follows beta
            slopes["beta"] += slopes[name] * resolved[name] / params.beta
    return {**slopes, "draw_margin_drift": 0.0}


def _gradient(
    params: Params, shared: ThroughTime, inference: Inference | JointInference
) -> dict[str, float]:
    """Gradient of log Z, positivity included, in each parameter alone."""
    of_params, of_games, _ = inference.gradient()
    typical, typical_by_mean, typical_by_sd = typical_margin(*params.margin)
    unit_by_beta, unit_by_margin = normal_unit_growth(params.beta, typical)
    by_typical = of_games.elo_unit * unit_by_margin
    return {
        "prior_mean": 0.0,
        **of_params,
        "beta": 4.0 * params.beta * of_games.noise + of_games.elo_unit * unit_by_beta,
        "white_advantage": of_games.advantage,
        **shared.covariate_slopes(of_games),
        "draw_margin_mean": of_games.margin + by_typical * typical_by_mean,
        "draw_margin_sd": of_params["draw_margin_sd"] + by_typical * typical_by_sd,
    }
