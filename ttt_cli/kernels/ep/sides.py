"""What one game of TTT-D says about the two sides of a draw, x1 = d + e_i and x2 = e_j - d (see `ttt_d`).

d = s_i - s_j + advantage + noise has mean `mean` and variance `var_d` + `noise`; the draw margins e_i and e_j are
N(mean_i, var_i) and N(mean_j, var_j). Player i wins when x2 < 0, loses when x1 < 0, and draws when both are positive.
"""

import math

from ttt_cli.kernels.colours import UNKNOWN, first_share, log_average
from ttt_cli.kernels.compile import inner
from ttt_cli.kernels.ep.bivariate import quadrant_log_probability, quadrant_moments
from ttt_cli.kernels.truncated import win_log_normaliser, win_moments


@inner
def _standardised(mean, total, mean_i, var_i, mean_j, var_j):
    """(h, k, rho, rho_bar, 1 / sd(x1), 1 / sd(x2)): means of x1 and x2 over their sds, and their correlation."""
    scale_1 = 1.0 / math.sqrt(total + var_i)
    scale_2 = 1.0 / math.sqrt(total + var_j)
    rho = -total * scale_1 * scale_2
    rho_bar = math.sqrt(total * (var_i + var_j) + var_i * var_j) * scale_1 * scale_2
    return (mean + mean_i) * scale_1, (mean_j - mean) * scale_2, rho, rho_bar, scale_1, scale_2


@inner
def sides(outcome, mean, noise, var_d, mean_i, var_i, mean_j, var_j):
    """Slopes (g1, g2) and curvatures (-h11, -h12, -h22) of the log probability of an outcome in the means of x1, x2."""
    total = var_d + noise
    if outcome == 2:
        scale = 1.0 / math.sqrt(total + var_j)
        v, w = win_moments((mean - mean_j) * scale)
        return 0.0, -v * scale, 0.0, 0.0, w * scale * scale
    if outcome == 0:
        scale = 1.0 / math.sqrt(total + var_i)
        v, w = win_moments((-mean - mean_i) * scale)
        return -v * scale, 0.0, w * scale * scale, 0.0, 0.0
    h, k, rho, rho_bar, scale_1, scale_2 = _standardised(mean, total, mean_i, var_i, mean_j, var_j)
    _, g1, g2, h11, h12, h22 = quadrant_moments(h, k, rho, rho_bar)
    return (
        g1 * scale_1, g2 * scale_2,
        -h11 * scale_1 * scale_1, -h12 * scale_1 * scale_2, -h22 * scale_2 * scale_2,
    )  # fmt: skip


@inner
def sides_log_probability(outcome, mean, noise, var_d, mean_i, var_i, mean_j, var_j):
    """log P of an outcome."""
    total = var_d + noise
    if outcome == 2:
        return win_log_normaliser((mean - mean_j) / math.sqrt(total + var_j))
    if outcome == 0:
        return win_log_normaliser((-mean - mean_i) / math.sqrt(total + var_i))
    h, k, rho, rho_bar, _, _ = _standardised(mean, total, mean_i, var_i, mean_j, var_j)
    return quadrant_log_probability(h, k, rho, rho_bar)


@inner
def game_sides(outcome, difference, advantage, noise, var_d, mean_i, var_i, mean_j, var_j):
    """As `sides`, of a game that may have unknown colours (see `colours`); `difference` is the mean of s_i - s_j."""
    if outcome < UNKNOWN:
        return sides(outcome, difference + advantage, noise, var_d, mean_i, var_i, mean_j, var_j)
    known = outcome - UNKNOWN
    one, other = difference + advantage, difference - advantage
    a1, a2, a11, a12, a22 = sides(known, one, noise, var_d, mean_i, var_i, mean_j, var_j)
    b1, b2, b11, b12, b22 = sides(known, other, noise, var_d, mean_i, var_i, mean_j, var_j)
    p = first_share(
        sides_log_probability(known, one, noise, var_d, mean_i, var_i, mean_j, var_j),
        sides_log_probability(known, other, noise, var_d, mean_i, var_i, mean_j, var_j),
    )
    q = 1.0 - p
    apart_1, apart_2 = a1 - b1, a2 - b2
    return (
        p * a1 + q * b1, p * a2 + q * b2,
        p * a11 + q * b11 - p * q * apart_1 * apart_1,
        p * a12 + q * b12 - p * q * apart_1 * apart_2,
        p * a22 + q * b22 - p * q * apart_2 * apart_2,
    )  # fmt: skip


@inner
def game_log_probability(outcome, difference, advantage, noise, var_d, mean_i, var_i, mean_j, var_j):
    """log P of a game that may have unknown colours; arguments as in `game_sides`."""
    known = outcome if outcome < UNKNOWN else outcome - UNKNOWN
    log_p = sides_log_probability(known, difference + advantage, noise, var_d, mean_i, var_i, mean_j, var_j)
    if outcome < UNKNOWN:
        return log_p
    other = sides_log_probability(known, difference - advantage, noise, var_d, mean_i, var_i, mean_j, var_j)
    return log_average(log_p, other)
