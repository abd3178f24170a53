"""Vanilla TrueSkill: a filter that uses each game once (TTT paper, section 3.1)."""

from dataclasses import replace
from typing import Final, Literal

import numpy as np

from ttt_cli.config.schema import key
from ttt_cli.fitted import Fit
from ttt_cli.inference import outcome
from ttt_cli.inference.covariates import with_points_added
from ttt_cli.inference.filters import filter_fit, one_pass, rows_of
from ttt_cli.inference.outcome import normal_unit, resolve_margin
from ttt_cli.inference.params import (
    CAREER,
    COMMON_MARGIN,
    DRIFT,
    PLAY,
    GivenCovariates,
    SkillParams,
    Traits,
)
from ttt_cli.kernels.elo import Beliefs, GameRows, Steps
from ttt_cli.support.arrays import Places
from ttt_cli.timeline import Timeline

NAME: Final = "trueskill"
TRAITS: Final = Traits(
    kind="filtered", has_evidence=True, tunable={**PLAY, "tau": DRIFT, **CAREER, **COMMON_MARGIN}
)
predict = outcome.predict


class Params(GivenCovariates, SkillParams):
    """Parameters of the filter."""

    order: Literal["given", "shuffled"] = key(
        "given", "order of the games inside a period: as read, or shuffled by the seed"
    )
    seed: int = key(0, "seed of the shuffle", ge=0)


@one_pass
def fit(timeline: Timeline, params: Params, advantage: float) -> Fit:
    """Filter the games once; the log-evidence is the sum of the predictions' log probabilities."""
    from ttt_cli.kernels.elo import filter_games

    margin = resolve_margin(params, timeline)
    prior = params.skill_prior(timeline)
    unit = normal_unit(params.beta, margin)
    steps = Steps(timeline.previous.copy(), *prior.steps())

    order: Places | slice = slice(None)
    if params.order == "shuffled":  # inside periods; matches stay together
        period = np.repeat(np.arange(len(timeline.periods)), np.diff(timeline.game_start))
        joined = (
            np.zeros(timeline.n_games, np.bool_) if timeline.joined is None else timeline.joined
        )
        shuffle_key = np.random.default_rng(params.seed).random(
            timeline.n_games - np.count_nonzero(joined)
        )
        order = np.lexsort((shuffle_key[np.cumsum(~joined) - 1], period))

    periods, rows = rows_of(with_points_added(timeline.in_points(unit), params), advantage)
    games = GameRows._make(column[order] for column in rows)
    beliefs = Beliefs(*np.empty((2, timeline.n_nodes)))
    evidence = filter_games(periods, steps, games, 2.0 * params.beta**2, margin, beliefs)
    chain = prior.filtered(prior.origin + beliefs.mean, np.sqrt(beliefs.variance))
    worked_out = {"draw_margin": margin, "white_advantage": advantage}
    fitted = filter_fit(NAME, params, worked_out, {"skill": chain}, evidence)
    return replace(fitted, elo_unit=unit)
