"""Elo's update: a rating moves by K times the residual, game by game or once a period.

The residual is the score (0, 1/2, 1) less the expected one. Expected scores are logistic or normal in the rating
difference, on Elo's scale; outcomes have the probabilities of `ttt_cli.inference.outcome`. Where one
of two players is known to have an advantage, but not which, both are averages over these two.
"""

import math

from ttt_cli.kernels.arrays import Index, Vector
from ttt_cli.kernels.bradley_terry.likelihood import log_logistic
from ttt_cli.kernels.codes import log_average
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.scores.matches import amounts, next_share, unit_end
from ttt_cli.kernels.scores.structures import Careers, Expectation, Factors, Games, Piece

SCALE = 400.0 / math.log(10.0)  # points in which the odds of the logistic expectation grow by e
FAR = 300.0  # in SCALE: beyond, the weaker one's chance is its own limit
CLASS = 200.0  # sd of one performance in the normal expectation, points: Elo's class interval


@inner
def expected_score(difference: float, normal: bool) -> float:
    """The expected score of a difference of so many points."""
    if normal:
        return 0.5 * math.erfc(-0.5 * difference / CLASS)
    return 1.0 / (1.0 + math.exp(-difference / SCALE))


@inner
def game_residual(difference: float, either: float, score: float, normal: bool) -> float:
    """White's score less the expected one; the points `either` are one of the two's."""
    expected = expected_score(difference + either, normal)
    if either != 0.0:
        expected = 0.5 * (expected + expected_score(difference - either, normal))
    return score - expected


@inner
def _slope(difference: float, normal: bool) -> float:
    """How fast the expected score grows with the difference, per point."""
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
    """The residuals of a share of a game, or of several of the same score; one of 1 adds `growth` to the difference.

    Several are judged by the difference that they end with (implicit Euler): so many cannot carry it too far.
    """
    first = share * game_residual(difference, either, score, normal)
    if share <= 1.0:
        return first
    slope = _slope(difference + either, normal)
    if either != 0.0:
        slope = 0.5 * (slope + _slope(difference - either, normal))
    return first / (1.0 + share * growth * slope)


@inner
def _steeper(difference: float, margin: float) -> float:
    """The difference at which the rule of draws expects the score of this one (see `ttt_cli.inference.outcome`)."""
    distance = abs(difference) / SCALE
    t = math.exp(margin / SCALE)
    if distance > FAR:
        x = distance + math.log(0.5 * (t + 1.0 / t))
    else:
        worse = 1.0 / (1.0 + math.exp(distance))
        half = 0.5 * (1.0 - 2.0 * worse) * (1.0 + t * t)
        x = math.log(
            (half + math.sqrt(half * half + 4.0 * t * t * worse * (1.0 - worse))) / (2.0 * t * worse)
        )
    return math.copysign(x * SCALE, difference)


@inner
def _log_outcome(difference: float, margin: float, outcome: int) -> float:
    difference = _steeper(difference, margin)
    if outcome == 2:
        return log_logistic((difference - margin) / SCALE)
    if outcome == 0:
        return log_logistic((-difference - margin) / SCALE)
    certainty = math.log(-math.expm1(-2.0 * margin / SCALE))
    return (
        certainty + log_logistic((margin - difference) / SCALE) + log_logistic((margin + difference) / SCALE)
    )


@inner
def log_outcome(difference: float, either: float, margin: float, outcome: int) -> float:
    """log probability of an outcome; the points `either` are one of the two's."""
    log_p = _log_outcome(difference + either, margin, outcome)
    return log_p if either == 0.0 else log_average(log_p, _log_outcome(difference - either, margin, outcome))


@inner
def _log_result(difference, either, margin, lost, drawn, won):
    """The mean log probability of games of which so many were lost, drawn and won."""
    total = lost + drawn + won
    result = 0.0
    if lost > 0.0:
        result += lost / total * log_outcome(difference, either, margin, 0)
    if drawn > 0.0:
        result += drawn / total * log_outcome(difference, either, margin, 1)
    if won > 0.0:
        result += won / total * log_outcome(difference, either, margin, 2)
    return result


@inner
def _step(factors, played, peak):
    """K of a player with so many games and such a highest rating so far."""
    if played < factors.new_games:
        return factors.k_new
    return factors.k_top if peak >= factors.top_rating else factors.k


@inner
def _carry(start, end, previous, careers):
    """Begin a period with what the players' last nodes left; newcomers have their rating already."""
    rating, played, peak = careers
    for i in range(start, end):
        before = previous[i]
        if before >= 0:
            rating[i] = rating[before]
            played[i] = played[before]
            peak[i] = peak[before]
        else:
            played[i] = 0.0
            peak[i] = rating[i]


@kernel
def by_game(
    piece: Piece, previous: Index, games: Games, expectation: Expectation, factors: Factors, careers: Careers
) -> float:
    """Update after each game; fill `careers`, in which newcomers have their rating.

    A game of weight w is played w times over, a last fraction of it with that fraction of K; a match by its score (see
    `matches`). Returns the sum of the log probabilities with which each game was predicted.
    """
    goes_on, node_start, game_start = piece
    white, black, outcome, weight, offset, either, joined = games
    margin, normal = expectation
    rating, played, peak = careers
    predicted = 0.0
    for p in range(len(node_start) - 1):
        if p > 0 or not goes_on:
            _carry(node_start[p], node_start[p + 1], previous, careers)
        g = game_start[p]
        while g < game_start[p + 1]:
            stop = unit_end(joined, g, game_start[p + 1])
            lost, drawn, won = amounts(outcome, weight, g, stop)
            i, j = white[g], black[g]
            left = lost + drawn + won
            score = (won + 0.5 * drawn) / left
            done = 0.0
            while left > 0.0:
                share = next_share(done, left)
                left -= share
                done += share
                difference = rating[i] - rating[j] + offset[g]
                step_i = _step(factors, played[i], peak[i])
                step_j = _step(factors, played[j], peak[j])
                more = sum_of_residuals(difference, step_i + step_j, share, either[g], score, normal)
                middle = difference if share <= 1.0 else difference + 0.5 * more * (step_i + step_j)
                predicted += share * _log_result(middle, either[g], margin, lost, drawn, won)
                rating[i] += more * step_i
                rating[j] -= more * step_j
                peak[i] = max(peak[i], rating[i])
                peak[j] = max(peak[j], rating[j])
                played[i] += share
                played[j] += share
            g = stop
    return predicted


@kernel
def by_period(
    piece: Piece,
    previous: Index,
    games: Games,
    expectation: Expectation,
    factors: Factors,
    k_limit: float,
    count: Vector,
    residual: Vector,
    careers: Careers,
) -> float:
    """Update once a period, all its games judged by the ratings at its start; otherwise as `by_game`.

    `count` is the weighted number of a node's games, K times which is at most `k_limit`; `residual` comes as zeros.
    """
    _, node_start, game_start = piece
    white, black, outcome, weight, offset, either, _ = games
    margin, normal = expectation
    rating, played, peak = careers
    predicted = 0.0
    for p in range(len(node_start) - 1):
        _carry(node_start[p], node_start[p + 1], previous, careers)
        for g in range(game_start[p], game_start[p + 1]):
            i, j = white[g], black[g]
            difference = rating[i] - rating[j] + offset[g]
            predicted += weight[g] * log_outcome(difference, either[g], margin, outcome[g])
            more = weight[g] * game_residual(difference, either[g], 0.5 * outcome[g], normal)
            residual[i] += more
            residual[j] -= more
        for i in range(node_start[p], node_start[p + 1]):
            step = _step(factors, played[i], peak[i])
            if step * count[i] > k_limit:
                step = k_limit / count[i]
            rating[i] += step * residual[i]
            peak[i] = max(peak[i], rating[i])
            played[i] += count[i]
    return predicted
