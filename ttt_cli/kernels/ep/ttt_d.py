"""TTT-D: a skill and a draw margin per node, both smoothed (TTT paper, section 3.3).

Variables: the skills of nodes 0..n-1, then their draw margins n..2n-1; a margin is counted from its prior mean, so
`offset` is added where its value matters. Messages are as in `ttt`: rows (precision, precision times mean) of arrays
(variables, 2). With d = s_i - s_j + advantage + noise, the first player i wins when x2 = e_j - d < 0, loses when
x1 = d + e_i < 0 and draws when both are positive. `sites` has shape (games, 8): messages to s_i, s_j, e_i, e_j.
Outcomes are 0 loss, 1 draw, 2 win of the first; 3 more where colours are unknown (see `colours`); with the odds given
(see `odds`).
`positivity` (nodes, 2) are the messages of the factors e > 0. `links` (games, 5) are what one game says about
(x1, x2) without the noise: precisions q11, q12, q22 and precisions times mean b1, b2.
"""

from __future__ import annotations

import math

import numpy as np

from ttt_cli.kernels.colours import UNKNOWN
from ttt_cli.kernels.compile import flat, inner, kernel
from ttt_cli.kernels.ep.chains import from_future, from_past, log_integral, receive
from ttt_cli.kernels.ep.sides import game_log_probability, game_sides
from ttt_cli.kernels.indices import at, span
from ttt_cli.kernels.odds import lead_of, outcome_of
from ttt_cli.kernels.truncated import win_log_normaliser, win_moments

_LAYOUT = (
    "int64[::1], int32[::1], int32[::1], float64[::1]"  # node_start, previous, following, drift variance
)
_GAMES = "int64[::1], int32[::1], int32[::1], uint8[::1], float64[::1]"
# prior precision, 2 beta^2, advantage, odds, offset
_SCALARS = "float64[::1], float64, float64, float64[::1], float64"
_ARRAYS = ", ".join(["float64[:, ::1]"] * 5)  # forward, backward, marginal, sites, positivity


@inner
def _keep_positive(i, e, offset, marginal, positivity):
    """Update the factor that keeps the margin e of node i positive; False when its cavity is improper."""
    cavity = marginal[e, 0] - positivity[i, 0]
    if not cavity > 0.0:
        return False
    variance = 1.0 / cavity
    mean = (marginal[e, 1] - positivity[i, 1]) * variance
    scale = math.sqrt(cavity)
    v, w = win_moments((mean + offset) * scale)
    pull = w * cavity
    left = 1.0 / (1.0 - variance * pull)
    precision = pull * left
    weighted = (v * scale + mean * pull) * left
    marginal[e, 0] += precision - positivity[i, 0]
    marginal[e, 1] += weighted - positivity[i, 1]
    positivity[i, 0] = precision
    positivity[i, 1] = weighted
    return True


@inner
def _replace(g, column, variable, slope, pull, mean, variance, times, marginal, sites):
    """The new site of one variable whose cavity is N(mean, variance); returns the relative change of its precision."""
    left = 1.0 / (1.0 - variance * pull)
    precision = pull * left
    weighted = (slope + mean * pull) * left
    change = abs(precision - sites[g, column])
    marginal[variable, 0] += times * (precision - sites[g, column])
    marginal[variable, 1] += times * (weighted - sites[g, column + 1])
    sites[g, column] = precision
    sites[g, column + 1] = weighted
    return change / precision if precision > 0.0 else 0.0


@inner
def _has_one_peak(k11, k12, k22):
    """Whether minus the Hessian is positive semidefinite, rounding aside: only then a Gaussian site stands for it."""
    return k11 >= 0.0 and k22 >= 0.0 and k12 * k12 <= k11 * k22 * (1.0 + 1e-9)


@flat
def _play(g, i, j, n, code, times, noise, advantage, odds, offset, marginal, sites, links):
    """Update the sites of one game; returns by how much the skills' changed, relative, or -1 if they cannot be."""
    a = n + i
    b = n + j
    cavity_si = marginal[i, 0] - sites[g, 0]
    cavity_sj = marginal[j, 0] - sites[g, 2]
    cavity_ei = marginal[a, 0] - sites[g, 4]
    cavity_ej = marginal[b, 0] - sites[g, 6]
    if not (cavity_si > 0.0 and cavity_sj > 0.0 and cavity_ei > 0.0 and cavity_ej > 0.0):
        return -1.0
    var_si = 1.0 / cavity_si
    var_sj = 1.0 / cavity_sj
    var_ei = 1.0 / cavity_ei
    var_ej = 1.0 / cavity_ej
    mean_si = (marginal[i, 1] - sites[g, 1]) * var_si
    mean_sj = (marginal[j, 1] - sites[g, 3]) * var_sj
    mean_ei = (marginal[a, 1] - sites[g, 5]) * var_ei
    mean_ej = (marginal[b, 1] - sites[g, 7]) * var_ej
    lead = mean_si - mean_sj
    var_d = var_si + var_sj
    outcome = outcome_of(code)
    g1, g2, k11, k12, k22 = game_sides(
        outcome, lead + lead_of(code, odds), advantage, noise, var_d,
        mean_ei + offset, var_ei, mean_ej + offset, var_ej,
    )  # fmt: skip
    if outcome >= UNKNOWN and not _has_one_peak(k11, k12, k22):
        return -1.0
    # the same as a Gaussian site on (x1, x2): with cavity covariance C, Q = (I - K C)^-1 K, b = (I - K C)^-1 (g + K m)
    c11 = var_d + var_ei
    c22 = var_d + var_ej
    m11 = 1.0 - k11 * c11 + k12 * var_d
    m12 = k11 * var_d - k12 * c22
    m21 = k22 * var_d - k12 * c11
    m22 = 1.0 - k22 * c22 + k12 * var_d
    inverse = 1.0 / (m11 * m22 - m12 * m21)
    x1 = lead + mean_ei
    x2 = mean_ej - lead
    r1 = g1 + k11 * x1 + k12 * x2
    r2 = g2 + k12 * x1 + k22 * x2
    links[g, 0] = (m22 * k11 - m12 * k12) * inverse
    links[g, 1] = (m22 * k12 - m12 * k22) * inverse
    links[g, 2] = (m11 * k22 - m21 * k12) * inverse
    links[g, 3] = (m22 * r1 - m12 * r2) * inverse
    links[g, 4] = (m11 * r2 - m21 * r1) * inverse
    pull = k11 - 2.0 * k12 + k22
    change = _replace(g, 0, i, g1 - g2, pull, mean_si, var_si, times, marginal, sites)
    change += _replace(g, 2, j, g2 - g1, pull, mean_sj, var_sj, times, marginal, sites)
    change += _replace(g, 4, a, g1, k11, mean_ei, var_ei, times, marginal, sites)
    change += _replace(g, 6, b, g2, k22, mean_ej, var_ej, times, marginal, sites)
    return change


@inner
def _play_period(
    begin,
    end,
    n,
    first,
    second,
    outcome,
    weight,
    noise,
    advantage,
    odds,
    offset,
    repeats,
    marginal,
    sites,
    links,
):
    """Update the games of one period in order; returns how many had to be skipped (see `ttt._play_period`)."""
    skipped = 0
    for g in span(begin, end):
        i = at(first[g])
        j = at(second[g])
        times = weight[g]
        change = _play(g, i, j, n, outcome[g], times, noise, advantage, odds, offset, marginal, sites, links)
        if change < 0.0:
            skipped += 1
        elif times > 1.0 and change > 1e-9:
            for _ in range(repeats):
                before = change
                change = _play(
                    g,
                    i,
                    j,
                    n,
                    outcome[g],
                    times,
                    noise,
                    advantage,
                    odds,
                    offset,
                    marginal,
                    sites,
                    links,
                )
                if change < 1e-9 or change < 0.5 * before:
                    break
    return skipped


@kernel(f"int64({_LAYOUT}, {_GAMES}, {_SCALARS}, int64, int64, int64, boolean, {_ARRAYS}, float64[:, ::1])")
def sweep(
    node_start, previous, following, variance,
    game_start, first, second, outcome, weight,
    prior_precision, noise, advantage, odds, offset, repeats, begin, end, back,
    forward, backward, marginal, sites, positivity, links,
):  # fmt: skip
    """One pass through the periods from `begin` to before `end`, or `back`; returns the number of skipped sites.

    Messages from outside these periods are left as they are.
    """
    skipped = 0
    n = at(len(previous) // 2)
    low, high = node_start[begin], node_start[end]
    for step in range(end - begin):
        p = end - 1 - step if back else begin + step
        for i in span(node_start[p], node_start[p + 1]):
            past = previous[i] < 0 or previous[i] >= low
            future = following[i] < high
            for variable in (i, n + i):
                if back and future:
                    precision, weighted = from_future(following[variable], variance, forward, marginal)
                    receive(variable, backward, precision, weighted, marginal)
                elif past and not back:
                    precision, weighted = from_past(
                        variable, previous[variable], variance, prior_precision[variable], backward, marginal
                    )
                    receive(variable, forward, precision, weighted, marginal)
            if not _keep_positive(i, n + i, offset, marginal, positivity):
                skipped += 1
        skipped += _play_period(
            game_start[p], game_start[p + 1], n, first, second, outcome, weight,
            noise, advantage, odds, offset, repeats, marginal, sites, links,
        )  # fmt: skip
    return skipped


@kernel(
    "void(int64, int64, int64, int64, int32[::1], int32[::1], float64[::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1])"
)
def gather(node, last_node, game, last_game, first, second, weight, marginal, sites, positivity):
    """Fill `marginal` of a slice's variables with their sites: of its games, and those that keep margins positive."""
    n = at(len(positivity))
    for i in span(node, last_node):
        marginal[i, 0] = 0.0
        marginal[i, 1] = 0.0
        marginal[n + i, 0] = positivity[i, 0]
        marginal[n + i, 1] = positivity[i, 1]
    for g in span(game, last_game):
        times = weight[g]
        i = at(first[g])
        j = at(second[g])
        for c in range(2):
            marginal[i, c] += times * sites[g, c]
            marginal[j, c] += times * sites[g, 2 + c]
            marginal[n + i, c] += times * sites[g, 4 + c]
            marginal[n + j, c] += times * sites[g, 6 + c]


@kernel(
    "UniTuple(float64, 2)(int64, int64, int64, int64, int32[::1], int32[::1], uint8[::1], float64[::1], "
    "float64, float64, float64[::1], float64, float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def site_evidence(
    node, last_node, game, last_game, first, second, outcome, weight,
    noise, advantage, odds, offset, marginal, sites, positivity,
):  # fmt: skip
    """The part of log Z of a slice's sites, positivity included; and the log probabilities of its games.

    Each game is foreseen without its own site.
    """
    foreseen = 0.0
    n = at(len(positivity))
    total = 0.0
    cavity = np.empty((4, 2))
    for g in span(game, last_game):
        i = at(first[g])
        j = at(second[g])
        absorbed = 0.0
        proper = True
        for side in range(4):
            variable = (i if side % 2 == 0 else j) + (n if side > 1 else at(0))
            precision = marginal[variable, 0] - sites[g, 2 * side]
            if not precision > 0.0:
                proper = False
                break
            weighted = marginal[variable, 1] - sites[g, 2 * side + 1]
            absorbed += log_integral(precision, weighted, sites[g, 2 * side], sites[g, 2 * side + 1])
            cavity[side, 0] = weighted / precision
            cavity[side, 1] = 1.0 / precision
        if not proper:
            continue
        lead = cavity[0, 0] - cavity[1, 0] + lead_of(outcome[g], odds)
        normaliser = game_log_probability(
            outcome_of(outcome[g]), lead, advantage, noise, cavity[0, 1] + cavity[1, 1],
            cavity[2, 0] + offset, cavity[2, 1], cavity[3, 0] + offset, cavity[3, 1],
        )  # fmt: skip
        foreseen += weight[g] * normaliser
        total += weight[g] * (normaliser - absorbed)
    for i in span(node, last_node):
        precision = marginal[n + i, 0] - positivity[i, 0]
        weighted = marginal[n + i, 1] - positivity[i, 1]
        if not precision > 0.0:
            continue
        total += win_log_normaliser((weighted / precision + offset) * math.sqrt(precision))
        total -= log_integral(precision, weighted, positivity[i, 0], positivity[i, 1])
    return total, foreseen
