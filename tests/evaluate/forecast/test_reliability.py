"""Foreseen probabilities beside what came true."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.builders import make_games
from ttt_cli.api import configure, fit
from ttt_cli.evaluate.forecast.predict import forecast
from ttt_cli.evaluate.forecast.reliability import BINS, OUTCOMES, bins, reliability
from ttt_cli.evaluate.forecast.scores import prequential
from ttt_cli.timeline import build_timeline


def test_bins_by_hand():
    probabilities = np.array([[0.52, 0.26, 0.22], [0.54, 0.26, 0.20], [0.1, 0.1, 0.8]])
    outcome, weight = np.array([0, 2, 2], np.int8), np.array([1.0, 3.0, 2.0])
    found = bins(probabilities, outcome, weight)
    losses = [one for one in found if one.outcome == "loss"]
    assert [(one.games, one.observed) for one in losses] == [(2.0, 0.0), (4.0, 0.25)]
    chance = (0.52 + 3 * 0.54) / 4
    assert losses[1].foreseen == pytest.approx(chance)
    assert losses[1].error == pytest.approx(np.sqrt(chance * (1 - chance) * 10) / 4)
    wins = {round(one.foreseen, 3): one.observed for one in found if one.outcome == "win"}
    assert wins == {0.205: 0.75, 0.8: 1.0}


def test_a_probability_of_one_is_in_the_last_bin():
    (sure,) = (
        one for one in bins(np.array([[0.0, 0.0, 1.0]]), np.array([2], np.int8), np.ones(1)) if one.foreseen
    )
    assert (sure.outcome, sure.observed, sure.error) == ("win", 1.0, 0.0)


def test_true_probabilities_lie_within_their_errors():
    rng = np.random.default_rng(5)
    probabilities = rng.dirichlet([2.0, 2.0, 2.0], 20_000)
    draws = (rng.random(20_000)[:, None] > probabilities.cumsum(axis=1)).sum(axis=1)
    found = bins(probabilities, draws.astype(np.int8), np.ones(20_000))
    assert {one.outcome for one in found} == set(OUTCOMES)
    assert len(found) <= 3 * BINS
    off = [(one.observed - one.foreseen) / one.error for one in found if one.games > 30]
    assert np.mean(np.abs(off) < 2) > 0.85


def test_the_games_of_a_run_are_foreseen_as_its_scores_are():
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
    found, scores = reliability(run, "1902", 2), prequential(run, "1902", 2)
    assert (found.first, found.games) == ("1902", scores.model.games)
    for outcome in OUTCOMES:
        assert sum(one.games for one in found.bins if one.outcome == outcome) == found.games
    total = sum(one.games * one.foreseen for one in found.bins)
    assert total == pytest.approx(found.games)


@pytest.mark.parametrize("every", [1, 2])
def test_its_games_are_binned_as_they_are_foreseen(every):
    rows = [(1900 + i % 6, "abc"[i % 3], "bca"[i % 3], i * i % 3, 1.0 + i % 2) for i in range(60)]
    games, resolved = make_games(rows), configure(overrides=["model.beta=300"])
    timeline = build_timeline(games)
    foreseen = forecast(
        timeline, resolved.model, resolved.params, resolved.config.solver, first=2, every=every
    )
    scored = slice(int(timeline.game_start[2]), None)
    expected = bins(foreseen.model, timeline.outcome[scored], timeline.weight[scored])
    assert reliability(fit(games, resolved), "1902", every).bins == expected
