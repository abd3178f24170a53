"""TTT-D: TrueSkill Through Time with a draw margin per player and period (TTT paper, section 3.3).

Departures from the paper: draws are taken with the exact moments of the two-dimensional truncated Gaussian, not by
two one-sided factors, and after each sweep all means are set to those of the joint Gaussian, as in TTT.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Final, Unpack

from pydantic import Field

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.inference import outcome
from ttt_cli.inference.advantage import at_best_advantage
from ttt_cli.inference.draws import typical_margin
from ttt_cli.inference.elo_unit import normal_unit, normal_unit_growth
from ttt_cli.inference.ep.apart.fit import FitsApart, refuse_joint
from ttt_cli.inference.ep.apart.pieces import Play
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.ep.merged import MergedGames, merge_games
from ttt_cli.inference.joint.inference import JointInference
from ttt_cli.inference.joint.posterior import at_fit, infer
from ttt_cli.inference.moving_margins import MovingMargins, drift_slope
from ttt_cli.inference.params import DrawsMove, NewcomersMove, PlayParams, alias
from ttt_cli.inference.prior import Prior, RandomWalk
from ttt_cli.inference.solver import Given, iterate
from ttt_cli.inference.traits import CAREER, DRIFT, MOVING_MARGINS, OWN_MARGINS, PLAY, Traits
from ttt_cli.kernels.ep.structures import Rule
from ttt_cli.timeline import Timeline

NAME: Final = "ttt-d"
TRAITS: Final = Traits(
    kind="smoothed",
    has_evidence=True,
    quantities=2,
    tunable={**PLAY, "tau": DRIFT, **CAREER, **OWN_MARGINS, **MOVING_MARGINS, "prior_mean_drift": DRIFT},
    rough_gradient=lambda params: params.draws_move,
)
predict = outcome.predict
SETTLING: Final = 1  # sweep after the first two: margins may stand still where they are not going to stay
LEAST_RATE: Final = 0.3  # of the change left by a sweep: 0.05 is seen, after better first sweeps
# of the margins before any game, points: log Z is flat there and right to 1e-10, or 1e-5 where newcomers' margins move
NOTHING_TOL: Final = 1e-3
GRADIENT_TOL: Final = 1e-6  # the same for the gradient, which is not


class Params(NewcomersMove, DrawsMove, PlayParams):
    """Parameters of TTT-D."""

    draw_margin_mean: float | None = Field(
        default=None,
        gt=0,
        validation_alias=alias("draw_margin_mean", "nu0"),
        description="mean draw margin at the first appearance, points; null: 0.55 * beta",
    )
    draw_margin_sd: float | None = Field(
        default=None,
        gt=0,
        validation_alias=alias("draw_margin_sd", "varsigma0"),
        description="sd of the draw margin at the first appearance, points; null: beta / 6",
    )
    draw_margin_tau: float | None = Field(
        default=None,
        ge=0,
        validation_alias=alias("draw_margin_tau", "varsigma"),
        description="sd of the change of the draw margin over one year, points; null: 0.1 * beta / 6",
    )

    def resolved(self) -> Params:
        """The same with every number there."""
        given = self.draw_margin_mean, self.draw_margin_sd, self.draw_margin_tau
        usual = 0.55 * self.beta, self.beta / 6.0, 0.1 * self.beta / 6.0
        mean, sd, tau = (u if g is None else g for g, u in zip(given, usual, strict=True))
        numbers = {"draw_margin_mean": mean, "draw_margin_sd": sd, "draw_margin_tau": tau}
        return self.model_copy(update=numbers)

    def margin_prior(self, timeline: Timeline) -> RandomWalk:
        """What is believed of draw margins before any game, of resolved parameters."""
        given = self.draw_margin_mean, self.draw_margin_sd, self.draw_margin_tau
        mean, sd, tau = (float(value or 0.0) for value in given)
        return RandomWalk(timeline, mean, sd, tau, ("draw_margin_sd", "draw_margin_tau"))


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **given: Unpack[Given]) -> Fit:
    """Find the fixed point of expectation propagation, and the log-evidence normalised by that without games.

    `start`: a fit of the same timeline, perhaps with other parameters, to begin from, or what is believed of its nodes.
    """
    params, place = params.resolved(), given.get("place")
    apart = None
    if place:
        refuse_joint(solver)
        apart = FitsApart(
            timeline,
            lambda: _priors(timeline, params),
            place,
            given,
            least_rate=LEAST_RATE,
            settling=SETTLING,
        )
        before_games = apart.without_games(_play(params, 0.0), NOTHING_TOL)
    else:
        merged = merge_games(timeline, colours=params.white_advantage != 0.0)
        before_games, _ = _without_games(timeline, params, merged, NOTHING_TOL, solver.threads).log_evidence()

    def fit_at(advantage: float, warm: Fit | None, solver: SolverConfig, **asked: Unpack[Given]) -> Fit:
        if apart:
            found = apart(_play(params, advantage), warm, solver)
        else:
            inference = _inference(timeline, params, merged, advantage, warm, solver.threads)
            found = infer(
                inference, solver, {**given, **asked}, warm, least_rate=LEAST_RATE, settling=SETTLING
            )
        return Fit(
            model=NAME,
            kind=TRAITS.kind,
            params={**params.model_dump(), "white_advantage": advantage},
            elo_unit=_elo_unit(params),
            **vars(found) | {"log_evidence": found.log_evidence - before_games},
        )

    with apart or nullcontext():
        return at_best_advantage(fit_at, params, given.get("start"), solver, colours=timeline.colours)


_refit = fit


def gradient(timeline: Timeline, params: Params, fit: Fit) -> dict[str, float]:
    """The gradient of the log-evidence at a converged fit in every numeric parameter, per point.

    Parameters of the draw margin that were left to their defaults follow beta (`kernels/ep/ttt.py`).
    """
    numbers = params.resolved()
    merged = merge_games(timeline, colours=params.white_advantage != 0.0)
    inference = _inference(timeline, numbers, merged, fit.params["white_advantage"], fit)
    found = _gradient(numbers, at_fit(inference, fit))
    nothing = _gradient(numbers, _without_games(timeline, numbers, merged, GRADIENT_TOL))
    slopes = {key: slope - nothing[key] for key, slope in found.items()}
    for key in ("draw_margin_mean", "draw_margin_sd", "draw_margin_tau"):
        if getattr(params, key) is None:
            slopes["beta"] += slopes[key] * getattr(numbers, key) / params.beta
    return {**slopes, "draw_margin_drift": drift_slope(_refit, timeline, numbers, fit)}


def _elo_unit(params: Params) -> float:
    return normal_unit(params.beta, typical_margin(*_margin(params))[0])


def _margin(params: Params) -> tuple[float, float]:
    """Mean and sd of a newcomer's draw margin, of resolved parameters."""
    return float(params.draw_margin_mean or 0.0), float(params.draw_margin_sd or 0.0)


def _inference(
    timeline: Timeline,
    params: Params,
    merged: MergedGames,
    advantage: float,
    start: Fit | None = None,
    threads: int | None = None,
) -> Inference:
    priors, (margin, sd) = _priors(timeline, params), _margin(params)
    handicap = merged.given(_elo_unit(params), advantage)
    moves = params.draw_margin_drift, params.draw_margin_strength
    moving = MovingMargins(timeline, merged, margin, *moves, newcomers=sd, start=start)
    rule = Rule(2.0 * params.beta**2, moving.margin, margin, advantage, handicap)
    return Inference(timeline, merged, priors, rule, moving, start, threads)


def _priors(timeline: Timeline, params: Params) -> dict[str, Prior]:
    return {"skill": params.skill_prior(timeline), "draw_margin": params.margin_prior(timeline)}


def _play(params: Params, advantage: float) -> Play:
    margin, sd = _margin(params)
    return Play(
        2.0 * params.beta**2, margin, advantage, _elo_unit(params), own_margins=sd,
        drift=params.draw_margin_drift, strength=params.draw_margin_strength,
    )  # fmt: skip


def _without_games(
    timeline: Timeline, params: Params, merged: MergedGames, tol: float, threads: int | None = None
) -> Inference:
    """The fixed point without games, of the factors that keep draw margins positive."""
    inference = _inference(timeline, params, merged.none(), 0.0, threads=threads)
    iterate(inference.sweep, SolverConfig(tol=tol), None)
    return inference


def _gradient(params: Params, inference: Inference | JointInference) -> dict[str, float]:
    """Of log Z, positivity included, in the parameters, each alone."""
    of_priors, (by_noise, by_margin, by_advantage, by_handicap) = inference.gradient()
    typical, typical_by_mean, typical_by_sd = typical_margin(*_margin(params))
    unit_by_beta, unit_by_margin = normal_unit_growth(params.beta, typical)
    by_typical = by_handicap * unit_by_margin
    return {
        "prior_mean": 0.0,
        **of_priors,
        "beta": 4.0 * params.beta * by_noise + by_handicap * unit_by_beta,
        "white_advantage": by_advantage,
        "draw_margin_mean": by_margin + by_typical * typical_by_mean,
        "draw_margin_sd": of_priors["draw_margin_sd"] + by_typical * typical_by_sd,
    }
