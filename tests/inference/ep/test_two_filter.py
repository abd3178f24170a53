"""Messages along chains against dense algebra, whether one or two threads pass them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.joint_dense import Problem
from ttt_cli.inference.ep import slices
from ttt_cli.inference.ep.slices import Slices
from ttt_cli.inference.ep.two_filter import TwoFilter
from ttt_cli.kernels.ep.structures import Messages

seeds = st.integers(0, 2**32 - 1)
drifts = st.sampled_from([0.0, 30.0, 90.0])


@pytest.fixture(scope="module", autouse=True)
def small_slices():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slices, "GAMES_EACH", 1)
        yield


def filters_of(problem, threads):
    parts = Slices(problem.start, problem.game_start, problem.previous[: problem.n], threads)
    return TwoFilter(problem.chains, parts)


@settings(max_examples=60)
@given(seeds, drifts, st.sampled_from([1, 2]), st.sampled_from([1, 2, 3]))
def test_marginals_are_those_of_all_sites_together(seed, drift, kinds, threads):
    problem = Problem(seed, drift, kinds, players=6, periods=5)
    size = len(problem.previous)
    sites = np.stack([problem.rng.exponential(1e-5, size), problem.rng.normal(0, 5e-3, size)], axis=1)
    forward, backward, marginal = messages = Messages(*np.full((3, size, 2), np.nan))
    marginal[:] = sites
    filters_of(problem, threads).smooth(messages)

    covariance = problem.covariance()
    posterior = covariance @ np.linalg.inv(np.eye(size) + sites[:, :1] * covariance)
    assert 1 / marginal[:, 0] == pytest.approx(np.diag(posterior), rel=1e-9)
    assert marginal[:, 1] / marginal[:, 0] == pytest.approx(posterior @ sites[:, 1], rel=1e-8, abs=1e-6)
    assert forward + backward + sites == pytest.approx(marginal, rel=1e-12, abs=1e-18)
    assert not backward[problem.following < 0].any()
    first = problem.previous < 0
    assert forward[first, 0] == pytest.approx(1 / problem.variance[first], rel=1e-15)


@given(seeds)
@settings(max_examples=20)
def test_two_halves_pass_the_messages_of_one(seed):
    """What a variable hears from before it and from after it, each by itself."""
    problem = Problem(seed, 50.0, 2, players=8, periods=7)
    size = len(problem.previous)
    sites = np.stack([problem.rng.exponential(1e-5, size), problem.rng.normal(0, 5e-3, size)], axis=1)
    one, two = (np.stack([np.zeros_like(sites), np.zeros_like(sites), sites]) for _ in range(2))
    filters_of(problem, 1).smooth(Messages(*one))
    halves = filters_of(problem, 2)
    halves.smooth(Messages(*two))
    assert len(halves.later)
    assert two == pytest.approx(one, rel=1e-11, abs=1e-18)
