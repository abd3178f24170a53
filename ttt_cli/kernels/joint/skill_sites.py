"""Games of TTT in joint expectation propagation: each is a site exp(-q d^2 / 2 + h d) of d = s_i - s_j.

All sites are updated at once from the cavities that the joint Gaussian leaves: with its mean m and variance v of d, the
cavity has precision 1/v - q and precision times mean m/v - h. Arrays as in `ep/structures`; of sites `link` (games, 2).
"""

import math

from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.codes import game_log_normaliser, game_moments, handicap_of, outcome_of
from ttt_cli.kernels.compile import at, inner, kernel, span
from ttt_cli.kernels.ep.chains import log_integral
from ttt_cli.kernels.ep.structures import Games, Rule

REPEATS = 50  # of a site that equal games share, at most
SETTLED = 1e-10  # relative change of its precision
TINY = 1e-300


@kernel
def assemble(games: Games, link: Rows, coupling: Rows, diagonal: Vector, b: Vector) -> None:
    """Fill `coupling` (1, games) and add to `diagonal` and `b` (nodes,) what the games bring."""
    for g in span(0, len(games.first)):
        i, j = at(games.first[g]), at(games.second[g])
        coupling[0, g] = games.weight[g] * link[g, 0]
        diagonal[i] += coupling[0, g]
        diagonal[j] += coupling[0, g]
        b[i] += games.weight[g] * link[g, 1]
        b[j] -= games.weight[g] * link[g, 1]


@kernel
def cavities(
    games: Games, mean: Vector, variance: Vector, covariance: Rows, link: Rows, cavity: Rows
) -> None:
    """Fill `cavity` (games, 2): mean and variance of s_i - s_j without one such game; -1 where it is improper."""
    for g in span(0, len(games.first)):
        i, j = at(games.first[g]), at(games.second[g])
        precision = 1.0 / (variance[i] + variance[j] - 2.0 * covariance[0, g])
        times = min(games.weight[g], 1.0)
        left = precision - times * link[g, 0]
        cavity[g, 1] = -1.0
        if left > 0.0:
            cavity[g, 0] = ((mean[i] - mean[j]) * precision - times * link[g, 1]) / left
            cavity[g, 1] = 1.0 / left


@inner
def _site(outcome, given, margin, rule, mean, variance):
    """(q, h) of the site that a cavity asks for; q below 0 where no Gaussian site stands for the game."""
    scale = 1.0 / math.sqrt(rule.noise + variance)
    v, w = game_moments((mean + given) * scale, rule.advantage * scale, margin * scale, outcome)
    shrink = w * scale * scale
    rest = 1.0 / (1.0 - variance * shrink)
    return shrink * rest, (v * scale + mean * shrink) * rest


@inner
def _agreed(outcome, given, margin, rule, mean, variance, others, q, h):
    """The site that a game and `others` equal ones agree upon, from (q, h) on; q below 0 as in `_site`."""
    precision = 1.0 / variance - others * q
    weighted = mean / variance - others * h
    last, way = math.inf, 1.0
    for _ in range(REPEATS):
        seen = precision + others * q
        if not seen > 0.0:
            return -1.0, 0.0
        new_q, new_h = _site(outcome, given, margin, rule, (weighted + others * h) / seen, 1.0 / seen)
        change = abs(new_q - q) / max(new_q, TINY)
        if new_q < 0.0:
            return new_q, new_h
        if change > last:
            way *= 0.5
        q += way * (new_q - q)
        h += way * (new_h - h)
        last = change
        if change < SETTLED:
            break
    return q, h


@kernel
def update(games: Games, rule: Rule, cavity: Rows, share: float, link: Rows) -> int:
    """Move all sites this share of the way to what their cavities ask for; returns how many cannot be."""
    skipped = 0
    for g in span(0, len(games.first)):
        if cavity[g, 1] < 0.0:
            skipped += 1
            continue
        outcome, given = outcome_of(games.code[g]), handicap_of(games.code[g], rule.handicap)
        margin, mean, variance = rule.margin[g], cavity[g, 0], cavity[g, 1]
        if games.weight[g] > 1.0:
            q, h = _agreed(
                outcome, given, margin, rule, mean, variance, games.weight[g] - 1.0, link[g, 0], link[g, 1]
            )
        else:
            q, h = _site(outcome, given, margin, rule, mean, variance)
        if q < 0.0:  # two peaks, of unknown colours
            skipped += 1
            continue
        link[g, 0] += share * (q - link[g, 0])
        link[g, 1] += share * (h - link[g, 1])
    return skipped


@kernel
def evidence(games: Games, rule: Rule, cavity: Rows, link: Rows) -> tuple[float, float]:
    """What the sites bring to log Z beside the integral of all, and the log probabilities of all games."""
    total = 0.0
    predicted = 0.0
    for g in span(0, len(games.first)):
        if cavity[g, 1] < 0.0:
            continue
        scale = 1.0 / math.sqrt(rule.noise + cavity[g, 1])
        mean = cavity[g, 0] + handicap_of(games.code[g], rule.handicap)
        normaliser = game_log_normaliser(
            mean * scale, rule.advantage * scale, rule.margin[g] * scale, outcome_of(games.code[g])
        )
        precision = 1.0 / cavity[g, 1]
        absorbed = log_integral(precision, cavity[g, 0] * precision, link[g, 0], link[g, 1])
        predicted += games.weight[g] * normaliser
        total += games.weight[g] * (normaliser - absorbed)
    return total, predicted
