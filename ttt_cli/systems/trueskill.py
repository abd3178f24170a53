"""Vanilla TrueSkill: a filter that learns from each game once and never looks back (TTT paper, section 3.1)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ttt_cli.fitted import Fit
from ttt_cli.inference import outcome
from ttt_cli.inference.advantage import at_best_advantage
from ttt_cli.inference.differences import central_slope
from ttt_cli.inference.draws import draw_share, margin_slope, resolve_margin
from ttt_cli.inference.elo_unit import normal_unit
from ttt_cli.inference.ep.merged import codes, handicap_places
from ttt_cli.inference.params import SkillParams
from ttt_cli.inference.scores.filtering import filter_fit, gaussian_filter, joined_rows, one_pass, pieces
from ttt_cli.inference.traits import COMMON_MARGIN, DRIFT, PLAY, Traits
from ttt_cli.timeline import Timeline

NAME: Final = "trueskill"
TRAITS: Final = Traits(kind="filtered", has_evidence=True, tunable={**PLAY, "tau": DRIFT, **COMMON_MARGIN})
predict = outcome.predict
NUMERIC: Final = ("prior_mean", "prior_sd", "beta", "tau", "draw_margin", "white_advantage")


class Params(SkillParams):
    """Parameters of the filter."""

    order: Annotated[
        Literal["given", "shuffled"],
        Field(description="order of the games inside a period: as read, or shuffled by the seed"),
    ] = "given"
    seed: Annotated[int, Field(ge=0, description="seed of the shuffle")] = 0


@one_pass
def fit(timeline: Timeline, params: Params) -> Fit:
    """Filter the games once. The log-evidence is the sum of the log probabilities with which each was predicted."""
    margin = resolve_margin(params, timeline)
    games = _in_order(timeline, params)

    def fit_at(advantage: float, warm: Fit | None) -> Fit:  # noqa: ARG001
        return _filter(timeline, params, games, margin, advantage)

    return at_best_advantage(fit_at, params, None, colours=timeline.colours)


def gradient(timeline: Timeline, params: Params, fit: Fit) -> dict[str, float]:
    """The gradient of the log-evidence in every numeric parameter, by central differences."""
    games = _in_order(timeline, params)

    def evidence(key: str, value: float) -> float:
        moved = params.model_copy(update={"white_advantage": fit.params["white_advantage"], key: value})
        margin, advantage = resolve_margin(moved, timeline), float(moved.white_advantage)
        return _filter(timeline, moved, games, margin, advantage).log_evidence

    values = {key: fit.params[key] for key in NUMERIC}
    slopes = {key: central_slope(partial(evidence, key), value, params.beta) for key, value in values.items()}
    share = params.draw_probability or draw_share(timeline)
    return {**slopes, "draw_probability": slopes["draw_margin"] * margin_slope(share, params.beta)}


_Columns = tuple[
    NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8], NDArray[np.float64], NDArray[np.bool_]
]
_Games = tuple[NDArray[np.float64], _Columns]


def _filter(timeline: Timeline, params: Params, games: _Games, margin: float, advantage: float) -> Fit:
    from ttt_cli.kernels.scores.trueskill import filter_games

    odds, columns = games
    unit = normal_unit(params.beta, margin)
    mean, variance = np.empty(timeline.n_nodes), np.empty(timeline.n_nodes)
    previous, drift = timeline.previous.copy(), params.tau**2 * timeline.gap_years
    world = params.prior_sd**2, 2.0 * params.beta**2, margin, advantage, unit * odds
    predicted = 0.0
    for goes_on, node_start, game_start in pieces(timeline, *columns[3:]):
        history = goes_on, node_start, previous, drift, game_start
        predicted += filter_games(*history, *columns, *world, mean, variance)
    mean += params.prior_mean
    sd = np.sqrt(variance)
    chains = {"skill": gaussian_filter(timeline, mean, sd, params.prior_mean, params.prior_sd, params.tau)}
    fitted = filter_fit(
        NAME, params, {"draw_margin": margin, "white_advantage": advantage}, chains, float(predicted)
    )
    return replace(fitted, elo_unit=unit)


def _in_order(timeline: Timeline, params: Params) -> _Games:
    """The odds; White, Black, outcome, weight and `joined` as kernels take them, inside a period as given or shuffled.

    Records are shuffled: the rows of a match stay together.
    """
    order, joined = np.arange(timeline.n_games), joined_rows(timeline)
    if params.order == "shuffled":
        period = np.repeat(np.arange(len(timeline.periods)), np.diff(timeline.game_start))
        record = np.cumsum(~joined) - 1
        place = np.random.default_rng(params.seed).random(timeline.n_games - np.count_nonzero(joined))
        order = np.lexsort((place[record], period))
    odds, places = handicap_places(timeline)
    return odds, (
        timeline.game_white[order],
        timeline.game_black[order],
        codes(timeline.outcome[order], places[order], known=timeline.colours),
        timeline.weight[order],
        joined[order],
    )
