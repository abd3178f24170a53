"""Vanilla TrueSkill: Gaussian density filtering, one game after the other (TTT paper, section 3.1)."""

from __future__ import annotations

import math

from ttt_cli.kernels.colours import game_log_normaliser, game_moments
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.odds import lead_of, outcome_of


@inner
def _absorb(variance, push, pull, share):
    """(move of the mean, new variance) when a share of a game's evidence is added in natural parameters.

    The whole game moves the mean by variance * push and multiplies the variance by 1 - variance * pull.
    """
    shrink = 1.0 - variance * pull
    kept = 1.0 / (shrink + share * (1.0 - shrink))
    return share * kept * variance * push, variance * shrink * kept


@kernel(
    "float64(int64[::1], int32[::1], float64[::1], int64[::1], int32[::1], int32[::1], uint8[::1], float64[::1], "
    "float64, float64, float64, float64, float64[::1], float64[::1], float64[::1])"
)
def filter_games(
    node_start, previous, drift_variance,
    game_start, white, black, outcome, weight,
    prior_variance, noise, margin, advantage, odds,
    mean, variance,
):  # fmt: skip
    """Fill `mean` (from the prior mean) and `variance` per node with the belief after its period's games, in order.

    `outcome` is 0 loss, 1 draw, 2 win of White; 3 more where colours are unknown (see `colours`); with `odds`.
    A game of weight w is played w times over, a last fraction of it as that fraction of its evidence.
    Returns the sum of the log probabilities with which each game was foreseen.
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
            result = outcome_of(outcome[g])
            lead = lead_of(outcome[g], odds)
            while left > 0.0:
                share = min(left, 1.0)
                left -= share
                scale = 1.0 / math.sqrt(noise + variance[i] + variance[j])
                t = (mean[i] - mean[j] + lead) * scale
                v, w = game_moments(t, advantage * scale, margin * scale, result)
                foreseen += share * game_log_normaliser(t, advantage * scale, margin * scale, result)
                move_i, variance[i] = _absorb(variance[i], v * scale, w * scale * scale, share)
                move_j, variance[j] = _absorb(variance[j], v * scale, w * scale * scale, share)
                mean[i] += move_i
                mean[j] -= move_j
    return foreseen
