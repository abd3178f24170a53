"""Opponents: the law by which they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from ttt_cli.evaluate.simulate import Plan, learn, pairs

N = 200_000
SKILL = np.linspace(900.0, 1500.0, 7)
ACTIVITY = np.array([1.0, 3.0, 0.5, 2.0, 1.0, 4.0, 1.5])


@pytest.mark.parametrize("within", [None, 300.0])
def test_opponents_come_by_activity_and_likeness(within: float | None) -> None:
    plan = Plan(mixing=0.0, opponents_sd=within)
    cluster = np.zeros(7, np.int64)
    first, second = pairs(plan, cluster, ACTIVITY, SKILL, N, np.random.default_rng(1))
    likeness = 1.0 if within is None else np.exp(-0.5 * ((SKILL[:, None] - SKILL) / within) ** 2)
    weight = ACTIVITY * likeness * (1 - np.eye(7))
    expected = (ACTIVITY / ACTIVITY.sum())[:, None] * weight / weight.sum(axis=1, keepdims=True) * N
    found = np.bincount(7 * first + second, minlength=49).reshape(7, 7)
    assert not np.trace(found)
    off = ~np.eye(7, dtype=bool)
    assert np.abs((found - expected)[off] / np.sqrt(expected[off])).max() < 4.5


def test_who_has_no_like_meets_those_nearest() -> None:
    skill = np.array([0.0, 10.0, 20.0, 1000.0, 5000.0])
    plan = Plan(mixing=0.0, opponents_sd=5.0)
    first, second = pairs(plan, np.zeros(5, np.int64), np.ones(5), skill, 5_000, np.random.default_rng(1))
    assert np.mean(second[first == 4] == 3) > 0.99  # of 21 seen, all others with probability (3/4)^21


def test_likeness_stays_in_the_cluster() -> None:
    cluster = np.repeat([0, 1], 3)
    plan = Plan(mixing=0.0, opponents_sd=50.0)
    first, second = pairs(plan, cluster, np.ones(6), np.arange(6) * 100.0, 5_000, np.random.default_rng(1))
    assert np.array_equal(cluster[first], cluster[second])


def test_ratings_move_towards_what_results_say_and_not_beyond() -> None:
    """White wins 3 of 4: a difference of log 3 on the logistic scale, but for the prior."""
    plan = Plan(beta=400.0, white_advantage=30.0, prior_sd=1e6)
    rating, white, black = np.full(3, 1200.0), np.zeros(400, np.int32), np.ones(400, np.int32)
    outcome = np.repeat(np.array([2, 0], np.int8), [300, 100])
    differences = []
    for _ in range(30):
        learn(plan, rating, white, black, outcome)
        differences.append(rating[0] - rating[1])
    expected = np.log(3.0) * np.sqrt(2.0) * 400.0 / 1.702 - 30.0
    assert differences[-1] == pytest.approx(expected, rel=1e-3)
    assert (np.diff(differences) > -1e-9).all()
    assert rating[0] + rating[1] == pytest.approx(2400.0)
    assert rating[2] == 1200.0


def test_a_rating_moves_little_by_few_games() -> None:
    plan, rating = Plan(), np.full(2, 1200.0)
    learn(plan, rating, np.zeros(1, np.int32), np.ones(1, np.int32), np.full(1, 2, np.int8))
    assert 5.0 < rating[0] - 1200.0 < 100.0
