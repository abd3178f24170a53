"""TrueSkill Through Time: sweeps of expectation propagation over the timeline, and the log-evidence.

Every Gaussian message is a pair (precision, precision times mean) in a row of an array; means are counted from the
prior mean. Arrays over nodes have shape (nodes, 2): `forward` (from the past), `backward` (from the future),
`marginal` (both and the sites). Games are pairs of nodes (`first`, `second`), an `outcome` of the first (0 loss,
1 draw, 2 win; 3 more where colours are unknown, see `colours`; with the odds given, see `odds`) and a `weight` w: w
equal games that share one site.
`sites` has shape (games, 4): the message to the first's skill, then to the second's. `links` has shape (games, 2):
what one game says about the difference of the two skills, from which both messages follow (see `joint`).
"""

from __future__ import annotations

import math

from ttt_cli.kernels.colours import UNKNOWN, game_log_normaliser, game_moments
from ttt_cli.kernels.compile import flat, inner, kernel
from ttt_cli.kernels.odds import lead_of, outcome_of

SETTLED = 1e-9  # relative change of a site below which it is left alone
SLOW = 0.5  # rate above which a site is updated again at once
_NODES = "int64[::1], int32[::1], int32[::1], float64[::1]"  # node_start, previous, next, drift variance
_GAMES = "int64[::1], int32[::1], int32[::1], uint8[::1], float64[::1]"
_SCALARS = "float64, float64, float64, float64, float64[::1]"  # prior precision, 2 beta^2, draw margin, advantage, odds
_MESSAGES = (
    "float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1]"  # forward, backward, marginal, sites
)


@inner
def _drift(precision: float, weighted: float, variance: float) -> tuple[float, float]:
    """A message after a Gaussian step of that variance (TTT paper, section 3.2)."""
    shrink = 1.0 / (1.0 + variance * precision)
    return precision * shrink, weighted * shrink


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


@inner
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
    for g in range(begin, end):
        before = 0.0
        for _ in range(repeats + 1):  # one call only, so that it is compiled into the loop
            change = _play(
                g,
                first[g],
                second[g],
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


@inner
def _from_past(i, previous, variance, prior_precision, forward, backward, marginal):
    """The message to node i from the player's past, or the prior."""
    before = previous[i]
    if before < 0:
        return prior_precision, 0.0
    return _drift(
        marginal[before, 0] - backward[before, 0], marginal[before, 1] - backward[before, 1], variance[i]
    )


@inner
def _from_future(i, following, variance, forward, marginal):
    """The message to node i from the player's future, or nothing."""
    after = following[i]
    if after < 0:
        return 0.0, 0.0
    return _drift(
        marginal[after, 0] - forward[after, 0], marginal[after, 1] - forward[after, 1], variance[after]
    )


@kernel(f"int64({_NODES}, {_GAMES}, {_SCALARS}, int64, {_MESSAGES}, float64[:, ::1])")
def sweep_forward(
    node_start, previous, following, variance,
    game_start, first, second, outcome, weight,
    prior_precision, noise, margin, advantage, odds, repeats,
    forward, backward, marginal, sites, links,
):  # fmt: skip
    """One pass from the first period to the last; returns the number of skipped sites."""
    skipped = 0
    for p in range(len(node_start) - 1):
        for i in range(node_start[p], node_start[p + 1]):
            precision, weighted = _from_past(
                i, previous, variance, prior_precision, forward, backward, marginal
            )
            marginal[i, 0] += precision - forward[i, 0]
            marginal[i, 1] += weighted - forward[i, 1]
            forward[i, 0] = precision
            forward[i, 1] = weighted
        skipped += _play_period(
            game_start[p], game_start[p + 1], first, second, outcome, weight,
            noise, margin, advantage, odds, repeats, marginal, sites, links,
        )  # fmt: skip
    return skipped


@kernel(f"int64({_NODES}, {_GAMES}, {_SCALARS}, int64, {_MESSAGES}, float64[:, ::1])")
def sweep_backward(
    node_start, previous, following, variance,
    game_start, first, second, outcome, weight,
    prior_precision, noise, margin, advantage, odds, repeats,
    forward, backward, marginal, sites, links,
):  # fmt: skip
    """One pass from the last period to the first; returns the number of skipped sites."""
    skipped = 0
    for p in range(len(node_start) - 2, -1, -1):
        for i in range(node_start[p], node_start[p + 1]):
            precision, weighted = _from_future(i, following, variance, forward, marginal)
            marginal[i, 0] += precision - backward[i, 0]
            marginal[i, 1] += weighted - backward[i, 1]
            backward[i, 0] = precision
            backward[i, 1] = weighted
        skipped += _play_period(
            game_start[p], game_start[p + 1], first, second, outcome, weight,
            noise, margin, advantage, odds, repeats, marginal, sites, links,
        )  # fmt: skip
    return skipped


@kernel(f"void({_NODES}, {_GAMES}, float64, {_MESSAGES})")
def smooth(
    node_start, previous, following, variance,
    game_start, first, second, outcome, weight,
    prior_precision, forward, backward, marginal, sites,
):  # fmt: skip
    """All messages along the chains, exactly, from the sites as they are."""
    n = len(previous)
    for i in range(n):
        marginal[i, 0] = 0.0
        marginal[i, 1] = 0.0
    for g in range(len(first)):
        times = weight[g]
        marginal[first[g], 0] += times * sites[g, 0]
        marginal[first[g], 1] += times * sites[g, 1]
        marginal[second[g], 0] += times * sites[g, 2]
        marginal[second[g], 1] += times * sites[g, 3]
    for i in range(n):
        backward[i, 0] = 0.0
        backward[i, 1] = 0.0
    for i in range(n):
        precision, weighted = _from_past(i, previous, variance, prior_precision, forward, backward, marginal)
        forward[i, 0] = precision
        forward[i, 1] = weighted
        marginal[i, 0] += precision
        marginal[i, 1] += weighted
    for i in range(n - 1, -1, -1):
        precision, weighted = _from_future(i, following, variance, forward, marginal)
        backward[i, 0] = precision
        backward[i, 1] = weighted
        marginal[i, 0] += precision
        marginal[i, 1] += weighted


@inner
def _log_integral(precision, weighted, added, added_weighted):
    """log of the integral of a normalised Gaussian times exp(-added s^2 / 2 + added_weighted s)."""
    total = precision + added
    mean = weighted / precision
    peak = weighted + added_weighted
    # (peak^2 / total - weighted^2 / precision) / 2 without the difference of two large numbers
    exponent = 0.5 * (added_weighted * (peak + weighted) - mean * added * weighted) / total
    return exponent + 0.5 * math.log(precision / total)


@kernel(f"UniTuple(float64, 2)({_NODES}, {_GAMES}, {_SCALARS}, {_MESSAGES})")
def log_evidence(
    node_start, previous, following, variance,
    game_start, first, second, outcome, weight,
    prior_precision, noise, margin, advantage, odds,
    forward, backward, marginal, sites,
):  # fmt: skip
    """log Z of the sites and the smoothed messages; and the log probabilities of the games, each without its site."""
    foreseen = 0.0
    games = 0.0
    for g in range(len(first)):
        i = first[g]
        j = second[g]
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
        normaliser -= _log_integral(precision_i, weighted_i, sites[g, 0], sites[g, 1])
        normaliser -= _log_integral(precision_j, weighted_j, sites[g, 2], sites[g, 3])
        games += weight[g] * normaliser
    chains = 0.0
    for i in range(len(previous)):
        added = marginal[i, 0] - forward[i, 0] - backward[i, 0]
        added_weighted = marginal[i, 1] - forward[i, 1] - backward[i, 1]
        chains += _log_integral(forward[i, 0], forward[i, 1], added, added_weighted)
    return games + chains, foreseen
