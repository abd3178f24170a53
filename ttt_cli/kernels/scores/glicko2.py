"""Glicko-2: Glicko with a volatility per player, by which the deviation grows (Glickman 2013, steps 2 to 8)."""

import math
from typing import NamedTuple

from ttt_cli.kernels.arrays import Index, Vector
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.scores.glicko import weigh_games
from ttt_cli.kernels.scores.structures import Beliefs, Games, Piece, Slopes

CLOSE = 1e-6  # of the log of the squared volatility: where the search ends
MOST = 100  # steps of the search; it takes about ten
HUGE = 1e100  # in place of what would overflow: games that say next to nothing of a rating far off


class Newcomer(NamedTuple):
    """What is believed at the first appearance, and how volatilities change (`unit`: points in one of theirs)."""

    mean: float
    variance: float
    volatility: float
    unit: float
    change: float


@inner
def _excess(x, improvement, spread, start, change):
    """Slope of the log-posterior of x, the log of the squared volatility (Glickman 2013, step 5.1)."""
    squared = math.exp(x)
    total = spread + squared
    return squared * (improvement - total) / (2.0 * total * total) - (x - start) / (change * change)


@inner
def new_volatility(volatility: float, improvement: float, spread: float, change: float) -> float:
    """The volatility after a period, by the Illinois method (Glickman 2013, step 5).

    `improvement`: the squared improvement that the games alone suggest (Delta^2); `spread`: the variance they leave
    plus that of the rating (v + phi^2). All in units of the volatility. `change` 0 keeps it.
    """
    if change == 0.0:
        return volatility
    start = 2.0 * math.log(volatility)
    a = start
    if improvement > spread:
        b = math.log(improvement - spread)
    else:
        b = start - change
        while _excess(b, improvement, spread, start, change) < 0.0:
            b -= change
    at_a = _excess(a, improvement, spread, start, change)
    at_b = _excess(b, improvement, spread, start, change)
    for _ in range(MOST):
        if abs(b - a) <= CLOSE:
            break
        c = a + (a - b) * at_a / (at_b - at_a)
        at_c = _excess(c, improvement, spread, start, change)
        if at_c * at_b <= 0.0:
            a, at_a = b, at_b
        else:
            at_a *= 0.5
        b, at_b = c, at_c
    return math.exp(0.5 * a)


@inner
def _rate(i, newcomer, beliefs, volatility, slopes):
    """Renew node i, which holds what was believed before its games, by what they say (steps 4 to 8).

    Departure from the source: no volatility makes a player less certain in one period than a newcomer.
    """
    unit, most_variance = newcomer.unit, newcomer.variance
    mean, variance = beliefs
    gradient, information = slopes
    if information[i] > 0.0:
        inverse = 1.0 / (unit * unit)
        improvement = min((gradient[i] / information[i]) ** 2 * inverse, HUGE)
        spread = min((1.0 / information[i] + variance[i]) * inverse, HUGE)
        most = math.sqrt(most_variance * inverse)
        volatility[i] = min(new_volatility(volatility[i], improvement, spread, newcomer.change), most)
        grown = variance[i] + (unit * volatility[i]) ** 2
    else:
        grown = min(variance[i] + (unit * volatility[i]) ** 2, most_variance)
    variance[i] = 1.0 / (1.0 / grown + information[i])
    mean[i] += variance[i] * gradient[i]


@inner
def rate_period(
    nodes: tuple[int, int],
    played: tuple[int, int],
    games: Games,
    newcomer: Newcomer,
    beliefs: Beliefs,
    volatility: Vector,
    slopes: Slopes,
) -> None:
    """Renew beliefs and volatility of `nodes` by the games `played`, (first, end) each; the slopes come as zeros."""
    weigh_games(played[0], played[1], games, beliefs, slopes)
    for i in range(nodes[0], nodes[1]):
        _rate(i, newcomer, beliefs, volatility, slopes)


@kernel
def filter_volatile(
    piece: Piece,
    previous: Index,
    idle: Vector,
    games: Games,
    newcomer: Newcomer,
    beliefs: Beliefs,
    volatility: Vector,
    slopes: Slopes,
) -> None:
    """Fill beliefs and volatility after the games of each node, with `idle` periods before; slopes come as zeros."""
    _, node_start, game_start = piece
    mean, variance = beliefs
    for p in range(len(node_start) - 1):
        for i in range(node_start[p], node_start[p + 1]):
            last = previous[i]
            if last < 0:
                mean[i] = newcomer.mean
                variance[i] = newcomer.variance
                volatility[i] = newcomer.volatility
            else:
                mean[i] = mean[last]
                volatility[i] = volatility[last]
                grown = variance[last] + idle[i] * (newcomer.unit * volatility[i]) ** 2
                variance[i] = min(grown, newcomer.variance)
        nodes = node_start[p], node_start[p + 1]
        rate_period(nodes, (game_start[p], game_start[p + 1]), games, newcomer, beliefs, volatility, slopes)
