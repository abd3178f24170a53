"""Tests of ttt_cli.runs.precision."""

import numpy as np
import pytest

from ttt_cli.runs.precision import Chains


def matrix(diagonal, beside):
    return np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


@pytest.mark.parametrize("lengths", [[1], [1, 1, 1], [3, 1, 7, 2, 7], [40]])
def test_solutions_are_those_of_the_dense_matrix(lengths):
    rng = np.random.default_rng(1)
    n = sum(lengths)
    beside = -rng.uniform(0.5, 2.0, n - 1)
    beside[np.cumsum(lengths)[:-1] - 1] = 0.0
    diagonal = 0.1 + np.append(-beside, 0.0) + np.append(0.0, -beside)
    b = rng.standard_normal(n)
    found = Chains(diagonal, beside).solve(b)
    assert found == pytest.approx(np.linalg.solve(matrix(diagonal, beside), b), rel=1e-12)


def test_no_equations():
    assert Chains(np.empty(0), np.empty(0)).solve(np.empty(0)).shape == (0,)


@pytest.mark.parametrize("diagonal", [[1.0, 1.0, 5.0], [np.nan, 3.0, 5.0], [0.0, 3.0, 5.0]])
def test_matrices_that_are_not_positive_definite_are_refused(diagonal):
    with pytest.raises(ValueError, match="positive definite"):
        Chains(np.array(diagonal), np.array([-2.0, 0.0]))
