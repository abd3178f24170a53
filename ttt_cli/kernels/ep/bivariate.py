"""The probability that two correlated normal variables are both positive, with its first two derivatives.

In TTT-D a draw truncates x1 = d + e_i > 0 and x2 = e_j - d > 0, correlated near -1: the skill difference d
lies between two uncertain margins. With h and k the means of x1 and x2 over their standard deviations,

    P = P(z1 > -h, z2 > -k) = max(0, Phi(h) + Phi(k) - 1) + J,

where the first term, there if h + k > 0, is the interval between the margins as if they were certain, and
J the chance that z1 > |h + k| / 2 + |h - k| / 2 and z2 > |h + k| / 2 - |h - k| / 2 (`bivariate_tail`). Both
are positive, so P keeps its relative accuracy everywhere. The derivatives are closed: P_h = phi(h) Phi(a),
P_k = phi(k) Phi(b), P_hk = phi(h) phi(a) / rho_bar, a = (k - rho h) / rho_bar, b = (h - rho k) / rho_bar.

Let low <= high be h and k in order, half = (low + high) / 2, spread = (high - low) / 2 and
slope = sqrt((1 + rho) / (1 - rho)). Then, with the first derivative taken in `low`, a and b are
half / slope +- spread slope, without cancellation as rho approaches -1.
"""

import math

import numpy as np

from ttt_cli.kernels.compile import inner
from ttt_cli.kernels.ep.bivariate_tail import beyond, cdf, corner_hessian
from ttt_cli.kernels.normal import INV_SQRT_2PI, LOG_SQRT_2PI, mills

_SQRT_2PI = 1.0 / INV_SQRT_2PI
_NEGLIGIBLE = 8.5  # beyond, the certain interval is all that double precision sees
_CORNER_A = 4.0  # with a and b below these, P''/P - (P'/P)^2 loses digits that a covariance keeps
_CORNER_B = -20.0
_FACTORIAL_STEP = np.array([1.0 / ((n + 1) * (n + 2)) for n in range(27)])


@inner
def quadrant_moments(
    h: float, k: float, rho: float, rho_bar: float
) -> tuple[float, float, float, float, float, float]:
    """(log P, g1, g2, h11, h12, h22): log P(z1 > -h, z2 > -k), its gradient and its Hessian in (h, k).

    z1, z2 are standard normal with correlation rho, -1 < rho <= 0.99, and `rho_bar` = sqrt(1 - rho^2) > 0
    must be computed without cancellation: near -1 it, not rho, says how far apart they are. The mean of the
    truncated (h + z1, k + z2) is (h, k) + R g and its covariance R + R H R, with R = [[1, rho], [rho, 1]].

    Errors for |h|, |k| <= 40, relative to max(1, |value|): log P 1e-14, g 3e-13, H (to its largest entry)
    1e-11; up to 1000, where H loses h^2 by cancellation, 2e-9. Swapping h and k swaps the results to the bit.
    """
    low = min(h, k)
    high = max(h, k)
    half = 0.5 * (low + high)
    spread = 0.5 * (high - low)
    slope = _slope(rho, rho_bar)
    log_p, g_low, g_high, both = _ratios(low, high, half, spread, slope, rho, rho_bar)
    a = half / slope + spread * slope
    b = half / slope - spread * slope
    if a < _CORNER_A and b < _CORNER_B and rho <= 0.0:
        low_low, low_high, high_high = corner_hessian(a, b, rho, rho_bar)
    else:
        low_low = -g_low * (g_low + low) - rho * both
        low_high = both - g_low * g_high
        high_high = -g_high * (g_high + high) - rho * both
    if h == k:
        high_high = low_low
    if h > k:
        return log_p, g_high, g_low, high_high, low_high, low_low
    return log_p, g_low, g_high, low_low, low_high, high_high


@inner
def quadrant_log_probability(h: float, k: float, rho: float, rho_bar: float) -> float:
    """log P(z1 > -h, z2 > -k) alone; arguments as in `quadrant_moments`."""
    low = min(h, k)
    high = max(h, k)
    half = 0.5 * (low + high)
    spread = 0.5 * (high - low)
    slope = _slope(rho, rho_bar)
    if half < 0.0:
        return _disjoint(low, -half, spread, slope, rho, rho_bar)[0]
    return _overlapping(low, high, half, spread, slope, rho, rho_bar)[0]


@inner
def _slope(rho: float, rho_bar: float) -> float:
    return rho_bar / (1.0 - rho) if rho < 0.0 else (1.0 + rho) / rho_bar


@inner
def _ratios(
    low: float, high: float, half: float, spread: float, slope: float, rho: float, rho_bar: float
) -> tuple[float, float, float, float]:
    """(log P, P_low / P, P_high / P, P_low_high / P) for low <= high."""
    a = half / slope + spread * slope
    b = half / slope - spread * slope
    if half >= 0.0:
        log_p, mass, at_low, at_high = _overlapping(low, high, half, spread, slope, rho, rho_bar)
        corner = at_low * INV_SQRT_2PI * math.exp(-0.5 * a * a)
        return log_p, at_low * cdf(a) / mass, at_high * cdf(b) / mass, corner / (rho_bar * mass)
    log_p, mass = _disjoint(low, -half, spread, slope, rho, rho_bar)
    if a < 0.0:
        corner = INV_SQRT_2PI
        at_edge = corner * mills(-a)
    else:
        corner = INV_SQRT_2PI * math.exp(-0.5 * a * a)
        at_edge = cdf(a)
    return log_p, at_edge / mass, corner * mills(-b) / mass, corner / (rho_bar * mass)


@inner
def _disjoint(
    low: float, half: float, spread: float, slope: float, rho: float, rho_bar: float
) -> tuple[float, float]:
    """(log P, P / (phi(low) exp(-c^2 / 2))), c = max(0, -a), for h + k = -2 half < 0: no certain interval."""
    mass = beyond(half, spread, slope, rho, rho_bar)
    c = max(0.0, half / slope - spread * slope)
    return math.log(mass) - 0.5 * (low * low + c * c) - LOG_SQRT_2PI, mass


@inner
def _overlapping(
    low: float, high: float, half: float, spread: float, slope: float, rho: float, rho_bar: float
) -> tuple[float, float, float, float]:
    """(log P, mass, phi(low), phi(high)) for h + k >= 0, the last three over phi(min(0, low))."""
    b = half / slope - spread * slope
    c = max(b, 0.0)
    if low < 0.0:
        log_scale = -0.5 * low * low
        at_low = 1.0
        at_high = math.exp(-2.0 * half * spread)
    else:
        log_scale = 0.0
        at_low = math.exp(-0.5 * low * low)
        at_high = math.exp(-0.5 * high * high)
    rest = 0.0
    if b < _NEGLIGIBLE:
        rest = at_high * math.exp(-0.5 * c * c) * beyond(half, spread, slope, rho, rho_bar)
    if half * (1.0 + spread) < 1.0:
        centre = 0.5 * half * (half - 2.0 * spread) if low < 0.0 else -0.5 * spread * spread
        mass = rest + math.exp(centre) * _narrow(half, spread)
    elif low < 0.0:
        mass = rest + mills(-low) - at_high * mills(high)
    else:
        outside = at_low * mills(low) + at_high * mills(high) - rest
        return math.log1p(-INV_SQRT_2PI * outside), _SQRT_2PI - outside, at_low, at_high
    return math.log(mass) + log_scale - LOG_SQRT_2PI, mass, at_low, at_high


@inner
def _narrow(half: float, spread: float) -> float:
    """Integral of exp(-u^2 / 2 - spread u) over |u| < half, by its Taylor series; half (1 + spread) < 1."""
    square = half * half
    even = 1.0
    odd = 0.0
    power = 2.0 * half
    total = power
    for n in range(1, 27, 2):
        odd = spread * even - (n - 1) * odd
        even = spread * odd - n * even
        power *= square * _FACTORIAL_STEP[n]
        total += even * power
    return total
