"""What TTT and TTT-D share: passes through time, sums of sites, the evidence and its gradient.

A model passes what is its own for one game as a function, which the compiler inlines. Arrays as in `structures`. The
draw margin of node i is variable n + i; in TTT n is 0.
"""

import math

from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.compile import at, flat, kernel, span
from ttt_cli.kernels.ep.chains import update_message
from ttt_cli.kernels.ep.structures import GamesSlopes, Messages, Pairings, Part, Sites
from ttt_cli.kernels.outcomes import (
    UNKNOWN,
    base_rate,
    decided_by_skill,
    first_share,
    lapse_of,
    lapse_slope,
    log_average,
    win_moments,
)

SETTLED = 1e-13  # relative change of a site below which it is left alone
SLOW = 0.5  # rate above which a site is updated again at once
STUCK = 0.97  # of a step that is reversed: such sites move half as far


@flat
def _repeat(play, g, i, j, code, times, rule, repeats, change, marginal, message, link):
    """Update the site of equal games while it converges slowly, after a `change`; returns the last change.

    A site that oscillates moves half as far.
    """
    share = 1.0
    distance = 0.0
    for _ in range(repeats):
        last_change = change
        last_distance = distance
        change, distance = play(g, i, j, code, times, rule, share, marginal, message, link)
        if change <= SETTLED:
            break
        if distance * last_distance < 0.0 and abs(distance) > STUCK * abs(last_distance):
            share *= 0.5
        elif share == 1.0 and change < SLOW * last_change:
            break
    return change


@flat
def keep_positive(i, e, origin, marginal, positivity):
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


@flat
def pass_through(play, part, back, repeats, chains, games, rule, messages, sites):
    """One pass through a part, or `back`, messages from outside as they are; returns the number of skipped sites.

    Sites of games that converge slowly are updated up to `repeats` times more.
    `play` moves the sites of a game by a share of their update. It returns the relative distance of their precisions
    from their targets (0 for a single game, -1 where no site exists), and the change of the first one.
    """
    skipped = 0
    node_start, previous, following, mean, variance = chains
    start, first, second, code, weight = games
    message, link, positivity = sites
    forward, backward, marginal = messages
    source = following if back else previous
    n = at(len(positivity))
    begin, end, low, high, _, _ = part
    for count in range(end - begin):
        p = end - 1 - count if back else begin + count
        for i in span(node_start[p], node_start[p + 1]):
            s = source[i]
            inside = s < 0 or low <= s < high
            if inside:
                update_message(i, s, back, mean, variance, forward, backward, marginal)
            if n > 0:
                e = n + i
                if inside:
                    update_message(e, source[e], back, mean, variance, forward, backward, marginal)
                if not keep_positive(i, e, rule.origin, marginal, positivity):
                    skipped += 1
        for g in span(start[p], start[p + 1]):
            i = at(first[g])
            j = at(second[g])
            kind = code[g]
            times = weight[g]
            change, _ = play(g, i, j, kind, times, rule, 1.0, marginal, message, link)
            if change > SETTLED:
                change = _repeat(
                    play, g, i, j, kind, times, rule, repeats, change, marginal, message, link
                )
            if change < 0.0:
                skipped += 1
    return skipped


@kernel
def fill_with_positivity(part: Part, positivity: Rows, marginal: Rows) -> None:
    """Set `marginal` of the nodes of a part to nothing for skills, and to the sites that keep margins positive."""
    n = at(len(positivity))
    for i in span(part.node, part.node_end):
        for c in range(2):
            marginal[i, c] = 0.0
            if n > 0:
                marginal[n + i, c] = positivity[i, c]


@kernel
def gather_games(part: Part, games: Pairings, sites: Sites, marginal: Rows) -> None:
    """Add the sites of the games of a part to `marginal` of their variables."""
    message, _, positivity = sites
    n = at(len(positivity))
    for g in span(part.game, part.game_end):
        times = games.weight[g]
        i = at(games.first[g])
        j = at(games.second[g])
        for c in range(2):
            marginal[i, c] += times * message[g, c]
            marginal[j, c] += times * message[g, 2 + c]
            if n > 0:
                marginal[n + i, c] += times * message[g, 4 + c]
                marginal[n + j, c] += times * message[g, 6 + c]


@flat
def sum_evidence(of_game, begin, end, games, rule, beliefs, sites):
    """The sites' contribution to log Z beside the integral, and the log probabilities of games without their sites.

    `of_game` returns whether a game's cavity is proper, its log probability and the log integral of its site there.
    """
    total = 0.0
    predicted = 0.0
    for g in span(begin, end):
        proper, log_p, absorbed = of_game(g, games, rule, beliefs, sites)
        if proper:
            predicted += games.weight[g] * log_p
            total += games.weight[g] * (log_p - absorbed)
    return total, predicted


@flat
def sum_gradient(of_game, variance, games, balance, rule, cavity, by_margin, by_offset):
    """The games' gradient of the log-evidence, at a fixed point of the sites.

    Fills `by_margin` (games,) with that of each game in its draw margin, and `by_offset` (games,) with that in what is
    added to the first player's skill.
    Games are left out where the column `variance` of `cavity` is below 0. `balance` (games,) is the weight of games
    with White first less that of the others; the weight itself where colours are unknown, 0 on neutral ground.

    There only each factor's own slope counts, given the messages it receives. `of_game` returns the log probability
    under one colouring, and its slopes in 2 beta^2, the draw margin and the difference; with unknown colours both
    count, each by its posterior weight. All these are by skill alone; where chance decides some games, a game counts
    by the posterior weight of skill.
    """
    by_noise = 0.0
    by_advantage = 0.0
    by_lapse = 0.0
    for g in span(0, len(games.first)):
        by_margin[g] = 0.0
        by_offset[g] = 0.0
        if cavity[g, variance] < 0.0:
            continue
        as_known = of_game(g, 1.0, games, rule, cavity)
        turned = as_known
        log_p = as_known[0]
        share = 1.0
        if games.code[g] >= UNKNOWN:
            turned = of_game(g, -1.0, games, rule, cavity)
            log_p = log_average(log_p, turned[0])
            share = first_share(as_known[0], turned[0])
        by_skill = 1.0
        if rule.lapse_draws >= 0.0:
            base = base_rate(games.code[g], rule.lapse_draws)
            lapse = lapse_of(g, rule)
            by_skill = decided_by_skill(log_p, lapse, base)
            right = (1.0 - lapse) / (1.0 - rule.lapse)  # the probability that its record is right
            by_lapse += games.weight[g] * right * lapse_slope(log_p, lapse, base)
        for sign, p, slopes in ((1.0, share, as_known), (-1.0, 1.0 - share, turned)):
            if p > 0.0:
                _, noise, margin, slope = slopes
                counted = by_skill * p * games.weight[g]
                by_noise += counted * noise
                by_margin[g] += counted * margin
                by_advantage += by_skill * p * sign * balance[g] * slope
                by_offset[g] += counted * slope
    return GamesSlopes(by_noise, by_advantage, by_lapse)


@flat
def chain_residual(v, messages, means, diagonal, residual):
    """b - A s of the chains alone: T s = h - S s at the means s of smoothed sites (S, h), so T is not needed."""
    forward, backward, marginal = messages
    means[v] = marginal[v, 1] / marginal[v, 0]
    precision = marginal[v, 0] - forward[v, 0] - backward[v, 0]
    residual[v] = precision * means[v] - (marginal[v, 1] - forward[v, 1] - backward[v, 1])
    diagonal[v] = 0.0


@kernel
def residual_of_chains(
    part: Part,
    messages: Messages,
    positivity: Rows,
    means: Vector,
    diagonal: Vector,
    residual: Vector,
) -> None:
    """Fill `means` with the marginal means s of a part, `residual` with b - A s, and `diagonal` with diag(A - T).

    All without games, which `add_residual` of their kernels adds.
    """
    n = at(len(positivity))
    for i in span(part.node, part.node_end):
        chain_residual(i, messages, means, diagonal, residual)
        if n > 0:
            e = n + i
            chain_residual(e, messages, means, diagonal, residual)
            residual[e] += positivity[i, 1] - positivity[i, 0] * means[e]
            diagonal[e] = positivity[i, 0]


@flat
def sum_residual(add_game, part, games, sites, means, coupling, diagonal, residual):
    """Add the scores of a part's games at `means` to `residual`, and their precisions to `diagonal`, by `add_game`."""
    n = at(len(sites.positivity))
    for g in span(part.game, part.game_end):
        i = at(games.first[g])
        j = at(games.second[g])
        add_game(g, i, j, n, games.weight[g], sites.link, means, coupling, diagonal, residual)
