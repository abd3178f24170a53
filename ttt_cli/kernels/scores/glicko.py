"""Glicko: ratings with deviations, renewed once for all games of a period (Glickman 1999; his note, step 2)."""

import math

from ttt_cli.kernels.arrays import Index, Vector
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.scores.structures import Beliefs, Games, Piece, Slopes, Steps

# q: how fast the log-odds of winning grow with the rating difference, per point.
SLOPE = math.log(10.0) / 400.0


@inner
def damping(variance):
    """The factor g by which a difference counts less while the opponent's rating has this variance, points^2."""
    return 1.0 / math.sqrt(1.0 + 3.0 * SLOPE * SLOPE * variance / (math.pi * math.pi))


@inner
def _weigh(score, difference, variance):
    """(gradient, information) of a game in the player's rating, against an opponent whose rating has this variance."""
    g = SLOPE * damping(variance)
    expected = 1.0 / (1.0 + math.exp(-g * difference))
    return g * (score - expected), g * g * expected * (1.0 - expected)


@inner
def weigh_games(first: int, last: int, games: Games, before: Beliefs, slopes: Slopes) -> None:
    """Add to the slopes what the games from `first` to before `last` say at the ratings `before` them, by weight."""
    white, black, outcome, weight, offset, _, _ = games
    mean, variance = before
    gradient, information = slopes
    for g in range(first, last):
        i, j = white[g], black[g]
        score = 0.5 * outcome[g]
        difference = mean[i] - mean[j] + offset[g]
        gradient_i, information_i = _weigh(score, difference, variance[j])
        gradient_j, information_j = _weigh(1.0 - score, -difference, variance[i])
        gradient[i] += weight[g] * gradient_i
        information[i] += weight[g] * information_i
        gradient[j] += weight[g] * gradient_j
        information[j] += weight[g] * information_j


@kernel
def filter_periods(
    piece: Piece, steps: Steps, most: float, games: Games, before: Beliefs, after: Beliefs, slopes: Slopes
) -> None:
    """Fill beliefs before and after the games of each node, of variance `most` before at most; slopes come as zeros."""
    for p in range(len(piece.node_start) - 1):
        for i in range(piece.node_start[p], piece.node_start[p + 1]):
            last = steps.previous[i]
            before.mean[i] = steps.mean[i] + (0.0 if last < 0 else after.mean[last])
            before.variance[i] = min(steps.variance[i] + (0.0 if last < 0 else after.variance[last]), most)
        weigh_games(piece.game_start[p], piece.game_start[p + 1], games, before, slopes)
        for i in range(piece.node_start[p], piece.node_start[p + 1]):
            after.variance[i] = 1.0 / (1.0 / before.variance[i] + slopes.information[i])
            after.mean[i] = before.mean[i] + after.variance[i] * slopes.gradient[i]


@kernel
def smooth_back(previous: Index, before: Beliefs, after: Beliefs, covariance: Vector) -> None:
    """Let beliefs `after` each node's games know later ones (Kalman smoother); `covariance`: with the node before."""
    mean, variance = after
    for i in range(len(previous) - 1, -1, -1):
        last = previous[i]
        covariance[i] = 0.0
        if last >= 0:
            gain = variance[last] / before.variance[i]
            covariance[i] = gain * variance[i]
            mean[last] += gain * (mean[i] - before.mean[i])
            variance[last] += gain * gain * (variance[i] - before.variance[i])
