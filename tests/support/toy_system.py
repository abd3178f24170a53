"""A rating system as small as one can be: a player's rating is the share of points made, newcomers' a half."""

from __future__ import annotations

from typing import Annotated, Any, Final, Unpack

import numpy as np
from pydantic import Field

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.inference.filters import RatingParams, filter_fit
from ttt_cli.inference.outcome import log_score, predict_ratings, resolve_logistic_margin
from ttt_cli.inference.params import ExpectedParams, Traits
from ttt_cli.inference.solver import Given
from ttt_cli.timeline import Timeline

NAME: Final = "toy"
TRAITS: Final = Traits(kind="filtered", has_evidence=True, draws_apart=True)
predict: Final = predict_ratings


class Params(RatingParams, ExpectedParams):
    """Parameters of the toy."""

    spread: Annotated[
        float, Field(gt=0, description="points between a score of 0 and of 100 %")
    ] = 800.0


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **given: Unpack[Given]) -> Fit:
    """Go through the games once."""
    made, games = np.ones(len(timeline.players)), np.full(len(timeline.players), 2.0)
    before, after = np.empty((2, timeline.n_nodes))
    white, black = timeline.game_white, timeline.game_black
    for step in range(len(timeline.periods)):
        nodes = slice(timeline.node_start[step], timeline.node_start[step + 1])
        here = slice(timeline.game_start[step], timeline.game_start[step + 1])
        player = timeline.node_player
        before[nodes] = (made / games)[player[nodes]]
        weight, score = timeline.weight[here], timeline.outcome[here] / 2.0
        for side, points in ((white, score), (black, 1.0 - score)):
            np.add.at(made, player[side[here]], weight * points)
            np.add.at(games, player[side[here]], weight)
        after[nodes] = (made / games)[player[nodes]]
    before, after = (params.prior_mean + params.spread * (share - 0.5) for share in (before, after))
    resolved: dict[str, Any] = {
        **params.model_dump(),
        "draw_margin": resolve_logistic_margin(params, timeline),
    }
    chances = predict(resolved, {"mean": before[white] + timeline.offset}, {"mean": before[black]})
    evidence = log_score(chances, timeline.outcome, timeline.weight)
    chains = {"skill": params.filtered(timeline, after)}
    return filter_fit(NAME, params, {"draw_margin": resolved["draw_margin"]}, chains, evidence)
