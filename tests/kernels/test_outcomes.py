"""Moments of outcomes, and the normal distribution, against arbitrary precision over the whole range of games."""

import math

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.kernels.outcomes import (
    draw_log_normaliser,
    draw_moments,
    interval_log_normaliser,
    interval_moments,
    interval_slopes,
    log_cdf,
    mills,
    outcome_log_normaliser,
    outcome_moments,
    win_moments,
)

mpmath.mp.dps = 60


def density(x):
    return mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)


def upper_tail(x):
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def exact(low, high):
    """(mean, 1 - variance, log mass) of a standard normal on (low, high)."""
    low = mpmath.mpf(low)
    at_low = density(low)
    at_high, edge, beyond = mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(0)
    if high != math.inf:
        high = mpmath.mpf(high)
        at_high, edge, beyond = density(high), high * density(high), upper_tail(high)
    mass = upper_tail(low) - beyond
    mean = (at_low - at_high) / mass
    return mean, mean**2 + (edge - low * at_low) / mass, mpmath.log(mass)


@given(st.floats(-1000, 9))
@example(-49.999)
@example(-50.001)
@example(0.0)
def test_win(x):
    mean, lost, log_mass = exact(-mpmath.mpf(x), math.inf)
    v, w = win_moments(x)
    assert v == pytest.approx(float(mean), rel=1e-12)
    assert w == pytest.approx(float(lost), rel=1e-12)
    assert log_cdf(x) == pytest.approx(float(log_mass), rel=1e-13)


@given(st.floats(0, 300), st.floats(-7, 0.7).map(lambda e: 10**e))
@example(50.3, 0.3)
@example(50.29, 0.3)
@example(0.0, 1e-7)
@example(0.3, 0.3)
@example(0.0099, 1.0)
def test_draw(t, margin):
    mean, lost, log_mass = exact(
        mpmath.mpf(t) - mpmath.mpf(margin), mpmath.mpf(t) + mpmath.mpf(margin)
    )
    v, w = draw_moments(t, margin)
    assert v == pytest.approx(-float(mean), rel=1e-11, abs=1e-11)
    assert w == pytest.approx(float(lost), abs=2e-11)
    assert draw_log_normaliser(t, margin) == pytest.approx(float(log_mass), rel=1e-11, abs=1e-13)


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 50))
def test_draw_is_exactly_symmetric(t, margin):
    v, w = draw_moments(t, margin)
    assert draw_moments(-t, margin) == (-v, w)
    assert draw_log_normaliser(-t, margin) == draw_log_normaliser(t, margin)


@given(st.floats(-1e6, 1e6), st.floats(0, 50), st.sampled_from([0, 1, 2]))
def test_every_outcome_leaves_a_proper_distribution(t, margin, outcome):
    """No clamping is needed: the variance stays between 0 and 1, whatever the upset."""
    if outcome == 1 and margin == 0:
        return
    v, w = outcome_moments(t, margin, outcome)
    assert math.isfinite(v)
    assert 0 <= w <= 1
    assert outcome_log_normaliser(t, margin, outcome) <= 0


@given(st.floats(-30, 30), st.floats(1e-3, 5))
def test_outcomes_are_all_there_is(t, margin):
    total = sum(math.exp(outcome_log_normaliser(t, margin, outcome)) for outcome in (0, 1, 2))
    assert total == pytest.approx(1, abs=1e-13)


@given(st.floats(-1e4, 1e4), st.floats(0, 50))
def test_a_loss_is_a_win_seen_from_the_other_side(t, margin):
    v, w = outcome_moments(t, margin, 2)
    assert outcome_moments(-t, margin, 0) == (-v, w)


@given(st.floats(0.0, 100.0))
def test_mills_ratio_keeps_fourteen_digits(z):
    exact = (
        mpmath.sqrt(mpmath.pi / 2)
        * mpmath.erfc(z / mpmath.sqrt(2))
        * mpmath.exp(mpmath.mpf(z) ** 2 / 2)
    )
    assert mills(z) == pytest.approx(float(exact), rel=1e-14)


@each("z", [1e3, 1e8, 1e150])
def test_mills_ratio_far_out_is_one_over_z(z):
    assert mills(z) == pytest.approx(1 / z, rel=2 / z**2 + 1e-14)


def test_log_cdf_golden():
    """log Phi(-15), from the literature on tail accuracy of TrueSkill codes."""
    assert log_cdf(-15.0) == pytest.approx(-116.13138484571169, rel=1e-15)
    assert math.isfinite(log_cdf(-1e150))


@given(st.floats(-40, 40), st.floats(-40, 40), st.floats(-9, 2).map(lambda e: 10**e))
@example(3.0, 1.0, 1e-9)
@example(-60.0, 10.0, 1.0)
@example(0.0, 0.0, math.inf)
@example(30.0, -5.0, math.inf)
def test_interval(t, low, width):
    high = low + width
    if t > low and width < math.inf:  # the upper tail has more digits here
        t, low, high = -t, -high, -low
    below = mpmath.mpf(low) - mpmath.mpf(t)
    above = mpmath.mpf(high) - mpmath.mpf(t) if math.isfinite(high) else math.inf
    mean, lost, log_mass = exact(below, above)
    v, w, left = interval_moments(t, low, high)
    log_p = interval_log_normaliser(t, low, high)
    rounded = 1e-15 * (80.0 + abs(low)) / width  # of the width, by that of its ends
    assert v == pytest.approx(float(mean), rel=1e-11 + rounded, abs=1e-11)
    assert w == pytest.approx(float(lost), rel=1e-11 + rounded, abs=1e-11)
    assert left == pytest.approx(float(1 - lost), rel=1e-9 + 2.0 * rounded)
    assert log_p == pytest.approx(float(log_mass), rel=1e-12, abs=1e-11 + rounded)
    by_low, by_high = interval_slopes(t, low, high, v)
    at_high = density(above) / mpmath.exp(log_mass) if above < math.inf else 0.0
    assert by_low == pytest.approx(
        -float(density(below) / mpmath.exp(log_mass)), rel=1e-9 + rounded
    )
    assert by_high == pytest.approx(float(at_high), rel=1e-9 + rounded, abs=1e-300)
    # the mirror image
    v_back, w_back, left_back = interval_moments(-t, -high, -low)
    assert (v_back, w_back, left_back) == pytest.approx((-v, w, left), rel=1e-12, abs=1e-300)
    assert interval_log_normaliser(-t, -high, -low) == pytest.approx(log_p, rel=1e-13)


def test_an_interval_of_no_width_is_an_observation():
    assert interval_moments(0.5, 2.0, 2.0) == (1.5, 1.0, 0.0)
    assert interval_log_normaliser(0.5, 2.0, 2.0) == pytest.approx(
        -0.5 * 1.5**2 - 0.5 * math.log(2 * math.pi)
    )
    assert interval_slopes(0.5, 2.0, 2.0, 1.5) == (-1.5, 0.0)
