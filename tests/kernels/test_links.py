"""What games say within the joint Gaussian, against dense matrices assembled from the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.joint_dense import Skills, SkillsAndMargins, joint_means
from ttt_cli.kernels.ep import pair_links, quad_links

seeds = st.integers(0, 2**32 - 1)
drifts = st.sampled_from([0.0, 30.0, 90.0])
few = settings(max_examples=40)


def close(found, expected):
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


@few
@given(seeds, drifts)
def test_residual_of_skills(seed, drift):
    """b - A s, multiplied by the prior covariance, which exists without drift too."""
    problem = Skills(seed, drift)
    forward, backward, marginal = problem.smoothed(problem.sites)
    pull, diagonal, out = np.empty(len(problem.first)), np.empty(problem.n), np.empty(problem.n)
    pair_links.residual(
        0,
        problem.n,
        0,
        len(problem.first),
        problem.first,
        problem.second,
        problem.weight,
        problem.links,
        forward,
        backward,
        marginal,
        pull,
        diagonal,
        out,
    )
    matrix, b = problem.dense()
    mean = marginal[:, 1] / marginal[:, 0]
    close(problem.covariance() @ out, problem.covariance() @ (b - matrix @ mean) - mean)
    close(diagonal, np.diag(matrix))
    close(pull, problem.weight * problem.links[:, 0])


@few
@given(seeds)
def test_pulls_of_skills(seed):
    problem = Skills(seed, 30.0)
    matrix, _ = problem.dense()
    z, az = problem.rng.normal(size=(2, problem.n))
    before = az.copy()
    product = pair_links.add_pulls(
        0,
        len(problem.first),
        problem.first,
        problem.second,
        problem.weight * problem.links[:, 0],
        z,
        az,
    )
    assert az - before == pytest.approx((matrix - np.diag(np.diag(matrix))) @ z, abs=1e-15)
    assert product == pytest.approx(z @ (az - before), abs=1e-14)


@few
@given(seeds, drifts)
def test_residual_of_skills_and_margins(seed, drift):
    problem = SkillsAndMargins(seed, drift)
    forward, backward, marginal = problem.smoothed(problem.sites, problem.positivity)
    means, diagonal, out = np.empty((3, 2 * problem.n))
    quad_links.residual(
        0,
        problem.n,
        0,
        len(problem.first),
        problem.first, problem.second, problem.weight, problem.links, forward, backward, marginal,
        problem.positivity, means, diagonal, out,
    )  # fmt: skip
    matrix, b = problem.dense()
    assert means == pytest.approx(marginal[:, 1] / marginal[:, 0], rel=1e-15)
    close(problem.covariance() @ out, problem.covariance() @ (b - matrix @ means) - means)
    close(diagonal, np.diag(matrix))


@few
@given(seeds)
def test_pulls_of_skills_and_margins(seed):
    """The diagonal, with the factors of the margins in it, is left to the solver."""
    problem = SkillsAndMargins(seed, 30.0)
    matrix, _ = problem.dense()
    z, az = problem.rng.normal(size=(2, 2 * problem.n))
    before = az.copy()
    product = quad_links.add_pulls(
        0, len(problem.first), problem.first, problem.second, problem.weight, problem.links, z, az
    )
    assert az - before == pytest.approx((matrix - np.diag(np.diag(matrix))) @ z, abs=1e-14)
    assert product == pytest.approx(z @ (az - before), abs=1e-13)


@few
@given(seeds, drifts)
def test_spread_sites_smooth_to_the_joint_means_of_skills(seed, drift):
    problem = Skills(seed, drift)
    *_, marginal = problem.smoothed(problem.sites)
    wanted = joint_means(problem)
    precisions = problem.sites[:, ::2].copy()
    correction = wanted - marginal[:, 1] / marginal[:, 0]
    pair_links.spread(
        0,
        len(problem.first),
        problem.first,
        problem.second,
        problem.links,
        marginal,
        problem.sites,
        correction,
    )
    *_, after = problem.smoothed(problem.sites)
    close(after[:, 1] / after[:, 0], wanted)
    assert np.array_equal(after[:, 0], marginal[:, 0])
    assert np.array_equal(problem.sites[:, ::2], precisions)


@few
@given(seeds, drifts)
def test_spread_sites_smooth_to_the_joint_means_of_skills_and_margins(seed, drift):
    problem = SkillsAndMargins(seed, drift)
    *_, marginal = problem.smoothed(problem.sites, problem.positivity)
    wanted = joint_means(problem)
    quad_links.spread(
        0, len(problem.first), problem.first, problem.second, problem.links, problem.sites, wanted
    )
    *_, after = problem.smoothed(problem.sites, problem.positivity)
    close(after[:, 1] / after[:, 0], wanted)
    assert np.array_equal(after[:, 0], marginal[:, 0])
