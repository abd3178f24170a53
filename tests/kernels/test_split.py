"""Draws as two one-sided factors: a plain twin, differences, limits and mirrors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.bivariate_exact import correlation
from tests.reference.ttt_d_ep import two_sites
from ttt_cli.kernels.bivariate import quadrant_log_probability
from ttt_cli.kernels.normal import log_cdf
from ttt_cli.kernels.split import split_log_probability, split_moments
from ttt_cli.kernels.truncated import win_moments

negative = st.floats(-6, -0.01).map(lambda exponent: correlation(10**exponent))
sums = st.floats(0.1, 8)  # h + k of games: both margins together over their smear, and more
means = st.floats(-4, 4)


@settings(max_examples=60)
@given(means, sums, st.floats(-3, -0.05).map(lambda exponent: correlation(10**exponent)))
def test_it_equals_the_plain_twin(h, total, correlated):
    rho, rho_bar = correlated
    k = total - h
    cov = np.array([[1, rho], [rho, 1]])
    log_z, mean, posterior = two_sites(np.array([h, k]), cov)
    log_p, g1, g2, h11, h12, h22 = split_moments(h, k, rho, rho_bar)
    hessian = np.array([[h11, h12], [h12, h22]])
    assert log_p == pytest.approx(log_z, abs=1e-8)
    assert np.array([h, k]) + cov @ [g1, g2] == pytest.approx(mean, abs=1e-7)
    assert cov + cov @ hessian @ cov == pytest.approx(posterior, abs=1e-7)


@settings(max_examples=60)
@given(means, sums, negative)
def test_slopes_are_those_of_the_log_probability(h, total, correlated):
    """At the fixed point of the two sites only the explicit dependence on the means counts."""
    k, step = total - h, 1e-4
    _, g1, g2, *_ = split_moments(h, k, *correlated)
    for (a, b), slope in (((step, 0), g1), ((0, step), g2)):
        up = split_log_probability(h + a, k + b, *correlated)
        down = split_log_probability(h - a, k - b, *correlated)
        assert (up - down) / (2 * step) == pytest.approx(slope, abs=2e-5, rel=2e-5)


@given(means, sums, negative)
def test_swapping_the_players_swaps_the_results(h, total, correlated):
    k = total - h
    log_p, g1, g2, h11, h12, h22 = split_moments(h, k, *correlated)
    mirrored = split_moments(k, h, *correlated)
    assert mirrored == pytest.approx((log_p, g2, g1, h22, h12, h11), rel=1e-7, abs=1e-9)


@given(means, sums, negative)
def test_minus_the_hessian_is_positive_and_the_log_probability_that_of_the_moments(h, total, correlated):
    log_p, _, _, h11, h12, h22 = split_moments(h, total - h, *correlated)
    assert h11 <= 0 >= h22
    assert h11 * h22 >= h12 * h12 * (1 - 1e-9)
    assert log_p == split_log_probability(h, total - h, *correlated)


@given(means, means)
def test_independent_conditions_are_exact(h, k):
    log_p, g1, g2, h11, h12, h22 = split_moments(h, k, 0.0, 1.0)
    (v1, w1), (v2, w2) = win_moments(h), win_moments(k)
    assert log_p == pytest.approx(log_cdf(h) + log_cdf(k), rel=1e-12, abs=1e-15)
    assert (g1, g2, -h11, h12, -h22) == pytest.approx((v1, v2, w1, 0, w2), rel=1e-9, abs=1e-12)


@settings(max_examples=60)
@given(
    st.floats(-2, 2), st.floats(0.05, 3), st.floats(-3, -0.5).map(lambda exponent: correlation(10**exponent))
)
def test_draws_are_held_to_be_likelier_than_they_are_by_up_to_8_percent(h, half, correlated):
    """So the three outcomes add up to more than one: the docs say what that does to the evidence."""
    exact = quadrant_log_probability(half + h, half - h, *correlated)
    assert -1e-9 < split_log_probability(half + h, half - h, *correlated) - exact < 0.08
