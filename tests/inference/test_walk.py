"""Random walks over the years against dense matrices."""

import numpy as np
import pytest

from tests.support.cases import each
from ttt_cli.inference.walk import smooth_walk, step_variances


@each("drift", [0.0, 1e-3, 0.4, 5.0])
def test_a_walk_is_smoothed_as_by_dense_matrices(drift):
    """Years of which nothing is known are among them."""
    rng = np.random.default_rng(7)
    years = np.cumsum(rng.integers(1, 5, 30)).astype(np.int32)
    variances = step_variances(years, drift)
    assert variances == pytest.approx([1.0, *(drift**2 * gap for gap in np.diff(years).tolist())])
    information = rng.gamma(0.5, 10.0, 30) * (rng.random(30) < 0.7)
    weighted = information * rng.normal(0.0, 2.0, 30)
    root = np.tril(np.ones((30, 30))) * np.sqrt(
        variances
    )  # the walk is root @ u, u standard normal
    covariance_of_u = np.linalg.inv(np.eye(30) + root.T @ np.diag(information) @ root)
    mean_of_u = covariance_of_u @ root.T @ weighted
    walk = smooth_walk(variances, information, weighted)
    assert walk.mean == pytest.approx(root @ mean_of_u, abs=1e-8)
    assert walk.variance == pytest.approx(np.diag(root @ covariance_of_u @ root.T), rel=1e-8)
    assert walk.squares == pytest.approx(mean_of_u**2 + np.diag(covariance_of_u), rel=1e-6)
    assert walk.log_determinant_ratio == pytest.approx(-np.linalg.slogdet(covariance_of_u)[1])


def test_a_walk_over_no_years_is_empty():
    nothing = np.empty(0)
    walk = smooth_walk(step_variances(np.empty(0, np.int32), 1.0), nothing, nothing)
    assert [len(values) for values in walk[:3]] == [0, 0, 0]
    assert walk.log_determinant_ratio == 0.0
