"""TrueSkill Through Time: sweeps of expectation propagation over the timeline, and the log-evidence.

Messages along the chains of nodes are as in `chains`; means are counted from the prior mean. Games are pairs of nodes
(`first`, `second`), an `outcome` of the first (0 loss, 1 draw, 2 win; 3 more where colours are unknown, see `colours`;
with the odds given, see `odds`) and a `weight` w: w equal games that share one site.
`sites` has shape (games, 4): the message to the first's skill, then to the second's. `links` has shape (games, 2):
what one game says about the difference of the two skills, from which both messages follow (see `joint`).
"""

from __future__ import annotations

import math

from ttt_cli.kernels.colours import UNKNOWN, game_log_normaliser, game_moments
from ttt_cli.kernels.compile import flat, inner, kernel
from ttt_cli.kernels.ep.chains import from_future, from_past, log_integral, receive
from ttt_cli.kernels.indices import at, span
from ttt_cli.kernels.odds import lead_of, outcome_of
from ttt_cli.kernels.prefetch import fetch

SETTLED = 1e-9  # relative change of a site below which it is left alone
SLOW = 0.5  # rate above which a site is updated again at once
_NODES = "int64[::1], int32[::1], int32[::1], float64[::1]"  # node_start, previous, next, drift variance
_GAMES = "int64[::1], int32[::1], int32[::1], uint8[::1], float64[::1]"
# prior precision (nodes,), 2 beta^2, draw margin, advantage of the first, odds
_SCALARS = "float64[::1], float64, float64, float64, float64[::1]"
_MESSAGES = (
    "float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1]"  # forward, backward, marginal, sites
)


@inner
def _moments(mean, advantage, variance, outcome, margin):
    """(v / c, w / c^2) of a performance difference N(mean + advantage, c^2) given the outcome (paper, section 3.1)."""
    scale = 1.0 / math.sqrt(variance)
    v, w = game_moments(mean * scale, advantage * scale, margin * scale, outcome)
    return v * scale, w * scale * scale


@flat
def _play(g, i, j, outcome, lead, times, noise, margin, advantage, marginal, sites, links):
    """Update the sites of one game; returns -1 if it cannot be, else by how much they changed (0 for a single game)."""
    cavity_i = marginal[i, 0] - sites[g, 0]
    cavity_j = marginal[j, 0] - sites[g, 2]
    if not (cavity_i > 0.0 and cavity_j > 0.0):
        return -1.0
    inverse = 1.0 / (cavity_i * cavity_j)
    var_i = cavity_j * inverse
    var_j = cavity_i * inverse
    mean_i = (marginal[i, 1] - sites[g, 1]) * var_i
    mean_j = (marginal[j, 1] - sites[g, 3]) * var_j
    shift, shrink = _moments(mean_i - mean_j + lead, advantage, noise + var_i + var_j, outcome, margin)
    if outcome >= UNKNOWN and shrink < 0.0:  # two peaks: no Gaussian site stands for them
        return -1.0
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
    links[g, 0] = shrink * between
    links[g, 1] = (shift + (mean_i - mean_j) * shrink) * between
    change = 0.0
    if times > 1.0 and shrink > 0.0:
        change = abs(precision_i - sites[g, 0]) / precision_i + abs(precision_j - sites[g, 2]) / precision_j
    marginal[i, 0] += times * (precision_i - sites[g, 0])
    marginal[i, 1] += times * (weighted_i - sites[g, 1])
    marginal[j, 0] += times * (precision_j - sites[g, 2])
    marginal[j, 1] += times * (weighted_j - sites[g, 3])
    sites[g, 0] = precision_i
    sites[g, 1] = weighted_i
    sites[g, 2] = precision_j
    sites[g, 3] = weighted_j
    return change


@flat
def _play_period(
    begin,
    end,
    first,
    second,
    outcome,
    weight,
    noise,
    margin,
    advantage,
    odds,
    repeats,
    marginal,
    sites,
    links,
):
    """Update the sites of the games of one period in order; returns how many had to be skipped.

    Many equal games that share a site can be slow to agree with themselves: they are repeated while that is so,
    up to `repeats` times.
    """
    skipped = 0
    for g in span(begin, end):
        fetch(g, end, first, marginal)
        fetch(g, end, second, marginal)
        before = 0.0
        for _ in range(repeats + 1):  # one call only, so that it is compiled into the loop
            change = _play(
                g,
                at(first[g]),
                at(second[g]),
                outcome_of(outcome[g]),
                lead_of(outcome[g], odds),
                weight[g],
                noise,
                margin,
                advantage,
                marginal,
                sites,
                links,
            )
            if change <= SETTLED or change < SLOW * before:
                break
            before = change
        if change < 0.0:
            skipped += 1
    return skipped


@kernel(f"int64({_NODES}, {_GAMES}, {_SCALARS}, int64, int64, int64, boolean, {_MESSAGES}, float64[:, ::1])")
def sweep(
    node_start, previous, following, variance,
    game_start, first, second, outcome, weight,
    prior_precision, noise, margin, advantage, odds, repeats, begin, end, back,
    forward, backward, marginal, sites, links,
):  # fmt: skip
    """One pass through the periods from `begin` to before `end`, or `back`; returns the number of skipped sites.

    Messages from outside these periods are left as they are.
    """
    skipped = 0
    low, high = node_start[begin], node_start[end]
    for step in range(end - begin):
        p = end - 1 - step if back else begin + step
        for i in span(node_start[p], node_start[p + 1]):
            if back:
                if following[i] < high:
                    precision, weighted = from_future(following[i], variance, forward, marginal)
                    receive(i, backward, precision, weighted, marginal)
            elif previous[i] < 0 or previous[i] >= low:
                precision, weighted = from_past(
                    i, previous[i], variance, prior_precision[i], backward, marginal
                )
                receive(i, forward, precision, weighted, marginal)
        skipped += _play_period(
            game_start[p], game_start[p + 1], first, second, outcome, weight,
            noise, margin, advantage, odds, repeats, marginal, sites, links,
        )  # fmt: skip
    return skipped


@kernel(
    "void(int64, int64, int64, int64, int32[::1], int32[::1], float64[::1], float64[:, ::1], float64[:, ::1])"
)
def gather(node, last_node, game, last_game, first, second, weight, marginal, sites):
    """Fill `marginal` of the nodes from `node` to before `last_node` with the sites of their games, a slice's."""
    for i in span(node, last_node):
        marginal[i, 0] = 0.0
        marginal[i, 1] = 0.0
    for g in span(game, last_game):
        fetch(g, last_game, first, marginal)
        fetch(g, last_game, second, marginal)
        times = weight[g]
        i = at(first[g])
        j = at(second[g])
        marginal[i, 0] += times * sites[g, 0]
        marginal[i, 1] += times * sites[g, 1]
        marginal[j, 0] += times * sites[g, 2]
        marginal[j, 1] += times * sites[g, 3]


@kernel(
    "UniTuple(float64, 2)(int64, int64, int32[::1], int32[::1], uint8[::1], float64[::1], "
    "float64, float64, float64, float64[::1], float64[:, ::1], float64[:, ::1])"
)
def game_evidence(
    game, last_game, first, second, outcome, weight, noise, margin, advantage, odds, marginal, sites
):
    """The part of log Z of some games' sites; and the log probabilities of these games, each without its site."""
    foreseen = 0.0
    games = 0.0
    for g in span(game, last_game):
        fetch(g, last_game, first, marginal)
        fetch(g, last_game, second, marginal)
        i = at(first[g])
        j = at(second[g])
        precision_i = marginal[i, 0] - sites[g, 0]
        precision_j = marginal[j, 0] - sites[g, 2]
        if not (precision_i > 0.0 and precision_j > 0.0):
            continue
        weighted_i = marginal[i, 1] - sites[g, 1]
        weighted_j = marginal[j, 1] - sites[g, 3]
        mean = weighted_i / precision_i - weighted_j / precision_j + lead_of(outcome[g], odds)
        scale = 1.0 / math.sqrt(noise + 1.0 / precision_i + 1.0 / precision_j)
        normaliser = game_log_normaliser(
            mean * scale, advantage * scale, margin * scale, outcome_of(outcome[g])
        )
        foreseen += weight[g] * normaliser
        normaliser -= log_integral(precision_i, weighted_i, sites[g, 0], sites[g, 1])
        normaliser -= log_integral(precision_j, weighted_j, sites[g, 2], sites[g, 3])
        games += weight[g] * normaliser
    return games, foreseen
