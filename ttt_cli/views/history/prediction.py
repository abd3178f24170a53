"""Probabilities of results from the model of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttt_cli.inference.outcome import by_advantage_owner, in_year, is_gaussian, outcomes
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Ids, Mask
from ttt_cli.support.normal import normal_cdf_of_all
from ttt_cli.timeline import KNOWN, NEUTRAL

# Arrays by what a model predicts from, as columns of `spans`: `mean`, `sd`, a draw margin
Strengths = dict[str, Array]


def predicted(
    run: Run,
    year: Ids,
    white: Strengths,
    black: Strengths,
    given: Array | float = 0.0,
    neutral: Mask | bool = False,
) -> Array:
    """Probabilities of White's loss, draw and win at these strengths (model points), shape (games, 3).

    `year`, shape (games,): draw margins that move are those of the year. `given`: points added to White's strength by
    handicaps and covariates. `neutral`: as in `PlayedGames`.
    """
    predict = predictor(run)
    advantage_owner = np.broadcast_to(np.where(neutral, NEUTRAL, KNOWN), len(year))
    half_given = 0.5 * given
    white = {**white, "mean": white["mean"] + half_given}
    black = {**black, "mean": black["mean"] - half_given}
    params = params_by_game(run, year)
    return by_advantage_owner(predict, params, white, black, advantage_owner)


def predictor(run: Run) -> Callable[..., Array]:
    """The prediction of the model of a run, as `by_advantage_owner` takes it; Gaussian systems need not be loaded."""
    if is_gaussian(run.meta.params):
        return _predict_gaussian
    from ttt_cli.systems.registry import load

    return load(run.meta.model).predict


def _predict_gaussian(params: dict[str, Any], white: Strengths, black: Strengths) -> Array:
    """As `ttt_cli.inference.outcome.predict`, without scipy for few games."""
    return np.stack(outcomes(params, white, black, normal_cdf_of_all), axis=-1)


def params_by_game(run: Run, year: Ids) -> dict[str, Any]:
    """The parameters of a run; draw margins that move are arrays, each game's those of its year."""
    if not run.has_moving_draws:
        return in_year(run.meta.params, None)
    years, index = np.unique(year, return_inverse=True)
    draws = [run.draws_in(of_year) or {} for of_year in years.tolist()]
    keys = draws[0] if draws else {}
    by_game = {key: np.array([of_year[key] for of_year in draws])[index] for key in keys}
    return in_year(run.meta.params, by_game)


def take(strengths: Strengths, rows: Any) -> Strengths:
    """The strengths at some rows."""
    return {name: column[rows] for name, column in strengths.items()}
