"""Newton's step against dense algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttt_cli.kernels.bradley_terry.newton import solve


def random_system(seed, players=4, periods=5, games=15, bare=0.3):
    """Chains, comparisons and a diagonal that knows nothing of a share `bare` of the nodes; the dense matrix."""
    rng = np.random.default_rng(seed)
    n = players * periods
    previous = np.where(np.arange(n) < players, -1, np.arange(n) - players).astype(np.int32)
    following = np.where(np.arange(n) < n - players, np.arange(n) + players, -1).astype(np.int32)
    link_precision = np.where(previous < 0, 0.0, rng.exponential(5.0, n))
    first, second = (rng.integers(0, n, games).astype(np.int32) for _ in range(2))
    first, second = first[first != second], second[first != second]
    coupling = rng.exponential(1.0, len(first))
    own = np.where(rng.random(n) < bare, 0.0, rng.exponential(0.1, n))
    own[-players:] += 0.01  # every player is known somewhere
    diagonal = own + np.bincount(first, coupling, n) + np.bincount(second, coupling, n)
    dense = np.diag(diagonal)
    np.add.at(dense, (first, second), -coupling)
    np.add.at(dense, (second, first), -coupling)
    for i in np.flatnonzero(previous >= 0):
        u = np.zeros(n)
        u[i], u[previous[i]] = 1, -1
        dense += link_precision[i] * np.outer(u, u)
    return (previous, following, link_precision, diagonal, first, second, coupling), dense, rng.normal(size=n)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, 1.0]))
def test_it_solves_what_dense_algebra_solves(seed, bare):
    system, dense, b = random_system(seed, bare=bare)
    out = np.empty(len(b))
    solve(*system, 1e-13, 10_000, b.copy(), out)
    expected = np.linalg.solve(dense, b)
    assert out == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())


def test_it_stops_when_it_is_exact_enough():
    system, dense, b = random_system(1, players=20, periods=10, games=300, bare=0.9)
    expected = np.linalg.solve(dense, b)
    steps = []
    for relative in (0.1, 1e-3, 1e-6):
        out = np.empty(len(b))
        steps.append(solve(*system, relative, 10_000, b.copy(), out))
        error = out - expected
        assert error @ dense @ error <= relative**2 * (expected @ dense @ expected)
    assert steps == sorted(set(steps))


def test_nothing_to_solve_takes_no_step():
    system, _, b = random_system(2)
    out = np.ones(len(b))
    assert solve(*system, 1e-9, 100, np.zeros(len(b)), out) == 0
    assert not out.any()
