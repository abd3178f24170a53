"""TrueSkill Through Time: skills smoothed over all periods (Dangauthier, Herbrich, Minka, Graepel, NIPS 2007).

Departure: after each sweep the means of all skills are set to those of the joint Gaussian of the messages
(`kernels/ep/joint_means.py`), which reaches the same fixed point in a few sweeps instead of hundreds.
"""

from dataclasses import replace
from typing import Annotated, Any, Final, Literal, Unpack

from pydantic import Field

from ttt_cli.config.margin_steps import MarginSteps
from ttt_cli.config.offset_settings import Offsets
from ttt_cli.config.offsets import offset_params
from ttt_cli.config.schema import SolverConfig, key
from ttt_cli.fitted import Fit
from ttt_cli.inference import outcome
from ttt_cli.inference.categories import offset_priors
from ttt_cli.inference.covariates import with_computed
from ttt_cli.inference.ep.through_time import ThroughTime, ThroughTimeParams, fit_through_time
from ttt_cli.inference.lapse import MOST
from ttt_cli.inference.newcomer_groups import with_groups_of_fit
from ttt_cli.inference.outcome import (
    draw_share,
    margin_slope,
    normal_unit,
    normal_unit_growth,
    resolve_margin,
)
from ttt_cli.inference.params import (
    CAREER,
    COMMON_MARGIN,
    DRIFT,
    LAPSE,
    MOVING_MARGINS,
    OFFSET_CORRELATION,
    PLAY,
    SkillParams,
    Traits,
)
from ttt_cli.inference.sides import TeamSkill
from ttt_cli.inference.solver import Given
from ttt_cli.timeline import Timeline

NAME: Final = "ttt"
TRAITS: Final = Traits(
    kind="smoothed",
    has_evidence=True,
    takes_sums=True,
    quantities=1,
    tunable={
        **PLAY,
        "tau": DRIFT,
        **CAREER,
        **COMMON_MARGIN,
        **MOVING_MARGINS,
        "prior_mean_drift": DRIFT,
        **LAPSE,
        **OFFSET_CORRELATION,
    },
    exact_gradient=lambda params: not params.draws_move,
)
predict = outcome.predict


class Params(ThroughTimeParams, SkillParams):
    """Parameters of TTT."""

    offsets: Offsets = key(
        {},
        "skill in categories of games (data.category) besides that in the others: sd at a player's first game of the "
        "category and sd of the change over one year, points: {rapid: {sd: 100, tau: 30}}",
    )
    offset_correlation: float = key(
        0.0,
        "correlation of a player's offsets in two categories, where they begin; 0: they are independent of each other",
        ge=0,
        lt=1,
    )
    team: TeamSkill = key(
        "sum",
        "how the skills of a team's members make that of the team (data.team_separator); with mean the noise and the "
        "draw margin are those of games between two players",
    )
    lapse: Literal["estimate"] | Annotated[float, Field(ge=0, le=MOST)] = key(
        0.0,
        "share of games that chance decides, of 1, or estimate: the most probable with a weak prior; 0: none",
    )
    margin_steps: MarginSteps = key(
        {},
        "how much more of the difference wins by a margin (data.margin) or more need than narrower ones, points, "
        "{2: 200, 3: 150}; estimate, of one or all: the most probable with a weak prior",
    )


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **options: Unpack[Given]) -> Fit:
    """Find the fixed point of expectation propagation and its log-evidence.

    `start` is a fit of the same timeline for a warm start. Raises ConfigError when the draw margin and the games
    exclude each other, and for features that slices do not support.
    """
    margin = resolve_margin(params, timeline)

    def make_fit(**fields: Any) -> Fit:
        resolved = {"draw_margin": margin, **offset_params(params.offsets)}
        return Fit(NAME, TRAITS.kind, resolved, **fields)

    def through_time_of(timeline: Timeline) -> ThroughTime:
        return through_time(timeline, params, margin)

    return fit_through_time(through_time_of, timeline, params, make_fit, solver, options)


def through_time(timeline: Timeline, params: Params, margin: float) -> ThroughTime:
    """parameters of `ThroughTime` shared with TTT-D, with this draw margin."""
    timeline = with_computed(timeline, params)
    play = replace(
        params.play(margin, normal_unit(params.beta, margin)), lapse_draws=draw_share(timeline)
    )
    return ThroughTime(
        timeline,
        params,
        lambda: {"skill": params.skill_prior(timeline)},
        play,
        offset_priors=offset_priors(params.offsets, params.offset_correlation),
        team=params.team,
    )


def gradient(timeline: Timeline, params: Params, fit: Fit) -> dict[str, float]:
    """Gradient of the log-evidence in numeric parameters at a converged fit; an `auto` margin follows beta."""
    margin = fit.params["draw_margin"]
    shared = through_time(with_groups_of_fit(timeline, fit), params, margin)
    of_params, of_games, of_links = shared.posterior(fit).gradient()
    player_offsets = shared.sums.player_offsets if shared.sums else None
    of_offsets = player_offsets.gradient(of_links) if player_offsets and of_links else {}
    unit_by_beta, unit_by_margin = normal_unit_growth(params.beta, margin)
    by_margin = of_games.margin + of_games.elo_unit * unit_by_margin
    by_beta = 4.0 * params.beta * of_games.noise + of_games.elo_unit * unit_by_beta
    return {
        "prior_mean": 0.0,
        **of_params,
        "beta": by_beta
        + (by_margin * margin / params.beta if params.draw_margin == "auto" else 0.0),
        "draw_margin": by_margin,
        "draw_margin_drift": 0.0,
        "white_advantage": of_games.advantage,
        **shared.covariate_slopes(of_games),
        "offset_correlation": 0.0,
        **of_offsets,
        **shared.step_slopes(of_games),
        "draw_probability": by_margin * margin_slope(params, timeline),
        "lapse": of_games.lapse,
    }
