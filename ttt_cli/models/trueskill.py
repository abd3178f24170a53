"""Vanilla TrueSkill: a filter that learns from each game once and never looks back (TTT paper, section 3.1)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Chain, Fit, Kind, Status
from ttt_cli.models.outcomes import outcome_probabilities, resolve_margin
from ttt_cli.models.params import SkillParams
from ttt_cli.models.solver import OnSweep
from ttt_cli.timeline import Timeline

NAME: Final = "trueskill"
KIND: Final[Kind] = "filtered"


class Params(SkillParams):
    """Parameters of the filter."""

    order: Annotated[
        Literal["given", "shuffled"],
        Field(description="order of the games inside a period: as read, or shuffled by the seed"),
    ] = "given"
    seed: Annotated[int, Field(ge=0, description="seed of the shuffle")] = 0


def fit(
    timeline: Timeline,
    params: Params,
    solver: SolverConfig,  # noqa: ARG001
    *,
    on_sweep: OnSweep | None = None,
    start: Fit | None = None,  # noqa: ARG001
) -> Fit:
    """Filter the games once. The log-evidence is the sum of the log probabilities with which each was foreseen."""
    from ttt_cli.kernels.trueskill import filter_games

    margin = resolve_margin(params, timeline)
    order = _order(timeline, params)
    mean, variance = np.empty(timeline.n_nodes), np.empty(timeline.n_nodes)
    foreseen = filter_games(
        timeline.node_start.copy(), timeline.previous.copy(), params.tau**2 * timeline.gap_years,
        timeline.game_start.copy(), timeline.game_white[order], timeline.game_black[order],
        timeline.outcome[order], timeline.weight[order],
        params.prior_sd**2, 2.0 * params.beta**2, margin, 0.0, mean, variance,
    )  # fmt: skip
    if on_sweep:
        on_sweep(1, 0.0, 0.0)
    mean += params.prior_mean
    sd = np.sqrt(variance)
    return Fit(
        model=NAME,
        kind=KIND,
        params={**params.model_dump(), "draw_margin": margin},
        chains={"skill": Chain(mean, sd, mean, sd, params.tau)},
        log_evidence=float(foreseen),
        status=Status(converged=True, sweeps=1, remaining_error=0.0),
    )


def predict(
    params: dict[str, Any], white: dict[str, NDArray[np.float64]], black: dict[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Probabilities (n, 3) of loss, draw and win for White, from the players' `mean` and `sd`, points."""
    variance = 2.0 * params["beta"] ** 2 + white["sd"] ** 2 + black["sd"] ** 2
    return outcome_probabilities(white["mean"] - black["mean"], variance, params["draw_margin"])


def _order(timeline: Timeline, params: Params) -> NDArray[np.int64]:
    """The order of play: periods in time, games inside a period as given or shuffled."""
    games = np.arange(timeline.n_games)
    if params.order == "given":
        return games
    period = np.repeat(np.arange(len(timeline.periods)), np.diff(timeline.game_start))
    return np.lexsort((np.random.default_rng(params.seed).random(timeline.n_games), period))
