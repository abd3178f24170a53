"""Slopes of the log-evidence at a fixed point of expectation propagation.

There log Z does not change to first order when sites do, so only what depends on a parameter explicitly counts:
each factor's own slope given the messages it receives. A variance inside a Gaussian integral I(mean, variance) obeys
the heat equation, d log I / d variance = (g^2 - k) / 2 with g = d log I / d mean and k = -d^2 log I / d mean^2.
Of a game with unknown colours (see `colours`) both colourings count, each by its posterior weight.
"""

from __future__ import annotations

import math

from ttt_cli.kernels.colours import UNKNOWN, first_share
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.ep.sides import sides, sides_log_probability
from ttt_cli.kernels.normal import LOG_SQRT_2PI
from ttt_cli.kernels.odds import lead_of, outcome_of
from ttt_cli.kernels.truncated import (
    draw_log_normaliser,
    outcome_log_normaliser,
    outcome_moments,
    win_moments,
)


@kernel("UniTuple(float64, 2)(int64, int64, int32[::1], float64[::1], float64[:, ::1], float64[:, ::1])")
def chain_slopes(begin, end, previous, years, forward, marginal):
    """Slopes in the prior variance and in the drift variance per year, of the variables from `begin` to `end`.

    `years` is the gap before each variable; messages as in `ttt`.
    """
    prior = 0.0
    drift = 0.0
    for i in range(begin, end):
        share = forward[i, 0] / marginal[i, 0]
        precision = marginal[i, 0] - forward[i, 0]
        slope = (marginal[i, 1] - forward[i, 1]) * share - precision * forward[i, 1] / marginal[i, 0]
        growth = 0.5 * (slope * slope - precision * share)
        if previous[i] < 0:
            prior += growth
        else:
            drift += years[i] * growth
    return prior, drift


@inner
def _margin_slope(t, bound, outcome, slope):
    """d log P(outcome) / d bound, where `slope` is d log P / d t."""
    if outcome != 1:
        return -abs(slope)
    log_mass = draw_log_normaliser(t, bound)
    upper = math.exp(-0.5 * (bound - t) ** 2 - LOG_SQRT_2PI - log_mass)
    return upper + math.exp(-0.5 * (bound + t) ** 2 - LOG_SQRT_2PI - log_mass)


@kernel(
    "UniTuple(float64, 4)(int32[::1], int32[::1], uint8[::1], float64[::1], float64[::1], float64, float64, float64, "
    "float64[::1], float64[:, ::1], float64[:, ::1])"
)
def game_slopes(first, second, outcome, weight, balance, noise, margin, advantage, odds, marginal, sites):
    """Slopes in 2 beta^2, the draw margin, White's advantage and the logarithm of the odds, of the games of TTT.

    `balance` (games,) is the weight of games with White first less that of the others; the weight itself where
    colours are unknown.
    """
    in_noise = 0.0
    in_margin = 0.0
    in_advantage = 0.0
    in_odds = 0.0
    for g in range(len(first)):
        i = first[g]
        j = second[g]
        precision_i = marginal[i, 0] - sites[g, 0]
        precision_j = marginal[j, 0] - sites[g, 2]
        if not (precision_i > 0.0 and precision_j > 0.0):
            continue
        lead = lead_of(outcome[g], odds)
        mean = (
            (marginal[i, 1] - sites[g, 1]) / precision_i - (marginal[j, 1] - sites[g, 3]) / precision_j + lead
        )
        scale = 1.0 / math.sqrt(noise + 1.0 / precision_i + 1.0 / precision_j)
        code = outcome_of(outcome[g])
        known = code % UNKNOWN
        share = 1.0
        if code >= UNKNOWN:
            share = first_share(
                outcome_log_normaliser((mean + advantage) * scale, margin * scale, known),
                outcome_log_normaliser((mean - advantage) * scale, margin * scale, known),
            )
        for sign, p in ((1.0, share), (-1.0, 1.0 - share)):
            if p > 0.0:
                t = (mean + sign * advantage) * scale
                v, w = outcome_moments(t, margin * scale, known)
                in_noise += p * weight[g] * 0.5 * (v * v - w) * scale * scale
                in_margin += p * weight[g] * _margin_slope(t, margin * scale, known, v) * scale
                in_advantage += p * sign * balance[g] * v * scale
                in_odds += p * weight[g] * v * scale * lead
    return in_noise, in_margin, in_advantage, in_odds


@kernel(
    "UniTuple(float64, 4)(int32[::1], int32[::1], uint8[::1], float64[::1], float64[::1], float64, float64, "
    "float64[::1], float64, float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def margin_game_slopes(
    first,
    second,
    outcome,
    weight,
    balance,
    noise,
    advantage,
    odds,
    offset,
    marginal,
    sites,
    positivity,
):
    """Slopes in 2 beta^2, the mean of the draw margins, White's advantage and log odds, of games and positivity."""
    n = len(positivity)
    in_noise = 0.0
    in_mean = 0.0
    in_advantage = 0.0
    in_odds = 0.0
    for g in range(len(first)):
        i = first[g]
        j = second[g]
        a = n + i
        b = n + j
        var_i = 1.0 / (marginal[i, 0] - sites[g, 0])
        var_j = 1.0 / (marginal[j, 0] - sites[g, 2])
        var_a = 1.0 / (marginal[a, 0] - sites[g, 4])
        var_b = 1.0 / (marginal[b, 0] - sites[g, 6])
        given = lead_of(outcome[g], odds)
        lead = (marginal[i, 1] - sites[g, 1]) * var_i - (marginal[j, 1] - sites[g, 3]) * var_j + given
        mean_a = (marginal[a, 1] - sites[g, 5]) * var_a + offset
        mean_b = (marginal[b, 1] - sites[g, 7]) * var_b + offset
        code = outcome_of(outcome[g])
        known = code % UNKNOWN
        var_d = var_i + var_j
        share = 1.0
        if code >= UNKNOWN:
            share = first_share(
                sides_log_probability(known, lead + advantage, noise, var_d, mean_a, var_a, mean_b, var_b),
                sides_log_probability(known, lead - advantage, noise, var_d, mean_a, var_a, mean_b, var_b),
            )
        for sign, p in ((1.0, share), (-1.0, 1.0 - share)):
            if p > 0.0:
                g1, g2, k11, k12, k22 = sides(
                    known, lead + sign * advantage, noise, var_d, mean_a, var_a, mean_b, var_b
                )
                in_noise += p * weight[g] * 0.5 * ((g1 - g2) ** 2 - (k11 - 2.0 * k12 + k22))
                in_mean += p * weight[g] * (g1 + g2)
                in_advantage += p * sign * balance[g] * (g1 - g2)
                in_odds += p * weight[g] * (g1 - g2) * given
    for i in range(n):
        precision = marginal[n + i, 0] - positivity[i, 0]
        mean = (marginal[n + i, 1] - positivity[i, 1]) / precision + offset
        scale = math.sqrt(precision)
        v, _ = win_moments(mean * scale)
        in_mean += v * scale
    return in_noise, in_mean, in_advantage, in_odds
