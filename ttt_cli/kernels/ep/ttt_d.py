"""TTT-D: a skill and a draw margin per node, both smoothed (TTT paper, section 3.3).

Arrays as in `structures`; a margin is counted from its origin, so `rule.margin` is added where its value matters. With
d = s_i - s_j + advantage + noise, the first player i wins when x2 = e_j - d < 0, loses when x1 = d + e_i < 0 and draws
when both are positive. `x1` and `x2` are means, c11, c12 and c22 covariances, noise included, and `det` is
c11 c22 - c12^2, found without the difference. Within the joint Gaussian (see `joint_means`) a game is a Gaussian on x1
and x2 without the noise; the factors that keep margins positive are unary.
"""

import math

import numpy as np

from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.compile import at, flat, inner, kernel, span
from ttt_cli.kernels.ep.bivariate import quadrant_log_probability, quadrant_moments
from ttt_cli.kernels.ep.chains import log_integral, update_message
from ttt_cli.kernels.ep.games import (
    keep_positive,
    pass_through,
    sum_evidence,
    sum_gradient,
    sum_residual,
)
from ttt_cli.kernels.ep.structures import (
    Chains,
    GamesSlopes,
    Messages,
    Pairings,
    Part,
    PositivityEvidence,
    Rule,
    Sites,
)
from ttt_cli.kernels.outcomes import (
    UNKNOWN,
    first_share,
    handicap_of,
    log_average,
    log_cdf,
    win_moments,
)


@inner
def covariance_of_variables(noise, var_d, var_i, var_j):
    """(c11, c12, c22, det) of independent d, e_i and e_j."""
    total = var_d + noise
    return total + var_i, -total, total + var_j, total * (var_i + var_j) + var_i * var_j


@inner
def covariance_of_sides(noise, c11, shared, total):
    """(c11, c12, c22, det) from c11 without noise, cov(x1, x1 + x2) and var(x1 + x2), in which noise cancels."""
    noisy = c11 + noise
    return noisy, shared - noisy, noisy + total - 2.0 * shared, noisy * total - shared * shared


@inner
def sides(outcome, x1, x2, covariance):
    """Slopes (g1, g2) and curvatures (-h11, -h12, -h22) of the log probability of an outcome in the means of x1, x2.

    `covariance` is (c11, c12, c22, det).
    """
    c11, c12, c22, det = covariance
    scale_1 = 1.0 / math.sqrt(c11)
    scale_2 = 1.0 / math.sqrt(c22)
    if outcome == 2:
        v, w = win_moments(-x2 * scale_2)
        return 0.0, -v * scale_2, 0.0, 0.0, w * scale_2 * scale_2
    if outcome == 0:
        v, w = win_moments(-x1 * scale_1)
        return -v * scale_1, 0.0, w * scale_1 * scale_1, 0.0, 0.0
    both = scale_1 * scale_2
    _, g1, g2, h11, h12, h22 = quadrant_moments(
        x1 * scale_1, x2 * scale_2, c12 * both, math.sqrt(det) * both
    )
    return (
        g1 * scale_1,
        g2 * scale_2,
        -h11 * scale_1 * scale_1,
        -h12 * both,
        -h22 * scale_2 * scale_2,
    )


@inner
def sides_log_probability(outcome, x1, x2, covariance):
    """log P of an outcome."""
    c11, c12, c22, det = covariance
    if outcome == 2:
        return log_cdf(-x2 / math.sqrt(c22))
    if outcome == 0:
        return log_cdf(-x1 / math.sqrt(c11))
    scale_1 = 1.0 / math.sqrt(c11)
    scale_2 = 1.0 / math.sqrt(c22)
    both = scale_1 * scale_2
    return quadrant_log_probability(x1 * scale_1, x2 * scale_2, c12 * both, math.sqrt(det) * both)


@inner
def game_sides(outcome, x1, x2, advantage, covariance):
    """As `sides`, of a game that may have unknown colours (`kernels/outcomes.py`)."""
    if outcome < UNKNOWN:
        return sides(outcome, x1 + advantage, x2 - advantage, covariance)
    result = outcome - UNKNOWN
    a1, a2, a11, a12, a22 = sides(result, x1 + advantage, x2 - advantage, covariance)
    b1, b2, b11, b12, b22 = sides(result, x1 - advantage, x2 + advantage, covariance)
    p = first_share(
        sides_log_probability(result, x1 + advantage, x2 - advantage, covariance),
        sides_log_probability(result, x1 - advantage, x2 + advantage, covariance),
    )
    q = 1.0 - p
    difference_1 = a1 - b1
    difference_2 = a2 - b2
    return (
        p * a1 + q * b1, p * a2 + q * b2,
        p * a11 + q * b11 - p * q * difference_1 * difference_1,
        p * a12 + q * b12 - p * q * difference_1 * difference_2,
        p * a22 + q * b22 - p * q * difference_2 * difference_2,
    )  # fmt: skip


@inner
def has_one_peak(slopes):
    """Whether minus the Hessian is positive semidefinite, rounding aside: otherwise there is no Gaussian site."""
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
def game_log_probability(outcome, x1, x2, advantage, covariance):
    """log P of a game that may have unknown colours; arguments as in `game_sides`."""
    log_p = sides_log_probability(outcome % UNKNOWN, x1 + advantage, x2 - advantage, covariance)
    if outcome < UNKNOWN:
        return log_p
    return log_average(
        log_p, sides_log_probability(outcome - UNKNOWN, x1 - advantage, x2 + advantage, covariance)
    )


@inner
def _replace(
    g, column, variable, score, information, mean, variance, times, share, marginal, message
):
    """Move the site of a variable, of cavity N(mean, variance), this share of the way; how far it is, relatively."""
    left = 1.0 / (1.0 - variance * information)
    precision = information * left
    distance = precision - message[g, column]
    step = share * distance
    towards = share * ((score + mean * information) * left - message[g, column + 1])
    marginal[variable, 0] += times * step
    marginal[variable, 1] += times * towards
    message[g, column] += step
    message[g, column + 1] += towards
    return abs(distance) / precision if precision > 0.0 else 0.0


@flat
def _play(g, i, j, outcome, times, rule, share, marginal, message, link):
    """Move the sites of one game by this share of their update (`games.pass_through`)."""
    noise = rule.noise
    margin = rule.margin
    advantage = rule.advantage
    handicap = rule.handicap
    n = at(len(marginal) // 2)
    a = n + i
    b = n + j
    cavity_si = marginal[i, 0] - message[g, 0]
    cavity_sj = marginal[j, 0] - message[g, 2]
    cavity_ei = marginal[a, 0] - message[g, 4]
    cavity_ej = marginal[b, 0] - message[g, 6]
    if not (cavity_si > 0.0 and cavity_sj > 0.0 and cavity_ei > 0.0 and cavity_ej > 0.0):
        return -1.0, 0.0
    var_si = 1.0 / cavity_si
    var_sj = 1.0 / cavity_sj
    var_ei = 1.0 / cavity_ei
    var_ej = 1.0 / cavity_ej
    mean_si = (marginal[i, 1] - message[g, 1]) * var_si
    mean_sj = (marginal[j, 1] - message[g, 3]) * var_sj
    mean_ei = (marginal[a, 1] - message[g, 5]) * var_ei
    mean_ej = (marginal[b, 1] - message[g, 7]) * var_ej
    difference = mean_si - mean_sj
    var_d = var_si + var_sj
    lead = difference + handicap_of(g, handicap)
    slopes = game_sides(
        outcome, lead + (mean_ei + margin[g]), (mean_ej + margin[g]) - lead, advantage,
        covariance_of_variables(noise, var_d, var_ei, var_ej),
    )  # fmt: skip
    if outcome >= UNKNOWN and not has_one_peak(slopes):
        return -1.0, 0.0
    site = gaussian_site(  # the same, of (x1, x2)
        slopes, difference + mean_ei, mean_ej - difference, var_d + var_ei, -var_d, var_d + var_ej
    )
    for c in range(5):
        link[g, c] += share * (site[c] - link[g, c])
    g1, g2, k11, k12, k22 = slopes
    information = k11 - 2.0 * k12 + k22
    last_precision = message[g, 0]
    change = _replace(
        g, 0, i, g1 - g2, information, mean_si, var_si, times, share, marginal, message
    )
    change += _replace(
        g, 2, j, g2 - g1, information, mean_sj, var_sj, times, share, marginal, message
    )
    change += _replace(g, 4, a, g1, k11, mean_ei, var_ei, times, share, marginal, message)
    change += _replace(g, 6, b, g2, k22, mean_ej, var_ej, times, share, marginal, message)
    return (change if times > 1.0 else 0.0), (message[g, 0] - last_precision) / share


@kernel
def sweep(
    part: Part, back: bool, repeats: int, chains: Chains, games: Pairings, rule: Rule, messages: Messages,
    sites: Sites,
) -> int:  # fmt: skip
    """One pass through a part, or `back`; returns the number of skipped sites (`games.pass_through`)."""
    return pass_through(_play, part, back, repeats, chains, games, rule, messages, sites)


@kernel
def settle_margins(
    part: Part, back: bool, chains: Chains, origin: float, messages: Messages, positivity: Rows
) -> None:
    """One pass, or `back`, through the margins of a part alone, which converge slowly to positive ones."""
    _, previous, following, mean, variance = chains
    forward, backward, marginal = messages
    source = following if back else previous
    n = at(len(positivity))
    for count in range(part.node_end - part.node):
        i = at(part.node_end - 1 - count if back else part.node + count)
        s = source[i]
        e = n + i
        if s < 0 or part.node <= s < part.node_end:
            update_message(e, source[e], back, mean, variance, forward, backward, marginal)
        keep_positive(i, e, origin, marginal, positivity)


@inner
def _cavities(g, i, j, n, marginal, message, cavity):
    """Fill `cavity` (4, 2) with means and variances without a game; whether proper, and its sites' log integrals."""
    absorbed = 0.0
    for side in range(4):
        variable = (i if side % 2 == 0 else j) + (n if side > 1 else at(0))
        precision = marginal[variable, 0] - message[g, 2 * side]
        if not precision > 0.0:
            return False, 0.0
        weighted = marginal[variable, 1] - message[g, 2 * side + 1]
        absorbed += log_integral(
            precision, weighted, message[g, 2 * side], message[g, 2 * side + 1]
        )
        cavity[side, 0] = weighted / precision
        cavity[side, 1] = 1.0 / precision
    return True, absorbed


@flat
def _evidence(g, games, rule, marginal, sites):
    cavity = np.empty((4, 2))
    i = at(games.first[g])
    j = at(games.second[g])
    n = at(len(sites.positivity))
    proper, absorbed = _cavities(g, i, j, n, marginal, sites.message, cavity)
    if not proper:
        return False, 0.0, 0.0
    difference = cavity[0, 0] - cavity[1, 0] + handicap_of(g, rule.handicap)
    margin = rule.margin[g]
    covariance = covariance_of_variables(
        rule.noise, cavity[0, 1] + cavity[1, 1], cavity[2, 1], cavity[3, 1]
    )
    x1 = difference + (cavity[2, 0] + margin)
    x2 = (cavity[3, 0] + margin) - difference
    return True, game_log_probability(games.code[g], x1, x2, rule.advantage, covariance), absorbed


@kernel
def evidence(
    part: Part, games: Pairings, rule: Rule, marginal: Rows, sites: Sites
) -> tuple[float, float]:
    """The games' contribution to log Z in a part, and their log probabilities, each without its own site."""
    return sum_evidence(_evidence, part.game, part.game_end, games, rule, marginal, sites)


@kernel
def positivity_evidence(
    origin: float, mean: Vector, variance: Vector, positivity: Rows
) -> PositivityEvidence:
    """log Z of the sites that keep margins with `mean` and `variance` (nodes,) positive; 0 for improper cavities."""
    total = 0.0
    slope = 0.0
    for i in span(0, len(mean)):
        precision = 1.0 / variance[i] - positivity[i, 0]
        if not precision > 0.0:
            continue
        weighted = mean[i] / variance[i] - positivity[i, 1]
        scale = math.sqrt(precision)
        t = (weighted / precision + origin) * scale
        v, _ = win_moments(t)
        total += log_cdf(t) - log_integral(precision, weighted, positivity[i, 0], positivity[i, 1])
        slope += v * scale
    return PositivityEvidence(total, slope)


@kernel
def move_positivity(
    origin: float, mean: Vector, variance: Vector, share: float, positivity: Rows
) -> int:
    """Move the sites that keep margins with `mean` and `variance` (nodes,) positive by `share` of the way.

    Returns the number of sites not moved, whose cavities are improper.
    """
    skipped = 0
    for i in span(0, len(mean)):
        precision = 1.0 / variance[i] - positivity[i, 0]
        if not precision > 0.0:
            skipped += 1
            continue
        weighted = mean[i] / variance[i] - positivity[i, 1]
        scale = math.sqrt(precision)
        v, w = win_moments((weighted / precision + origin) * scale)
        inverse = 1.0 / (1.0 - w)
        positivity[i, 0] += share * (w * precision * inverse - positivity[i, 0])
        positivity[i, 1] += share * ((v * scale + w * weighted) * inverse - positivity[i, 1])
    return skipped


@kernel
def cavities(
    begin: int, end: int, games: Pairings, marginal: Rows, sites: Sites, cavity: Rows
) -> None:
    """Fill `cavity` (games, 5) with the cavities of some games, as `gradient` takes them."""
    n = at(len(sites.positivity))
    single = np.empty((4, 2))
    for g in span(begin, end):
        proper, _ = _cavities(
            g, at(games.first[g]), at(games.second[g]), n, marginal, sites.message, single
        )
        difference = single[0, 0] - single[1, 0]
        cavity[g, 0] = difference + single[2, 0]
        cavity[g, 1] = single[3, 0] - difference
        cavity[g, 2] = single[0, 1] + single[1, 1] + single[2, 1] if proper else -1.0
        cavity[g, 3] = single[2, 1]
        cavity[g, 4] = single[2, 1] + single[3, 1]


@flat
def _slopes(g, sign, games, rule, cavity):
    """As in `ttt`; that in the margin is in what is added to both players' margins."""
    outcome = games.code[g] % UNKNOWN
    covariance = covariance_of_sides(rule.noise, cavity[g, 2], cavity[g, 3], cavity[g, 4])
    lead = handicap_of(g, rule.handicap) + sign * rule.advantage
    x1 = cavity[g, 0] + rule.margin[g] + lead
    x2 = cavity[g, 1] + rule.margin[g] - lead
    g1, g2, k11, k12, k22 = sides(outcome, x1, x2, covariance)
    by_noise = 0.5 * ((g1 - g2) ** 2 - (k11 - 2.0 * k12 + k22))
    return sides_log_probability(outcome, x1, x2, covariance), by_noise, g1 + g2, g1 - g2


@kernel
def gradient(
    games: Pairings, balance: Vector, rule: Rule, cavity: Rows, by_margin: Vector, by_offset: Vector
) -> GamesSlopes:
    """As `ttt.gradient`; `by_margin` in what is added to both players' margins.

    `cavity` (games, 5): means of x1 and x2 without noise, advantage, handicap and the origin of margins, the variance
    of x1, its covariance with x1 + x2, and the variance of that.
    """
    return sum_gradient(_slopes, 2, games, balance, rule, cavity, by_margin, by_offset)


@inner
def _weighted(g, i, j, n, link, values):
    """(q x)_1 and (q x)_2 of a game at these values of the variables."""
    difference = values[i] - values[j]
    x1 = difference + values[n + i]
    x2 = values[n + j] - difference
    return link[g, 0] * x1 + link[g, 1] * x2, link[g, 1] * x1 + link[g, 2] * x2


@flat
def _add_game(g, i, j, n, times, link, means, _coupling, diagonal, residual):
    weighted_1, weighted_2 = _weighted(g, i, j, n, link, means)
    score_1 = times * (link[g, 3] - weighted_1)
    score_2 = times * (link[g, 4] - weighted_2)
    residual[i] += score_1 - score_2
    residual[j] -= score_1 - score_2
    residual[n + i] += score_1
    residual[n + j] += score_2
    between = times * (link[g, 0] - 2.0 * link[g, 1] + link[g, 2])
    diagonal[i] += between
    diagonal[j] += between
    diagonal[n + i] += times * link[g, 0]
    diagonal[n + j] += times * link[g, 2]


@kernel
def add_residual(
    part: Part,
    games: Pairings,
    sites: Sites,
    means: Vector,
    coupling: Vector,
    diagonal: Vector,
    residual: Vector,
) -> None:
    """Add what `games.sum_residual` adds; `coupling` is not used."""
    sum_residual(_add_game, part, games, sites, means, coupling, diagonal, residual)


@kernel
def add_couplings(
    begin: int, end: int, games: Pairings, link: Rows, coupling: Vector, z: Vector, az: Vector
) -> float:
    """Add (L - diag(L)) z of some games to `az`; returns the product of z and what was added."""
    n = at(len(z) // 2)
    product = 0.0
    for g in span(begin, end):
        i = at(games.first[g])
        j = at(games.second[g])
        times = games.weight[g]
        weighted_1, weighted_2 = _weighted(g, i, j, n, link, z)
        difference = weighted_1 - weighted_2
        between = link[g, 0] - 2.0 * link[g, 1] + link[g, 2]
        skill_i = times * (difference - between * z[i])
        skill_j = -times * (difference + between * z[j])
        margin_i = times * (weighted_1 - link[g, 0] * z[n + i])
        margin_j = times * (weighted_2 - link[g, 2] * z[n + j])
        az[i] += skill_i
        az[j] += skill_j
        az[n + i] += margin_i
        az[n + j] += margin_j
        product += skill_i * z[i] + skill_j * z[j] + margin_i * z[n + i] + margin_j * z[n + j]
    return product


@kernel
def move_sites(begin: int, end: int, games: Pairings, sites: Sites, means: Vector) -> None:
    """Set every site so that smoothing gives these means; precisions stay as they are (`ttt.move_sites`)."""
    message, link, _ = sites
    n = at(len(means) // 2)
    for g in span(begin, end):
        i = at(games.first[g])
        j = at(games.second[g])
        weighted_1, weighted_2 = _weighted(g, i, j, n, link, means)
        score_1 = link[g, 3] - weighted_1
        score_2 = link[g, 4] - weighted_2
        message[g, 1] = message[g, 0] * means[i] + score_1 - score_2
        message[g, 3] = message[g, 2] * means[j] - score_1 + score_2
        message[g, 5] = message[g, 4] * means[n + i] + score_1
        message[g, 7] = message[g, 6] * means[n + j] + score_2
