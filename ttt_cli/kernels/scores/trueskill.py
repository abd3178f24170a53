"""Vanilla TrueSkill: Gaussian density filtering, one game after the other (TTT paper, section 3.1)."""

from __future__ import annotations

import math

from ttt_cli.kernels.colours import game_log_normaliser, game_moments
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.handicaps import handicap_of, outcome_of
from ttt_cli.kernels.scores.matches import next_share, unit_end

LEAST_SHRINK = (
    0.5  # of a variance by several games at once, which two peaks of unknown colours could make grow
)


@inner
def _absorb(mean, variance, certainty, score, share):
    """(mean, variance) when evidence is added in natural parameters: this much certainty, and this much score."""
    shrink = 1.0 + variance * certainty
    if share > 1.0:
        shrink = max(shrink, LEAST_SHRINK)
    return mean + variance / shrink * score, variance / shrink


@kernel(
    "float64(boolean, int64[::1], int32[::1], float64[::1], int64[::1], int32[::1], int32[::1], uint8[::1], "
    "float64[::1], boolean[::1], float64, float64, float64, float64, float64[::1], float64[::1], float64[::1])"
)
def filter_games(
    goes_on, node_start, previous, drift_variance,
    game_start, white, black, outcome, weight, joined,
    prior_variance, noise, margin, advantage, odds,
    mean, variance,
):  # fmt: skip
    """Fill `mean` (from the prior mean) and `variance` per node with the belief after its period's games, in order.

    `outcome` is 0 loss, 1 draw, 2 win of White; 3 more where colours are unknown (see `colours`); with `handicaps`.
    A game of weight w is played w times over, a last fraction of it as that fraction of its evidence; of a match every
    game is lost, drawn and won in proportion (see `matches`). `goes_on`: the call before has begun the first period.
    Returns the sum of the log probabilities with which each game was predicted.
    """
    predicted = 0.0
    for p in range(len(node_start) - 1):
        for i in range(node_start[p], node_start[p + 1] if p > 0 or not goes_on else node_start[p]):
            before = previous[i]
            mean[i] = 0.0 if before < 0 else mean[before]
            variance[i] = prior_variance if before < 0 else variance[before] + drift_variance[i]
        g = game_start[p]
        while g < game_start[p + 1]:
            stop = unit_end(joined, g, game_start[p + 1])
            i = white[g]
            j = black[g]
            lead = handicap_of(outcome[g], odds)
            total = 0.0
            for row in range(g, stop):
                total += weight[row]
            left = total
            while left > 0.0:
                share = next_share(total - left, left)
                left -= share
                scale = 1.0 / math.sqrt(noise + variance[i] + variance[j])
                t = (mean[i] - mean[j] + lead) * scale
                certainty_i = certainty_j = score_i = score_j = 0.0
                for row in range(g, stop):
                    part = share * (weight[row] / total)
                    result = outcome_of(outcome[row])
                    v, w = game_moments(t, advantage * scale, margin * scale, result)
                    predicted += part * game_log_normaliser(t, advantage * scale, margin * scale, result)
                    kept_i = 1.0 - variance[i] * w * scale * scale
                    kept_j = 1.0 - variance[j] * w * scale * scale
                    certainty_i += part * w * scale * scale / kept_i
                    certainty_j += part * w * scale * scale / kept_j
                    score_i += part * v * scale / kept_i
                    score_j += part * v * scale / kept_j
                mean[i], variance[i] = _absorb(mean[i], variance[i], certainty_i, score_i, share)
                mean[j], variance[j] = _absorb(mean[j], variance[j], certainty_j, -score_j, share)
            g = stop
    return predicted
