"""Glicko and Glicko-2: ratings with deviations, updated once for all games of a period.

Glickman 1999 and his note "The Glicko system", step 2; Glickman 2013, "Example of the Glicko-2 system", steps 2 to 8.
"""

import math
from typing import NamedTuple

from ttt_cli.kernels.arrays import Index, Vector
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.elo import Beliefs, GameRows, PeriodRange, Slopes, Steps

# q: how fast the log-odds of winning grow with the rating difference, per point.
SLOPE = math.log(10.0) / 400.0


@inner
def damping(variance):
    """Factor g that shrinks a difference to an opponent with this rating variance, points^2."""
    return 1.0 / math.sqrt(1.0 + 3.0 * SLOPE * SLOPE * variance / (math.pi * math.pi))


@inner
def _weigh(score, difference, variance):
    """(gradient, information) of a game in the player's rating, given the opponent's rating variance."""
    g = SLOPE * damping(variance)
    expected = 1.0 / (1.0 + math.exp(-g * difference))
    return g * (score - expected), g * g * expected * (1.0 - expected)


@inner
def weigh_games(first: int, last: int, games: GameRows, before: Beliefs, slopes: Slopes) -> None:
    """Add games from `first` to before `last` to the slopes at the ratings `before` them, by weight."""
    white, black, outcome, weight, offset, _, _ = games
    mean, variance = before
    gradient, information = slopes
    for g in range(first, last):
        i = white[g]
        j = black[g]
        score = 0.5 * outcome[g]
        difference = mean[i] - mean[j] + offset[g]
        gradient_i, information_i = _weigh(score, difference, variance[j])
        gradient_j, information_j = _weigh(1.0 - score, -difference, variance[i])
        gradient[i] += weight[g] * gradient_i
        information[i] += weight[g] * information_i
        gradient[j] += weight[g] * gradient_j
        information[j] += weight[g] * information_j


@kernel
def smooth_back(previous: Index, before: Beliefs, after: Beliefs, covariance: Vector) -> None:
    """Smooth the marginals `after` each node's games (Kalman smoother); `covariance` is with the previous node."""
    mean, variance = after
    for i in range(len(previous) - 1, -1, -1):
        last = previous[i]
        covariance[i] = 0.0
        if last >= 0:
            gain = variance[last] / before.variance[i]
            covariance[i] = gain * variance[i]
            mean[last] += gain * (mean[i] - before.mean[i])
            variance[last] += gain * gain * (variance[i] - before.variance[i])


CLOSE = 1e-6  # of the log of the squared volatility: where the search ends
MOST = 100  # steps of the search; it takes about ten
HUGE = 1e100  # instead of overflow, for uninformative games
LONGEST = 5.0  # sds before the games: a step beyond is no approximation of the most probable rating


class Volatility(NamedTuple):
    """Volatilities (nodes,) after games, in `unit` points, and that of newcomers; 0 in Glicko.

    `change`: how freely they change; `most`: largest variance of a rating before its games, points^2.
    """

    sigma: Vector
    first: float
    unit: float
    change: float
    most: float


@inner
def _excess(x, improvement, spread, start, change):
    """Slope of the log-posterior of x, the log of the squared volatility (Glickman 2013, step 5.1)."""
    squared = math.exp(x)
    total = spread + squared
    return squared * (improvement - total) / (2.0 * total * total) - (x - start) / (change * change)


@inner
def new_volatility(volatility: float, improvement: float, spread: float, change: float) -> float:
    """Volatility after a period, by the Illinois method (Glickman 2013, step 5).

    `improvement`: squared improvement suggested by the games alone (Delta^2); `spread`: their variance plus that of
    the rating (v + phi^2). All in units of the volatility. `change` 0 keeps it.
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
            a = b
            at_a = at_b
        else:
            at_a *= 0.5
        b = c
        at_b = at_c
    return math.exp(0.5 * a)


@inner
def _rate(i, volatility, beliefs, slopes):
    """Update node i from its marginal before its games (steps 4 to 8).

    Departures from the source: no volatility makes a player less certain in one period than a newcomer. A rating moves
    by at most LONGEST sds. The update is one Newton step from the rating before the games, right where the games'
    information hardly changes along it; far from there, where the information vanishes, it has no limit.
    """
    sigma = volatility.sigma
    unit = volatility.unit
    most = volatility.most
    mean, variance = beliefs
    gradient, information = slopes
    if information[i] > 0.0:
        inverse = 1.0 / (unit * unit)
        improvement = min((gradient[i] / information[i]) ** 2 * inverse, HUGE)
        spread = min((1.0 / information[i] + variance[i]) * inverse, HUGE)
        new = new_volatility(sigma[i], improvement, spread, volatility.change)
        sigma[i] = min(new, math.sqrt(most * inverse))
        grown = variance[i] + (unit * sigma[i]) ** 2
    else:
        grown = min(variance[i] + (unit * sigma[i]) ** 2, most)
    variance[i] = 1.0 / (1.0 / grown + information[i])
    limit = LONGEST * math.sqrt(grown)
    mean[i] += min(max(variance[i] * gradient[i], -limit), limit)


@kernel
def filter_periods(
    piece: PeriodRange, steps: Steps, idle: Vector, volatility: Volatility, games: GameRows, beliefs: Beliefs,
    slopes: Slopes,
) -> None:  # fmt: skip
    """Fill marginals and volatilities after the games of each node; slopes are zero at first.

    Before them a variance grows by that of `steps`, and by the squared volatility in each of `idle` periods.
    """
    mean, variance = beliefs
    sigma = volatility.sigma
    for p in range(len(piece.node_start) - 1):
        for i in range(piece.node_start[p], piece.node_start[p + 1]):
            last = steps.previous[i]
            mean[i] = steps.mean[i]
            variance[i] = steps.variance[i]
            sigma[i] = volatility.first
            if last >= 0:
                sigma[i] = sigma[last]
                mean[i] += mean[last]
                grown = variance[last] + variance[i] + idle[i] * (volatility.unit * sigma[i]) ** 2
                variance[i] = min(grown, volatility.most)
        weigh_games(piece.game_start[p], piece.game_start[p + 1], games, beliefs, slopes)
        for i in range(piece.node_start[p], piece.node_start[p + 1]):
            _rate(i, volatility, beliefs, slopes)
