"""Chessmetrics: weighted and padded simultaneous performance ratings (Sonas 2005, "Formulas").

With n the weighted games of a player, o the mean rating of the opponents and s the score per game, a list solves

    r = (n * (o + points * (s - 1/2)) + near * o + far * reference) / (n + near + far)

for everybody at once. Multiplied by d = n * (n + near + far) / (n + near), the deviations x from the reference obey
D x - W x = right: D holds the d, W the weighted games between players. It is symmetric and its rows exceed by
d - n = n * far / (n + near), so conjugate gradients solve it, and residuals bound errors: with none above tol times
its row's excess, no x is further than tol from the solution.
"""

import numpy as np

from ttt_cli.kernels.arrays import Index, Vector
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.scores.structures import Games, Piece

# Columns of a tally: games, score above one half, rating difference to opponents.
PLAYED, SCORED, AHEAD = 0, 1, 2


@inner
def _join(player, slot, member, tally, n):
    """(slot of the player on the list, players on it), the player being put on it if need be."""
    if slot[player] < 0:
        slot[player] = n
        member[n] = player
        tally[n] = 0.0
        n += 1
    return slot[player], n


@inner
def _gather(now, oldest, newest, periods, game_start, games, left, window):
    """(players, games) in the window at the end of period number `now`, from the periods oldest to before newest.

    `left` is what is left of a game's weight so many periods after its own.
    """
    white, black, outcome, weight, offset, _, _ = games
    slot, member, tally, ends, share = window
    n = 0
    e = 0
    for q in range(oldest, newest):
        for g in range(game_start[q], game_start[q + 1]):
            w = left[now - periods[q]] * weight[g]
            i, n = _join(white[g], slot, member, tally, n)
            j, n = _join(black[g], slot, member, tally, n)
            score = 0.5 * outcome[g] - 0.5
            tally[i, PLAYED] += w
            tally[j, PLAYED] += w
            tally[i, SCORED] += w * score
            tally[j, SCORED] -= w * score
            tally[i, AHEAD] += w * offset[g]
            tally[j, AHEAD] -= w * offset[g]
            ends[e, 0] = i
            ends[e, 1] = j
            share[e] = w
            e += 1
    for k in range(n):
        slot[member[k]] = -1
    return n, e


@inner
def _meet(ends, share, x, product, sign):
    """Add W x, times `sign`, to `product`."""
    for e in range(len(share)):
        i, j = ends[e, 0], ends[e, 1]
        product[i] += sign * share[e] * x[j]
        product[j] += sign * share[e] * x[i]


@inner
def _solve(ends, share, tol, most, system, x):
    """(steps, bound on the error) of solving D x - W x = right from a first guess x, by conjugate gradients.

    The rows of `system`: the d, what rows exceed by, the right-hand side, and two of working space.
    """
    diagonal, excess, rest, direction, product = system
    for k in range(len(x)):
        rest[k] -= diagonal[k] * x[k]
        direction[k] = 0.0
    _meet(ends, share, x, rest, 1.0)
    last = 1.0
    for step in range(most + 1):
        bound = 0.0
        size = 0.0
        for k in range(len(x)):
            bound = max(bound, abs(rest[k]) / excess[k])
            size += rest[k] * rest[k] / diagonal[k]
        if bound <= tol or step == most:
            break
        for k in range(len(x)):
            direction[k] = rest[k] / diagonal[k] + size / last * direction[k]
            product[k] = diagonal[k] * direction[k]
        _meet(ends, share, direction, product, -1.0)
        steepness = 0.0
        for k in range(len(x)):
            steepness += direction[k] * product[k]
        for k in range(len(x)):
            x[k] += size / steepness * direction[k]
            rest[k] -= size / steepness * product[k]
        last = size
    return step, bound


@inner
def _rate(tally, ends, share, formula, tol, most, system, x):
    """(steps, bound on the error) of filling x, a first guess, with the deviations from the reference."""
    points, near, far = formula
    for k in range(len(x)):
        played = tally[k, PLAYED]
        counted = played / (played + near)
        system[0, k] = counted * (played + near + far)
        system[1, k] = counted * far
        system[2, k] = counted * points * tally[k, SCORED] - tally[k, AHEAD]
    return _solve(ends, share, tol, most, system, x)


@inner
def _hand_out(first, last, node_player, member, x, n, seat, found):
    """Fill `found` of the nodes with the deviations x of their players, 0 for those not on the list of n."""
    for k in range(n):
        seat[member[k]] = x[k]
    for i in range(first, last):
        found[i] = seat[node_player[i]]
    for k in range(n):
        seat[member[k]] = 0.0


@kernel
def rate_periods(
    periods: Index,
    piece: Piece,
    node_player: Index,
    n_players: int,
    games: Games,
    left: Vector,
    formula: tuple[float, float, float],
    tol: float,
    most: int,
    before: Vector,
    after: Vector,
) -> tuple[int, float]:
    """Fill `before` and `after` per node with the deviations from the reference on the lists around its period.

    A player without games in the window has 0. `games` are between players, not nodes. `left` as in `_gather`, above 0;
    `formula`: points, near and far. Returns the most steps that a list took, and the largest bound on an error.
    """
    _, node_start, game_start = piece
    slot, member = np.full(n_players, -1, np.int32), np.empty(n_players, np.int32)
    tally = np.empty((n_players, 3))
    ends, share = np.empty((len(games.weight), 2), np.int32), np.empty(len(games.weight))
    window = slot, member, tally, ends, share
    guess, seat, x = np.zeros((3, n_players))
    system = np.empty((5, n_players))
    oldest = n = steps = 0
    worst = 0.0
    for p in range(len(periods)):
        for ahead in range(2):
            now = periods[p] - 1 + ahead
            if ahead or p == 0 or periods[p - 1] < now:
                while oldest < p and now - periods[oldest] >= len(left):
                    oldest += 1
                n, e = _gather(now, oldest, p + ahead, periods, game_start, games, left, window)
                for k in range(n):
                    x[k] = guess[member[k]]
                taken, bound = _rate(tally[:n], ends[:e], share[:e], formula, tol, most, system[:, :n], x[:n])
                for k in range(n):
                    guess[member[k]] = x[k]
                steps = max(steps, taken)
                worst = max(worst, bound)
            found = after if ahead else before
            _hand_out(node_start[p], node_start[p + 1], node_player, member, x, n, seat, found)
    return steps, worst
