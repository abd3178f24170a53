"""Calibration of predictions: bins of predicted and observed results, and the slope of a logistic recalibration.

A system that misjudges a player does so in all of the player's games, so two games are dependent when they share a
player (dyadic clustering: M. Fafchamps, F. Gubert, The formation of risk sharing networks, J. Dev. Econ. 83, 2007).
"""

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.table import DRAW
from ttt_cli.support.arrays import Array, Ids

LEAST: Final = 1e-300  # probability, instead of 0
MOST_STEPS: Final = 100  # of Newton's method
LONGEST: Final = 0.5  # of a step
CLOSE: Final = 1e-10  # step at which it ends
VANISHED: Final = 1e-9  # of the first information: where so little is left, all favourites have won, and none is best
DOUBTFUL: Final = 2.0  # standard errors from 1 at which predictions count as miscalibrated


class PairedDifference(NamedTuple):
    """Weighted mean difference and its standard error; NaN where undefined."""

    mean: float
    standard_error: float


def paired_difference(difference: Array, weight: Array, white: Ids, black: Ids) -> PairedDifference:
    """Mean of differences per game, shape (games,), games > 0, clustered by the players `white` and `black`.

    The variance of the sum adds all pairs of games with a common player: over players, the square of the sum of
    deviations, minus that over pairs of players, which is counted twice; at least that of independent games.
    """
    total = float(weight.sum())
    mean = float(weight @ difference) / total
    if not math.isfinite(mean) or len(difference) == 1:
        return PairedDifference(mean, math.nan)
    deviation = weight * (difference - mean)
    players = int(max(white.max(), black.max())) + 1
    of_player = np.bincount(white, deviation, players) + np.bincount(black, deviation, players)
    pair = np.minimum(white, black).astype(np.int64) * players + np.maximum(white, black)
    of_pair = np.bincount(np.unique(pair, return_inverse=True)[1], deviation)
    variance = max(of_player @ of_player - of_pair @ of_pair, deviation @ deviation)
    return PairedDifference(mean, math.sqrt(variance) / total)


class CalibrationSlope(NamedTuple):
    """Slope of a logistic recalibration and its standard error; NaN where undefined.

    1: calibrated; less: overconfident, favourites score less than predicted; more: underconfident.
    """

    slope: float
    standard_error: float

    @property
    def verdict(self) -> str | None:
        """What is wrong with the predictions, by more than two standard errors; None if nothing is."""
        if not abs(self.slope - 1.0) > DOUBTFUL * self.standard_error:
            return None
        return "overconfident" if self.slope < 1.0 else "underconfident"


def calibration_slope(
    probabilities: Array, outcome: NDArray[np.int8], weight: Array, white: Ids, black: Ids
) -> CalibrationSlope:
    """Slope b of the recalibration with the highest likelihood of the outcomes.

    `probabilities`: (games, 3), of loss, draw and win. Recalibrated ones are in proportion to p^b, and to e^c p^b for a
    draw: the logistic recalibration of D. R. Cox (Biometrika 45, 1958) for three outcomes, its intercept c for how
    frequent draws are. The standard error is clustered by the players `white` and `black`. NaN where the games do not
    determine b.
    """
    logs = np.log(np.maximum(probabilities, LEAST))
    observed = logs[np.arange(len(outcome)), outcome]
    drawn = outcome == DRAW
    slope = 1.0
    intercept = 0.0
    least = 0.0
    for _ in range(MOST_STEPS):
        exponents = slope * logs
        exponents[:, DRAW] += intercept
        recalibrated = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        recalibrated /= recalibrated.sum(axis=1, keepdims=True)
        expected = (recalibrated * logs).sum(axis=1)
        draw = recalibrated[:, DRAW]
        # information of slope, of intercept, and of both
        variance = (recalibrated * (logs - expected[:, np.newaxis]) ** 2).sum(axis=1)
        of_slope = float(weight @ variance)
        of_intercept = float(weight @ (draw * (1.0 - draw)))
        of_both = float(weight @ (draw * (logs[:, DRAW] - expected)))
        ratio = of_both / of_intercept if of_intercept > VANISHED * float(weight.sum()) else 0.0
        # of the slope with the best intercept
        score = observed - expected - ratio * (drawn - draw)
        information = of_slope - ratio * of_both
        least = least or VANISHED * of_slope
        if not information > least:
            break
        step = float(weight @ score) / information
        shift = 0.0
        if of_intercept > VANISHED * float(weight.sum()):
            shift = (float(weight @ (drawn - draw)) - of_both * step) / of_intercept
        share = min(1.0, LONGEST / max(abs(step), abs(shift), LONGEST))
        slope += share * step
        intercept += share * shift
        if max(abs(step), abs(shift)) < CLOSE:
            error = paired_difference(score, weight, white, black).standard_error
            return CalibrationSlope(slope, error * float(weight.sum()) / information)
    return CalibrationSlope(math.nan, math.nan)


@dataclass(frozen=True)
class CalibrationBin:
    """Games with a prediction from `low` to `high`: weighted number, mean prediction, mean result, standard error."""

    low: float
    high: float
    games: float
    predicted: float
    observed: float
    error: float


def calibrate(
    predicted: Array, observed: Array, weight: Array, bins: int
) -> tuple[CalibrationBin, ...]:
    """Bin games, shape (games,), by prediction from 0 to 1; empty bins are left out."""
    number = np.minimum((predicted * bins).astype(np.int64), bins - 1)
    games = np.bincount(number, weight, bins)
    squares = np.bincount(number, weight**2, bins)
    expected = np.bincount(number, weight * predicted, bins)
    results = np.bincount(number, weight * observed, bins)
    filled = []
    for i in np.flatnonzero(games).tolist():
        mean = float(expected[i] / games[i])
        error = math.sqrt(max(mean * (1.0 - mean), 0.0) * squares[i]) / games[i]
        share = float(results[i] / games[i])
        filled.append(
            CalibrationBin(i / bins, (i + 1) / bins, float(games[i]), mean, share, float(error))
        )
    return tuple(filled)
