"""TrueSkill Through Time: sweeps of expectation propagation over the timeline, the evidence and its gradient."""

import math

from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.codes import (
    UNKNOWN,
    first_share,
    game_log_normaliser,
    game_moments,
    handicap_of,
    outcome_of,
    place_of,
)
from ttt_cli.kernels.compile import at, flat, inner, kernel, span
from ttt_cli.kernels.ep.chains import from_future, from_past, log_integral, receive
from ttt_cli.kernels.ep.structures import Chains, Games, Messages, Part, Rule, Sites
from ttt_cli.kernels.ep.ttt_margins import by_bound
from ttt_cli.kernels.truncated import outcome_log_normaliser, outcome_moments

SETTLED = 1e-13  # relative change of a site below which it is left alone
SLOW = 0.5  # rate above which a site is updated again at once
STUCK = 0.97  # of a step that is gone back: such sites go half as far


@inner
def _moments(mean, advantage, variance, outcome, margin):
    """(v / c, w / c^2) of a performance difference N(mean + advantage, c^2) given the outcome (paper, section 3.1)."""
    scale = 1.0 / math.sqrt(variance)
    v, w = game_moments(mean * scale, advantage * scale, margin * scale, outcome)
    return v * scale, w * scale * scale


@flat
def _play(g, i, j, code, times, rule, share, marginal, message, link):
    """Move the sites of one game this share of the way.

    Returns how far both precisions have to go: the sum over those they go to (0 for a single game, -1 where there are
    no such sites), and with its sign, of the first.
    """
    noise, margin, _, advantage, handicap = rule
    cavity_i = marginal[i, 0] - message[g, 0]
    cavity_j = marginal[j, 0] - message[g, 2]
    if not (cavity_i > 0.0 and cavity_j > 0.0):
        return -1.0, 0.0
    inverse = 1.0 / (cavity_i * cavity_j)
    var_i = cavity_j * inverse
    var_j = cavity_i * inverse
    mean_i = (marginal[i, 1] - message[g, 1]) * var_i
    mean_j = (marginal[j, 1] - message[g, 3]) * var_j
    outcome = outcome_of(code)
    difference = mean_i - mean_j + handicap_of(code, handicap)
    shift, shrink = _moments(difference, advantage, noise + var_i + var_j, outcome, margin[g])
    if outcome >= UNKNOWN and shrink < 0.0:  # two peaks: no Gaussian site stands for them
        return -1.0, 0.0
    left_i = 1.0 - var_i * shrink
    left_j = 1.0 - var_j * shrink
    left = left_i + left_j - 1.0
    inverse = 1.0 / (left_i * left_j * left)
    scale_i = left_j * left * inverse
    scale_j = left_i * left * inverse
    between = left_i * left_j * inverse
    precision_i = shrink * scale_i
    weighted_i = (mean_i * shrink + shift) * scale_i
    precision_j = shrink * scale_j
    weighted_j = (mean_j * shrink - shift) * scale_j
    link[g, 0] += share * (shrink * between - link[g, 0])
    link[g, 1] += share * ((shift + (mean_i - mean_j) * shrink) * between - link[g, 1])
    change = 0.0
    away = precision_i - message[g, 0]
    if times > 1.0 and shrink > 0.0:
        change = abs(away) / precision_i + abs(precision_j - message[g, 2]) / precision_j
    step_i = share * away
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
    return change, away


@inner
def _settle(g, i, j, code, times, rule, repeats, change, marginal, message, link):
    """Update the site of equal games while it is slow to agree with itself, after a `change`; returns the last change.

    A site that goes back as far as it came would do so for ever: it goes half as far.
    """
    share, away = 1.0, 0.0
    for _ in range(repeats):
        before, back = change, away
        change, away = _play(g, i, j, code, times, rule, share, marginal, message, link)
        if change <= SETTLED:
            break
        if away * back < 0.0 and abs(away) > STUCK * abs(back):
            share *= 0.5
        elif share == 1.0 and change < SLOW * before:
            break
    return change


@flat
def _play_period(begin, end, games, rule, repeats, marginal, message, link):
    """Update the sites of a period's games in order, slow ones up to `repeats` times more; how many were skipped."""
    skipped = 0
    _, first, second, code, weight = games
    for g in span(begin, end):
        i, j = at(first[g]), at(second[g])
        change, _ = _play(g, i, j, code[g], weight[g], rule, 1.0, marginal, message, link)
        if change > SETTLED:
            change = _settle(g, i, j, code[g], weight[g], rule, repeats, change, marginal, message, link)
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
    message, link, _ = sites
    begin, end, low, high, _, _ = part
    for count in range(end - begin):
        p = end - 1 - count if back else begin + count
        for i in span(node_start[p], node_start[p + 1]):
            if back:
                if following[i] < high:
                    received = from_future(following[i], mean, variance, forward, marginal)
                    receive(i, backward, received, marginal)
            elif previous[i] < 0 or previous[i] >= low:
                received = from_past(i, previous[i], mean, variance, backward, marginal)
                receive(i, forward, received, marginal)
        skipped += _play_period(
            games.start[p], games.start[p + 1], games, rule, repeats, marginal, message, link
        )
    return skipped


@kernel
def gather(part: Part, games: Games, marginal: Rows, sites: Sites) -> None:
    """Fill `marginal` of the variables of a part with their sites."""
    message = sites.message
    for i in span(part.node, part.node_end):
        marginal[i, 0] = 0.0
        marginal[i, 1] = 0.0
    for g in span(part.game, part.game_end):
        times = games.weight[g]
        i, j = at(games.first[g]), at(games.second[g])
        marginal[i, 0] += times * message[g, 0]
        marginal[i, 1] += times * message[g, 1]
        marginal[j, 0] += times * message[g, 2]
        marginal[j, 1] += times * message[g, 3]


@flat
def _cavity(g, games, marginal, message):
    """(difference of means, sum of variances or -1 if improper, log integrals of the sites) of a game's cavities."""
    i, j = at(games.first[g]), at(games.second[g])
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


@kernel
def evidence(part: Part, games: Games, rule: Rule, marginal: Rows, sites: Sites) -> tuple[float, float]:
    """A part's share of log Z, of its sites; and the log probabilities of its games, each without its site."""
    predicted = 0.0
    total = 0.0
    for g in span(part.game, part.game_end):
        difference, variance, absorbed = _cavity(g, games, marginal, sites.message)
        if variance < 0.0:
            continue
        mean = difference + handicap_of(games.code[g], rule.handicap)
        scale = 1.0 / math.sqrt(rule.noise + variance)
        normaliser = game_log_normaliser(
            mean * scale, rule.advantage * scale, rule.margin[g] * scale, outcome_of(games.code[g])
        )
        predicted += games.weight[g] * normaliser
        total += games.weight[g] * (normaliser - absorbed)
    return total, predicted


@kernel
def cavities(begin: int, end: int, games: Games, marginal: Rows, sites: Sites, found: Rows) -> None:
    """Fill `found` (games, 2) with the cavities of some games, as `gradient` takes them."""
    for g in span(begin, end):
        found[g, 0], found[g, 1], _ = _cavity(g, games, marginal, sites.message)


@kernel
def gradient(
    games: Games, balance: Vector, rule: Rule, cavity: Rows, by_margin: Vector, by_place: Vector
) -> tuple[float, float]:
    """The games' gradient of the log-evidence in 2 beta^2 and White's advantage, at a fixed point of the sites.

    Fills `by_margin` (games,) with that of each game in its draw margin; adds that in handicaps to `by_place`.

    There only each factor's own slope counts, given the messages it receives. A Gaussian integral I(mean, variance)
    obeys the heat equation, d log I / d variance = (g^2 - k) / 2 with g = d log I / d mean, k = -d^2 log I / d mean^2.
    Of a game with unknown colours both colourings count, each by its posterior weight.
    `balance` (games,) is the weight of games with White first less that of the others; the weight itself where
    colours are unknown, 0 on neutral ground. `cavity` (games, 2): mean and variance of s_i - s_j without the game,
    which is left out where the latter is below 0.
    """
    by_noise = 0.0
    by_advantage = 0.0
    for g in span(0, len(games.first)):
        difference, variance = cavity[g, 0], cavity[g, 1]
        by_margin[g] = 0.0
        if variance < 0.0:
            continue
        weight = games.weight[g]
        mean = difference + handicap_of(games.code[g], rule.handicap)
        scale = 1.0 / math.sqrt(rule.noise + variance)
        bound = rule.margin[g] * scale
        outcome = outcome_of(games.code[g])
        known = outcome % UNKNOWN
        share = 1.0
        if outcome >= UNKNOWN:
            share = first_share(
                outcome_log_normaliser((mean + rule.advantage) * scale, bound, known),
                outcome_log_normaliser((mean - rule.advantage) * scale, bound, known),
            )
        for sign, p in ((1.0, share), (-1.0, 1.0 - share)):
            if p > 0.0:
                t = (mean + sign * rule.advantage) * scale
                v, w = outcome_moments(t, bound, known)
                by_noise += p * weight * 0.5 * (v * v - w) * scale * scale
                by_margin[g] += p * weight * by_bound(t, bound, known, v) * scale
                by_advantage += p * sign * balance[g] * v * scale
                by_place[place_of(games.code[g])] += p * weight * v * scale
    return by_noise, by_advantage
