"""The walk of what moves with the years against dense matrices."""

import numpy as np
import pytest

from tests.support.cases import each
from ttt_cli.inference.years import YearWalk


def test_a_walk_of_hardly_any_drift_is_one_factor_for_all_years():
    years = np.array([1900, 1901, 1905], np.int32)
    score, information = np.array([2.0, -0.5, 1.0]), np.array([3.0, 1.0, 2.0])
    walk = YearWalk(years, 1e-9, None)
    walk.step(score, information)
    assert walk.theta == pytest.approx(np.full(3, min(2.5 / 7.0, 0.5)), rel=1e-6)
    assert walk.variance(information) == pytest.approx(np.full(3, 1 / 7), rel=1e-6)


@each("drift", [1e-3, 0.04, 2.0])
def test_a_walk_goes_as_dense_matrices_do(drift):
    rng = np.random.default_rng(3)
    years = np.cumsum(rng.integers(1, 4, 40)).astype(np.int32)
    walk = YearWalk(years, drift, rng.normal(0, 0.01, 40))
    # of some years next to nothing, or nothing
    information = rng.gamma(0.3, 500.0, 40) * (rng.random(40) < 0.8)
    theta, score = walk.theta, rng.normal(0, 0.02, 40) * information
    root = np.tril(np.sqrt(np.append(1.0, drift**2 * np.diff(years))))
    posterior = np.eye(40) + root.T * information @ root
    u = np.diff(theta, prepend=0.0) / np.diag(root)
    move = root @ np.linalg.solve(posterior, root.T @ score - u)
    assert walk.log_evidence(information) == pytest.approx(-(u @ u + np.linalg.slogdet(posterior)[1]) / 2)
    of_theta = np.diag(root @ np.linalg.solve(posterior, root.T))
    assert walk.variance(information) == pytest.approx(of_theta, rel=1e-9)
    most = np.abs(move).max()
    assert walk.step(score, information) == pytest.approx(min(most, 0.5))
    assert walk.theta == pytest.approx(theta + move * min(1.0, 0.5 / most), abs=1e-12)
