"""Vanilla TrueSkill: Gaussian density filtering, one game after the other (TTT paper, section 3.1)."""

from __future__ import annotations

import math

from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.truncated import draw_log_normaliser, draw_moments, win_log_normaliser, win_moments


@inner
def _judge(t, bound, outcome):  # type: ignore[no-untyped-def]
    """(v, w, log probability) of an outcome when the performances differ by t standard deviations."""
    if outcome == 2:
        v, w = win_moments(t - bound)
        return v, w, win_log_normaliser(t - bound)
    if outcome == 0:
        v, w = win_moments(-t - bound)
        return -v, w, win_log_normaliser(-t - bound)
    v, w = draw_moments(t, bound)
    return v, w, draw_log_normaliser(t, bound)


@kernel(
    "float64(int64[::1], int32[::1], float64[::1], int64[::1], int32[::1], int32[::1], int8[::1], float64[::1], "
    "float64, float64, float64, float64, float64[::1], float64[::1])"
)
def filter_games(
    node_start, previous, drift_variance,
    game_start, white, black, outcome, weight,
    prior_variance, noise, margin, advantage,
    mean, variance,
):  # fmt: skip
    """Fill `mean` (from the prior mean) and `variance` per node with the belief after its period's games, in order.

    A game of weight w is played w times; a fraction of a game moves natural parameters by that fraction.
    Returns the sum of log probabilities with which each game was foreseen.
    """
    foreseen = 0.0
    for p in range(len(node_start) - 1):
        for i in range(node_start[p], node_start[p + 1]):
            before = previous[i]
            mean[i] = 0.0 if before < 0 else mean[before]
            variance[i] = prior_variance if before < 0 else variance[before] + drift_variance[i]
        for g in range(game_start[p], game_start[p + 1]):
            i = white[g]
            j = black[g]
            left = weight[g]
            while left > 0.0:
                share = min(left, 1.0)
                left -= share
                scale = 1.0 / math.sqrt(noise + variance[i] + variance[j])
                v, w, log_probability = _judge((mean[i] - mean[j] + advantage) * scale, margin * scale, outcome[g])
                foreseen += share * log_probability
                shrink_i = 1.0 - variance[i] * scale * scale * w
                shrink_j = 1.0 - variance[j] * scale * scale * w
                # a share of the change in natural parameters; share 1 is the paper's update
                shrink_i /= share + (1.0 - share) * shrink_i
                shrink_j /= share + (1.0 - share) * shrink_j
                move_i = variance[i] * scale * v
                move_j = variance[j] * scale * v
                part_i = share * shrink_i / (1.0 - variance[i] * scale * scale * w)
                part_j = share * shrink_j / (1.0 - variance[j] * scale * scale * w)
                mean[i] += part_i * move_i
                mean[j] -= part_j * move_j
                variance[i] *= shrink_i
                variance[j] *= shrink_j
    return foreseen
