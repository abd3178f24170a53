"""Whether predicted probabilities and scores come true: games in bins of what was predicted."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array
from ttt_cli.evaluate.forecast.predict import predict_run
from ttt_cli.games.table import DRAW, WIN
from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.run import Run

OUTCOMES: Final = ("loss", "draw", "win")  # White's, by code
BINS: Final = 20  # of a probability
SCORE_BINS: Final = 10  # of an expected score


@dataclass(frozen=True)
class CalibrationBin:
    """Games for which from `low` to `high` was predicted, weighted, and means; `error`: that of a share observed."""

    low: float
    high: float
    games: float
    predicted: float
    observed: float
    error: float


@dataclass(frozen=True)
class Reliability:
    """The bins of a run's games from the period `first` on by outcome, each predicted from earlier periods."""

    first: str
    every: int
    games: float
    bins: dict[str, tuple[CalibrationBin, ...]]


def reliability(
    run: Run, since: str | None = None, every: int = 1, *, progress: Progress = SILENT
) -> Reliability:
    """Predict a run's games (`predict_run`) and bin them by the probability of each outcome."""
    found = predict_run(run, since, every, progress=progress)
    return Reliability(
        found.first, every, float(found.weight.sum()), outcome_bins(found.model, found.outcome, found.weight)
    )


def outcome_bins(
    probabilities: Array, outcome: NDArray[np.int8], weight: Array
) -> dict[str, tuple[CalibrationBin, ...]]:
    """Loss, draw and win in BINS bins of their probability (n, 3) each."""
    return {
        name: calibrate(probabilities[:, code], (outcome == code).astype(np.float64), weight, BINS)
        for code, name in enumerate(OUTCOMES)
    }


def expected_scores(
    probabilities: Array, outcome: NDArray[np.int8], weight: Array
) -> tuple[CalibrationBin, ...]:
    """White's expected score (a draw counts half) beside the score made, in SCORE_BINS bins."""
    return calibrate(probabilities[:, WIN] + 0.5 * probabilities[:, DRAW], outcome / 2.0, weight, SCORE_BINS)


def calibrate(predicted: Array, observed: Array, weight: Array, bins: int) -> tuple[CalibrationBin, ...]:
    """Games, shape (games,), in so many bins of what was predicted, from 0 to 1; empty ones left out."""
    number = np.minimum((predicted * bins).astype(np.int64), bins - 1)
    games, squares, expected, made = (
        np.bincount(number, values, bins)
        for values in (weight, weight**2, weight * predicted, weight * observed)
    )
    found = []
    for i in np.flatnonzero(games).tolist():
        mean = float(expected[i] / games[i])
        error = math.sqrt(max(mean * (1.0 - mean), 0.0) * squares[i]) / games[i]
        share = float(made[i] / games[i])
        found.append(CalibrationBin(i / bins, (i + 1) / bins, float(games[i]), mean, share, float(error)))
    return tuple(found)
