"""The bivariate normal far out: the probability that two variables both exceed bounds with a positive sum.

J = P(z1 > half + spread, z2 > half - spread) with half, spread >= 0, correlation rho and
slope = sqrt((1 + rho) / (1 - rho)). The derivative of J in rho is the joint density at the bounds (Plackett
1954); integrated from rho = -1, where J = 0, with w = sqrt((1 + r) / (1 - r)) as the variable it gives

    J = 1 / pi * integral over 0 < w < slope of exp(-(half^2 (1 + w^-2) + spread^2 (1 + w^2)) / 2) / (1 + w^2).

The exponent is -((half + spread)^2 + y^2) / 2 with y = half / w - spread w, so y is the natural variable; it
falls to c = half / slope - spread slope at the end.
"""

import math
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.compile import inner
from ttt_cli.kernels.normal import INV_SQRT_2PI, mills
from ttt_cli.kernels.truncated import win_moments

_SQRT_2_OVER_PI = 0.7978845608028653559
_DEPTH = 36.0  # integrands are followed down to exp(-36) of their start
_TERMS = 14
_INVERSE = 1.0 / np.arange(1.0, 2 * _TERMS + 1)
_ORDER = 24


def _legendre_rule() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss-Legendre nodes on (0, 1) and weights, to the last bit: numpy's lose three digits at the ends."""
    nodes = np.empty(_ORDER)
    weights = np.empty(_ORDER)
    with localcontext(prec=40):
        for i, start in enumerate(np.polynomial.legendre.leggauss(_ORDER)[0]):
            x = Decimal(float(start))
            for _ in range(3):
                before, value = Decimal(1), x
                for n in range(1, _ORDER):
                    before, value = value, ((2 * n + 1) * x * value - n * before) / (n + 1)
                derivative = _ORDER * (before - x * value) / (1 - x * x)
                x -= value / derivative
            nodes[i] = (1 + x) / 2
            weights[i] = 1 / ((1 - x * x) * derivative * derivative)
    return nodes, weights


_NODES, _WEIGHTS = _legendre_rule()


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
    other = _by_edge(spread, half, 1.0 / slope, -rho, rho_bar)
    return math.exp(0.5 * max(0.0, c) ** 2) * (mills(half + spread) - other)


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
    start = a + win_moments(a)[0]  # the other's mean at t = 0, near which the mass is
    above = max(0.0, a)
    for i in range(len(_NODES)):
        t = reach * _NODES[i]
        x = a + rho * t
        v, w = win_moments(x)
        other = x + v - start
        if x < 0.0:
            chance = INV_SQRT_2PI * math.exp(b * t - 0.5 * t * t - 0.5 * above * above) * mills(-x)
        else:
            chance = math.exp(t * (b + rho * a - 0.5 * rho_bar * rho_bar * t)) * cdf(x)
        chance *= _WEIGHTS[i]
        mass += chance
        mean_1 += chance * t
        mean_2 += chance * other
        square_1 += chance * t * t
        product += chance * t * other
        square_2 += chance * other * other
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
