"""What games say within the joint Gaussian, against dense matrices assembled from the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.joint_dense import Skills, SkillsAndMargins, joint_means
from tests.support.strategies import examples

seeds = st.integers(0, 2**32 - 1)
drifts = st.sampled_from([0.0, 30.0, 90.0])
kinds = pytest.mark.parametrize("kind", [Skills, SkillsAndMargins])
few = examples(16)


def close(found, expected):
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


@kinds
@few
@given(seeds, drifts)
def test_residuals(kind, seed, drift):
    """b - A s, multiplied by the prior covariance, which exists without drift too."""
    problem = kind(seed, drift)
    messages = problem.smoothed()
    coupling, size = np.empty(len(problem.first)), len(problem.previous)
    means, diagonal, out = np.empty((3, size))
    problem.kernels.residual(
        problem.part, problem.games, problem.all_sites, messages, means, coupling, diagonal, out
    )
    matrix, b = problem.dense()
    assert means == pytest.approx(messages.marginal[:, 1] / messages.marginal[:, 0], rel=1e-15)
    close(problem.covariance() @ out, problem.covariance() @ (b - matrix @ means) - means)
    close(diagonal, np.diag(matrix))
    if kind is Skills:
        close(coupling, problem.weight * problem.links[:, 0])


@kinds
@few
@given(seeds)
def test_couplings(kind, seed):
    """The diagonal, with the factors of the margins in it, is left to the solver."""
    problem = kind(seed, 30.0)
    matrix, _ = problem.dense()
    z, az = problem.rng.normal(size=(2, len(problem.previous)))
    before = az.copy()
    coupling = problem.weight * problem.links[:, 0]
    product = problem.kernels.add_couplings(
        0, len(problem.first), problem.games, problem.links, coupling, z, az
    )
    exact = 1e-15 if kind is Skills else 1e-14
    assert az - before == pytest.approx((matrix - np.diag(np.diag(matrix))) @ z, abs=exact)
    assert product == pytest.approx(z @ (az - before), abs=10 * exact)


@kinds
@few
@given(seeds, drifts)
def test_spread_sites_smooth_to_the_joint_means(kind, seed, drift):
    problem = kind(seed, drift)
    marginal = problem.smoothed().marginal
    wanted = joint_means(problem)
    precisions = problem.sites[:, ::2].copy()
    problem.kernels.spread(0, len(problem.first), problem.games, problem.all_sites, wanted)
    after = problem.smoothed().marginal
    close(after[:, 1] / after[:, 0], wanted)
    assert np.array_equal(after[:, 0], marginal[:, 0])
    assert np.array_equal(problem.sites[:, ::2], precisions)
