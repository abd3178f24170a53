"""Patterns of sparse factors against symbolic elimination of dense ones."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.strategies import examples
from ttt_cli.gaussian import factor as module
from ttt_cli.gaussian.factor import Pattern


def eliminated(place, first, second):
    """Which entries below the diagonal the factor of a matrix has, by elimination one by one."""
    n = len(place)
    joined = np.eye(n, dtype=bool)
    joined[place[first], place[second]] = joined[place[second], place[first]] = True
    for k in range(n):
        below = np.flatnonzero(joined[k + 1 :, k]) + k + 1
        joined[np.ix_(below, below)] = True
    return np.tril(joined)


def stored(tree):
    """Which entries the panels hold."""
    n = int(tree.first[-1])
    held = np.zeros((n, n), bool)
    for s, (begin, end) in enumerate(zip(tree.first[:-1], tree.first[1:], strict=True)):
        rows = tree.row[tree.row_start[s] : tree.row_start[s + 1]]
        assert list(rows) == sorted(set(rows.tolist()))
        assert all(rows >= end)
        held[begin:end, begin:end] = True
        held[np.ix_(rows, range(begin, end))] = True
    return np.tril(held)


@examples(20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 50), st.sampled_from([0.0, 0.7, 1.2, 3.0]))
def test_panels_hold_the_factor(seed, n, density):
    """All that elimination fills, and without zeros taken in nothing else; counts are those of the panels."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, n, (2, int(density * n)))
    first, second = first[first != second], second[first != second]
    found = Pattern(first, second, n)
    needed, held = eliminated(found.place, first, second), stored(found.tree)
    assert not (needed & ~held).any()
    assert found.entries == held.sum()
    assert sorted(found.place.tolist()) == list(range(n))


def test_a_star_is_eliminated_from_its_leaves():
    """The centre goes with the last of them, and the factor has hardly more than an entry a leaf."""
    found = Pattern(np.zeros(3000, int), np.arange(1, 3001), 3001)
    assert found.place[0] > 2900
    assert found.entries < 4 * 3001


def test_the_pattern_asked_for_last_is_given_again(monkeypatch):
    monkeypatch.setattr(module, "_last", None)
    first, second = np.array([0, 1, 2]), np.array([1, 2, 3])
    found = module.pattern_of(first, second, 5)
    assert module.pattern_of(first.copy(), second.copy(), 5) is found
    others = [module.pattern_of(first, second, 4), module.pattern_of(first, np.array([1, 2, 0]), 4)]
    assert [len(other.place) for other in others] == [4, 4]
    assert stored(others[1].tree).sum() != stored(others[0].tree).sum()
