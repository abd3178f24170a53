"""Games of TTT-D in joint expectation propagation: sites on x1 = d + e_i and x2 = e_j - d, d = s_i - s_j.

Beside them stand the sites that keep margins positive. As in `skill_sites`; cavities as in `ep/ttt_d.gradient`.
"""

import math

import numpy as np

from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.codes import UNKNOWN, handicap_of, outcome_of
from ttt_cli.kernels.compile import at, inner, kernel, span
from ttt_cli.kernels.ep.chains import log_integral
from ttt_cli.kernels.ep.sides import game_log_probability, game_sides, gaussian_site, has_one_peak, together
from ttt_cli.kernels.ep.structures import Games, Rule
from ttt_cli.kernels.joint.skill_sites import REPEATS, SETTLED, TINY
from ttt_cli.kernels.normal import log_cdf
from ttt_cli.kernels.truncated import win_moments


@kernel
def assemble(games: Games, link: Rows, coupling: Rows, diagonal: Vector, b: Vector) -> None:
    """Fill `coupling` (6, games) and add to `diagonal` and `b` (variables,) what the games bring.

    The pairs are (s_i, s_j), (s_i, e_i), (s_i, e_j), (s_j, e_i), (s_j, e_j), (e_i, e_j).
    """
    n = at(len(diagonal) // 2)
    for g in span(0, len(games.first)):
        i, j = at(games.first[g]), at(games.second[g])
        times = games.weight[g]
        q11, q12, q22 = times * link[g, 0], times * link[g, 1], times * link[g, 2]
        between = q11 - 2.0 * q12 + q22
        coupling[0, g] = between
        coupling[1, g] = q12 - q11
        coupling[2, g] = q22 - q12
        coupling[3, g] = q11 - q12
        coupling[4, g] = q12 - q22
        coupling[5, g] = -q12
        diagonal[i] += between
        diagonal[j] += between
        diagonal[n + i] += q11
        diagonal[n + j] += q22
        b[i] += times * (link[g, 3] - link[g, 4])
        b[j] -= times * (link[g, 3] - link[g, 4])
        b[n + i] += times * link[g, 3]
        b[n + j] += times * link[g, 4]


@inner
def _turned(code, margin, rule, cavity):
    """Means of x1 and x2, of outcomes, and their covariances, noise included."""
    given = handicap_of(code, rule.handicap)
    spread = together(rule.noise, cavity[2], cavity[3], cavity[4])
    return cavity[0] + given + margin, cavity[1] - given + margin, spread


@inner
def _site(code, margin, rule, cavity):
    """The site (q11, q12, q22, b1, b2) that a cavity asks for, and whether there is one."""
    outcome = outcome_of(code)
    mean_1, mean_2, spread = _turned(code, margin, rule, cavity)
    slopes = game_sides(outcome, mean_1, mean_2, rule.advantage, spread)
    c11, c12, c22, _ = together(0.0, cavity[2], cavity[3], cavity[4])
    site = gaussian_site(slopes, cavity[0], cavity[1], c11, c12, c22)
    return outcome < UNKNOWN or has_one_peak(slopes), site


@inner
def _without(cavity, times, site):
    """A Gaussian, as in `cavity`, divided by so many equal sites, and whether it is proper.

    Of (x1, x1 + x2), with the site's P and b there: covariance C (I - P C)^-1, mean (I - C P)^-1 (m - C b).
    """
    x1, x2, c11, shared, both = cavity[0], cavity[1], cavity[2], cavity[3], cavity[4]
    q11, q12, q22, b1, b2 = site[0], site[1], site[2], site[3], site[4]
    p11, p12, p22 = times * (q11 - 2.0 * q12 + q22), times * (q12 - q22), times * q22
    r1 = x1 - times * (c11 * (b1 - b2) + shared * b2)
    r2 = x1 + x2 - times * (shared * (b1 - b2) + both * b2)
    m11, m12 = 1.0 - p11 * c11 - p12 * shared, -p11 * shared - p12 * both
    m21, m22 = -p12 * c11 - p22 * shared, 1.0 - p12 * shared - p22 * both
    det = m11 * m22 - m12 * m21
    new_11 = (c11 * m22 - shared * m21) / det
    new_12 = (shared * m11 - c11 * m12) / det
    new_22 = (both * m11 - shared * m12) / det
    one = (m22 * r1 - m21 * r2) / det
    total = (m11 * r2 - m12 * r1) / det
    return det > 0.0 and new_11 > 0.0 and new_22 > 0.0, (one, total - one, new_11, new_12, new_22)


@kernel
def cavities(
    games: Games, mean: Vector, variance: Vector, covariance: Rows, link: Rows, cavity: Rows
) -> None:
    """Fill `cavity` (games, 5); the variance of x1 is -1 where it is improper. `covariance` (6, games) of the pairs."""
    n = at(len(variance) // 2)
    for g in span(0, len(games.first)):
        i, j = at(games.first[g]), at(games.second[g])
        var_d = variance[i] + variance[j] - 2.0 * covariance[0, g]
        with_i = covariance[1, g] - covariance[3, g]
        with_j = covariance[2, g] - covariance[4, g]
        c11 = var_d + 2.0 * with_i + variance[n + i]
        shared = with_i + variance[n + i] + with_j + covariance[5, g]
        both = variance[n + i] + variance[n + j] + 2.0 * covariance[5, g]
        difference = mean[i] - mean[j]
        whole = difference + mean[n + i], mean[n + j] - difference, c11, shared, both
        proper, rest = _without(whole, min(games.weight[g], 1.0), link[g])
        cavity[g, 0], cavity[g, 1], cavity[g, 2] = rest[0], rest[1], rest[2] if proper else -1.0
        cavity[g, 3], cavity[g, 4] = rest[3], rest[4]


@inner
def _agreed(code, margin, rule, cavity, others, site):
    """Let `site` (5,) become the one that a game and `others` equal ones agree upon; returns whether there is one."""
    proper, rest = _without(cavity, others, site)
    last, way = math.inf, 1.0
    for _ in range(REPEATS if proper else 0):
        proper, seen = _without(rest, -others, site)
        possible, new = _site(code, margin, rule, seen)
        if not (proper and possible):
            return False
        change = (abs(new[0] - site[0]) + abs(new[2] - site[2])) / max(new[0] + new[2], TINY)
        if change > last:
            way *= 0.5
        for k in range(5):
            site[k] += way * (new[k] - site[k])
        last = change
        if change < SETTLED:
            break
    return proper


@kernel
def update(games: Games, rule: Rule, cavity: Rows, share: float, link: Rows) -> int:
    """Move all sites this share of the way to what their cavities ask for; returns how many cannot be."""
    skipped = 0
    site = np.empty(5)
    for g in span(0, len(games.first)):
        if cavity[g, 2] < 0.0:
            skipped += 1
            continue
        site[:] = link[g]
        if games.weight[g] > 1.0:
            possible = _agreed(games.code[g], rule.margin[g], rule, cavity[g], games.weight[g] - 1.0, site)
        else:
            possible, new = _site(games.code[g], rule.margin[g], rule, cavity[g])
            site[0], site[1], site[2], site[3], site[4] = new
        if not possible:
            skipped += 1
            continue
        for k in range(5):
            link[g, k] += share * (site[k] - link[g, k])
    return skipped


@inner
def _absorbed(g, cavity, link):
    """log of the integral of a game's site over its cavity: with Q and b of (x1, x2), C and m of the cavity,

    -log|I + Q C| / 2 + (b'm - m'Q m / 2) + r' C (I + Q C)^-1 r / 2 with r = b - Q m.
    """
    c11, c12, c22, _ = together(0.0, cavity[g, 2], cavity[g, 3], cavity[g, 4])
    x1, x2 = cavity[g, 0], cavity[g, 1]
    q11, q12, q22, b1, b2 = link[g, 0], link[g, 1], link[g, 2], link[g, 3], link[g, 4]
    r1, r2 = b1 - q11 * x1 - q12 * x2, b2 - q12 * x1 - q22 * x2
    m11, m12 = 1.0 + q11 * c11 + q12 * c12, q11 * c12 + q12 * c22
    m21, m22 = q12 * c11 + q22 * c12, 1.0 + q12 * c12 + q22 * c22
    det = m11 * m22 - m12 * m21
    s1, s2 = (m22 * r1 - m12 * r2) / det, (m11 * r2 - m21 * r1) / det
    linear = 0.5 * (x1 * (b1 + r1) + x2 * (b2 + r2))
    return linear + 0.5 * (r1 * (c11 * s1 + c12 * s2) + r2 * (c12 * s1 + c22 * s2)) - 0.5 * math.log(det)


@kernel
def evidence(games: Games, rule: Rule, cavity: Rows, link: Rows) -> tuple[float, float]:
    """What the sites of games bring to log Z beside the integral of all, and the log probabilities of all games."""
    total = 0.0
    predicted = 0.0
    for g in span(0, len(games.first)):
        if cavity[g, 2] < 0.0:
            continue
        x1, x2, spread = _turned(games.code[g], rule.margin[g], rule, cavity[g])
        normaliser = game_log_probability(outcome_of(games.code[g]), x1, x2, rule.advantage, spread)
        predicted += games.weight[g] * normaliser
        total += games.weight[g] * (normaliser - _absorbed(g, cavity, link))
    return total, predicted


@kernel
def keep_positive(
    origin: float, mean: Vector, variance: Vector, share: float, positivity: Rows
) -> tuple[int, float, float]:
    """Move the sites of all margins, which have `mean` and `variance` (nodes,), this share of the way.

    Returns how many cannot be, what they bring to log Z before they move, and its gradient in the origin.
    """
    skipped = 0
    total = 0.0
    slope = 0.0
    for i in span(0, len(mean)):
        precision = 1.0 / variance[i] - positivity[i, 0]
        if not precision > 0.0:
            skipped += 1
            continue
        weighted = mean[i] / variance[i] - positivity[i, 1]
        scale = math.sqrt(precision)
        t = (weighted / precision + origin) * scale
        v, w = win_moments(t)
        total += log_cdf(t) - log_integral(precision, weighted, positivity[i, 0], positivity[i, 1])
        slope += v * scale
        rest = 1.0 / (1.0 - w)
        positivity[i, 0] += share * (w * precision * rest - positivity[i, 0])
        positivity[i, 1] += share * ((v * scale + w * weighted) * rest - positivity[i, 1])
    return skipped, total, slope
