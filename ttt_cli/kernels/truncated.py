"""Moments of a truncated standard normal: what one game says about the difference of two performances.

With d = t + u, u standard normal: a win truncates d to (margin, inf), a draw to [-margin, margin]. Each function
returns (v, w, log normaliser) where the truncated d has mean t + v and variance 1 - w
(v and w of TrueSkill Through Time, section 3.1).
"""

import math

import numpy as np

from ttt_cli.kernels.compile import inner
from ttt_cli.kernels.normal import INV_SQRT_2PI, LOG_SQRT_2PI, log_cdf, mills

FAR = 50.0  # beyond, v + x loses more than 1e-12 by cancellation and the asymptotic series keeps it
FAR_DRAW = 8.0  # the same for intervals, where both ends cancel
NARROW = 3e-2  # an interval narrower than this, relative to the scale on which the density changes
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)


@inner
def win_moments(x: float) -> tuple[float, float]:
    """(v, w) when u is truncated to u > -x."""
    if x >= 0.0:
        density = INV_SQRT_2PI * math.exp(-0.5 * x * x)
        v = density / (1.0 - density * mills(x))
        return v, v * (v + x)
    if x > -FAR:
        v = 1.0 / mills(-x)
        return v, v * (v + x)
    y = 1.0 / (x * x)  # series of 1 / R(z) for large z = -x
    rest = 1.0 + y * (-2.0 + y * (10.0 + y * (-74.0 + y * (706.0 - 8162.0 * y))))
    ratio = 1.0 + y * rest
    return -x * ratio, ratio * rest


@inner
def draw_moments(t: float, margin: float) -> tuple[float, float]:
    """(v, w) when |t + u| <= margin, margin > 0; v is odd and w even in t to the last bit."""
    distance = abs(t)
    low = distance - margin
    high = distance + margin
    if low > FAR_DRAW or margin * (1.0 + distance) < NARROW:
        v, w, _ = _by_quadrature(low, high)
    elif low >= 0.0:
        shrink = math.exp(-2.0 * distance * margin)  # phi(high) / phi(low)
        mass = mills(low) - shrink * mills(high)  # over phi(low)
        v = (1.0 - shrink) / mass
        w = v * (v - low) + 2.0 * margin * shrink / mass
    else:
        at_low = INV_SQRT_2PI * math.exp(-0.5 * low * low)
        at_high = INV_SQRT_2PI * math.exp(-0.5 * high * high)
        mass = 1.0 - at_low * mills(-low) - at_high * mills(high)
        v = (at_low - at_high) / mass
        w = v * v + (high * at_high - low * at_low) / mass
    if t == 0.0:
        v = 0.0
    return (-v if t > 0.0 else v), w


@inner
def draw_log_normaliser(t: float, margin: float) -> float:
    """log P(|t + u| <= margin), margin > 0."""
    distance = abs(t)
    low = distance - margin
    high = distance + margin
    if low > FAR_DRAW or margin * (1.0 + distance) < NARROW:
        return _by_quadrature(low, high)[2]
    if low >= 0.0:
        mass = mills(low) - math.exp(-2.0 * distance * margin) * mills(high)
        return math.log(mass) - 0.5 * low * low - LOG_SQRT_2PI
    at_low = INV_SQRT_2PI * math.exp(-0.5 * low * low)
    at_high = INV_SQRT_2PI * math.exp(-0.5 * high * high)
    return math.log1p(-at_low * mills(-low) - at_high * mills(high))


@inner
def outcome_moments(t: float, margin: float, outcome: int) -> tuple[float, float]:
    """(v, w) given an outcome: 0 loss, 1 draw, 2 win."""
    if outcome == 2:
        return win_moments(t - margin)
    if outcome == 0:
        v, w = win_moments(-t - margin)
        return -v, w
    return draw_moments(t, margin)


@inner
def outcome_log_normaliser(t: float, margin: float, outcome: int) -> float:
    """log P(outcome): 0 loss, 1 draw, 2 win."""
    if outcome == 2:
        return log_cdf(t - margin)
    if outcome == 0:
        return log_cdf(-t - margin)
    return draw_log_normaliser(t, margin)


@inner
def _by_quadrature(low: float, high: float) -> tuple[float, float, float]:
    """(mean of u, 1 - variance of u, log mass) on (low, high), for narrow or remote intervals, free of cancellation."""
    width = high - low
    if low > 0.0:
        width = min(width, 45.0 / low)
    mass = 0.0
    first = 0.0
    for k in range(32):
        x = 0.5 * width * (1.0 + _NODES[k])
        density = _WEIGHTS[k] * math.exp(-x * (low + 0.5 * x))
        mass += density
        first += density * x
    mean = first / mass
    second = 0.0
    for k in range(32):
        x = 0.5 * width * (1.0 + _NODES[k])
        second += _WEIGHTS[k] * math.exp(-x * (low + 0.5 * x)) * (x - mean) ** 2
    log_mass = math.log(0.5 * width * mass) - 0.5 * low * low - LOG_SQRT_2PI
    return low + mean, 1.0 - second / mass, log_mass
