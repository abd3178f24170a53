"""Chessmetrics: weighted and padded simultaneous performance ratings (Sonas 2005, "Formulas").

With n the weighted games of a player, o the mean rating of the opponents and s the score per game, a list solves

    r = (n * (o + points * (s - 1/2)) + a * o + b * reference) / (n + a + b)

for all players at once, with a padding games at the opponents' mean (`opponents_games`) and b at the reference
(`reference_games`). Multiplied by d = n * (n + a + b) / (n + a), the deviations x from the reference satisfy
D x - W x = right, with D the d and W the weighted games between players. It is symmetric with an excess of the rows
of d - n = n * b / (n + a), so conjugate gradients solve it; with no residual above tol times its row's
excess, no x is further than tol from the solution.
"""

import numpy as np

from ttt_cli.kernels.arrays import Index, Vector
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.elo import GameRows, PeriodRange

# Columns of a tally: games, score above one half, rating difference to opponents.
PLAYED = 0
SCORED = 1
AHEAD = 2


@inner
def _join(player, slot, member, tally, n):
    """(slot of the player on the list, players on it); adds the player if missing."""
    if slot[player] < 0:
        slot[player] = n
        member[n] = player
        tally[n] = 0.0
        n += 1
    return slot[player], n


@inner
def _gather(now, oldest, newest, periods, game_start, games, left, window):
    """(players, games) in the window at the end of period `now`, from the periods oldest to before newest.

    `left` is the remaining weight of a game by its age in periods.
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
    return n, e


@inner
def _add_couplings(ends, share, x, product, sign):
    """Add W x, times `sign`, to `product`."""
    for e in range(len(share)):
        i = ends[e, 0]
        j = ends[e, 1]
        product[i] += sign * share[e] * x[j]
        product[j] += sign * share[e] * x[i]


@inner
def _solve(tally, ends, share, formula, tol, most, system, x):
    """(steps, error bound) of solving D x - W x = right from an initial x, by conjugate gradients.

    Rows of `system` are work space: d, excess, right-hand side, and two more.
    """
    diagonal, excess, residual, direction, product = system
    points, opponents_games, reference_games = formula
    for k in range(len(x)):
        played = tally[k, PLAYED]
        counted = played / (played + opponents_games)
        diagonal[k] = counted * (played + opponents_games + reference_games)
        excess[k] = counted * reference_games
        residual[k] = counted * points * tally[k, SCORED] - tally[k, AHEAD] - diagonal[k] * x[k]
        direction[k] = 0.0
    _add_couplings(ends, share, x, residual, 1.0)
    last = 1.0
    for step in range(most + 1):
        bound = 0.0
        size = 0.0
        for k in range(len(x)):
            bound = max(bound, abs(residual[k]) / excess[k])
            size += residual[k] * residual[k] / diagonal[k]
        if bound <= tol or step == most:
            break
        for k in range(len(x)):
            direction[k] = residual[k] / diagonal[k] + size / last * direction[k]
            product[k] = diagonal[k] * direction[k]
        _add_couplings(ends, share, direction, product, -1.0)
        steepness = 0.0
        for k in range(len(x)):
            steepness += direction[k] * product[k]
        for k in range(len(x)):
            x[k] += size / steepness * direction[k]
            residual[k] -= size / steepness * product[k]
        last = size
    return step, bound


@kernel
def rate_periods(
    periods: Index, piece: PeriodRange, node_player: Index, n_players: int, games: GameRows, left: Vector,
    formula: tuple[float, float, float], tol: float, most: int, before: Vector, after: Vector,
) -> tuple[int, float]:  # fmt: skip
    """Fill `before` and `after` per node with the deviations from the reference on the lists around its period.

    Players without games in the window have 0. `games` are between players, not nodes. `left` (above 0) as in
    `_gather`; `formula`: points, opponents_games, reference_games. Returns the largest number of steps and error bound
    of a list.
    """
    node_start, game_start = piece
    slot = np.full(n_players, -1, np.int32)
    member = np.empty(n_players, np.int32)
    tally = np.empty((n_players, 3))
    ends = np.empty((len(games.weight), 2), np.int32)
    share = np.empty(len(games.weight))
    window = slot, member, tally, ends, share
    guess, x = np.zeros((2, n_players))
    system = np.empty((5, n_players))
    oldest = n = steps = 0
    worst = 0.0
    for p in range(len(periods)):
        for ahead in range(2):
            now = periods[p] - 1 + ahead
            if ahead or p == 0 or periods[p - 1] < now:
                while oldest < p and now - periods[oldest] >= len(left):
                    oldest += 1
                for k in range(n):
                    slot[member[k]] = -1
                n, e = _gather(now, oldest, p + ahead, periods, game_start, games, left, window)
                for k in range(n):
                    x[k] = guess[member[k]]
                taken, bound = _solve(
                    tally[:n], ends[:e], share[:e], formula, tol, most, system[:, :n], x[:n]
                )
                for k in range(n):
                    guess[member[k]] = x[k]
                steps = max(steps, taken)
                worst = max(worst, bound)
            rating = after if ahead else before
            for i in range(node_start[p], node_start[p + 1]):
                position = slot[node_player[i]]
                rating[i] = x[position] if position >= 0 else 0.0
    return steps, worst
