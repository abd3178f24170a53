"""Vanilla TrueSkill: a filter that learns from each game once and never looks back (TTT paper, section 3.1)."""

from dataclasses import replace
from functools import partial
from typing import Final, Literal

import numpy as np
from pydantic import Field

from ttt_cli.arrays import Places
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.inference import outcome
from ttt_cli.inference.advantage import at_best_advantage
from ttt_cli.inference.draws import margin_slope, resolve_margin
from ttt_cli.inference.elo_unit import normal_unit
from ttt_cli.inference.params import SkillParams
from ttt_cli.inference.scores.filtering import central_slope, filter_fit, one_pass, pieces, rows_of
from ttt_cli.inference.traits import CAREER, COMMON_MARGIN, DRIFT, PLAY, Traits
from ttt_cli.kernels.scores.structures import Beliefs, Games, Steps
from ttt_cli.timeline import Timeline

NAME: Final = "trueskill"
TRAITS: Final = Traits(
    kind="filtered", has_evidence=True, tunable={**PLAY, "tau": DRIFT, **CAREER, **COMMON_MARGIN}
)
predict = outcome.predict


class Params(SkillParams):
    """Parameters of the filter."""

    order: Literal["given", "shuffled"] = Field(
        default="given", description="order of the games inside a period: as read, or shuffled by the seed"
    )
    seed: int = Field(default=0, ge=0, description="seed of the shuffle")


@one_pass
def fit(timeline: Timeline, params: Params) -> Fit:
    """Filter the games once. The log-evidence is the sum of the log probabilities with which each was predicted."""
    margin = resolve_margin(params, timeline)
    order = _order(timeline, params)

    def fit_at(advantage: float, *_: object, **_given: object) -> Fit:
        return _filter(timeline, params, order, margin, advantage)

    return at_best_advantage(fit_at, params, None, SolverConfig(), colours=timeline.colours)


def gradient(timeline: Timeline, params: Params, fit: Fit) -> dict[str, float]:
    """The gradient of the log-evidence in every numeric parameter, by central differences."""
    order = _order(timeline, params)

    def evidence(key: str, value: float) -> float:
        moved = params.model_copy(update={"white_advantage": fit.params["white_advantage"], key: value})
        margin, advantage = resolve_margin(moved, timeline), float(moved.white_advantage)
        return _filter(timeline, moved, order, margin, advantage).log_evidence

    keys = {"prior_mean", *TRAITS.tunable} - {"draw_probability"}
    slopes = {key: central_slope(partial(evidence, key), fit.params[key], params.beta) for key in keys}
    return {**slopes, "draw_probability": slopes["draw_margin"] * margin_slope(params, timeline)}


def _filter(
    timeline: Timeline, params: Params, order: Places | slice, margin: float, advantage: float
) -> Fit:
    from ttt_cli.kernels.scores.trueskill import Rule, filter_games

    unit = normal_unit(params.beta, margin)
    games = Games._make(column[order] for column in rows_of(timeline.in_points(unit), advantage))
    beliefs = Beliefs(*np.empty((2, timeline.n_nodes)))
    prior = params.skill_prior(timeline)
    steps = Steps(timeline.previous.copy(), *prior.steps())
    rule = Rule(2.0 * params.beta**2, margin)
    predicted = 0.0
    for piece in pieces(timeline, games):
        predicted += filter_games(piece, steps, games, rule, beliefs)
    chain = prior.filtered(prior.origin + beliefs.mean, np.sqrt(beliefs.variance))
    worked_out = {"draw_margin": margin, "white_advantage": advantage}
    fitted = filter_fit(NAME, params, worked_out, {"skill": chain}, float(predicted))
    return replace(fitted, elo_unit=unit)


def _order(timeline: Timeline, params: Params) -> Places | slice:
    """Of the games, inside a period as given or shuffled: records are, so that the rows of a match stay together."""
    if params.order == "given":
        return slice(None)
    period = np.repeat(np.arange(len(timeline.periods)), np.diff(timeline.game_start))
    joined = np.zeros(timeline.n_games, np.bool_) if timeline.joined is None else timeline.joined
    record = np.cumsum(~joined) - 1
    place = np.random.default_rng(params.seed).random(timeline.n_games - np.count_nonzero(joined))
    return np.lexsort((place[record], period))
