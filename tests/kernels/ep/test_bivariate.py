"""The bivariate normal quadrant and its derivatives: arbitrary precision, closed forms, limits and laws."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import ndtr, owens_t

from tests.reference.bivariate_exact import correlation, exact_moments
from tests.support.strategies import examples
from ttt_cli.kernels.ep.bivariate import quadrant_log_probability, quadrant_moments
from ttt_cli.kernels.outcomes import draw_log_normaliser, draw_moments, log_cdf, win_moments

NEAR = [
    correlation(2e-12),
    correlation(2e-6),
    correlation(0.0199),
    correlation(0.19),
    correlation(0.75),
]
negative = st.floats(-12, -0.01).map(lambda e: correlation(10**e)) | st.just((0.0, 1.0))


def positive(rho):
    with mpmath.workdps(30):
        return rho, float(mpmath.sqrt(1 - mpmath.mpf(rho) ** 2))


def check(h, k, rho, rho_bar, tolerance=1e-10):
    expected = np.array([float(x) for x in exact_moments(h, k, rho, rho_bar)])
    got = np.array(quadrant_moments(h, k, rho, rho_bar))
    assert np.isfinite(got).all()
    error = np.abs(got - expected)
    largest = np.abs(expected[3:]).max()
    assert error[0] <= 1e-13 * max(1, abs(expected[0]))
    assert (error[1:3] <= 1e-12 * np.maximum(1, np.abs(expected[1:3]))).all()
    assert (error[3:] <= tolerance * max(1, largest)).all()


def at_the_edge(scale, sign, spread, rho, rho_bar):
    """h and k whose sum is `scale` smears of the interval between the margins: where the branches meet."""
    slope = rho_bar / (1 - rho)
    return sign * scale * slope + spread, sign * scale * slope - spread


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rho", "rho_bar"),
    [
        NEAR[0],
        NEAR[3],
        *(pytest.param(*one, marks=pytest.mark.large) for one in (*NEAR[1:3], NEAR[4], (0.0, 1.0))),
    ],
)
@pytest.mark.parametrize(
    ("h", "k"), [(0.5, 0.2), (-1.2, 1.5), (3, 3), (-40, 40.5), (-40, 39), (-40, -40), (-3, -8)]
)
def test_grid(h, k, rho, rho_bar):
    check(h, k, rho, rho_bar)


@pytest.mark.slow
@examples(20)
@given(st.floats(-40, 40), st.floats(-40, 40), negative)
def test_anywhere(h, k, correlated):
    check(h, k, *correlated)


@pytest.mark.slow
@examples(20)
@given(st.floats(-3, 1.5), st.sampled_from([-1, 1]), st.floats(-2, 1.5), negative)
@example(math.log10(0.9), 1, -5, (0.0, 1.0))
@example(math.log10(5.999), -1, -1, correlation(0.09))
@example(math.log10(6.001), -1, -1, correlation(0.09))
@example(math.log10(8.4), 1, 0, correlation(0.01))
def test_intervals_narrower_or_wider_than_their_smear(scale, sign, spread, correlated):
    check(*at_the_edge(10**scale, sign, 10**spread, *correlated), *correlated)


@pytest.mark.slow
@examples(15)
@given(
    st.floats(-1.5, 1.5),
    st.floats(-1, 2),
    st.floats(50, 260),
    st.floats(30, 150),
    st.floats(30, 150),
)
def test_games_as_they_are_played(h, total, skill_sd, first_sd, second_sd):
    """Margins and skills of historical chess: h + k > 0, correlation -0.95 to -0.999."""
    common = 2 * 480**2 + 2 * skill_sd**2
    ends = common + first_sd**2, common + second_sd**2
    rest = (common * (first_sd**2 + second_sd**2) + (first_sd * second_sd) ** 2) / math.prod(ends)
    check(h, total - h, *correlation(rest), tolerance=1e-11)


@pytest.mark.slow
@examples(16)
@given(st.floats(-1000, 1000), st.floats(-1000, 1000), negative)
@example(-1000, 1000.5, NEAR[2])
@example(-1000, 1000, NEAR[3])
@example(-1000, 999, (0.0, 1.0))
@example(-1000, -1000, NEAR[0])
@example(-1000, 999.9997, NEAR[1])
def test_extreme_upsets(h, k, correlated):
    check(h, k, *correlated, tolerance=1e-8)


@pytest.mark.slow
@examples(15)
@given(st.floats(-40, 40), st.floats(-40, 40), st.floats(0, 0.99))
@example(-40, -39.8, 0.99)
@example(-1, -1, 0.99)
@example(0.3, -0.3, 0.7)
def test_positive_correlation(h, k, rho):
    check(h, k, *positive(rho))


@given(st.floats(-1000, 1000), st.floats(-1000, 1000), negative | st.floats(0, 0.99).map(positive))
def test_swapping_the_two_swaps_the_results_to_the_last_bit(h, k, correlated):
    log_p, g1, g2, h11, h12, h22 = quadrant_moments(h, k, *correlated)
    assert quadrant_moments(k, h, *correlated) == (log_p, g2, g1, h22, h12, h11)
    assert quadrant_log_probability(h, k, *correlated) == log_p
    assert quadrant_log_probability(k, h, *correlated) == log_p


@given(st.floats(-1000, 1000), st.floats(-1000, 1000), negative)
@example(0.0, 0.0, NEAR[0])
@example(1000.0, 1000.0, NEAR[0])
@example(-1000.0, 1000.0, NEAR[0])
@example(-1000.0, -1000.0, NEAR[0])
def test_truncation_leaves_a_smaller_variance_everywhere(h, k, correlated):
    """log P is negative, rises in both, and its Hessian lies between -R^-1 and 0."""
    rho, rho_bar = correlated
    log_p, g1, g2, h11, h12, h22 = quadrant_moments(h, k, rho, rho_bar)
    assert log_p <= 0
    assert g1 >= 0
    assert g2 >= 0
    largest = max(abs(h11), abs(h22), abs(h12))
    slack = 1e-8 * max(1, largest)
    floor = -1 / rho_bar**2
    assert floor - slack <= h11 <= slack
    assert floor - slack <= h22 <= slack
    assert h11 * h22 - h12 * h12 >= -slack * max(1, largest)
    assert (h11 - floor) * (h22 - floor) - (h12 + rho * floor) ** 2 >= 3 * slack * floor


@given(st.floats(6, 30), st.floats(6, 30), negative)
def test_a_sure_draw_keeps_what_is_left_of_doubt(h, k, correlated):
    """log P is close to -Q(h) - Q(k), far below the precision of P."""
    doubt = ndtr(-h) + ndtr(-k)
    assert quadrant_log_probability(h, k, *correlated) == pytest.approx(
        -doubt, rel=1e-8, abs=1e-300
    )


def test_against_owens_t():
    """P for h, k > 0 from Owen's T function (1956), as scipy computes it."""
    for h, k, rho in itertools.product(
        [0.1, 0.7, 2.0, 5.0], [0.3, 1.1, 4.0], [-0.99, -0.9, -0.5, 0.5, 0.9]
    ):
        rho_bar = math.sqrt((1 - rho) * (1 + rho))
        first = owens_t(h, (k / h - rho) / rho_bar)
        second = owens_t(k, (h / k - rho) / rho_bar)
        expected = (ndtr(h) + ndtr(k)) / 2 - first - second
        assert math.exp(quadrant_log_probability(h, k, rho, rho_bar)) == pytest.approx(
            expected, abs=2e-15
        )


@given(st.floats(-30, 30), st.floats(-30, 30))
def test_without_correlation_there_are_two_games(h, k):
    log_p, g1, g2, h11, h12, h22 = quadrant_moments(h, k, 0.0, 1.0)
    assert log_p == pytest.approx(log_cdf(h) + log_cdf(k), rel=1e-14, abs=1e-15)
    for x, g, curvature in ((h, g1, h11), (k, g2, h22)):
        v, w = win_moments(x)
        assert g == pytest.approx(v, rel=1e-13, abs=1e-300)
        assert curvature == pytest.approx(-w, abs=1e-11)
    assert h12 == pytest.approx(0, abs=1e-11)


@given(st.floats(-30, 30), st.floats(1e-3, 3))
def test_certain_margins_give_the_draw_of_ttt(t, margin):
    """With margins known to a millionth of the noise the interval is sharp and moves with h - k."""
    rho, rho_bar = correlation(1e-14)
    log_p, g1, g2, h11, h12, h22 = quadrant_moments(margin + t, margin - t, rho, rho_bar)
    v, w = draw_moments(t, margin)
    assert log_p == pytest.approx(draw_log_normaliser(t, margin), rel=1e-9)
    assert g1 - g2 == pytest.approx(v, rel=1e-9, abs=1e-9 * (g1 + g2))
    assert h11 - 2 * h12 + h22 == pytest.approx(-w, abs=1e-8 * max(1, -h11))


@given(st.floats(-8, 8), st.floats(-8, 8), st.floats(-0.99, 0.99))
def test_quadrants_make_up_the_half_plane(h, k, rho):
    """P(z1 > -h) does not depend on z2."""
    rho_bar = math.sqrt((1 - rho) * (1 + rho))
    other = math.exp(quadrant_log_probability(h, -k, -rho, rho_bar))
    assert math.exp(quadrant_log_probability(h, k, rho, rho_bar)) + other == pytest.approx(
        ndtr(h), abs=2e-15
    )
