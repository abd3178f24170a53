"""Games of TTT and TTT-D in joint expectation propagation: sites, cavities and samples.

A game of TTT is a site exp(-q d^2 / 2 + h d) of d = s_i - s_j; one of TTT-D a site of x1 = d + e_i and x2 = e_j - d,
beside the sites that keep margins positive. All sites are updated at once from the cavities of the joint Gaussian:
with its mean m and variance v of d, the cavity has precision 1/v - q and precision times mean m/v - h.
"""

import math

import numpy as np

from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.compile import at, flat, inner, kernel, span
from ttt_cli.kernels.ep.chains import log_integral
from ttt_cli.kernels.ep.games import sum_evidence
from ttt_cli.kernels.ep.structures import Pairings, Rule
from ttt_cli.kernels.ep.ttt import log_probability, moments
from ttt_cli.kernels.ep.ttt_d import (
    covariance_of_sides,
    game_log_probability,
    game_sides,
    gaussian_site,
    has_one_peak,
)
from ttt_cli.kernels.outcomes import MOST_TAKEN, UNKNOWN, handicap_of, lapse_of

REPEATS = 50  # of a site that equal games share, at most
SETTLED = 1e-10  # relative change of its precision
TINY = 1e-300


@kernel
def skill_cavities(
    games: Pairings, mean: Vector, variance: Vector, covariance: Rows, link: Rows, cavity: Rows
) -> None:
    """Fill `cavity` (games, 2): mean and variance of s_i - s_j without one such game; -1 where it is improper."""
    for g in span(0, len(games.first)):
        i = at(games.first[g])
        j = at(games.second[g])
        precision = 1.0 / (variance[i] + variance[j] - 2.0 * covariance[0, g])
        times = min(games.weight[g], 1.0)
        left = precision - times * link[g, 0]
        cavity[g, 1] = -1.0
        if left > 0.0:
            cavity[g, 0] = ((mean[i] - mean[j]) * precision - times * link[g, 1]) / left
            cavity[g, 1] = 1.0 / left


@flat
def _skill_agreed(g, games, rule, cavity, copies, site):
    """Turn `site` (q, h) into the one that a game and `copies` equal ones share; returns whether there is one.

    The site of a surprise takes precision away where chance decides some games: at most half of the cavity's.
    """
    outcome = games.code[g]
    handicap = handicap_of(g, rule.handicap)
    q = site[0]
    h = site[1]
    base_precision = 1.0 / cavity[1] - copies * q
    base_weighted = cavity[0] / cavity[1] - copies * h
    last_change = math.inf
    damping = 1.0
    for _ in range(REPEATS if copies > 0.0 else 1):
        cavity_precision = base_precision + copies * q
        if not cavity_precision > 0.0:
            return False
        mean = (base_weighted + copies * h) / cavity_precision
        scale = 1.0 / math.sqrt(rule.noise + 1.0 / cavity_precision)
        v, w = moments(g, mean + handicap, scale, rule, outcome)
        shrink = w * scale * scale
        if shrink < 0.0:
            if lapse_of(g, rule) == 0.0:  # two peaks, of unknown colours
                return False
            shrink = max(shrink, -cavity_precision * MOST_TAKEN)
        inflation = 1.0 / (1.0 - shrink / cavity_precision)
        new_q = shrink * inflation
        new_h = (v * scale + mean * shrink) * inflation
        change = abs(new_q - q) / max(abs(new_q), TINY)
        if change > last_change:
            damping *= 0.5
        q += damping * (new_q - q)
        h += damping * (new_h - h)
        if q < 0.0:  # where all equal games take away the most, this is what agrees with itself
            q = max(q, -base_precision / (copies + 2.0))
        last_change = change
        if change < SETTLED:
            break
    site[0] = q
    site[1] = h
    return True


@flat
def _update(agreed, variance, games, rule, cavity, share, link):
    """Move all sites by `share` towards those `agreed` on; returns the number of sites not moved.

    Games are left out where the column `variance` of `cavity` is below 0.
    """
    skipped = 0
    site = np.empty(link.shape[1])
    for g in span(0, len(games.first)):
        for k in range(len(site)):
            site[k] = link[g, k]
        copies = max(games.weight[g] - 1.0, 0.0)
        if cavity[g, variance] < 0.0 or not agreed(g, games, rule, cavity[g], copies, site):
            skipped += 1
            continue
        for k in range(len(site)):
            link[g, k] += share * (site[k] - link[g, k])
    return skipped


@kernel
def skill_update(games: Pairings, rule: Rule, cavity: Rows, share: float, link: Rows) -> int:
    """Move all sites by `share` towards their targets; returns the number of sites not moved."""
    return _update(_skill_agreed, 1, games, rule, cavity, share, link)


@flat
def _skill_evidence(g, games, rule, cavity, link):
    difference = cavity[g, 0]
    variance = cavity[g, 1]
    if variance < 0.0:
        return False, 0.0, 0.0
    absorbed = log_integral(1.0 / variance, difference / variance, link[g, 0], link[g, 1])
    return True, log_probability(g, games, rule, difference, variance), absorbed


@kernel
def skill_evidence(games: Pairings, rule: Rule, cavity: Rows, link: Rows) -> tuple[float, float]:
    """Contribution of the sites to log Z beside the integral, and the log probabilities of all games."""
    return sum_evidence(_skill_evidence, 0, len(games.first), games, rule, cavity, link)


@inner
def _noisy_sides(g, rule, cavity):
    """Means of x1 and x2, with outcomes, and their covariances, noise included."""
    handicap = handicap_of(g, rule.handicap)
    margin = rule.margin[g]
    spread = covariance_of_sides(rule.noise, cavity[2], cavity[3], cavity[4])
    return cavity[0] + handicap + margin, cavity[1] - handicap + margin, spread


@inner
def _divided(cavity, times, site):
    """Divide a Gaussian, as in `cavity`, by `times` equal sites; also whether the result is proper.

    Of (x1, x1 + x2), with the site's P and b there: covariance C (I - P C)^-1, mean (I - C P)^-1 (m - C b).
    """
    x1 = cavity[0]
    x2 = cavity[1]
    c11 = cavity[2]
    shared = cavity[3]
    both = cavity[4]
    q11 = site[0]
    q12 = site[1]
    q22 = site[2]
    b1 = site[3]
    b2 = site[4]
    p11 = times * (q11 - 2.0 * q12 + q22)
    p12 = times * (q12 - q22)
    p22 = times * q22
    r1 = x1 - times * (c11 * (b1 - b2) + shared * b2)
    r2 = x1 + x2 - times * (shared * (b1 - b2) + both * b2)
    m11 = 1.0 - p11 * c11 - p12 * shared
    m12 = -p11 * shared - p12 * both
    m21 = -p12 * c11 - p22 * shared
    m22 = 1.0 - p12 * shared - p22 * both
    det = m11 * m22 - m12 * m21
    new_11 = (c11 * m22 - shared * m21) / det
    new_12 = (shared * m11 - c11 * m12) / det
    new_22 = (both * m11 - shared * m12) / det
    mean_1 = (m22 * r1 - m21 * r2) / det
    mean_sum = (m11 * r2 - m12 * r1) / det
    return det > 0.0 and new_11 > 0.0 and new_22 > 0.0, (
        mean_1,
        mean_sum - mean_1,
        new_11,
        new_12,
        new_22,
    )


@kernel
def margin_cavities(
    games: Pairings, mean: Vector, variance: Vector, covariance: Rows, link: Rows, cavity: Rows
) -> None:
    """Fill `cavity` (games, 5); the variance of x1 is -1 where it is improper. `covariance` (6, games) of the pairs."""
    n = at(len(variance) // 2)
    for g in span(0, len(games.first)):
        i = at(games.first[g])
        j = at(games.second[g])
        var_d = variance[i] + variance[j] - 2.0 * covariance[0, g]
        with_i = covariance[1, g] - covariance[3, g]
        with_j = covariance[2, g] - covariance[4, g]
        c11 = var_d + 2.0 * with_i + variance[n + i]
        shared = with_i + variance[n + i] + with_j + covariance[5, g]
        both = variance[n + i] + variance[n + j] + 2.0 * covariance[5, g]
        difference = mean[i] - mean[j]
        marginal = difference + mean[n + i], mean[n + j] - difference, c11, shared, both
        proper, game_cavity = _divided(marginal, min(games.weight[g], 1.0), link[g])
        cavity[g, 0] = game_cavity[0]
        cavity[g, 1] = game_cavity[1]
        cavity[g, 2] = game_cavity[2] if proper else -1.0
        cavity[g, 3] = game_cavity[3]
        cavity[g, 4] = game_cavity[4]


@flat
def _margin_agreed(g, games, rule, cavity, copies, site):
    """Turn `site` (5,) into the one that a game and `copies` equal ones share; returns whether there is one."""
    proper, without_copies = _divided(cavity, copies, site)
    outcome = games.code[g]
    last_change = math.inf
    damping = 1.0
    repeats = REPEATS if copies > 0.0 else 1
    for _ in range(repeats if proper else 0):
        proper, game_cavity = _divided(without_copies, -copies, site)
        mean_1, mean_2, spread = _noisy_sides(g, rule, game_cavity)
        slopes = game_sides(outcome, mean_1, mean_2, rule.advantage, spread)
        if not proper or (outcome >= UNKNOWN and not has_one_peak(slopes)):
            return False
        c11, c12, c22, _ = covariance_of_sides(0.0, game_cavity[2], game_cavity[3], game_cavity[4])
        new = gaussian_site(slopes, game_cavity[0], game_cavity[1], c11, c12, c22)
        change = (abs(new[0] - site[0]) + abs(new[2] - site[2])) / max(new[0] + new[2], TINY)
        if change > last_change:
            damping *= 0.5
        for k in range(5):
            site[k] += damping * (new[k] - site[k])
        last_change = change
        if change < SETTLED:
            break
    return proper


@kernel
def margin_update(games: Pairings, rule: Rule, cavity: Rows, share: float, link: Rows) -> int:
    """As `skill_update`."""
    return _update(_margin_agreed, 2, games, rule, cavity, share, link)


@flat
def _margin_evidence(g, games, rule, cavity, link):
    """The log integral of a site over its cavity, with Q and b of (x1, x2), C and m of the cavity, is

    -log|I + Q C| / 2 + (b'm - m'Q m / 2) + r' C (I + Q C)^-1 r / 2 with r = b - Q m.
    """
    if cavity[g, 2] < 0.0:
        return False, 0.0, 0.0
    x1, x2, spread = _noisy_sides(g, rule, cavity[g])
    log_p = game_log_probability(games.code[g], x1, x2, rule.advantage, spread)
    c11, c12, c22, _ = covariance_of_sides(0.0, cavity[g, 2], cavity[g, 3], cavity[g, 4])
    x1 = cavity[g, 0]
    x2 = cavity[g, 1]
    q11 = link[g, 0]
    q12 = link[g, 1]
    q22 = link[g, 2]
    b1 = link[g, 3]
    b2 = link[g, 4]
    r1 = b1 - q11 * x1 - q12 * x2
    r2 = b2 - q12 * x1 - q22 * x2
    m11 = 1.0 + q11 * c11 + q12 * c12
    m12 = q11 * c12 + q12 * c22
    m21 = q12 * c11 + q22 * c12
    m22 = 1.0 + q12 * c12 + q22 * c22
    det = m11 * m22 - m12 * m21
    s1 = (m22 * r1 - m12 * r2) / det
    s2 = (m11 * r2 - m21 * r1) / det
    absorbed = 0.5 * (x1 * (b1 + r1) + x2 * (b2 + r2)) - 0.5 * math.log(det)
    return True, log_p, absorbed + 0.5 * (r1 * (c11 * s1 + c12 * s2) + r2 * (c12 * s1 + c22 * s2))


@kernel
def margin_evidence(games: Pairings, rule: Rule, cavity: Rows, link: Rows) -> tuple[float, float]:
    """As `skill_evidence`."""
    return sum_evidence(_margin_evidence, 0, len(games.first), games, rule, cavity, link)


@kernel
def pull_skills(games: Pairings, link: Rows, x: Vector, z: Rows, out: Vector) -> None:
    """Add the noisy sites of differences, minus their pull on x, to `out`; `z` (games, 1) standard normal."""
    for g in span(0, len(games.first)):
        i = at(games.first[g])
        j = at(games.second[g])
        precision = games.weight[g] * link[g, 0]
        pull = math.sqrt(precision) * z[g, 0] - precision * (x[i] - x[j])
        out[i] += pull
        out[j] -= pull


@kernel
def pull_sides(games: Pairings, link: Rows, x: Vector, z: Rows, out: Vector) -> None:
    """As `pull_skills` for both sides of a draw; `z` (games, 2)."""
    n = at(len(x) // 2)
    for g in span(0, len(games.first)):
        i = at(games.first[g])
        j = at(games.second[g])
        times = games.weight[g]
        q11 = times * link[g, 0]
        q12 = times * link[g, 1]
        q22 = times * link[g, 2]
        root_11 = math.sqrt(max(q11, 0.0))
        root_21 = q12 / root_11 if root_11 > 0.0 else 0.0
        root_22 = math.sqrt(max(q22 - root_21 * root_21, 0.0))
        x1 = x[i] - x[j] + x[n + i]
        x2 = x[n + j] - x[i] + x[j]
        pull_1 = root_11 * z[g, 0] - q11 * x1 - q12 * x2
        pull_2 = root_21 * z[g, 0] + root_22 * z[g, 1] - q12 * x1 - q22 * x2
        out[i] += pull_1 - pull_2
        out[j] -= pull_1 - pull_2
        out[n + i] += pull_1
        out[n + j] += pull_2
