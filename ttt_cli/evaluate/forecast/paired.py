"""Differences of scores over the same games, and how sure they are when players recur in many games.

What a system misjudges about a player, it misjudges in all his games: two games count as dependent when they share a
player (dyadic clustering: M. Fafchamps, F. Gubert, The formation of risk sharing networks, J. Dev. Econ. 83, 2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ids = NDArray[np.int32]


@dataclass(frozen=True)
class PairedDifference:
    """A weighted mean over games and its standard error; NaN where it has none."""

    mean: float
    standard_error: float


def paired_difference(difference: Array, weight: Array, white: Ids, black: Ids) -> PairedDifference:
    """The mean of differences per game, shape (games,), between the players `white` and `black`; games > 0.

    The variance of the sum is that of all pairs of games with a common player: over players, the square of the sum
    of the player's deviations, less over pairs of players the square of theirs, which was counted twice. It is not
    taken below that of independent games, as with few players it may be (all games of one player say nothing of it).
    """
    total = float(weight.sum())
    mean = float(weight @ difference) / total
    if not math.isfinite(mean):
        return PairedDifference(mean, math.nan)
    deviation = weight * (difference - mean)
    variance = max(_shared(deviation, white, black), float(deviation @ deviation))
    return PairedDifference(mean, math.sqrt(variance) / total if len(deviation) > 1 else math.nan)


def _shared(deviation: Array, white: Ids, black: Ids) -> float:
    """The sum of products of deviations over all pairs of games that share a player."""
    players = int(max(white.max(), black.max())) + 1
    of_player = np.bincount(white, deviation, players) + np.bincount(black, deviation, players)
    pair = np.minimum(white, black).astype(np.int64) * players + np.maximum(white, black)
    _, position = np.unique(pair, return_inverse=True)
    of_pair = np.bincount(position, deviation)
    return float(of_player @ of_player - of_pair @ of_pair)
