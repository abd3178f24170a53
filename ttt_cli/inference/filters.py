"""Shared by filters: fits in one pass, games for the kernels, predictions."""

import math
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar, Unpack

import numpy as np
from pydantic import Field

from ttt_cli.config.schema import SolverConfig, key
from ttt_cli.fitted import Filter, Fit, Line, Status
from ttt_cli.inference.advantage import fit_with_advantage
from ttt_cli.inference.covariates import with_given_points, with_points_added
from ttt_cli.inference.outcome import (
    ELO_SCALE,
    by_advantage_owner,
    log_score,
    logistic_probabilities,
    resolve_logistic_margin,
)
from ttt_cli.inference.params import (
    DrawParams,
    EstimatedParams,
    GivenCovariates,
    Params,
    PriorMean,
    PriorSd,
)
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.inference.solver import Given
from ttt_cli.kernels.elo import Beliefs, GameRows, PeriodRange, PlayerStates, Slopes, Steps
from ttt_cli.support.arrays import Array
from ttt_cli.timeline import UNKNOWN, Timeline

_Params = TypeVar("_Params", bound=DrawParams)

ONCE: Final = Status(converged=True, sweeps=1, remaining_error=0.0)


def one_pass(filtered: Callable[[Timeline, Any, float], Fit]) -> Callable[..., Fit]:
    """Decorate `filtered(timeline, params, advantage)` as the `fit` of a system that passes the games once.

    `advantage`: White's, points; as configured or estimated by the evidence.
    """

    @wraps(filtered)
    def fit(timeline: Timeline, params: Any, solver: SolverConfig, **options: Unpack[Given]) -> Fit:
        def fit_at(advantage: float, *_: Any, **_options: Any) -> Fit:
            return filtered(timeline, params, advantage)

        fitted = fit_with_advantage(fit_at, params, None, solver, colours=timeline.colours)
        if on_sweep := options.get("on_sweep"):
            on_sweep(1, 0.0, 0.0)
        return with_given_points(fitted, params, timeline)

    return fit


def filter_fit(
    model: str,
    params: Params,
    worked_out: Mapping[str, float],
    chains: Mapping[str, Filter],
    log_evidence: float,
    status: Status = ONCE,
) -> Fit:
    """Fit of a filter; `worked_out` are the numbers of open parameters."""
    return Fit(
        model=model,
        kind="filtered",
        params={**params.model_dump(), **worked_out},
        chains=dict(chains),
        log_evidence=log_evidence,
        leave_one_out=log_evidence,
        status=status,
    )


def rows_of(timeline: Timeline, advantage: float = 0.0) -> tuple[PeriodRange, GameRows]:
    """Periods and games for the kernels, with White's advantage (points)."""
    joined = (
        np.zeros(timeline.n_games, np.bool_) if timeline.joined is None else timeline.joined.copy()
    )
    ends = timeline.game_white.copy(), timeline.game_black.copy()
    either = advantage * (timeline.advantage_owner == UNKNOWN)
    rows = (
        *ends,
        timeline.outcome.copy(),
        timeline.weight.copy(),
        timeline.ahead(advantage),
        either,
        joined,
    )
    return PeriodRange(timeline.node_start.copy(), timeline.game_start.copy()), GameRows(*rows)


def games_so_far(timeline: Timeline) -> Array:
    """Weighted number of games (nodes,) of players up to and including each node."""
    from ttt_cli.kernels.ep.chains import accumulate

    total = timeline.node_games.copy()
    accumulate(timeline.previous.copy(), total)
    return total


Expectation = Annotated[
    Literal["logistic", "normal"],
    Field(description="how a rating difference becomes an expected score in the update"),
]


class RatingParams(DrawParams):
    """Parameters of systems with ratings in Elo points, beside `ExpectedParams` or `EstimatedParams`."""

    prior_mean: PriorMean = key(1500.0, "rating of a player at the first appearance, points")

    def filtered(self, timeline: Timeline, rating: Array) -> Filter:
        """Chain of ratings (nodes,) that stay constant until the next node."""
        return RandomWalk(timeline, self.prior_mean, np.nan, 0.0).filtered(
            rating, unknown_sd(len(rating))
        )

    def new_players(self, timeline: Timeline) -> PlayerStates:
        """States of players before their first games."""
        ratings = np.full((2, len(timeline.players)), self.prior_mean)
        return PlayerStates(ratings[0], np.zeros(len(timeline.players)), ratings[1])


def unknown_sd(nodes: int) -> Array:
    """NaN sds (nodes,) of a system without uncertainty."""
    return np.full(nodes, np.nan)


class DeviationParams(GivenCovariates, EstimatedParams):
    """Parameters of systems with ratings and deviations."""

    prior_mean: PriorMean = key(1500.0, "rating at the first appearance, points")
    prior_sd: PriorSd = key(
        350.0,
        "rating deviation at the first appearance, and the most that idle years leave, points",
    )


def damping(variance: Array) -> Array:
    """Factor g that shrinks rating differences with this variance, points^2 (Glickman 1999)."""
    return np.asarray(1.0 / np.sqrt(1.0 + 3.0 * variance / (math.pi * ELO_SCALE) ** 2))


def predict(params: dict[str, Any], white: dict[str, Array], black: dict[str, Array]) -> Array:
    """Probabilities (n, 3) of loss, draw and win for White, from `mean` and `sd`, points."""
    difference = white["mean"] - black["mean"] + params["white_advantage"]
    damped = damping(white["sd"] ** 2 + black["sd"] ** 2) * difference
    return logistic_probabilities(damped, params["draw_margin"])


def prediction_score(
    predict: Callable[..., Array], params: Mapping[str, Any], timeline: Timeline, mean: Array, sd: Array,
    unit: float = 1.0,
) -> float:  # fmt: skip
    """Sum of the log probabilities of all games, predicted from means and sds (nodes,) before them.

    `unit`: points per Elo point.
    """
    white = {
        "mean": mean[timeline.game_white] + unit * timeline.offset,
        "sd": sd[timeline.game_white],
    }
    black = {"mean": mean[timeline.game_black], "sd": sd[timeline.game_black]}
    probabilities = by_advantage_owner(predict, params, white, black, timeline.advantage_owner)
    return log_score(probabilities, timeline.outcome, timeline.weight)


def rated(
    name: str, timeline: Timeline, params: DrawParams, advantage: float, chains: Mapping[str, Filter],
    predict: Callable[..., Array], status: Status = ONCE,
) -> Fit:  # fmt: skip
    """Fit of a filter with White's `advantage`, points; its evidence is that of predictions before each period."""
    advantage = advantage if timeline.colours else 0.0
    worked_out = {
        "draw_margin": resolve_logistic_margin(params, timeline),
        "white_advantage": advantage,
    }
    skill = chains["skill"]
    with_points = with_points_added(timeline, params)
    evidence = prediction_score(
        predict, worked_out, with_points, skill.before_mean, skill.before_sd
    )
    return filter_fit(name, params, worked_out, chains, evidence, status)


def rating_fit(
    name: str, timeline: Timeline, params: RatingParams, rating: Array, status: Status,
    trace: tuple[tuple[float, float], ...],
) -> Fit:  # fmt: skip
    """Smoothed fit of ratings (nodes,) without uncertainty and evidence."""
    return Fit(
        model=name,
        kind="smoothed",
        params={**params.model_dump(), "draw_margin": resolve_logistic_margin(params, timeline)},
        chains={"skill": Line(rating, unknown_sd(len(rating)))},
        status=status,
        trace=trace,
    )


class FilteredNodes(NamedTuple):
    """Means, sds (points) and volatilities, (nodes,), after each node's games."""

    mean: Array
    sd: Array
    volatility: Array


def rate_with_deviations(
    timeline: Timeline, params: DeviationParams, prior: RandomWalk, idle: Array, volatility: float = 0.0,
    change: float = 0.0, *, advantage: float,
) -> FilteredNodes:  # fmt: skip
    """Pass all games once, with the points of covariates.

    `volatility` is that of newcomers, with its `change`; `idle` periods passed before each node.
    """
    from ttt_cli.kernels.glicko import Volatility, filter_periods

    mean, variance, sigma = np.empty((3, timeline.n_nodes))
    volatilities = Volatility(sigma, volatility, ELO_SCALE, change, params.prior_sd**2)
    slopes = Slopes(*np.zeros((2, timeline.n_nodes)))
    steps = Steps(timeline.previous.copy(), *prior.steps())
    periods, games = rows_of(with_points_added(timeline, params), advantage)
    filter_periods(periods, steps, idle, volatilities, games, Beliefs(mean, variance), slopes)
    return FilteredNodes(prior.origin + mean, np.sqrt(variance), sigma)
