"""Ratings from weighted differences against dense least squares."""

import numpy as np
import pytest

from ttt_cli.inference.scores.balance import Pairs, balance, level


def random_pairs(rng, members, count):
    first = rng.integers(0, members, count)
    second = (first + rng.integers(1, members, count)) % members
    return Pairs.among(
        members, first.astype(np.int32), second.astype(np.int32), rng.uniform(0.01, 50.0, count)
    )


def dense(pairs):
    n = len(pairs.group)
    matrix = np.zeros((n, n))
    for i, j, w in zip(pairs.first, pairs.second, pairs.weight, strict=True):
        matrix[[i, j], [i, j]] += w
        matrix[[i, j], [j, i]] -= w
    return matrix


@pytest.mark.parametrize("seed", range(5))
def test_it_solves_what_least_squares_solves(seed):
    rng = np.random.default_rng(seed)
    pairs = random_pairs(rng, 30, 22 + 10 * seed)
    push = pairs.to_members(pairs.weight * rng.normal(0, 200, len(pairs.weight)))
    rating, solved = balance(pairs, push, 1e-12, 1000)
    assert solved
    assert dense(pairs) @ rating == pytest.approx(push, abs=1e-6)
    scale = np.maximum(np.diag(dense(pairs)), 1e-300)
    assert np.bincount(pairs.group, scale * rating) == pytest.approx(
        np.zeros(pairs.group.max() + 1), abs=1e-6
    )


def test_groups_are_those_that_pairs_tie():
    pairs = Pairs.among(6, np.array([0, 1, 4], np.int32), np.array([1, 2, 5], np.int32), np.ones(3))
    group = pairs.group
    assert group[0] == group[1] == group[2]
    assert group[4] == group[5]
    assert len(set(group)) == 3
    assert level(np.array([1.0, 2, 6, 9, 0, 4]), np.ones(6), group) == pytest.approx([-2, -1, 3, 0, -2, 2])


def test_too_few_steps_are_told():
    rng = np.random.default_rng(1)
    pairs = random_pairs(rng, 30, 60)
    push = pairs.to_members(rng.normal(0, 1, 60))
    assert not balance(pairs, push, 1e-10, 2)[1]


def test_nothing_pushed_nothing_moves():
    pairs = Pairs.among(3, np.array([0], np.int32), np.array([1], np.int32), np.ones(1))
    assert [*balance(pairs, np.zeros(3), 1e-10, 10)[0]] == [0, 0, 0]
    nobody = Pairs.among(0, np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
    assert len(balance(nobody, np.zeros(0), 1e-10, 10)[0]) == 0
