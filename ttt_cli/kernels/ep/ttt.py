"""TrueSkill Through Time: sweeps of expectation propagation over the timeline, the evidence and its gradient.

Where chance decides some games, a surprise takes precision away; a message that would is one of no precision, with the
right mean, so that the precision of all skills stays positive definite.

Within the joint Gaussian (see `joint_means`) a game between nodes i and j is a link: s_i - s_j = y with precision q;
its score is q (y - (s_i - s_j)). The coupling of two nodes is w q for games of weight w. Arrays as in `structures`.
"""

import math

from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.compile import at, flat, kernel, span
from ttt_cli.kernels.ep.chains import log_integral
from ttt_cli.kernels.ep.games import pass_through, sum_evidence, sum_gradient, sum_residual
from ttt_cli.kernels.ep.margins import by_bound
from ttt_cli.kernels.ep.structures import Chains, GamesSlopes, Messages, Pairings, Part, Rule, Sites
from ttt_cli.kernels.outcomes import (
    UNKNOWN,
    base_rate,
    game_log_normaliser,
    game_moments,
    handicap_of,
    lapse_of,
    log_with_lapse,
    moments_with_lapse,
    outcome_log_normaliser,
    outcome_moments,
)


@flat
def moments(g, difference, scale, rule, outcome):
    """(v, w) of a game from the mean of s_i - s_j with its handicap; `scale` is 1 over the sd of the performances'."""
    t = difference * scale
    advantage = rule.advantage * scale
    margin = rule.margin[g] * scale
    lapse = lapse_of(g, rule)
    if lapse == 0.0:
        return game_moments(t, advantage, margin, outcome)
    return moments_with_lapse(t, advantage, margin, outcome, lapse, rule.lapse_draws)


@flat
def _cavity_of_skills(g, i, j, marginal, message):
    """(mean of s_i, its variance, mean of s_j, its variance) without the site of a game; variances -1 if improper."""
    precision_i = marginal[i, 0] - message[g, 0]
    precision_j = marginal[j, 0] - message[g, 2]
    if not (precision_i > 0.0 and precision_j > 0.0):
        return 0.0, -1.0, 0.0, -1.0
    inverse = 1.0 / (precision_i * precision_j)
    var_i = precision_j * inverse
    var_j = precision_i * inverse
    mean_i = (marginal[i, 1] - message[g, 1]) * var_i
    mean_j = (marginal[j, 1] - message[g, 3]) * var_j
    return mean_i, var_i, mean_j, var_j


@flat
def _move_site(g, i, j, times, share, shift, shrink, skills, marginal, message, link):
    """Move the site of a game by this share of its update, from the cavity of its `skills`.

    The difference has the slope `shift` of log P, and minus its curvature `shrink`.
    """
    mean_i, var_i, mean_j, var_j = skills
    left_i = 1.0 - var_i * shrink
    left_j = 1.0 - var_j * shrink
    left_both = left_i + left_j - 1.0
    inverse = 1.0 / (left_i * left_j * left_both)
    scale_i = left_j * left_both * inverse
    scale_j = left_i * left_both * inverse
    between = left_i * left_j * inverse
    precision_i = shrink * scale_i
    weighted_i = (mean_i * shrink + shift) * scale_i
    precision_j = shrink * scale_j
    weighted_j = (mean_j * shrink - shift) * scale_j
    link[g, 0] += share * (shrink * between - link[g, 0])
    link[g, 1] += share * ((shift + (mean_i - mean_j) * shrink) * between - link[g, 1])
    change = 0.0
    distance = precision_i - message[g, 0]
    if times > 1.0 and shrink > 0.0:
        change = abs(distance) / precision_i + abs(precision_j - message[g, 2]) / precision_j
    step_i = share * distance
    towards_i = share * (weighted_i - message[g, 1])
    step_j = share * (precision_j - message[g, 2])
    towards_j = share * (weighted_j - message[g, 3])
    marginal[i, 0] += times * step_i
    marginal[i, 1] += times * towards_i
    marginal[j, 0] += times * step_j
    marginal[j, 1] += times * towards_j
    message[g, 0] += step_i
    message[g, 1] += towards_i
    message[g, 2] += step_j
    message[g, 3] += towards_j
    return change, distance


@flat
def _play(g, i, j, outcome, times, rule, share, marginal, message, link):
    """Move the sites of one game by this share of their update (`games.pass_through`; paper, section 3.1)."""
    skills = _cavity_of_skills(g, i, j, marginal, message)
    mean_i, var_i, mean_j, var_j = skills
    if var_i < 0.0:
        return -1.0, 0.0
    difference = mean_i - mean_j + handicap_of(g, rule.handicap)
    scale = 1.0 / math.sqrt(rule.noise + var_i + var_j)
    v, w = game_moments(difference * scale, rule.advantage * scale, rule.margin[g] * scale, outcome)
    if w < 0.0:  # two peaks of unknown colours: no Gaussian site stands for them
        return -1.0, 0.0
    return _move_site(
        g, i, j, times, share, v * scale, w * scale * scale, skills, marginal, message, link
    )


@flat
def _play_with_lapse(g, i, j, outcome, times, rule, share, marginal, message, link):
    """`_play` where chance decides some games: the site of a surprise has the right mean, and no precision.

    What both share with the rule stands twice: a rule that is handed to one more function costs a quarter of the time,
    as each of its arrays is counted.
    """
    skills = _cavity_of_skills(g, i, j, marginal, message)
    mean_i, var_i, mean_j, var_j = skills
    if var_i < 0.0:
        return -1.0, 0.0
    difference = mean_i - mean_j + handicap_of(g, rule.handicap)
    scale = 1.0 / math.sqrt(rule.noise + var_i + var_j)
    v, w = moments(g, difference, scale, rule, outcome)
    if w < 0.0:
        if lapse_of(g, rule) == 0.0:
            return -1.0, 0.0
        w = 0.0
    return _move_site(
        g, i, j, times, share, v * scale, w * scale * scale, skills, marginal, message, link
    )


@kernel
def sweep(
    part: Part, back: bool, repeats: int, chains: Chains, games: Pairings, rule: Rule, messages: Messages,
    sites: Sites,
) -> int:  # fmt: skip
    """One pass through a part, or `back`; returns the number of skipped sites (`games.pass_through`).

    Chance decides no game: asking each game for it takes a fifth of the time.
    """
    return pass_through(_play, part, back, repeats, chains, games, rule, messages, sites)


@kernel
def sweep_with_lapse(
    part: Part, back: bool, repeats: int, chains: Chains, games: Pairings, rule: Rule, messages: Messages,
    sites: Sites,
) -> int:  # fmt: skip
    """`sweep` where chance decides some games."""
    return pass_through(_play_with_lapse, part, back, repeats, chains, games, rule, messages, sites)


@flat
def _cavity(g, games, marginal, message):
    """(difference of means, sum of variances or -1 if improper, log integrals of the sites) of a game's cavities."""
    i = at(games.first[g])
    j = at(games.second[g])
    precision_i = marginal[i, 0] - message[g, 0]
    precision_j = marginal[j, 0] - message[g, 2]
    if not (precision_i > 0.0 and precision_j > 0.0):
        return 0.0, -1.0, 0.0
    weighted_i = marginal[i, 1] - message[g, 1]
    weighted_j = marginal[j, 1] - message[g, 3]
    absorbed = log_integral(precision_i, weighted_i, message[g, 0], message[g, 1])
    absorbed += log_integral(precision_j, weighted_j, message[g, 2], message[g, 3])
    difference = weighted_i / precision_i - weighted_j / precision_j
    return difference, 1.0 / precision_i + 1.0 / precision_j, absorbed


@flat
def _log_by_skill(mean, variance, advantage, margin, outcome):
    """log P of a game that skill decides, from the mean and variance of the difference of performances."""
    scale = 1.0 / math.sqrt(variance)
    return game_log_normaliser(mean * scale, advantage * scale, margin * scale, outcome)


@flat
def log_probability(g, games, rule, difference, variance):
    """log P of a game from the mean and variance of s_i - s_j."""
    mean = difference + handicap_of(g, rule.handicap)
    log_p = _log_by_skill(
        mean, rule.noise + variance, rule.advantage, rule.margin[g], games.code[g]
    )
    lapse = lapse_of(g, rule)
    if lapse != 0.0:
        return log_with_lapse(log_p, lapse, base_rate(games.code[g], rule.lapse_draws))
    return log_p


@flat
def _evidence(g, games, rule, marginal, message):
    difference, variance, absorbed = _cavity(g, games, marginal, message)
    if variance < 0.0:
        return False, 0.0, 0.0
    mean = difference + handicap_of(g, rule.handicap)
    log_p = _log_by_skill(
        mean, rule.noise + variance, rule.advantage, rule.margin[g], games.code[g]
    )
    return True, log_p, absorbed


@flat
def _evidence_with_lapse(g, games, rule, marginal, message):
    difference, variance, absorbed = _cavity(g, games, marginal, message)
    if variance < 0.0:
        return False, 0.0, 0.0
    return True, log_probability(g, games, rule, difference, variance), absorbed


@kernel
def evidence(
    part: Part, games: Pairings, rule: Rule, marginal: Rows, sites: Sites
) -> tuple[float, float]:
    """The sites' contribution to log Z in a part, and the log probabilities of its games, each without its site.

    Chance decides no game, as in `sweep`.
    """
    return sum_evidence(_evidence, part.game, part.game_end, games, rule, marginal, sites.message)


@kernel
def evidence_with_lapse(
    part: Part, games: Pairings, rule: Rule, marginal: Rows, sites: Sites
) -> tuple[float, float]:
    """`evidence` where chance decides some games."""
    return sum_evidence(
        _evidence_with_lapse, part.game, part.game_end, games, rule, marginal, sites.message
    )


@kernel
def cavities(
    begin: int, end: int, games: Pairings, marginal: Rows, sites: Sites, cavity: Rows
) -> None:
    """Fill `cavity` (games, 2) with the cavities of some games, as `gradient` takes them."""
    for g in span(begin, end):
        cavity[g, 0], cavity[g, 1], _ = _cavity(g, games, marginal, sites.message)


@flat
def _slopes(g, sign, games, rule, cavity):
    """(log P, its slopes in 2 beta^2, the draw margin and the difference) with White's advantage times `sign`.

    By skill alone, without games that chance decides.

    A Gaussian integral I(mean, variance) obeys the heat equation, d log I / d variance = (g^2 - k) / 2 with
    g = d log I / d mean, k = -d^2 log I / d mean^2.
    """
    outcome = games.code[g] % UNKNOWN
    scale = 1.0 / math.sqrt(rule.noise + cavity[g, 1])
    bound = rule.margin[g] * scale
    t = (cavity[g, 0] + handicap_of(g, rule.handicap) + sign * rule.advantage) * scale
    v, w = outcome_moments(t, bound, outcome)
    log_p = outcome_log_normaliser(t, bound, outcome)
    return (
        log_p,
        0.5 * (v * v - w) * scale * scale,
        by_bound(t, bound, outcome, v) * scale,
        v * scale,
    )


@kernel
def gradient(
    games: Pairings, balance: Vector, rule: Rule, cavity: Rows, by_margin: Vector, by_offset: Vector
) -> GamesSlopes:
    """The games' gradient of the log-evidence in what is common to them (`games.sum_gradient`).

    `cavity` (games, 2): mean and variance of s_i - s_j without the game.
    """
    return sum_gradient(_slopes, 1, games, balance, rule, cavity, by_margin, by_offset)


@flat
def _add_game(g, i, j, _n, times, link, means, coupling, diagonal, residual):
    coupling[g] = times * link[g, 0]
    diagonal[i] += coupling[g]
    diagonal[j] += coupling[g]
    score = times * link[g, 1] - coupling[g] * (means[i] - means[j])
    residual[i] += score
    residual[j] -= score


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
    """Fill `coupling` of the games of a part, and add what `games.sum_residual` adds."""
    sum_residual(_add_game, part, games, sites, means, coupling, diagonal, residual)


@kernel
def add_couplings(
    begin: int, end: int, games: Pairings, link: Rows, coupling: Vector, z: Vector, az: Vector
) -> float:
    """Add (L - diag(L)) z of some games to `az`; returns the product of z and what was added."""
    product = 0.0
    for g in span(begin, end):
        i = at(games.first[g])
        j = at(games.second[g])
        added = coupling[g] * z[j]
        az[i] -= added
        az[j] -= coupling[g] * z[i]
        product -= added * z[i]
    return 2.0 * product


@kernel
def move_sites(begin: int, end: int, games: Pairings, sites: Sites, means: Vector) -> None:
    """Set every site so that smoothing gives these means: (p, p s_i + score) and (p, p s_j - score), p as it is."""
    message, link, _ = sites
    for g in span(begin, end):
        i = at(games.first[g])
        j = at(games.second[g])
        score = link[g, 1] - link[g, 0] * (means[i] - means[j])
        message[g, 1] = message[g, 0] * means[i] + score
        message[g, 3] = message[g, 2] * means[j] - score
