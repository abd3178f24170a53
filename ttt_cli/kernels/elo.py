"""Filters that update game by game: Elo's (also by period, and in both directions for Spinrad) and TrueSkill's.

The residual of Elo's update is the score (0, 1/2, 1) minus the expected one. Expected scores are logistic or normal
in the rating difference, on Elo's scale; outcomes have the probabilities of `ttt_cli.inference.outcome`. Where the
owner of an advantage is unknown, both are averages over the two players.

A unit is a row, or the rows of a match, each game of which has the score of the whole since their order is unknown.
The first `SINGLY` games of a unit are played singly, then shares that grow by `GROWTH`.
"""

import math
from typing import NamedTuple

from ttt_cli.kernels.arrays import Flags, Index, Outcomes, Places, Vector
from ttt_cli.kernels.bradley_terry import log_logistic
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.outcomes import UNKNOWN, game_log_normaliser, game_moments, log_average


class PeriodRange(NamedTuple):
    """Consecutive periods: starts of nodes and games, (periods + 1,)."""

    node_start: Places
    game_start: Places


class GameRows(NamedTuple):
    """Rows of games by period, (games,).

    | name | unit | |
    |---|---|---|
    | white, black | | nodes |
    | outcome | | of White: 0 loss, 1 draw, 2 win |
    | weight | games | |
    | offset | points | added to White's rating |
    | either | points | advantage of an unknown one of the two; 0: none |
    | joined | | whether a row continues the match of the previous row |
    """

    white: Index
    black: Index
    outcome: Outcomes
    weight: Vector
    offset: Vector
    either: Vector
    joined: Flags


class Steps(NamedTuple):
    """Mean and variance of the change since the player's `previous` node, points; the prior's at first nodes."""

    previous: Index
    mean: Vector
    variance: Vector


class Beliefs(NamedTuple):
    """Marginals (nodes,): mean, points, and variance, points^2."""

    mean: Vector
    variance: Vector


class Slopes(NamedTuple):
    """Gradient and information (nodes,) of the games' log-likelihood in the nodes' ratings."""

    gradient: Vector
    information: Vector


class Factors(NamedTuple):
    """K of new players, of those who once reached the top rating, and of the others."""

    k: float
    k_new: float
    k_top: float
    new_games: float
    top_rating: float


class PlayerStates(NamedTuple):
    """Current ratings (players,), points, number of games so far, and the highest rating so far."""

    rating: Vector
    played: Vector
    peak: Vector


SINGLY = 1000.0
GROWTH = 0.01


@inner
def unit_end(joined, first, last):
    """End of the unit that starts with row `first`, at most `last`."""
    stop = first + 1
    while stop < last and joined[stop]:
        stop += 1
    return stop


@inner
def unit_begin(joined, last, first):
    """Start of the unit that ends with row `last`, at least `first`."""
    start = last
    while start > first and joined[start]:
        start -= 1
    return start


@inner
def amounts(outcome, weight, first, last):
    """Games lost, drawn and won by White in rows from `first` to before `last`."""
    lost = drawn = won = 0.0
    for g in range(first, last):
        if outcome[g] == 0:
            lost += weight[g]
        elif outcome[g] == 1:
            drawn += weight[g]
        else:
            won += weight[g]
    return lost, drawn, won


@inner
def next_share(played, left):
    """Number of games played next in a unit."""
    share = 1.0 if played < SINGLY else max(GROWTH * played, 1.0)
    return min(share, left)


SCALE = 400.0 / math.log(10.0)  # points in which the odds of the logistic expectation grow by e
FAR = 300.0  # in SCALE: beyond, the weaker one's chance is its own limit
FAR_NORMAL = 8_000.0  # points: the same with the normal expectation
CLASS = 200.0  # sd of one performance in the normal expectation, points: Elo's class interval


@inner
def expected_score(difference: float, normal: bool) -> float:
    """Expected score of a difference in points."""
    if normal:
        return 0.5 * math.erfc(-0.5 * difference / CLASS)
    return 1.0 / (1.0 + math.exp(-difference / SCALE))


@inner
def game_residual(difference: float, either: float, score: float, normal: bool) -> float:
    """White's score minus the expected one; `either` belongs to one of the two."""
    expected = expected_score(difference + either, normal)
    if either != 0.0:
        expected = 0.5 * (expected + expected_score(difference - either, normal))
    return score - expected


@inner
def _slope(difference: float, normal: bool) -> float:
    """Slope of the expected score per point."""
    if normal:
        return math.exp(-0.25 * difference * difference / (CLASS * CLASS)) / (
            2.0 * math.sqrt(math.pi) * CLASS
        )
    expected = expected_score(difference, False)
    return expected * (1.0 - expected) / SCALE


@inner
def sum_of_residuals(
    difference: float, growth: float, share: float, either: float, score: float, normal: bool
) -> float:
    """Residuals of a share of a game, or of several with one score; one game adds `growth` to the difference.

    Several are judged by their final difference: the implicit Euler step bounds the update.
    """
    first = share * game_residual(difference, either, score, normal)
    if share <= 1.0:
        return first
    slope = _slope(difference + either, normal)
    if either != 0.0:
        slope = 0.5 * (slope + _slope(difference - either, normal))
    return first / (1.0 + share * growth * slope)


@inner
def _log_weaker(distance: float) -> float:
    """Log of the weaker one's normal expected score at a large distance, points (Mills' ratio)."""
    z = 0.5 * distance / CLASS
    return -z * z - math.log(2.0 * math.sqrt(math.pi) * z) + math.log1p(-0.5 / (z * z))


@inner
def _steeper(difference: float, margin: float, normal: bool) -> float:
    """Difference at which the draw rule expects this score (`ttt_cli.inference.outcome`)."""
    distance = abs(difference) / SCALE
    t = math.exp(margin / SCALE)
    if distance > FAR and not normal:
        x = distance + math.log(0.5 * (t + 1.0 / t))
    elif normal and abs(difference) > FAR_NORMAL:
        x = math.log(0.5 * (t + 1.0 / t)) - _log_weaker(abs(difference))
    else:
        worse = 1.0 / (1.0 + math.exp(distance))
        if normal:
            worse = expected_score(-abs(difference), True)
        half = 0.5 * (1.0 - 2.0 * worse) * (1.0 + t * t)
        x = math.log(
            (half + math.sqrt(half * half + 4.0 * t * t * worse * (1.0 - worse)))
            / (2.0 * t * worse)
        )
    return math.copysign(x * SCALE, difference)


@inner
def _log_outcome(difference: float, margin: float, outcome: int, normal: bool) -> float:
    difference = _steeper(difference, margin, normal)
    if outcome == 2:
        return log_logistic((difference - margin) / SCALE)
    if outcome == 0:
        return log_logistic((-difference - margin) / SCALE)
    certainty = math.log(-math.expm1(-2.0 * margin / SCALE))
    return (
        certainty
        + log_logistic((margin - difference) / SCALE)
        + log_logistic((margin + difference) / SCALE)
    )


@inner
def log_outcome(
    difference: float, either: float, margin: float, outcome: int, normal: bool
) -> float:
    """Log probability of an outcome; `either` belongs to one of the two."""
    log_p = _log_outcome(difference + either, margin, outcome, normal)
    if either == 0.0:
        return log_p
    return log_average(log_p, _log_outcome(difference - either, margin, outcome, normal))


@inner
def _step(factors, played, peak):
    """K of a player, by games and highest rating so far."""
    if played < factors.new_games:
        return factors.k_new
    return factors.k_top if peak >= factors.top_rating else factors.k


@kernel
def by_game(
    backwards: bool, scored: bool, periods: PeriodRange, node_player: Index, games: GameRows, margin: float,
    normal: bool, factors: Factors, players: PlayerStates, rating: Vector,
) -> float:  # fmt: skip
    """Update `players` after each game, in order or backwards; fill `rating` (nodes,) with those after each period.

    A game of weight w is played w times, a fraction with that fraction of K; a match by its score. Returns the sum of
    the predictions' log probabilities if `scored`.
    """
    node_start, game_start = periods
    white, black, outcome, weight, offset, either, joined = games
    current, played, peak = players
    predicted = 0.0
    last_period = len(node_start) - 2
    for passed in range(last_period + 1):
        p = last_period - passed if backwards else passed
        first = game_start[p]
        last = game_start[p + 1]
        while first < last:
            g = unit_begin(joined, last - 1, first) if backwards else first
            stop = last if backwards else unit_end(joined, first, last)
            results = amounts(outcome, weight, g, stop)
            i = node_player[white[g]]
            j = node_player[black[g]]
            total = results[0] + results[1] + results[2]
            score = (results[2] + 0.5 * results[1]) / total
            left = total
            while left > 0.0:
                share = next_share(total - left, left)
                left -= share
                difference = current[i] - current[j] + offset[g]
                step_i = _step(factors, played[i], peak[i])
                step_j = _step(factors, played[j], peak[j])
                more = sum_of_residuals(
                    difference, step_i + step_j, share, either[g], score, normal
                )
                middle = difference if share <= 1.0 else difference + 0.5 * more * (step_i + step_j)
                for k in range(3):
                    if scored and results[k] > 0.0:
                        log_p = log_outcome(middle, either[g], margin, k, normal)
                        predicted += share * results[k] / total * log_p
                current[i] += more * step_i
                current[j] -= more * step_j
                peak[i] = max(peak[i], current[i])
                peak[j] = max(peak[j], current[j])
                played[i] += share
                played[j] += share
            if backwards:
                last = g
            else:
                first = stop
        for node in range(node_start[p], node_start[p + 1]):
            rating[node] = current[node_player[node]]
    return predicted


@kernel
def by_period(
    periods: PeriodRange, node_player: Index, games: GameRows, margin: float, normal: bool, factors: Factors,
    k_limit: float, count: Vector, residual: Vector, players: PlayerStates, rating: Vector,
) -> float:  # fmt: skip
    """Update once a period from the ratings at its start; otherwise as `by_game`.

    `count` is the weighted number of a node's games, K times it is at most `k_limit`; `residual` is zero at first.
    """
    node_start, game_start = periods
    white, black, outcome, weight, offset, either, _ = games
    current, played, peak = players
    predicted = 0.0
    for p in range(len(node_start) - 1):
        for g in range(game_start[p], game_start[p + 1]):
            i = white[g]
            j = black[g]
            difference = current[node_player[i]] - current[node_player[j]] + offset[g]
            log_p = log_outcome(difference, either[g], margin, outcome[g], normal)
            predicted += weight[g] * log_p
            more = weight[g] * game_residual(difference, either[g], 0.5 * outcome[g], normal)
            residual[i] += more
            residual[j] -= more
        for node in range(node_start[p], node_start[p + 1]):
            i = node_player[node]
            step = min(_step(factors, played[i], peak[i]), k_limit / count[node])
            current[i] += step * residual[node]
            peak[i] = max(peak[i], current[i])
            played[i] += count[node]
            rating[node] = current[i]
    return predicted


# of a variance by several games at once, which two peaks of unknown colours could make grow
LEAST_SHRINK = 0.5


@inner
def _absorb(mean, variance, certainty, score, share):
    """(mean, variance) after adding evidence in natural parameters."""
    shrink = 1.0 + variance * certainty
    if share > 1.0:
        shrink = max(shrink, LEAST_SHRINK)
    return mean + variance / shrink * score, variance / shrink


@kernel
def filter_games(
    periods: PeriodRange,
    steps: Steps,
    games: GameRows,
    noise: float,
    margin: float,
    beliefs: Beliefs,
) -> float:
    """Fill `beliefs` with marginals after the games of each node's period; means from the prior's origin.

    `noise` is 2 beta^2, points^2, and `margin` the draw margin, points.

    A game of weight w is played w times; games of a match are lost, drawn and won in proportion. Returns the sum of
    the predictions' log probabilities.
    """
    node_start, game_start = periods
    white, black, outcome, weight, offset, either, joined = games
    mean, variance = beliefs
    predicted = 0.0
    for p in range(len(node_start) - 1):
        for i in range(node_start[p], node_start[p + 1]):
            before = steps.previous[i]
            mean[i] = steps.mean[i] + (0.0 if before < 0 else mean[before])
            variance[i] = steps.variance[i] + (0.0 if before < 0 else variance[before])
        g = game_start[p]
        while g < game_start[p + 1]:
            stop = unit_end(joined, g, game_start[p + 1])
            i = white[g]
            j = black[g]
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
                    predicted += part * game_log_normaliser(
                        t, either[g] * scale, margin * scale, result
                    )
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
