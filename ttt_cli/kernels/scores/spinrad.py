"""One run of Elo's update through all games, forwards or backwards in time, for Spinrad's method."""

from ttt_cli.kernels.arrays import Index, Vector
from ttt_cli.kernels.compile import kernel
from ttt_cli.kernels.scores.elo import sum_of_residuals
from ttt_cli.kernels.scores.matches import amounts, next_share, unit_begin, unit_end
from ttt_cli.kernels.scores.structures import Expectation, Games, Piece


@kernel
def run_through(
    backwards: bool,
    piece: Piece,
    node_player: Index,
    games: Games,
    expectation: Expectation,
    k: float,
    current: Vector,
    rating: Vector,
) -> None:
    """Update after each game, from the first to the last or, backwards, from the last to the first.

    `current` holds the rating of each player; `rating` is filled with what a node's player has when the run leaves its
    period. Weights and matches as in `elo.by_game`.
    """
    _, node_start, game_start = piece
    white, black, outcome, weight, offset, either, joined = games
    periods = len(node_start) - 1
    for passed in range(periods):
        p = periods - 1 - passed if backwards else passed
        first = game_start[p]
        last = game_start[p + 1]
        while first < last:
            g = unit_begin(joined, last - 1, first) if backwards else first
            stop = last if backwards else unit_end(joined, first, last)
            lost, drawn, won = amounts(outcome, weight, g, stop)
            i, j = node_player[white[g]], node_player[black[g]]
            left = lost + drawn + won
            score = (won + 0.5 * drawn) / left
            done = 0.0
            while left > 0.0:
                share = next_share(done, left)
                left -= share
                done += share
                difference = current[i] - current[j] + offset[g]
                move = k * sum_of_residuals(difference, 2.0 * k, share, either[g], score, expectation.normal)
                current[i] += move
                current[j] -= move
            if backwards:
                last = g
            else:
                first = stop
        for node in range(node_start[p], node_start[p + 1]):
            rating[node] = current[node_player[node]]
