"""Groups of scored games, counted by hand; the standard error of a paired difference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import make_games
from tests.support.strategies import examples
from ttt_cli.api import configure, fit
from ttt_cli.evaluate.compare import earlier_games, groups, paired_difference
from ttt_cli.evaluate.forecast import BINS, OUTCOMES, expected_scores, forecast, outcome_bins, predict_run
from ttt_cli.timeline import build_timeline

ROWS = [
    (1898, "a", "b", 2, 5.0), (1899, "a", "c", 1, 6.0), (1899, "b", "c", 1),
    (1900, "a", "b", 0), (1900, "c", "d", 2), (1911, "a", "c", 1, 90.0), (1912, "c", "a", 1),
]  # fmt: skip

games = st.lists(
    st.tuples(st.permutations(range(6)).map(lambda p: (p[0], p[1])), st.floats(-2, 2), st.floats(0.1, 3)),
    min_size=2,
    max_size=25,
)


def arrays(rows: list[tuple[tuple[int, int], float, float]]) -> tuple[np.ndarray, ...]:
    white, black = np.array([pair for pair, _, _ in rows], np.int32).T
    return np.array([d for _, d, _ in rows]), np.array([w for _, _, w in rows]), white, black


@examples(20)
@given(games)
def test_games_with_a_common_player_are_taken_as_dependent(
    rows: list[tuple[tuple[int, int], float, float]],
) -> None:
    """All pairs of games one by one."""
    difference, weight, white, black = arrays(rows)
    found = paired_difference(difference, weight, white, black)
    mean = sum(w * d for _, d, w in rows) / weight.sum()
    deviation = [w * (d - mean) for _, d, w in rows]
    pairs = [set(pair) for pair, _, _ in rows]
    shared = sum(a * b for a, p in zip(deviation, pairs, strict=True)
                 for b, q in zip(deviation, pairs, strict=True) if p & q)  # fmt: skip
    alone = sum(a * a for a in deviation)
    assert found.mean == pytest.approx(mean, abs=1e-12)
    assert found.standard_error == pytest.approx(math.sqrt(max(shared, alone)) / weight.sum(), abs=1e-7)


def test_without_common_players_it_is_that_of_independent_games() -> None:
    rng = np.random.default_rng(1)
    difference = rng.normal(size=400)
    ids = np.arange(800, dtype=np.int32)
    found = paired_difference(difference, np.ones(400), ids[::2], ids[1::2])
    assert found.standard_error == pytest.approx(difference.std() / 20)


def test_the_truth_lies_where_the_standard_error_says() -> None:
    """Differences made of one part per player and one per game: two players in three sds would be far too few."""
    rng = np.random.default_rng(5)
    inside = alone = 0
    for _ in range(200):
        white, black = np.array([rng.permutation(60)[:2] for _ in range(600)], np.int32).T
        skill = rng.normal(size=60)
        difference = skill[white] + skill[black] + rng.normal(size=600)
        found = paired_difference(difference, np.ones(600), white, black)
        inside += abs(found.mean) < 2 * found.standard_error
        alone += abs(found.mean) < 2 * difference.std() / math.sqrt(600)
    assert alone < 120
    assert 180 <= inside <= 200


def test_infinite_losses_and_single_games_have_no_standard_error() -> None:
    one = np.zeros(1, np.int32), np.ones(1, np.int32)
    assert math.isnan(paired_difference(np.array([0.5]), np.ones(1), *one).standard_error)
    players = np.array([0, 1], np.int32), np.array([2, 3], np.int32)
    found = paired_difference(np.array([math.inf, 0.5]), np.ones(2), *players)
    assert found.mean == math.inf
    assert math.isnan(found.standard_error)


def test_games_of_earlier_periods_are_counted_with_their_weights() -> None:
    timeline = build_timeline(make_games(ROWS))
    earlier = {
        (timeline.players[timeline.node_player[i]], int(timeline.node_period[i])): games
        for i, games in enumerate(earlier_games(timeline).tolist())
    }
    assert earlier == {
        ("a", 1898): 0, ("b", 1898): 0, ("a", 1899): 5, ("b", 1899): 5, ("c", 1899): 0,
        ("a", 1900): 11, ("b", 1900): 6, ("c", 1900): 7, ("d", 1900): 0,
        ("a", 1911): 12, ("c", 1911): 8, ("a", 1912): 102, ("c", 1912): 98,
    }  # fmt: skip


def test_experience_is_that_of_the_less_experienced() -> None:
    timeline = build_timeline(make_games(ROWS))
    found = {name: np.flatnonzero(member).tolist() for name, member in groups(timeline, 1, "experience")}
    assert found == {"0": [0, 1, 3], "1-9": [2, 4], "30-99": [5]}
    every = groups(timeline, 0, "experience")
    assert sum(member.astype(int) for _, member in every).tolist() == [1] * 7


def test_decades_hold_their_years() -> None:
    timeline = build_timeline(make_games(ROWS))
    found = {name: int(member.sum()) for name, member in groups(timeline, 1, "decade")}
    assert found == {"1890s": 2, "1900s": 2, "1910s": 2}
    months = build_timeline(make_games(ROWS), "month")
    assert [name for name, _ in groups(months, 3, "decade")] == ["1910s"]


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
