"""Sparse factors and their patterns against dense algebra."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.strategies import examples
from ttt_cli.gaussian import factor
from ttt_cli.gaussian.factor import Factor, Pattern, require_affordable
from ttt_cli.support.errors import ConfigError


def random_matrix(seed, n, pairs):
    """(first, second, coupling, diagonal) and the dense matrix; pairs may recur."""
    rng = np.random.default_rng(seed)
    first, second = (rng.integers(0, n, pairs).astype(np.int32) for _ in range(2))
    apart = first != second
    first, second = first[apart], second[apart]
    coupling = rng.exponential(1.0, len(first))
    diagonal = (
        np.bincount(first, coupling, n)
        + np.bincount(second, coupling, n)
        + rng.exponential(0.1, n)
        + 0.01
    )
    dense = np.diag(diagonal)
    np.add.at(dense, (first, second), -coupling)
    np.add.at(dense, (second, first), -coupling)
    return (first, second, coupling, diagonal), dense


def factorised(first, second, coupling, diagonal):
    return Factor(Pattern(first, second, len(diagonal)), -coupling, diagonal)


def check(given, dense):
    """All that a factor says is what dense algebra says."""
    found, inverse = factorised(*given), np.linalg.inv(dense)
    scale = np.abs(inverse).max()
    assert found.log_determinant == pytest.approx(np.linalg.slogdet(dense)[1], abs=1e-8)
    assert found.variances == pytest.approx(inverse.diagonal(), abs=1e-10 * scale)
    first, second = given[:2]
    assert found.covariances(first, second) == pytest.approx(
        inverse[first, second], abs=1e-10 * scale
    )
    b = np.arange(len(dense)) - 3.0
    assert found.solve(b) == pytest.approx(inverse @ b, abs=1e-9 * scale * max(1, np.abs(b).sum()))
    root = found.solve(np.eye(len(dense)), forward=False)
    assert root @ root.T == pytest.approx(inverse, abs=1e-9 * scale)
    once = Factor(Pattern(first, second, len(dense)), -given[2], given[3], once=True)
    assert once.variances == pytest.approx(found.variances, rel=1e-12)


@examples(16)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from([0.0, 0.7, 1.1, 2.0, 6.0, 40.0])
)
def test_it_is_dense_algebra(seed, n, density):
    """Unconnected ones, trees and full ones, of one supernode and of many."""
    check(*random_matrix(seed, n, int(density * n)))


@examples(16)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.sampled_from([0.0, 0.7, 1.1, 2.0, 6.0]))
def test_the_inverse_among_variables_eliminated_last_is_dense_algebra(seed, n, density):
    """Also in parts that no pair joins to the others; entries before their columns are not computed."""
    (first, second, coupling, diagonal), dense = random_matrix(seed, n, int(density * n))
    rng = np.random.default_rng(seed)
    last = np.sort(rng.choice(n, rng.integers(1, n), replace=False))
    rows, columns = (ends.ravel() for ends in np.meshgrid(last, last))
    apart = rows != columns
    pattern = Pattern(np.append(first, rows[apart]), np.append(second, columns[apart]), n, last)
    found = Factor(pattern, np.append(-coupling, np.zeros(apart.sum())), diagonal, once=True)
    inverse = np.linalg.inv(dense)
    assert found.covariances(rows, columns) == pytest.approx(
        inverse[rows, columns], abs=1e-10 * np.abs(inverse).max()
    )
    first_column = pattern.tree.first[pattern.first_inverted]
    assert np.isnan(found.variances).tolist() == (pattern.column_of < first_column).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_without_metis_it_is_dense_algebra_too(seed, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    check(*random_matrix(seed, 30, 15 * seed))


def test_a_long_chain_with_a_dense_end():
    (first, second, coupling, _), dense = random_matrix(1, 30, 400)
    links = np.arange(30, 120, dtype=np.int32)
    size = 120
    whole = np.zeros((size, size))
    whole[:30, :30] = dense
    for i in links:
        whole[i, i] += 2.0
        whole[i - 1, i - 1] += 2.0
        whole[i, i - 1] = whole[i - 1, i] = -2.0
    check(
        (np.append(first, links), np.append(second, links - 1).astype(np.int32),
         np.append(coupling, np.full(len(links), 2.0)), whole.diagonal().copy()),
        whole,
    )  # fmt: skip


def test_nothing_is_nothing():
    none = np.zeros(0, np.int32)
    empty = factorised(none, none, np.zeros(0), np.zeros(0))
    assert empty.log_determinant == 0
    assert len(empty.variances) == len(empty.solve(np.zeros(0))) == 0


def test_a_matrix_that_is_not_definite_is_refused():
    (first, second, coupling, diagonal), _ = random_matrix(7, 30, 60)
    diagonal[11] = -1.0
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        factorised(first, second, coupling, diagonal)


def test_what_is_out_of_reach_is_refused_with_its_numbers(monkeypatch):
    monkeypatch.setattr(factor, "MOST_ENTRIES", 819)
    first, second = (ends.astype(np.int32) for ends in np.triu_indices(40, 1))
    pattern = Pattern(first, second, 40)
    with pytest.raises(
        ConfigError, match="sds of 40 skills need a factor of 820 numbers"
    ) as caught:
        require_affordable(pattern, "sds", "try less")
    assert caught.value.hint == "try less"
    monkeypatch.setattr(factor, "MOST_ENTRIES", 820)
    require_affordable(pattern, "sds", "try less")


def eliminated(column_of, first, second):
    """Which entries below the diagonal the factor of a matrix has, by elimination one by one."""
    n = len(column_of)
    joined = np.eye(n, dtype=bool)
    joined[column_of[first], column_of[second]] = joined[column_of[second], column_of[first]] = True
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
    needed, held = eliminated(found.column_of, first, second), stored(found.tree)
    assert not (needed & ~held).any()
    assert found.entries == held.sum()
    assert sorted(found.column_of.tolist()) == list(range(n))


def test_a_star_is_eliminated_from_its_leaves():
    """The centre goes with the last of them, and the factor has hardly more than an entry a leaf."""
    found = Pattern(np.zeros(3000, int), np.arange(1, 3001), 3001)
    assert found.column_of[0] > 2900
    assert found.entries < 4 * 3001


def test_the_pattern_asked_for_last_is_given_again(monkeypatch):
    monkeypatch.setattr(factor, "_last", None)
    first, second = np.array([0, 1, 2]), np.array([1, 2, 3])
    found = factor.pattern_of(first, second, 5)
    assert factor.pattern_of(first.copy(), second.copy(), 5) is found
    others = [factor.pattern_of(first, second, 4), factor.pattern_of(first, np.array([1, 2, 0]), 4)]
    assert [len(other.column_of) for other in others] == [4, 4]
    assert stored(others[1].tree).sum() != stored(others[0].tree).sum()


def test_routines_are_loaded_without_the_package_they_are_in(monkeypatch):
    name = "scipy.linalg.cython_blas"
    monkeypatch.delitem(sys.modules, name, raising=False)
    factor._load_without_package(name)
    assert "dgemm" in sys.modules[name].__pyx_capi__
    factor._load_without_package("scipy.linalg.cython_other")
    assert "scipy.linalg.cython_other" not in sys.modules
