"""Spinrad's method: Elo's update run forwards and backwards in time, again and again (Edo paper, "Time symmetry")."""

from typing import Final, Unpack

import numpy as np
from pydantic import Field

from ttt_cli.arrays import Array
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit, Status
from ttt_cli.histories import Line
from ttt_cli.inference.draws import resolve_logistic_margin
from ttt_cli.inference.outcome import predict_ratings
from ttt_cli.inference.scores.filtering import pieces, rows_of
from ttt_cli.inference.scores.ratings import Expectation, RatingParams, unknown_sd
from ttt_cli.inference.solver import Given, largest
from ttt_cli.inference.traits import Traits
from ttt_cli.kernels.scores import structures
from ttt_cli.timeline import Timeline

NAME: Final = "spinrad"
TRAITS: Final = Traits(kind="smoothed", has_evidence=False, draws_apart=True)
predict = predict_ratings


class Params(RatingParams):
    """Parameters of Spinrad's method."""

    expectation: Expectation = "logistic"
    k: float = Field(default=10.0, gt=0, description="points that a rating moves by for a residual of 1")
    rounds: int = Field(default=3, ge=1, description="runs forwards and backwards in time, so many of each")


def fit(
    timeline: Timeline,
    params: Params,
    solver: SolverConfig,  # noqa: ARG001
    **given: Unpack[Given],
) -> Fit:
    """Run `rounds` times through the games and back; a rating is the mean of the last two runs. Nothing converges."""
    margin = resolve_logistic_margin(params, timeline)
    current = np.full(len(timeline.players), params.prior_mean)
    rating = np.full(timeline.n_nodes, params.prior_mean)
    trace: list[tuple[float, float]] = []
    for number in range(params.rounds):
        forwards, backwards = (_run(timeline, params, margin, current, back) for back in (False, True))
        mean = (forwards + backwards) / 2.0
        trace.append((largest(mean - rating), 0.0))
        rating = mean
        if on_sweep := given.get("on_sweep"):
            on_sweep(number + 1, *trace[-1])
    return Fit(
        model=NAME,
        kind=TRAITS.kind,
        params={**params.model_dump(), "draw_margin": margin},
        chains={"skill": Line(mean=rating, sd=unknown_sd(timeline.n_nodes))},
        status=Status(converged=True, sweeps=params.rounds, remaining_error=0.0),
        trace=tuple(trace),
    )


def _run(timeline: Timeline, params: Params, margin: float, current: Array, backwards: bool) -> Array:
    """Ratings per node of one run; `current`, those of the players, goes on from where it stands."""
    from ttt_cli.kernels.scores.spinrad import run_through

    rating, player = np.empty(timeline.n_nodes), timeline.node_player.copy()
    games = rows_of(timeline, params.white_advantage)
    rule = structures.Expectation(margin, params.expectation == "normal")
    parts = list(pieces(timeline, games))
    for piece in parts[::-1] if backwards else parts:
        run_through(backwards, piece, player, games, rule, params.k, current, rating)
    return rating
