"""Glicko-2: Glicko with a volatility per player, by which the deviation grows (Glickman 2013, steps 2 to 8)."""

from __future__ import annotations

import math

from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.scores.glicko import weigh_games

CLOSE = 1e-6  # of the log of the squared volatility: where the search ends
MOST = 100  # steps of the search; it takes about ten
HUGE = 1e100  # in place of what would overflow: games that say next to nothing of a rating far off


@inner
def _excess(x, improvement, spread, start, change):
    """Slope of the log-posterior of x, the log of the squared volatility (Glickman 2013, step 5.1)."""
    squared = math.exp(x)
    total = spread + squared
    return squared * (improvement - total) / (2.0 * total * total) - (x - start) / (change * change)


@kernel("float64(float64, float64, float64, float64)")
def new_volatility(volatility, improvement, spread, change):
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
def _rate(i, unit, change, prior_variance, mean, variance, volatility, gradient, information):
    """Renew node i, which holds what was believed before its games, by what they say (steps 4 to 8).

    Departure from the source: no volatility makes a player less certain in one period than a newcomer.
    """
    if information[i] > 0.0:
        inverse = 1.0 / (unit * unit)
        improvement = min((gradient[i] / information[i]) ** 2 * inverse, HUGE)
        spread = min((1.0 / information[i] + variance[i]) * inverse, HUGE)
        most = math.sqrt(prior_variance * inverse)
        volatility[i] = min(new_volatility(volatility[i], improvement, spread, change), most)
        grown = variance[i] + (unit * volatility[i]) ** 2
    else:
        grown = min(variance[i] + (unit * volatility[i]) ** 2, prior_variance)
    variance[i] = 1.0 / (1.0 / grown + information[i])
    mean[i] += variance[i] * gradient[i]


@kernel(
    "void(int64, int64, int64, int64, int32[::1], int32[::1], int8[::1], float64[::1], float64[::1], "
    "float64, float64, float64, float64[::1], float64[::1], float64[::1], float64[::1], float64[::1])"
)
def rate_period(
    first_node, last_node, first_game, last_game, white, black, outcome, weight, lead,
    unit, change, prior_variance, mean, variance, volatility, gradient, information,
):  # fmt: skip
    """Renew mean and variance (points) and volatility of the nodes of one period; the last two come as zeros.

    `unit`: points in one unit of the volatility; `lead` as in `weigh_games`. Without games a node only grows less
    certain, up to `prior_variance`.
    """
    weigh_games(
        first_game, last_game, white, black, outcome, weight, lead, mean, variance, gradient, information
    )
    for i in range(first_node, last_node):
        _rate(i, unit, change, prior_variance, mean, variance, volatility, gradient, information)


@kernel(
    "void(int64[::1], int32[::1], float64[::1], int64[::1], int32[::1], int32[::1], int8[::1], float64[::1], "
    "float64[::1], float64, float64, float64, float64, float64, float64[::1], float64[::1], float64[::1], "
    "float64[::1], float64[::1])"
)
def filter_volatile(
    node_start, previous, idle,
    game_start, white, black, outcome, weight, lead,
    prior_mean, prior_variance, prior_volatility, unit, change,
    mean, variance, volatility, gradient, information,
):  # fmt: skip
    """Fill mean and variance (points) and volatility per node after its games; the last two come as zeros.

    `idle` (nodes): whole periods without games since the player's node before.
    """
    for p in range(len(node_start) - 1):
        for i in range(node_start[p], node_start[p + 1]):
            last = previous[i]
            if last < 0:
                mean[i] = prior_mean
                variance[i] = prior_variance
                volatility[i] = prior_volatility
            else:
                mean[i] = mean[last]
                volatility[i] = volatility[last]
                variance[i] = min(variance[last] + idle[i] * (unit * volatility[i]) ** 2, prior_variance)
        rate_period(
            node_start[p], node_start[p + 1], game_start[p], game_start[p + 1],
            white, black, outcome, weight, lead,
            unit, change, prior_variance, mean, variance, volatility, gradient, information,
        )  # fmt: skip
