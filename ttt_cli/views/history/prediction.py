"""Probabilities of results from the model of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttt_cli.inference.outcome import by_sides, in_year
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Ids, Mask
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
    from ttt_cli.systems.registry import load

    predict = load(run.meta.model).predict
    sides = np.broadcast_to(np.where(neutral, NEUTRAL, KNOWN), len(year))
    half_given = 0.5 * given
    white = {**white, "mean": white["mean"] + half_given}
    black = {**black, "mean": black["mean"] - half_given}
    if not run.has_moving_draws:
        return by_sides(predict, in_year(run.meta.params, None), white, black, sides)
    probabilities = np.empty((len(year), 3))
    order = np.argsort(year, kind="stable")
    years, starts = np.unique(year[order], return_index=True)
    for of_year, rows in zip(years.tolist(), np.split(order, starts[1:]), strict=False):
        params = in_year(run.meta.params, run.draws_in(of_year))
        white_rows = take(white, rows)
        black_rows = take(black, rows)
        probabilities[rows] = by_sides(predict, params, white_rows, black_rows, sides[rows])
    return probabilities


def take(strengths: Strengths, rows: Any) -> Strengths:
    """The strengths at some rows."""
    return {name: column[rows] for name, column in strengths.items()}
