"""Elo's rating system: a rating moves by K times the residual of a score (TTT paper, section 1)."""

import math
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from ttt_cli.config.schema import key
from ttt_cli.fitted import Fit
from ttt_cli.inference.covariates import with_points_added
from ttt_cli.inference.filters import Expectation, RatingParams, filter_fit, one_pass, rows_of
from ttt_cli.inference.outcome import predict_as_expected, resolve_logistic_margin
from ttt_cli.inference.params import EstimatedParams, GivenCovariates, Traits
from ttt_cli.kernels.elo import Factors
from ttt_cli.timeline import Timeline

NAME: Final = "elo"
TRAITS: Final = Traits(kind="filtered", has_evidence=True, draws_apart=True)
predict = predict_as_expected

Step = Annotated[float, Field(gt=0)]


class Params(GivenCovariates, RatingParams, EstimatedParams):
    """Parameters of the Elo system."""

    update: Literal["game", "period"] = key(
        "game", "after each game, or once a period by the ratings at its start"
    )
    expectation: Expectation = "logistic"
    k: Literal["auto"] | Step = key(
        "auto", "points that a rating moves by for a residual of 1; auto: by alpha"
    )
    alpha: float = key(
        0.07, "weight of the new against the old, for k auto: K = 354.5 alpha", gt=0, lt=1
    )
    k_new: Step | None = key(None, "K of a player's first games; null: as k")
    new_games: int = key(30, "how many games are a player's first ones", ge=0)
    k_top: Step | None = key(None, "K of who has once reached the top rating; null: as k")
    top_rating: int = key(2400, "rating from which k_top counts, points")
    k_limit: int = key(
        700, "most that K times a player's games of a period may be, for update period", gt=0
    )


@one_pass
def fit(timeline: Timeline, params: Params, advantage: float) -> Fit:
    """Filter the games once; the log-evidence is the sum of the predictions' log probabilities.

    `k` by `alpha` is K = alpha beta sqrt(pi) (TTT paper, section 1).
    """
    from ttt_cli.kernels.elo import CLASS, by_game, by_period

    margin = resolve_logistic_margin(params, timeline)
    k = params.alpha * CLASS * math.sqrt(math.pi) if params.k == "auto" else params.k
    steps = {"k": k, "k_new": params.k_new or k, "k_top": params.k_top or k}
    factors = Factors(
        **steps, new_games=float(params.new_games), top_rating=float(params.top_rating)
    )
    periods, games = rows_of(with_points_added(timeline, params), advantage)
    rules = timeline.node_player.copy(), games, margin, params.expectation == "normal", factors
    rating = np.empty(timeline.n_nodes)
    players = params.new_players(timeline)
    if params.update == "game":
        evidence = by_game(False, True, periods, *rules, players, rating)
    else:
        count = timeline.node_games.copy()
        residual = np.zeros(len(rating))
        evidence = by_period(periods, *rules, params.k_limit, count, residual, players, rating)
    chains = {"skill": params.filtered(timeline, rating)}
    worked_out = {**steps, "draw_margin": margin, "white_advantage": advantage}
    return filter_fit(NAME, params, worked_out, chains, float(evidence))
