"""Glicko: ratings with deviations, renewed once for all games of a period (Glickman 1999; his note, step 2)."""

from __future__ import annotations

import math

from ttt_cli.kernels.compile import inner, kernel

SLOPE = math.log(10.0) / 400.0  # q: how fast the log-odds of winning grow with a lead, per point


@inner
def damping(variance):
    """The factor g by which a lead counts less while the opponent's rating has this variance, points^2."""
    return 1.0 / math.sqrt(1.0 + 3.0 * SLOPE * SLOPE * variance / (math.pi * math.pi))


@inner
def _weigh(score, lead, variance):
    """(gradient, information) of one game: slope and negative curvature of its log-likelihood in the player's rating.

    `lead`: over an opponent whose rating has this variance.
    """
    g = SLOPE * damping(variance)
    expected = 1.0 / (1.0 + math.exp(-g * lead))
    return g * (score - expected), g * g * expected * (1.0 - expected)


@kernel(
    "void(int64, int64, int32[::1], int32[::1], int8[::1], float64[::1], float64[::1], float64[::1], float64[::1], "
    "float64[::1], float64[::1])"
)
def weigh_games(first, last, white, black, outcome, weight, lead, mean, variance, gradient, information):
    """Add to `gradient` and `information` of the nodes what the games from `first` to before `last` say of ratings.

    All of it is said at the ratings `mean` and `variance` from before the games. `lead` (games): what White's
    strength has on top of the rating, points. A game of weight w counts w times.
    """
    for g in range(first, last):
        i = white[g]
        j = black[g]
        score = 0.5 * outcome[g]
        ahead = mean[i] - mean[j] + lead[g]
        gradient_i, information_i = _weigh(score, ahead, variance[j])
        gradient_j, information_j = _weigh(1.0 - score, -ahead, variance[i])
        gradient[i] += weight[g] * gradient_i
        information[i] += weight[g] * information_i
        gradient[j] += weight[g] * gradient_j
        information[j] += weight[g] * information_j


@kernel(
    "void(int64[::1], int32[::1], float64[::1], int64[::1], int32[::1], int32[::1], int8[::1], float64[::1], "
    "float64[::1], float64, float64, float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], "
    "float64[::1])"
)
def filter_periods(
    node_start, previous, drift_variance,
    game_start, white, black, outcome, weight, lead,
    prior_mean, prior_variance,
    before_mean, before_variance, mean, variance, gradient, information,
):  # fmt: skip
    """Fill mean and variance per node from before and after its games; `gradient` and `information` come as zeros.

    Between periods the variance grows by `drift_variance` (per node, since the one before) up to the prior's.
    """
    for p in range(len(node_start) - 1):
        for i in range(node_start[p], node_start[p + 1]):
            last = previous[i]
            if last < 0:
                before_mean[i] = prior_mean
                before_variance[i] = prior_variance
            else:
                before_mean[i] = mean[last]
                before_variance[i] = min(variance[last] + drift_variance[i], prior_variance)
        weigh_games(
            game_start[p], game_start[p + 1], white, black, outcome, weight, lead,
            before_mean, before_variance, gradient, information,
        )  # fmt: skip
        for i in range(node_start[p], node_start[p + 1]):
            variance[i] = 1.0 / (1.0 / before_variance[i] + information[i])
            mean[i] = before_mean[i] + variance[i] * gradient[i]


@kernel("void(int32[::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[::1])")
def smooth_back(previous, before_mean, before_variance, mean, variance, covariance):
    """Turn `mean` and `variance` after each node's games into those given the later games too (Kalman smoother).

    `covariance` is filled with that between a node and the player's node before it, 0 at the first.
    """
    for i in range(len(previous) - 1, -1, -1):
        last = previous[i]
        covariance[i] = 0.0
        if last >= 0:
            gain = variance[last] / before_variance[i]
            covariance[i] = gain * variance[i]
            mean[last] += gain * (mean[i] - before_mean[i])
            variance[last] += gain * gain * (variance[i] - before_variance[i])
