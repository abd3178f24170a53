"""Predicted probabilities beside what came true."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.builders import make_games
from ttt_cli.api import configure, fit
from ttt_cli.evaluate.forecast import (
    BINS,
    OUTCOMES,
    expected_scores,
    forecast,
    outcome_bins,
    predict_run,
)
from ttt_cli.timeline import build_timeline


def test_bins_by_hand():
    probabilities = np.array([[0.52, 0.26, 0.22], [0.54, 0.26, 0.20], [0.1, 0.1, 0.8]])
    outcome, weight = np.array([0, 2, 2], np.int8), np.array([1.0, 3.0, 2.0])
    found = outcome_bins(probabilities, outcome, weight)
    losses = found["loss"]
    assert [(one.games, one.observed) for one in losses] == [(2.0, 0.0), (4.0, 0.25)]
    chance = (0.52 + 3 * 0.54) / 4
    assert losses[1].predicted == pytest.approx(chance)
    assert losses[1].error == pytest.approx(np.sqrt(chance * (1 - chance) * 10) / 4)
    wins = {round(one.predicted, 3): one.observed for one in found["win"]}
    assert wins == {0.205: 0.75, 0.8: 1.0}


def test_a_probability_of_one_is_in_the_last_bin():
    found = outcome_bins(np.array([[0.0, 0.0, 1.0]]), np.array([2], np.int8), np.ones(1))
    (sure,) = found["win"]
    assert (sure.high, sure.predicted, sure.observed, sure.error) == (1.0, 1.0, 1.0, 0.0)
    assert all(one.predicted == 0.0 for name in ("loss", "draw") for one in found[name])


def test_true_probabilities_lie_within_their_errors():
    rng = np.random.default_rng(5)
    probabilities = rng.dirichlet([2.0, 2.0, 2.0], 20_000)
    draws = (rng.random(20_000)[:, None] > probabilities.cumsum(axis=1)).sum(axis=1)
    found = outcome_bins(probabilities, draws.astype(np.int8), np.ones(20_000))
    assert set(found) == set(OUTCOMES)
    assert all(len(bins) <= BINS for bins in found.values())
    off = [
        (one.observed - one.predicted) / one.error
        for bins in found.values()
        for one in bins
        if one.games > 30
    ]
    assert np.mean(np.abs(off) < 2) > 0.85


def test_the_games_of_a_run_are_predicted_as_its_scores_are():
    rng = np.random.default_rng(2)
    rows = [
        (
            int(rng.integers(1900, 1906)),
            *(f"p{i}" for i in rng.choice(5, 2, replace=False)),
            int(rng.integers(3)),
        )
        for _ in range(60)
    ]
    run = fit(make_games(rows), beta=300)
    found = predict_run(run, "1902", 2)
    assert (found.first, found.games) == ("1902", found.scores[0].games)
    for outcome in OUTCOMES:
        assert sum(one.games for one in found.bins[outcome]) == found.games
    total = sum(one.games * one.predicted for bins in found.bins.values() for one in bins)
    assert total == pytest.approx(found.games)


@pytest.mark.parametrize("every", [1, 2])
def test_its_games_are_binned_as_they_are_predicted(every):
    rows = [(1900 + i % 6, "abc"[i % 3], "bca"[i % 3], i * i % 3, 1.0 + i % 2) for i in range(60)]
    games, resolved = make_games(rows), configure(overrides=["model.beta=300"])
    timeline = build_timeline(games)
    predicted = forecast(
        timeline, resolved.model, resolved.params, resolved.config.solver, first=2, every=every
    )
    scored = slice(int(timeline.game_start[2]), None)
    expected = outcome_bins(predicted.model, timeline.outcome[scored], timeline.weight[scored])
    assert predict_run(fit(games, resolved), "1902", every).bins == expected


def test_calibration_compares_expected_scores_with_those_made() -> None:
    probabilities = np.array([[0.05, 0.2, 0.75], [0.05, 0.2, 0.75], [0.0, 0.0, 1.0], [0.9, 0.1, 0.0]])
    outcome, weight = np.array([2, 1, 2, 0], np.int8), np.array([1.0, 3.0, 2.0, 1.0])
    low, middle, high = expected_scores(probabilities, outcome, weight)
    assert (low.low, low.high, low.games, low.observed) == (0.0, 0.1, 1, 0)
    assert low.predicted == pytest.approx(0.05)
    assert (middle.low, middle.high, middle.games) == (0.8, 0.9, 4)
    assert middle.predicted == pytest.approx(0.85)
    assert middle.observed == pytest.approx((1 + 3 * 0.5) / 4)
    assert (high.low, high.high, high.predicted, high.observed) == (0.9, 1.0, 1, 1)
