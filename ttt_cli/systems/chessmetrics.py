"""Chessmetrics: padded performance ratings of all players at once, from the games of recent years (Sonas 2005)."""

import math
from typing import Final, Unpack

import numpy as np

from ttt_cli.config.schema import SolverConfig, key
from ttt_cli.fitted import Filter, Fit, Status
from ttt_cli.inference.advantage import fit_with_advantage
from ttt_cli.inference.filters import rated, rows_of, unknown_sd
from ttt_cli.inference.outcome import predict_ratings
from ttt_cli.inference.params import EstimatedParams, Traits
from ttt_cli.inference.solver import Given
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.timeline import Timeline

NAME: Final = "chessmetrics"
TRAITS: Final = Traits(kind="filtered", has_evidence=True, draws_apart=True)
predict = predict_ratings
EXACT: Final = 1e-4  # of the solver's tolerance: lists are cheap, and evidence compares better


class Params(EstimatedParams):
    """Parameters of Chessmetrics."""

    window: float = key(4.0, "years until a game has lost all its weight, linearly", ge=1)
    points_per_score: float = key(
        850.0, "points between the performances of a score of 0 and of 100 %", gt=0
    )
    opponents_games: float = key(
        4.0, "number of added draws against opponents like those met, no unit", ge=0
    )
    reference_games: float = key(
        3.0, "number of added draws against the reference rating, no unit", gt=0
    )
    reference_rating: float = key(
        2300.0, "rating of the opponent of the reference games, points; shifts the whole scale"
    )
    bonus: float = key(43.0, "added to every rating in the end, points; shifts the whole scale")


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **options: Unpack[Given]) -> Fit:
    """Compute the lists at both ends of each period; the evidence is that of games predicted by the lists before."""

    def fit_at(advantage: float, *_: object, **_options: object) -> Fit:
        return fit_lists(timeline, params, solver, advantage)

    fitted = fit_with_advantage(fit_at, params, None, solver, colours=timeline.colours)
    if on_sweep := options.get("on_sweep"):
        on_sweep(fitted.status.sweeps, 0.0, fitted.status.remaining_error)
    return fitted


def fit_lists(timeline: Timeline, params: Params, solver: SolverConfig, advantage: float) -> Fit:
    """Fit with White's `advantage`, points."""
    from ttt_cli.kernels.chessmetrics import rate_periods

    before = np.empty(timeline.n_nodes)
    after = np.empty(timeline.n_nodes)
    player = timeline.node_player.copy()
    period_range, games = rows_of(timeline, advantage)
    games = games._replace(white=player[games.white], black=player[games.black])
    months = 12.0 / STEPS_PER_YEAR[timeline.period]
    window = 12.0 * params.window
    n_periods = float(np.ptp(timeline.periods)) + 1.0 if len(timeline.periods) else 0.0
    ages = months * np.arange(math.ceil(min(n_periods, window / months)))[:, np.newaxis]
    # of a game at the ends of its period and the following ones; it is spread evenly over the months of its period
    weight = np.maximum(1.0 - (ages + np.arange(max(months, 1.0))) / window, 0.0).mean(axis=1)
    formula = params.points_per_score, params.opponents_games, params.reference_games
    steps, error = rate_periods(
        timeline.periods.copy(), period_range, player, len(timeline.players), games,
        weight[weight > 0.0], formula, EXACT * solver.tol, solver.max_sweeps, before, after,
    )  # fmt: skip
    status = Status(error <= solver.tol, max(steps, 1), error)
    level = params.reference_rating + params.bonus
    unknown = unknown_sd(timeline.n_nodes)
    chains = {"skill": Filter(level + after, unknown, level + before, unknown, 0.0)}
    return rated(NAME, timeline, params, advantage, chains, predict, status)
