"""Spinrad's method: Elo's update run repeatedly forwards and backwards in time (Edo paper, "Time symmetry")."""

from typing import Final, Unpack

import numpy as np

from ttt_cli.config.schema import SolverConfig, key
from ttt_cli.fitted import Fit, Status
from ttt_cli.inference.filters import Expectation, RatingParams, rating_fit, rows_of
from ttt_cli.inference.outcome import predict_as_expected
from ttt_cli.inference.params import ExpectedParams, Traits
from ttt_cli.inference.solver import Given, largest
from ttt_cli.kernels.elo import Factors
from ttt_cli.timeline import Timeline

NAME: Final = "spinrad"
TRAITS: Final = Traits(kind="smoothed", has_evidence=False, draws_apart=True)
predict = predict_as_expected


class Params(RatingParams, ExpectedParams):
    """Parameters of Spinrad's method."""

    expectation: Expectation = "logistic"
    k: float = key(10.0, "points that a rating moves by for a residual of 1", gt=0)
    rounds: int = key(3, "runs forwards and backwards in time, so many of each", ge=1)


def fit(
    timeline: Timeline,
    params: Params,
    solver: SolverConfig,  # noqa: ARG001
    **options: Unpack[Given],
) -> Fit:
    """Run `rounds` times forwards and backwards; a rating is the mean of the last two runs."""
    from ttt_cli.kernels.elo import by_game

    periods, games = rows_of(timeline, params.white_advantage)
    factors = Factors(params.k, params.k, params.k, 0.0, 0.0)
    rules = timeline.node_player.copy(), games, 0.0, params.expectation == "normal", factors
    players = params.new_players(timeline)
    runs = np.empty((2, timeline.n_nodes))
    rating = np.full(timeline.n_nodes, params.prior_mean)
    trace: list[tuple[float, float]] = []
    for number in range(params.rounds):
        for backwards, run in enumerate(runs):
            by_game(bool(backwards), False, periods, *rules, players, run)
        mean = runs.mean(axis=0)
        trace.append((largest(mean - rating), 0.0))
        rating = mean
        if on_sweep := options.get("on_sweep"):
            on_sweep(number + 1, *trace[-1])
    return rating_fit(
        NAME, timeline, params, rating, Status(True, params.rounds, 0.0), tuple(trace)
    )
