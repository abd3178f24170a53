"""What one game of TTT-D says about the two sides of a draw, x1 = d + e_i and x2 = e_j - d (see `ttt_d`).

d = s_i - s_j + advantage + noise; e_i and e_j are the draw margins. Player i wins when x2 < 0, loses when x1 < 0, and
draws when both are positive. `x1` and `x2` are means, c11, c12 and c22 covariances, noise included, and `det` is
c11 c22 - c12^2, found without the difference.
"""

import math

from ttt_cli.kernels.codes import UNKNOWN, first_share, log_average
from ttt_cli.kernels.compile import flat, inner
from ttt_cli.kernels.ep.bivariate import quadrant_log_probability, quadrant_moments
from ttt_cli.kernels.normal import log_cdf
from ttt_cli.kernels.truncated import win_moments


@inner
def apart(noise, var_d, var_i, var_j):
    """(c11, c12, c22, det) of independent d, e_i and e_j."""
    total = var_d + noise
    return total + var_i, -total, total + var_j, total * (var_i + var_j) + var_i * var_j


@inner
def together(noise, c11, shared, both):
    """(c11, c12, c22, det) from c11 without noise, cov(x1, x1 + x2) and var(x1 + x2), in which noise cancels."""
    one = c11 + noise
    return one, shared - one, one + both - 2.0 * shared, one * both - shared * shared


@inner
def sides(outcome, x1, x2, c11, c12, c22, det):
    """Slopes (g1, g2) and curvatures (-h11, -h12, -h22) of the log probability of an outcome in the means of x1, x2."""
    scale_1 = 1.0 / math.sqrt(c11)
    scale_2 = 1.0 / math.sqrt(c22)
    if outcome == 2:
        v, w = win_moments(-x2 * scale_2)
        return 0.0, -v * scale_2, 0.0, 0.0, w * scale_2 * scale_2
    if outcome == 0:
        v, w = win_moments(-x1 * scale_1)
        return -v * scale_1, 0.0, w * scale_1 * scale_1, 0.0, 0.0
    both = scale_1 * scale_2
    _, g1, g2, h11, h12, h22 = quadrant_moments(x1 * scale_1, x2 * scale_2, c12 * both, math.sqrt(det) * both)
    return g1 * scale_1, g2 * scale_2, -h11 * scale_1 * scale_1, -h12 * both, -h22 * scale_2 * scale_2


@inner
def sides_log_probability(outcome, x1, x2, c11, c12, c22, det):
    """log P of an outcome."""
    if outcome == 2:
        return log_cdf(-x2 / math.sqrt(c22))
    if outcome == 0:
        return log_cdf(-x1 / math.sqrt(c11))
    scale_1 = 1.0 / math.sqrt(c11)
    scale_2 = 1.0 / math.sqrt(c22)
    both = scale_1 * scale_2
    return quadrant_log_probability(x1 * scale_1, x2 * scale_2, c12 * both, math.sqrt(det) * both)


@inner
def game_sides(outcome, x1, x2, advantage, spread):
    """As `sides`, of a game that may have unknown colours (see `codes`); `spread` is (c11, c12, c22, det)."""
    c11, c12, c22, det = spread
    if outcome < UNKNOWN:
        return sides(outcome, x1 + advantage, x2 - advantage, c11, c12, c22, det)
    known = outcome - UNKNOWN
    a1, a2, a11, a12, a22 = sides(known, x1 + advantage, x2 - advantage, c11, c12, c22, det)
    b1, b2, b11, b12, b22 = sides(known, x1 - advantage, x2 + advantage, c11, c12, c22, det)
    p = colour_share(outcome, x1, x2, advantage, spread)
    q = 1.0 - p
    apart_1, apart_2 = a1 - b1, a2 - b2
    return (
        p * a1 + q * b1, p * a2 + q * b2,
        p * a11 + q * b11 - p * q * apart_1 * apart_1,
        p * a12 + q * b12 - p * q * apart_1 * apart_2,
        p * a22 + q * b22 - p * q * apart_2 * apart_2,
    )  # fmt: skip


@inner
def has_one_peak(slopes):
    """Whether minus the Hessian is positive semidefinite, rounding aside: only then a Gaussian site stands for it."""
    _, _, k11, k12, k22 = slopes
    return k11 >= 0.0 and k22 >= 0.0 and k12 * k12 <= k11 * k22 * (1.0 + 1e-9)


@flat
def gaussian_site(slopes, x1, x2, c11, c12, c22):
    """(q11, q12, q22, b1, b2) of the site of a game with these slopes, as `game_sides` gives them, at its cavity.

    With the cavity's covariance C, noise excluded, and mean m, Q = (I - K C)^-1 K and b = (I - K C)^-1 (g + K m).
    """
    g1, g2, k11, k12, k22 = slopes
    m11 = 1.0 - k11 * c11 - k12 * c12
    m12 = -k11 * c12 - k12 * c22
    m21 = -k12 * c11 - k22 * c12
    m22 = 1.0 - k12 * c12 - k22 * c22
    inverse = 1.0 / (m11 * m22 - m12 * m21)
    r1 = g1 + k11 * x1 + k12 * x2
    r2 = g2 + k12 * x1 + k22 * x2
    return (
        (m22 * k11 - m12 * k12) * inverse, (m22 * k12 - m12 * k22) * inverse,
        (m11 * k22 - m21 * k12) * inverse,
        (m22 * r1 - m12 * r2) * inverse, (m11 * r2 - m21 * r1) * inverse,
    )  # fmt: skip


@inner
def colour_share(outcome, x1, x2, advantage, spread):
    """The posterior weight of the first player having White: 1 where colours are known."""
    if outcome < UNKNOWN:
        return 1.0
    c11, c12, c22, det = spread
    known = outcome - UNKNOWN
    return first_share(
        sides_log_probability(known, x1 + advantage, x2 - advantage, c11, c12, c22, det),
        sides_log_probability(known, x1 - advantage, x2 + advantage, c11, c12, c22, det),
    )


@inner
def game_log_probability(outcome, x1, x2, advantage, spread):
    """log P of a game that may have unknown colours; arguments as in `game_sides`."""
    c11, c12, c22, det = spread
    known = outcome if outcome < UNKNOWN else outcome - UNKNOWN
    log_p = sides_log_probability(known, x1 + advantage, x2 - advantage, c11, c12, c22, det)
    if outcome < UNKNOWN:
        return log_p
    return log_average(
        log_p, sides_log_probability(known, x1 - advantage, x2 + advantage, c11, c12, c22, det)
    )
