"""Vanilla TrueSkill: Gaussian density filtering, one game after the other (TTT paper, section 3.1)."""

import math
from typing import NamedTuple

from ttt_cli.kernels.codes import UNKNOWN, game_log_normaliser, game_moments
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.scores.matches import next_share, unit_end
from ttt_cli.kernels.scores.structures import Beliefs, Games, Piece, Steps

# of a variance by several games at once, which two peaks of unknown colours could make grow
LEAST_SHRINK = 0.5


class Rule(NamedTuple):
    """How differences become outcomes: 2 beta^2, points^2, and the draw margin, points."""

    noise: float
    margin: float


@inner
def _absorb(mean, variance, certainty, score, share):
    """(mean, variance) when evidence is added in natural parameters: this much certainty, and this much score."""
    shrink = 1.0 + variance * certainty
    if share > 1.0:
        shrink = max(shrink, LEAST_SHRINK)
    return mean + variance / shrink * score, variance / shrink


@kernel
def filter_games(piece: Piece, steps: Steps, games: Games, rule: Rule, beliefs: Beliefs) -> float:
    """Fill `beliefs` with those after the games of each node's period, in order; means from the prior's origin.

    A game of weight w is played w times over; of a match every game is lost, drawn and won in proportion (`matches`).
    Returns the sum of the log probabilities with which each game was predicted.
    """
    goes_on, node_start, game_start = piece
    white, black, outcome, weight, offset, either, joined = games
    noise, margin = rule
    mean, variance = beliefs
    predicted = 0.0
    for p in range(len(node_start) - 1):
        for i in range(node_start[p], node_start[p + 1] if p > 0 or not goes_on else node_start[p]):
            before = steps.previous[i]
            mean[i] = steps.mean[i] + (0.0 if before < 0 else mean[before])
            variance[i] = steps.variance[i] + (0.0 if before < 0 else variance[before])
        g = game_start[p]
        while g < game_start[p + 1]:
            stop = unit_end(joined, g, game_start[p + 1])
            i, j = white[g], black[g]
            total = 0.0
            for row in range(g, stop):
                total += weight[row]
            left = total
            while left > 0.0:
                share = next_share(total - left, left)
                left -= share
                scale = 1.0 / math.sqrt(noise + variance[i] + variance[j])
                t = (mean[i] - mean[j] + offset[g]) * scale
                certainty_i = certainty_j = score_i = score_j = 0.0
                for row in range(g, stop):
                    part = share * (weight[row] / total)
                    result = outcome[row] + (0 if either[g] == 0.0 else UNKNOWN)
                    v, w = game_moments(t, either[g] * scale, margin * scale, result)
                    predicted += part * game_log_normaliser(t, either[g] * scale, margin * scale, result)
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
