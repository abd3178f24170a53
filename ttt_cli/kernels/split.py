"""Draws as two one-sided factors: the approximation of the TTT paper's graph (figure 1, right).

Instead of the exact moments of (z1, z2) given z1 > -h and z2 > -k (see `bivariate`), each condition has a Gaussian
site of its own, updated in turn until both agree.
"""

from __future__ import annotations

import math

from ttt_cli.kernels.compile import inner
from ttt_cli.kernels.truncated import win_log_normaliser, win_moments

_ROUNDS = 200
_SETTLED = 1e-13


@inner
def _settle(h, k, rho, rho_bar):
    """Sites (p1, w1, p2, w2) on z1 + h > 0 and z2 + k > 0 for a standard bivariate normal (z1, z2)."""
    p1 = w1 = p2 = w2 = 0.0
    rest = rho_bar * rho_bar
    for _ in range(_ROUNDS):
        # the belief about z1 without its own site: z2's site seen through the correlation
        shrink = 1.0 / (1.0 + p2)
        variance = (1.0 + rest * p2) * shrink
        mean = rho * w2 * shrink
        scale = 1.0 / math.sqrt(variance)
        v, w = win_moments((mean + h) * scale)
        left = 1.0 / (1.0 - w)
        new_p1 = w / variance * left
        new_w1 = (v * scale + mean * w / variance) * left
        shrink = 1.0 / (1.0 + new_p1)
        variance = (1.0 + rest * new_p1) * shrink
        mean = rho * new_w1 * shrink
        scale = 1.0 / math.sqrt(variance)
        v, w = win_moments((mean + k) * scale)
        left = 1.0 / (1.0 - w)
        new_p2 = w / variance * left
        new_w2 = (v * scale + mean * w / variance) * left
        change = abs(new_p1 - p1) + abs(new_p2 - p2) + abs(new_w1 - w1) + abs(new_w2 - w2)
        size = abs(new_p1) + abs(new_p2) + abs(new_w1) + abs(new_w2)
        p1, w1, p2, w2 = new_p1, new_w1, new_p2, new_w2
        if change < _SETTLED * size:
            break
    return p1, w1, p2, w2


@inner
def split_moments(h, k, rho, rho_bar):
    """As `bivariate.quadrant_moments`, by the two sites: (log P, g1, g2, h11, h12, h22)."""
    p1, w1, p2, w2 = _settle(h, k, rho, rho_bar)
    # the posterior has covariance (R^-1 + P)^-1; slopes and curvatures follow from H = -(R + P^-1)^-1 = -P (I + R P)^-1
    rest = rho_bar * rho_bar
    determinant = 1.0 + p1 + p2 + rest * p1 * p2
    h11 = -p1 * (1.0 + p2) / determinant
    h22 = -p2 * (1.0 + p1) / determinant
    h12 = rho * p1 * p2 / determinant
    g1 = ((1.0 + p2) * w1 - rho * p1 * w2) / determinant
    g2 = ((1.0 + p1) * w2 - rho * p2 * w1) / determinant
    return _log_normaliser(h, k, rho, rho_bar, p1, w1, p2, w2), g1, g2, h11, h12, h22


@inner
def split_log_probability(h, k, rho, rho_bar):
    """The log normaliser of the two sites."""
    p1, w1, p2, w2 = _settle(h, k, rho, rho_bar)
    return _log_normaliser(h, k, rho, rho_bar, p1, w1, p2, w2)


@inner
def _log_normaliser(h, k, rho, rho_bar, p1, w1, p2, w2):
    """log Z of the two sites beside the standard bivariate normal (0 mean, 1 variance, correlation rho)."""
    rest = rho_bar * rho_bar
    determinant = 1.0 + p1 + p2 + rest * p1 * p2
    quadratic = (
        (1.0 + rest * p2) * w1 * w1 + 2.0 * rho * w1 * w2 + (1.0 + rest * p1) * w2 * w2
    ) / determinant
    total = 0.5 * quadratic - 0.5 * math.log(determinant)
    total += _own_share(h, rho, rest, p1, w1, p2, w2)
    total += _own_share(k, rho, rest, p2, w2, p1, w1)
    return total


@inner
def _own_share(bound, rho, rest, p, w, other_p, other_w):
    """log of the one-sided probability over the integral of the cavity times the site."""
    shrink = 1.0 / (1.0 + other_p)
    variance = (1.0 + rest * other_p) * shrink
    mean = rho * other_w * shrink
    precision = 1.0 / variance
    weighted = mean * precision
    grown = precision + p
    exponent = 0.5 * (w * (2.0 * weighted + w) - mean * p * weighted) / grown
    exponent += 0.5 * math.log(precision / grown)
    return win_log_normaliser((mean + bound) / math.sqrt(variance)) - exponent
