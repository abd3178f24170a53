"""One run of Elo's update through all games, forwards or backwards in time, for Spinrad's method."""

from __future__ import annotations

from ttt_cli.kernels.compile import kernel
from ttt_cli.kernels.elo import game_surprise


@kernel(
    "void(boolean, int64[::1], int32[::1], int64[::1], int32[::1], int32[::1], int8[::1], float64[::1], float64[::1], "
    "float64, boolean, boolean, float64, float64[::1], float64[::1])"
)
def run_through(
    backwards, node_start, node_player, game_start,
    white, black, outcome, weight, offset,
    advantage, colours, normal, k,
    current, rating,
):  # fmt: skip
    """Update after each game, from the first to the last or, backwards, from the last to the first.

    `current` holds the rating of each player, at the beginning and the end; `rating` is filled with what each node's
    player has when the run leaves its period. A game of weight w is played w times over, a last fraction of it with
    that fraction of K.
    """
    periods = len(node_start) - 1
    for passed in range(periods):
        p = periods - 1 - passed if backwards else passed
        first = game_start[p]
        last = game_start[p + 1] - 1
        for done in range(last - first + 1):
            g = last - done if backwards else first + done
            i = node_player[white[g]]
            j = node_player[black[g]]
            left = weight[g]
            while left > 0.0:
                share = min(left, 1.0)
                left -= share
                lead = current[i] - current[j] + offset[g]
                move = k * share * game_surprise(lead, advantage, outcome[g], colours, normal)
                current[i] += move
                current[j] -= move
        for node in range(node_start[p], node_start[p + 1]):
            rating[node] = current[node_player[node]]
