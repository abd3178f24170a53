"""The bivariate normal far out: the probability that two variables both exceed bounds with a positive sum.

J = P(z1 > half + spread, z2 > half - spread) with half, spread >= 0, correlation rho and
slope = sqrt((1 + rho) / (1 - rho)). The derivative of J in rho is the joint density at the bounds (Plackett
1954); integrated from rho = -1, where J = 0, with w = sqrt((1 + r) / (1 - r)) as the variable it gives

    J = 1 / pi * integral over 0 < w < slope of exp(-(half^2 (1 + w^-2) + spread^2 (1 + w^2)) / 2) / (1 + w^2).

The exponent is -((half + spread)^2 + y^2) / 2 with y = half / w - spread w, so y is the natural variable; it
falls to c = half / slope - spread slope at the end.
"""

import math

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander

from ttt_cli.kernels.compile import inner
from ttt_cli.kernels.outcomes import INV_SQRT_2PI, LOG_SQRT_2PI, mills, win_moments

_SQRT_2_OVER_PI = 0.7978845608028653559
_DEPTH = 36.0  # integrands are followed down to exp(-36) of their start
_TERMS = 14
_INVERSE = 1.0 / np.arange(1.0, 2 * _TERMS + 1)
_ORDER = 24


# Gauss-Legendre nodes and weights on (0, 1); numpy's own weights lose three digits at the ends
_ROOTS = leggauss(_ORDER)[0]
_NODES = 0.5 * (1.0 + _ROOTS)
_WEIGHTS = 0.5 / (legvander(_ROOTS, _ORDER - 1) ** 2 @ (np.arange(_ORDER) + 0.5))


@inner
def cdf(x: float) -> float:
    """Phi(x), accurate in the lower tail."""
    if x < 0.0:
        return INV_SQRT_2PI * math.exp(-0.5 * x * x) * mills(-x)
    return 1.0 - INV_SQRT_2PI * math.exp(-0.5 * x * x) * mills(x)


@inner
def beyond(half: float, spread: float, slope: float, rho: float, rho_bar: float) -> float:
    """J / (phi(half + spread) exp(-max(0, c)^2 / 2)), for half, spread >= 0; never under- or overflows."""
    x = half / slope
    tilt = spread * slope
    c = x - tilt
    if slope * slope < 0.05 and tilt * tilt < 0.5 and x < 6.0:
        return _by_series(x, tilt, slope)
    if c >= 1.0:
        return _by_decay(half, spread, c)
    if rho <= 0.0:
        return math.exp(0.5 * max(0.0, c) ** 2) * _by_edge(half, spread, slope, rho, rho_bar)
    # w -> 1 / w exchanges half and spread; the integral over all w is that of rho = 1
    remaining = _by_edge(spread, half, 1.0 / slope, -rho, rho_bar)
    return math.exp(0.5 * max(0.0, c) ** 2) * (mills(half + spread) - remaining)


@inner
def _reach(rate: float, curvature: float) -> float:
    """Where rate t + curvature t^2 / 2 has grown to the depth."""
    return 2.0 * _DEPTH / (rate + math.sqrt(rate * rate + 2.0 * _DEPTH * curvature))


@inner
def _by_series(x: float, tilt: float, slope: float) -> float:
    """`beyond` for a small slope, by powers of w^2; x = half / slope, tilt = spread slope."""
    square = slope * slope
    moment = 1.0 - x * mills(x)  # of w^(2n) exp(-half^2 / 2 w^2), over slope^(2n + 1) exp(-x^2 / 2)
    exponential = 1.0
    coefficient = 1.0
    total = moment
    for n in range(1, _TERMS):
        moment = (1.0 - x * x * moment) * _INVERSE[2 * n]
        exponential *= -0.5 * tilt * tilt * _INVERSE[n - 1]
        coefficient = exponential - square * coefficient
        total += coefficient * moment
        if abs(coefficient) < 1e-17:
            break
    lower = min(0.0, x - tilt)
    return _SQRT_2_OVER_PI * slope * total * math.exp(0.5 * (tilt * tilt - lower * lower))


@inner
def _by_decay(half: float, spread: float, c: float) -> float:
    """`beyond` for c >= 1, by quadrature in y."""
    reach = _reach(c, 1.0)
    product = 4.0 * half * spread
    total = 0.0
    for i in range(len(_NODES)):
        t = reach * _NODES[i]
        y = c + t
        z = math.sqrt(y * y + product)
        w = 2.0 * half / (y + z)
        total += _WEIGHTS[i] * math.exp(-t * (c + 0.5 * t)) * w / ((1.0 + w * w) * z)
    return _SQRT_2_OVER_PI * reach * total


@inner
def _by_edge(half: float, spread: float, slope: float, rho: float, rho_bar: float) -> float:
    """J / phi(half + spread) for rho <= 0, by quadrature over the excess of z1 in units of rho_bar."""
    x = half / slope
    tilt = spread * slope
    rate = (half + spread) * rho_bar
    square = rho_bar * rho_bar
    reach = min(_reach(x + tilt, 1.0), _reach(rate, square))
    total = 0.0
    for i in range(len(_NODES)):
        t = reach * _NODES[i]
        total += _WEIGHTS[i] * math.exp(-t * (rate + 0.5 * square * t)) * cdf(rho * t + tilt - x)
    return rho_bar * reach * total


@inner
def corner_hessian(a: float, b: float, rho: float, rho_bar: float) -> tuple[float, float, float]:
    """(h_low_low, h_low_high, h_high_high) of log P where b is far below 0 and a not far above it, rho <= 0.

    From the covariance V of the truncated variables as R^-1 V R^-1 - R^-1. In units of rho_bar the one with
    mean `low` is t > 0 with density exp((b + rho a) t - rho_bar^2 t^2 / 2) Phi(a + rho t), and given it the
    other is normal with mean a + rho t and sd 1, truncated to be positive.
    """
    reach = _reach(-b, 1.0)
    mass = 0.0
    mean_1 = 0.0
    mean_2 = 0.0
    square_1 = 0.0
    product = 0.0
    square_2 = 0.0
    inside = 0.0
    start = a + win_moments(a)[0]  # mean of the second variable at t = 0, near which the mass is
    above = max(0.0, a)
    for i in range(len(_NODES)):
        t = reach * _NODES[i]
        x = a + rho * t
        v, w = win_moments(x)
        value_2 = x + v - start
        if x < 0.0:
            chance = INV_SQRT_2PI * math.exp(b * t - 0.5 * t * t - 0.5 * above * above) * mills(-x)
        else:
            chance = math.exp(t * (b + rho * a - 0.5 * rho_bar * rho_bar * t)) * cdf(x)
        chance *= _WEIGHTS[i]
        mass += chance
        mean_1 += chance * t
        mean_2 += chance * value_2
        square_1 += chance * t * t
        product += chance * t * value_2
        square_2 += chance * value_2 * value_2
        inside += chance * (1.0 - w)
    mean_1 /= mass
    mean_2 /= mass
    v11 = square_1 / mass - mean_1 * mean_1
    v12 = product / mass - mean_1 * mean_2
    v22 = (square_2 + inside) / mass - mean_2 * mean_2
    inverse = 1.0 / (rho_bar * rho_bar)
    return (
        inverse * (v11 - 2.0 * rho * v12 + rho * rho * v22 - 1.0),
        inverse * ((1.0 + rho * rho) * v12 - rho * (v11 + v22) + rho),
        inverse * (rho * rho * v11 - 2.0 * rho * v12 + v22 - 1.0),
    )


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

    z1, z2 are standard normal with correlation rho, -1 < rho <= 0.99, and `rho_bar` = sqrt(1 - rho^2) > 0 must be
    computed without cancellation: near -1 rho itself has lost its digits. The mean of the truncated (h + z1, k + z2)
    is (h, k) + R g and its covariance R + R H R, with R = [[1, rho], [rho, 1]].

    Errors for |h|, |k| <= 40, relative to max(1, |value|): log P 1e-14, g 3e-13, H (to its largest entry) 1e-11; up
    to 1000, where H loses h^2 by cancellation, 2e-9. Swapping h and k swaps the results to the bit.
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
    outside_corner = 0.0
    if b < _NEGLIGIBLE:
        outside_corner = (
            at_high * math.exp(-0.5 * c * c) * beyond(half, spread, slope, rho, rho_bar)
        )
    if half * (1.0 + spread) < 1.0:
        centre = 0.5 * half * (half - 2.0 * spread) if low < 0.0 else -0.5 * spread * spread
        mass = outside_corner + math.exp(centre) * _narrow(half, spread)
    elif low < 0.0:
        mass = outside_corner + mills(-low) - at_high * mills(high)
    else:
        outside = at_low * mills(low) + at_high * mills(high) - outside_corner
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
