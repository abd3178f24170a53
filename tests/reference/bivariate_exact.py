"""P(z1 > -h, z2 > -k) and its derivatives, slowly and plainly, in arbitrary precision.

P / phi(h) = integral over x > 0 of exp(h x - x^2 / 2) Phi((k - rho h + rho x) / rho_bar), by Gauss-Legendre
panels no longer than the scales of the two factors; the derivatives of log P are the textbook quotients.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import mpmath
from mpmath import mp, mpf

DIGITS = 50
_DEPTH = 85  # the integrand is followed down to exp(-85), for derivatives that lose up to 20 digits
_ORDER = 30


def exact_moments(h, k, rho, rho_bar):
    """(log P, g1, g2, h11, h12, h22) as mpf; the better conditioned of rho, rho_bar gives the other."""
    with mpmath.workdps(DIGITS):
        h, k, rho, rho_bar = (mpf(float(x)) for x in (h, k, rho, rho_bar))
        if abs(rho) > 0.7:
            rho = mp.sign(rho) * mp.sqrt(1 - rho_bar**2)
        else:
            rho_bar = mp.sqrt(1 - rho**2)
        a = (k - rho * h) / rho_bar
        b = (h - rho * k) / rho_bar
        mass = _mass(h, a, rho, rho_bar)  # P / phi(h)
        r1 = _cdf(a) / mass
        r2 = mp.exp((h * h - k * k) / 2) * _cdf(b) / mass
        r12 = mp.npdf(a) / rho_bar / mass
        log_p = mp.log(mass) - h * h / 2 - mp.log(2 * mp.pi) / 2
        return (
            log_p,
            r1,
            r2,
            -h * r1 - rho * r12 - r1**2,
            r12 - r1 * r2,
            -k * r2 - rho * r12 - r2**2,
        )


def correlation(rho_bar_squared):
    """(rho, rho_bar) as floats for a negative correlation with 1 - rho^2 given."""
    with mpmath.workdps(DIGITS):
        square = mpf(rho_bar_squared)
        return float(-mp.sqrt(1 - square)), float(mp.sqrt(square))


def _mass(h, a, rho, rho_bar):
    """Integral in units t = x / rho_bar, where Phi changes on the scale 1 / |rho| around -a / rho."""

    def exponent(t):
        return h * rho_bar * t - (rho_bar * t) ** 2 / 2 + mp.log(_cdf(a + rho * t))

    def slope(t):
        u = a + rho * t
        return h * rho_bar - rho_bar**2 * t + rho * mp.npdf(u) / _cdf(u)

    with mpmath.workdps(25):
        low, peak, high = _window(exponent, slope)
    points = {low, peak, high} | {low + (high - low) * j / 4 for j in range(1, 4)}
    points |= {h / rho_bar + j / rho_bar for j in range(-15, 16, 5)}
    if abs(rho) > mpf("1e-3"):
        points |= {(j - a) / rho for j in range(-15, 16, 5)}
    points = sorted(p for p in points if low <= p <= high)
    total = mpf(0)
    for left, right in pairwise(points):
        for node, weight in _legendre():
            t = left + (right - left) * node
            total += (
                weight
                * (right - left)
                * mp.exp(h * rho_bar * t - (rho_bar * t) ** 2 / 2)
                * _cdf(a + rho * t)
            )
    return rho_bar * total


def _window(exponent, slope):
    """(low, peak, high) of a log-concave function on t > 0, its mass beyond being below exp(-depth)."""
    step = mpf(1)
    while slope(step) > 0:
        step *= 2
    left, right = mpf(0), step
    while slope(mpf(0)) > 0 and right - left > 1e-3 * right:
        middle = (left + right) / 2
        left, right = (middle, right) if slope(middle) > 0 else (left, middle)
    peak = left
    return _fall(exponent, peak, -1), peak, _fall(exponent, peak, 1)


def _fall(exponent, peak, direction):
    """A point, at most 10 % too far out, where the function has fallen by the depth, but not below 0."""
    floor = exponent(peak) - _DEPTH
    step = mpf(1)
    while exponent(peak + direction * step) < floor:
        step /= 2
    while peak + direction * step > 0 and exponent(peak + direction * step) > floor:
        step *= mpf("1.1")
    return max(mpf(0), peak + direction * step)


def _cdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


@cache
def _legendre():
    """Nodes on (0, 1) and their weights."""
    with mpmath.workdps(DIGITS + 10):
        rule = []
        for i in range(_ORDER):
            x = mp.cos(mp.pi * (i + mpf(3) / 4) / (_ORDER + mpf(1) / 2))
            for _ in range(8):
                p, dp = _polynomial(x)
                x -= p / dp
            dp = _polynomial(x)[1]
            rule.append(((1 + x) / 2, 1 / ((1 - x * x) * dp**2)))
        return rule


def _polynomial(x):
    """The Legendre polynomial of the rule's order and its derivative."""
    before, value = mpf(1), x
    for n in range(1, _ORDER):
        before, value = value, ((2 * n + 1) * x * value - n * before) / (n + 1)
    return value, _ORDER * (before - x * value) / (1 - x * x)
