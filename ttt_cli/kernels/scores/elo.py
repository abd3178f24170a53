"""Elo's update: a rating moves by K times the residual, game by game or once a period.

The residual is the score (0, 1/2, 1) less the expected one. Expected scores are logistic or normal in the lead, on
Elo's scale; outcomes have the probabilities of `ttt_cli.inference.outcome`. Where colours are unknown both are
averages over the two colourings of White's advantage.
"""

from __future__ import annotations

import math

from ttt_cli.kernels.colours import log_average
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.scores.matches import next_share, unit_end

SCALE = 400.0 / math.log(10.0)  # points in which the odds of the logistic expectation grow by e
FAR = 300.0  # in SCALE: beyond, the weaker one's chance is its own limit
CLASS = 200.0  # sd of one performance in the normal expectation, points: Elo's class interval

_HISTORY = "int64[::1], int32[::1], int64[::1]"
_GAMES = "int32[::1], int32[::1], int8[::1], float64[::1], float64[::1]"
_RULES = "float64, float64, boolean, boolean"
_STEPS = "float64, float64, float64, float64, float64"
_NODES = "float64[::1], float64[::1], float64[::1]"


@inner
def expected_score(lead: float, normal: bool) -> float:
    """The expected score of a lead of so many points."""
    if normal:
        return 0.5 * math.erfc(-0.5 * lead / CLASS)
    return 1.0 / (1.0 + math.exp(-lead / SCALE))


@inner
def game_residual(lead: float, advantage: float, score: float, colours: bool, normal: bool) -> float:
    """White's score less the expected one; `lead` is without White's advantage."""
    expected = expected_score(lead + advantage, normal)
    if not colours:
        expected = 0.5 * (expected + expected_score(lead - advantage, normal))
    return score - expected


@inner
def _slope(lead: float, normal: bool) -> float:
    """How fast the expected score grows with the lead, per point."""
    if normal:
        return math.exp(-0.25 * lead * lead / (CLASS * CLASS)) / (2.0 * math.sqrt(math.pi) * CLASS)
    expected = expected_score(lead, False)
    return expected * (1.0 - expected) / SCALE


@inner
def sum_of_residuals(
    lead: float, growth: float, share: float, advantage: float, score: float, colours: bool, normal: bool
) -> float:
    """The residuals of a share of a game, or of several of the same score; one of 1 adds `growth` to the lead.

    Several are judged by the lead that they end with, as far as the slope at their beginning tells it (implicit Euler):
    so many cannot carry it too far.
    """
    first = share * game_residual(lead, advantage, score, colours, normal)
    if share <= 1.0:
        return first
    slope = _slope(lead + advantage, normal)
    if not colours:
        slope = 0.5 * (slope + _slope(lead - advantage, normal))
    return first / (1.0 + share * growth * slope)


@inner
def _log_logistic(x: float) -> float:
    """log(1 / (1 + exp(-x))), accurate in both tails."""
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


@inner
def _steeper(lead: float, margin: float) -> float:
    """The lead at which the rule of draws expects the score that `lead` does (see `ttt_cli.inference.outcome`)."""
    distance = abs(lead) / SCALE
    t = math.exp(margin / SCALE)
    if distance > FAR:
        x = distance + math.log(0.5 * (t + 1.0 / t))
    else:
        worse = 1.0 / (1.0 + math.exp(distance))
        half = 0.5 * (1.0 - 2.0 * worse) * (1.0 + t * t)
        x = math.log(
            (half + math.sqrt(half * half + 4.0 * t * t * worse * (1.0 - worse))) / (2.0 * t * worse)
        )
    return math.copysign(x * SCALE, lead)


@inner
def _log_outcome(lead: float, margin: float, outcome: int) -> float:
    lead = _steeper(lead, margin)
    if outcome == 2:
        return _log_logistic((lead - margin) / SCALE)
    if outcome == 0:
        return _log_logistic((-lead - margin) / SCALE)
    certainty = math.log(-math.expm1(-2.0 * margin / SCALE))
    return certainty + _log_logistic((margin - lead) / SCALE) + _log_logistic((margin + lead) / SCALE)


@inner
def log_outcome(lead: float, advantage: float, margin: float, outcome: int, colours: bool) -> float:
    """log probability of an outcome; `lead` is without White's advantage."""
    known = _log_outcome(lead + advantage, margin, outcome)
    return known if colours else log_average(known, _log_outcome(lead - advantage, margin, outcome))


@inner
def _log_result(lead, advantage, margin, colours, lost, drawn, won):
    """The mean log probability of games of which so many were lost, drawn and won."""
    total = lost + drawn + won
    result = 0.0
    if lost > 0.0:
        result += lost / total * log_outcome(lead, advantage, margin, 0, colours)
    if drawn > 0.0:
        result += drawn / total * log_outcome(lead, advantage, margin, 1, colours)
    if won > 0.0:
        result += won / total * log_outcome(lead, advantage, margin, 2, colours)
    return result


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
def _step(played, peak, k, k_new, k_top, new_games, top_rating):
    """K of a player with so many games and such a highest rating so far."""
    if played < new_games:
        return k_new
    return k_top if peak >= top_rating else k


@inner
def _carry(start, end, previous, rating, played, peak):
    """Begin a period with what the players' last nodes left; newcomers have their rating already."""
    for i in range(start, end):
        before = previous[i]
        if before >= 0:
            rating[i] = rating[before]
            played[i] = played[before]
            peak[i] = peak[before]
        else:
            played[i] = 0.0
            peak[i] = rating[i]


@kernel(f"float64(boolean, {_HISTORY}, {_GAMES}, boolean[::1], {_RULES}, {_STEPS}, {_NODES})")
def by_game(
    goes_on, node_start, previous, game_start,
    white, black, outcome, weight, offset, joined,
    advantage, margin, colours, normal,
    k, k_new, k_top, new_games, top_rating,
    rating, played, peak,
):  # fmt: skip
    """Update after each game; fill `rating` (at newcomers' nodes: from theirs), `played` and `peak` per node.

    `goes_on`: the call before has begun the first period. A game of weight w is played w times over, a last fraction of
    it with that fraction of K; a match by its score (see `matches`).
    Returns the sum of the log probabilities with which each game was predicted.
    """
    predicted = 0.0
    for p in range(len(node_start) - 1):
        if p > 0 or not goes_on:
            _carry(node_start[p], node_start[p + 1], previous, rating, played, peak)
        g = game_start[p]
        while g < game_start[p + 1]:
            stop = unit_end(joined, g, game_start[p + 1])
            lost, drawn, won = amounts(outcome, weight, g, stop)
            i = white[g]
            j = black[g]
            left = lost + drawn + won
            score = (won + 0.5 * drawn) / left
            done = 0.0
            while left > 0.0:
                share = next_share(done, left)
                left -= share
                done += share
                lead = rating[i] - rating[j] + offset[g]
                step_i = _step(played[i], peak[i], k, k_new, k_top, new_games, top_rating)
                step_j = _step(played[j], peak[j], k, k_new, k_top, new_games, top_rating)
                more = sum_of_residuals(lead, step_i + step_j, share, advantage, score, colours, normal)
                middle = lead if share <= 1.0 else lead + 0.5 * more * (step_i + step_j)
                predicted += share * _log_result(middle, advantage, margin, colours, lost, drawn, won)
                rating[i] += more * step_i
                rating[j] -= more * step_j
                peak[i] = max(peak[i], rating[i])
                peak[j] = max(peak[j], rating[j])
                played[i] += share
                played[j] += share
            g = stop
    return predicted


@kernel(f"float64({_HISTORY}, {_GAMES}, {_RULES}, {_STEPS}, float64, float64[::1], float64[::1], {_NODES})")
def by_period(
    node_start, previous, game_start,
    white, black, outcome, weight, offset,
    advantage, margin, colours, normal,
    k, k_new, k_top, new_games, top_rating,
    k_limit, games, residual,
    rating, played, peak,
):  # fmt: skip
    """Update once a period, all its games judged by the ratings at its start; otherwise as `by_game`.

    `games` is the weighted number of a node's games, K times which is at most `k_limit`; `residual` (zeros) is filled
    with the sum of a node's residuals. Who has reached the top is told by ratings after periods.
    """
    predicted = 0.0
    for p in range(len(node_start) - 1):
        _carry(node_start[p], node_start[p + 1], previous, rating, played, peak)
        for g in range(game_start[p], game_start[p + 1]):
            i = white[g]
            j = black[g]
            lead = rating[i] - rating[j] + offset[g]
            predicted += weight[g] * log_outcome(lead, advantage, margin, outcome[g], colours)
            more = weight[g] * game_residual(lead, advantage, 0.5 * outcome[g], colours, normal)
            residual[i] += more
            residual[j] -= more
        for i in range(node_start[p], node_start[p + 1]):
            step = _step(played[i], peak[i], k, k_new, k_top, new_games, top_rating)
            if step * games[i] > k_limit:
                step = k_limit / games[i]
            rating[i] += step * residual[i]
            peak[i] = max(peak[i], rating[i])
            played[i] += games[i]
    return predicted
