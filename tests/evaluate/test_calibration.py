"""Slope of a logistic recalibration: against a search, for known distortions, and where it has none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from ttt_cli.evaluate.calibration import CalibrationSlope, calibration_slope


def simulated(true_slope, games=20_000, seed=3):
    """Predictions and outcomes drawn with probabilities in proportion to p^true_slope; all players differ."""
    random = np.random.default_rng(seed)
    predicted = random.dirichlet([2.0, 2.0, 2.0], games)
    true = predicted**true_slope
    true /= true.sum(axis=1, keepdims=True)
    outcome = (
        (random.random(games)[:, np.newaxis] > np.cumsum(true, axis=1)).sum(axis=1).astype(np.int8)
    )
    return predicted, outcome, np.ones(games), np.arange(games), np.arange(games) + games


@pytest.mark.parametrize("true_slope", [0.5, 1.0, 1.8])
def test_a_known_distortion_is_found_with_its_standard_error(true_slope):
    slope, error = calibration_slope(*simulated(true_slope))
    assert abs(slope - true_slope) < 3 * error
    assert 0.005 < error < 0.04
    many = [calibration_slope(*simulated(true_slope, 800, seed)) for seed in range(200)]
    standardised = [(slope - true_slope) / error for slope, error in many]
    assert np.std(standardised) == pytest.approx(1.0, abs=0.15)


def test_the_slope_has_the_highest_likelihood():
    predicted, outcome, _, white, black = simulated(0.7, 300)
    weight = np.random.default_rng(1).random(300) + 0.1

    def loss(at):
        slope, intercept = at
        powers = predicted**slope * np.exp([0.0, intercept, 0.0])
        return -weight @ np.log(
            (powers / powers.sum(axis=1, keepdims=True))[np.arange(300), outcome]
        )

    expected = minimize(
        loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    ).x
    found = calibration_slope(predicted, outcome, weight, white, black)
    assert found.slope == pytest.approx(expected[0], abs=1e-6)


def test_how_frequent_draws_are_does_not_change_the_slope():
    """Three times as many draws as are predicted: the intercept takes it."""
    predicted, outcome, weight, white, black = simulated(1.0)
    predicted[:, 1] *= 0.3
    predicted /= predicted.sum(axis=1, keepdims=True)
    slope, error = calibration_slope(predicted, outcome, weight, white, black)
    assert abs(slope - 1.0) < 3 * error


def test_games_without_draws_have_a_slope():
    predicted, outcome, weight, white, black = simulated(0.7, 4_000)
    decided = outcome != 1
    rows = [column[decided] for column in (predicted, outcome, weight, white, black)]
    sure = rows[0] * [1.0, 0.0, 1.0]
    slope, error = calibration_slope(sure / sure.sum(axis=1, keepdims=True), *rows[1:])
    assert abs(slope - 0.7) < 3 * error
    never, _ = calibration_slope(*rows)  # draws are predicted, and none happens
    assert never == pytest.approx(slope, abs=1e-6)


def test_games_of_one_player_are_dependent():
    """One player always gets the more, another the less probable result: two surprises rather than 2,000."""
    predicted, outcome, weight, white, black = simulated(1.0, 2_000)
    first = np.arange(2_000) < 1_000
    outcome = np.where(first, predicted.argmax(axis=1), predicted.argmin(axis=1)).astype(np.int8)
    apart = calibration_slope(predicted, outcome, weight, white, black)
    together = calibration_slope(predicted, outcome, weight, 5_000 + first, black)
    assert together.slope == apart.slope
    assert together.standard_error > 5 * apart.standard_error


def test_no_slope_without_information_or_where_all_favourites_win():
    even = np.full((5, 3), 1 / 3)
    ends = np.arange(5), np.arange(5, 10)
    assert math.isnan(calibration_slope(even, np.zeros(5, np.int8), np.ones(5), *ends).slope)
    sure = np.tile([0.1, 0.2, 0.7], (5, 1))
    assert math.isnan(calibration_slope(sure, np.full(5, 2, np.int8), np.ones(5), *ends).slope)


def test_impossible_outcomes_have_a_slope():
    predicted, outcome, weight, white, black = simulated(1.0, 500)
    predicted[0] = 0.0, 0.2, 0.8
    outcome[0] = 0
    slope, error = calibration_slope(predicted, outcome, weight, white, black)
    assert math.isfinite(error)
    assert slope < 0.1


def test_predictions_are_miscalibrated_beyond_two_standard_errors():
    assert CalibrationSlope(0.9, 0.051).verdict is None
    assert CalibrationSlope(0.9, 0.049).verdict == "overconfident"
    assert CalibrationSlope(1.2, 0.05).verdict == "underconfident"
    assert CalibrationSlope(math.nan, math.nan).verdict is None
