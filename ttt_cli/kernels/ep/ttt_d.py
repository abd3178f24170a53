"""TTT-D: a skill and a draw margin per node, both smoothed (TTT paper, section 3.3).

Arrays as in `structures`; a margin is counted from its origin, so `rule.margin` is added where its value matters. With
d = s_i - s_j + advantage + noise, the first player i wins when x2 = e_j - d < 0, loses when x1 = d + e_i < 0 and draws
when both are positive.
"""

import math

import numpy as np

from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.codes import UNKNOWN, handicap_of, outcome_of, place_of
from ttt_cli.kernels.compile import at, flat, inner, kernel, span
from ttt_cli.kernels.ep.chains import from_future, from_past, log_integral, receive
from ttt_cli.kernels.ep.sides import (
    apart,
    colour_share,
    game_log_probability,
    game_sides,
    gaussian_site,
    has_one_peak,
    sides,
    together,
)
from ttt_cli.kernels.ep.structures import Chains, Games, Meeting, Messages, Part, Rule, Sites
from ttt_cli.kernels.ep.ttt import SETTLED, SLOW, STUCK
from ttt_cli.kernels.normal import log_cdf
from ttt_cli.kernels.truncated import win_moments


@inner
def _keep_positive(i, e, origin, marginal, positivity):
    """Update the factor that keeps the margin e of node i positive; False when its cavity is improper."""
    cavity = marginal[e, 0] - positivity[i, 0]
    if not cavity > 0.0:
        return False
    variance = 1.0 / cavity
    mean = (marginal[e, 1] - positivity[i, 1]) * variance
    scale = math.sqrt(cavity)
    v, w = win_moments((mean + origin) * scale)
    information = w * cavity
    left = 1.0 / (1.0 - variance * information)
    precision = information * left
    weighted = (v * scale + mean * information) * left
    marginal[e, 0] += precision - positivity[i, 0]
    marginal[e, 1] += weighted - positivity[i, 1]
    positivity[i, 0] = precision
    positivity[i, 1] = weighted
    return True


@inner
def _replace(g, column, variable, score, information, mean, variance, times, share, marginal, message):
    """Move the site of a variable, of cavity N(mean, variance), this share of the way; how far it is, relatively."""
    left = 1.0 / (1.0 - variance * information)
    precision = information * left
    away = precision - message[g, column]
    step = share * away
    towards = share * ((score + mean * information) * left - message[g, column + 1])
    marginal[variable, 0] += times * step
    marginal[variable, 1] += times * towards
    message[g, column] += step
    message[g, column + 1] += towards
    return abs(away) / precision if precision > 0.0 else 0.0


@flat
def _play(g, meeting, n, times, noise, advantage, share, marginal, message, link):
    """Move the sites of one game this share of the way.

    Returns the sum of `_replace`, or -1 if they cannot be; and how far the first precision goes, with its sign.
    """
    i, j, outcome, handicap, margin = meeting
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
    given = difference + handicap
    slopes = game_sides(
        outcome, given + (mean_ei + margin), (mean_ej + margin) - given, advantage,
        apart(noise, var_d, var_ei, var_ej),
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
    before = message[g, 0]
    change = _replace(g, 0, i, g1 - g2, information, mean_si, var_si, times, share, marginal, message)
    change += _replace(g, 2, j, g2 - g1, information, mean_sj, var_sj, times, share, marginal, message)
    change += _replace(g, 4, a, g1, k11, mean_ei, var_ei, times, share, marginal, message)
    change += _replace(g, 6, b, g2, k22, mean_ej, var_ej, times, share, marginal, message)
    return change, (message[g, 0] - before) / share


@inner
def _play_period(begin, end, n, games, rule, repeats, marginal, message, link):
    """Update the games of one period in order; returns how many had to be skipped (see `ttt._play_period`)."""
    skipped = 0
    _, first, second, code, weight = games
    noise, margin, _, advantage, handicap = rule
    for g in span(begin, end):
        meeting = Meeting(
            at(first[g]), at(second[g]), outcome_of(code[g]), handicap_of(code[g], handicap), margin[g]
        )
        change, away, share = 0.0, 0.0, 1.0
        for k in range(repeats + 1):
            before, back = change, away
            change, away = _play(g, meeting, n, weight[g], noise, advantage, share, marginal, message, link)
            if change <= SETTLED or weight[g] <= 1.0:
                break
            if k > 1 and away * back < 0.0 and abs(away) > STUCK * abs(back):
                share *= 0.5
            elif share == 1.0 and change < SLOW * before:
                break
        if change < 0.0:
            skipped += 1
    return skipped


@kernel
def sweep(
    part: Part,
    back: bool,
    repeats: int,
    chains: Chains,
    games: Games,
    rule: Rule,
    messages: Messages,
    sites: Sites,
) -> int:
    """One pass through a part, or `back`, messages from outside as they are; returns the number of skipped sites."""
    skipped = 0
    node_start, previous, following, mean, variance = chains
    forward, backward, marginal = messages
    message, link, positivity = sites
    n = at(len(positivity))
    begin, end, low, high, _, _ = part
    for count in range(end - begin):
        p = end - 1 - count if back else begin + count
        for i in span(node_start[p], node_start[p + 1]):
            past = previous[i] < 0 or previous[i] >= low
            future = following[i] < high
            for v in (i, n + i):
                if back and future:
                    received = from_future(following[v], mean, variance, forward, marginal)
                    receive(v, backward, received, marginal)
                elif past and not back:
                    received = from_past(v, previous[v], mean, variance, backward, marginal)
                    receive(v, forward, received, marginal)
            if not _keep_positive(i, n + i, rule.origin, marginal, positivity):
                skipped += 1
        skipped += _play_period(
            games.start[p], games.start[p + 1], n, games, rule, repeats, marginal, message, link
        )
    return skipped


@kernel
def settle_margins(
    part: Part, back: bool, chains: Chains, origin: float, messages: Messages, positivity: Rows
) -> None:
    """One pass, or `back`, through the margins of a part alone, which are slow to agree on what keeps them positive."""
    _, previous, following, mean, variance = chains
    forward, backward, marginal = messages
    n = at(len(positivity))
    for count in range(part.node_end - part.node):
        i = at(part.node_end - 1 - count if back else part.node + count)
        e = n + i
        if back:
            if following[i] < part.node_end:
                receive(e, backward, from_future(following[e], mean, variance, forward, marginal), marginal)
        elif previous[i] < 0 or previous[i] >= part.node:
            receive(e, forward, from_past(e, previous[e], mean, variance, backward, marginal), marginal)
        _keep_positive(i, e, origin, marginal, positivity)


@kernel
def gather(part: Part, games: Games, marginal: Rows, sites: Sites) -> None:
    """Fill `marginal` of the variables of a part with their sites: of games, and those that keep margins positive."""
    message, _, positivity = sites
    n = at(len(positivity))
    for i in span(part.node, part.node_end):
        marginal[i, 0] = 0.0
        marginal[i, 1] = 0.0
        marginal[n + i, 0] = positivity[i, 0]
        marginal[n + i, 1] = positivity[i, 1]
    for g in span(part.game, part.game_end):
        times = games.weight[g]
        i, j = at(games.first[g]), at(games.second[g])
        for c in range(2):
            marginal[i, c] += times * message[g, c]
            marginal[j, c] += times * message[g, 2 + c]
            marginal[n + i, c] += times * message[g, 4 + c]
            marginal[n + j, c] += times * message[g, 6 + c]


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
        absorbed += log_integral(precision, weighted, message[g, 2 * side], message[g, 2 * side + 1])
        cavity[side, 0] = weighted / precision
        cavity[side, 1] = 1.0 / precision
    return True, absorbed


@kernel
def evidence(part: Part, games: Games, rule: Rule, marginal: Rows, sites: Sites) -> tuple[float, float]:
    """A part's share of log Z, of its sites; and the log probabilities of its games, each without its own site."""
    message, _, positivity = sites
    _, first, second, code, weight = games
    noise, margin, _, advantage, handicap = rule
    predicted = 0.0
    total = 0.0
    n = at(len(positivity))
    cavity = np.empty((4, 2))
    for g in span(part.game, part.game_end):
        proper, absorbed = _cavities(g, at(first[g]), at(second[g]), n, marginal, message, cavity)
        if not proper:
            continue
        difference = cavity[0, 0] - cavity[1, 0] + handicap_of(code[g], handicap)
        normaliser = game_log_probability(
            outcome_of(code[g]), difference + (cavity[2, 0] + margin[g]), (cavity[3, 0] + margin[g]) - difference,
            advantage, apart(noise, cavity[0, 1] + cavity[1, 1], cavity[2, 1], cavity[3, 1]),
        )  # fmt: skip
        predicted += weight[g] * normaliser
        total += weight[g] * (normaliser - absorbed)
    for i in span(part.node, part.node_end):
        precision = marginal[n + i, 0] - positivity[i, 0]
        weighted = marginal[n + i, 1] - positivity[i, 1]
        if not precision > 0.0:
            continue
        total += log_cdf((weighted / precision + rule.origin) * math.sqrt(precision))
        total -= log_integral(precision, weighted, positivity[i, 0], positivity[i, 1])
    return total, predicted


@kernel
def cavities(begin: int, end: int, games: Games, marginal: Rows, sites: Sites, found: Rows) -> None:
    """Fill `found` (games, 5) with the cavities of some games, as `gradient` takes them."""
    n = at(len(sites.positivity))
    cavity = np.empty((4, 2))
    for g in span(begin, end):
        proper, _ = _cavities(g, at(games.first[g]), at(games.second[g]), n, marginal, sites.message, cavity)
        difference = cavity[0, 0] - cavity[1, 0]
        found[g, 0] = difference + cavity[2, 0]
        found[g, 1] = cavity[3, 0] - difference
        found[g, 2] = cavity[0, 1] + cavity[1, 1] + cavity[2, 1] if proper else -1.0
        found[g, 3] = cavity[2, 1]
        found[g, 4] = cavity[2, 1] + cavity[3, 1]


@kernel
def gradient(
    games: Games, balance: Vector, rule: Rule, cavity: Rows, by_margin: Vector, by_place: Vector
) -> tuple[float, float]:
    """As `ttt.gradient`; `by_margin` in what is added to both players' margins.

    `cavity` (games, 5): means of x1 and x2 without noise, advantage, handicap and the origin of margins, the variance
    of x1, its covariance with x1 + x2, and the variance of that.
    """
    noise, margin, _, advantage, handicap = rule
    by_noise = 0.0
    by_advantage = 0.0
    for g in span(0, len(games.first)):
        by_margin[g] = 0.0
        if cavity[g, 2] < 0.0:
            continue
        given = handicap_of(games.code[g], handicap)
        x1 = cavity[g, 0] + given + margin[g]
        x2 = cavity[g, 1] - given + margin[g]
        spread = together(noise, cavity[g, 2], cavity[g, 3], cavity[g, 4])
        c11, c12, c22, det = spread
        outcome = outcome_of(games.code[g])
        share = colour_share(outcome, x1, x2, advantage, spread)
        for sign, p in ((1.0, share), (-1.0, 1.0 - share)):
            if p > 0.0:
                g1, g2, k11, k12, k22 = sides(
                    outcome % UNKNOWN, x1 + sign * advantage, x2 - sign * advantage, c11, c12, c22, det
                )
                counted = p * games.weight[g]
                by_noise += counted * 0.5 * ((g1 - g2) ** 2 - (k11 - 2.0 * k12 + k22))
                by_margin[g] += counted * (g1 + g2)
                by_advantage += p * sign * balance[g] * (g1 - g2)
                by_place[place_of(games.code[g])] += counted * (g1 - g2)
    return by_noise, by_advantage


@kernel
def positive_gradient(origin: float, marginal: Rows, positivity: Rows) -> float:
    """The gradient of the factors that keep margins positive in the origin of the margins."""
    total = 0.0
    n = at(len(positivity))
    for i in span(0, n):
        precision = marginal[n + i, 0] - positivity[i, 0]
        mean = (marginal[n + i, 1] - positivity[i, 1]) / precision + origin
        scale = math.sqrt(precision)
        v, _ = win_moments(mean * scale)
        total += v * scale
    return total
