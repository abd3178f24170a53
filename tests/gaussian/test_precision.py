"""Precision matrices of chains and links, and conjugate gradients, against dense ones."""

import numpy as np
import pytest

from tests.support.cases import each
from ttt_cli.gaussian import factor, precision
from ttt_cli.gaussian.precision import (
    Entries,
    Precision,
    Solution,
    conjugate_gradients,
    link_entries,
    link_pulls,
    reduce_tridiagonal,
)


def dense(matrix):
    return np.array([matrix.times(unit) for unit in np.eye(len(matrix.diagonal))]).T


@each("u", [[[1.0, -1.0]], [[0.5, 0.5, -1.0]], [[1.0, -1.0, 1.0, 0.0], [-1.0, 1.0, 0.0, 1.0]]])
def test_links_of_any_number_of_variables(u):
    rng, u, n, links = np.random.default_rng(2), np.array(u), 9, 12
    k, m = u.shape
    variables = np.array([rng.permutation(n)[:m] for _ in range(links)]).T
    roots, h = rng.standard_normal((links, k, k)), rng.standard_normal((k, links))
    q = roots @ roots.transpose(0, 2, 1)
    wanted, pulls = np.zeros((n, n)), np.zeros(n)
    for link in range(links):
        whole = np.zeros((k, n))
        whole[:, variables[:, link]] = u
        wanted += whole.T @ q[link] @ whole
        pulls += whole.T @ h[:, link]
    entries = link_entries(variables, u, q[:, *np.triu_indices(k)].T)
    matrix = Precision(np.full(n, -1), np.zeros(n), entries)
    assert dense(matrix) == pytest.approx(wanted, abs=1e-12)
    matrix.compile_products()
    assert dense(matrix) == pytest.approx(wanted, abs=1e-12)
    assert link_pulls(variables, u, h, n) == pytest.approx(pulls, abs=1e-12)


@pytest.mark.parametrize("long", [1000, 0])  # without scipy and with it
@pytest.mark.parametrize("lengths", [[1], [1, 1, 1], [3, 1, 7, 2, 7], [40]])
def test_solutions_are_those_of_the_dense_matrix(lengths, long, monkeypatch):
    monkeypatch.setattr(precision, "LONG", long * 10_000)
    rng, n = np.random.default_rng(1), sum(lengths)
    place = rng.permutation(n)  # chains lie among each other
    place[:] = np.argsort(place)
    chain = np.repeat(np.arange(len(lengths)), lengths)[place]
    previous = np.array([max(np.flatnonzero(chain[:i] == chain[i]), default=-1) for i in range(n)])
    step = rng.uniform(0.5, 2.0, n)
    pairs = rng.integers(0, n, (2, 2 * n))
    pairs = pairs[:, pairs[0] != pairs[1]]
    games = link_entries(pairs, np.array([[1.0, -1.0]]), rng.uniform(0.0, 1.0, (1, pairs.shape[1])))
    matrix, b = Precision(previous, step, games), rng.standard_normal(n)
    wanted = np.linalg.solve(dense(matrix), b)
    x, residual = matrix.solve(b, residual=1e-10)
    assert x == pytest.approx(wanted, rel=1e-7, abs=1e-8)
    assert residual == pytest.approx(b - dense(matrix) @ x, abs=1e-12)
    assert matrix.solve(b, energy=1e-10)[0] == pytest.approx(wanted, rel=1e-7, abs=1e-8)
    assert matrix.factor().solve(b) == pytest.approx(wanted, rel=1e-9)


def test_without_further_entries_the_first_step_is_the_last():
    previous, step = np.array([-1, 0, 1, -1, 3]), np.array([2.0, 5.0, 1e-3, 4.0, 1e3])
    matrix, b = Precision(previous, step, []), np.arange(5.0)
    assert matrix._chains(b) == pytest.approx(np.linalg.solve(dense(matrix), b), rel=1e-12)


@pytest.mark.parametrize("own", [-2.0, np.nan])
def test_matrices_that_are_not_positive_definite_are_refused(own):
    first = np.array([0])
    matrix = Precision(
        np.array([-1, 0]), np.array([1.0, 1.0]), [Entries(first, first, np.array([own]))]
    )
    with pytest.raises(ValueError, match="positive definite"):
        matrix.solve(np.ones(2), residual=1e-6)


@each("n", [1, 2, 3, 8, 37])
def test_a_tridiagonal_matrix_is_reduced_to_its_solution(n):
    """Also where it falls into parts that are not linked."""
    rng = np.random.default_rng(n)
    with_previous = np.append(0.0, -rng.uniform(0.1, 1.0, n - 1) * (rng.random(n - 1) < 0.8))
    diagonal = 0.3 + np.abs(with_previous) + np.append(np.abs(with_previous[1:]), 0.0)
    matrix = np.diag(diagonal) + np.diag(with_previous[1:], 1) + np.diag(with_previous[1:], -1)
    b = rng.standard_normal(n)
    reduced = reduce_tridiagonal(diagonal, with_previous)
    assert reduced.solve(b) == pytest.approx(np.linalg.solve(matrix, b), rel=1e-10)


def test_a_tridiagonal_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(ValueError, match="positive definite"):
        reduce_tridiagonal(np.array([1.0, 1.0, 1.0]), np.array([0.0, -0.5, -1.5]))


def test_the_end_by_energy_is_relative_to_the_solution():
    """As many steps for a right-hand side however large it is, and fewer where less is asked for."""
    matrix = np.diag(np.geomspace(1.0, 1e3, 100))

    def steps(size, energy):
        products = []

        def times(p):
            products.append(p)
            return matrix @ p

        result = conjugate_gradients(times, np.copy, np.full(100, size), energy=energy)
        error = result.x - size / np.diag(matrix)
        norm = size * np.sqrt(np.sum(1.0 / np.diag(matrix)))
        assert np.sqrt(error @ matrix @ error) < energy * norm
        return len(products)

    assert steps(1e-3, 0.05) == steps(1.0, 0.05) == steps(1e3, 0.05) < steps(1.0, 1e-4)


@each("scale", [0.0, 1.0, -3.0])
def test_a_similar_solution_saves_steps_and_does_not_change_the_result(scale):
    """Whatever its scale; one that is 0 is no help."""
    rng = np.random.default_rng(3)
    matrix = np.diag(np.geomspace(1.0, 1e3, 100))
    b = rng.standard_normal(100)
    similar_b = scale * (b + 1e-3 * rng.standard_normal(100))
    x = similar_b / np.diag(matrix)
    products = []

    def times(p):
        products.append(p)
        return matrix @ p

    alone = conjugate_gradients(times, np.copy, b, residual=1e-6)
    steps_alone = len(products)
    result = conjugate_gradients(times, np.copy, b, residual=1e-6, similar=Solution(x, matrix @ x))
    assert result.x == pytest.approx(b / np.diag(matrix), abs=1e-5)
    assert result.residual == pytest.approx(b - matrix @ result.x, abs=1e-12)
    steps = len(products) - steps_alone
    assert steps == steps_alone if scale == 0.0 else steps < 0.8 * steps_alone
    assert np.linalg.norm(result.residual) <= 1e-6 * np.linalg.norm(b)
    assert alone.converged
    assert result.converged


def test_entries_of_the_inverse_among_few_variables_are_those_of_the_whole_inverse(monkeypatch):
    """Eliminated last; and with all others where even three are many, or the factor would be too large."""
    rng, n = np.random.default_rng(3), 200
    previous = np.where(np.arange(n) % 10, np.arange(n) - 1, -1)
    pairs = rng.integers(0, n, (2, 2 * n))
    pairs = pairs[:, pairs[0] != pairs[1]]
    games = link_entries(pairs, np.array([[1.0, -1.0]]), rng.uniform(0.0, 1.0, (1, pairs.shape[1])))
    matrix = Precision(previous, rng.uniform(0.5, 2.0, n), games)
    rows, columns = (ends.ravel() for ends in np.meshgrid([3, 77, 120], [3, 77, 120]))
    wanted = np.linalg.inv(dense(matrix))[rows, columns]

    def computed():
        """The entries of the inverse, and how many variances it has."""
        of_matrix = matrix.factor(rows, columns, once=True)
        entries = of_matrix.covariances(rows, columns)
        return pytest.approx(entries, rel=1e-9), np.isfinite(of_matrix.variances).sum()

    entries, variances = computed()
    assert wanted == entries
    assert variances < n
    apart = rows != columns
    ends = np.append(matrix.low, rows[apart]), np.append(matrix.high, columns[apart])
    with monkeypatch.context() as limited:
        limited.setattr(factor, "MOST_ENTRIES", factor.Pattern(*ends, n).entries)
        assert computed() == (wanted, n)
    monkeypatch.setattr(precision, "MOST_LAST", 2)
    assert computed() == (wanted, n)
