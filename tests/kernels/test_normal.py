"""The Mills ratio and log Phi against arbitrary-precision arithmetic."""

import math

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.kernels.outcomes import log_cdf, mills

mpmath.mp.dps = 40


@given(st.floats(0.0, 100.0))
def test_mills_ratio_keeps_fourteen_digits(z):
    exact = mpmath.sqrt(mpmath.pi / 2) * mpmath.erfc(z / mpmath.sqrt(2)) * mpmath.exp(mpmath.mpf(z) ** 2 / 2)
    assert mills(z) == pytest.approx(float(exact), rel=1e-14)


@each("z", [1e3, 1e8, 1e150])
def test_mills_ratio_far_out_is_one_over_z(z):
    assert mills(z) == pytest.approx(1 / z, rel=2 / z**2 + 1e-14)


@given(st.floats(-60.0, 8.0))
def test_log_cdf_keeps_its_digits_in_both_tails(x):
    exact = mpmath.log(mpmath.erfc(-mpmath.mpf(x) / mpmath.sqrt(2)) / 2)
    assert log_cdf(x) == pytest.approx(float(exact), rel=1e-13)


def test_log_cdf_golden():
    """log Phi(-15), from the literature on tail accuracy of TrueSkill codes."""
    assert log_cdf(-15.0) == pytest.approx(-116.13138484571169, rel=1e-15)
    assert math.isfinite(log_cdf(-1e150))
