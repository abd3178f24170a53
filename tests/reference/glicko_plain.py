"""Glicko and Glicko-2 written down as their author describes them, player by player, in dictionaries.

Games are (year, white, black, outcome, weight, lead): 0, 1, 2 for a loss, draw or win of White, and points on top of
White's rating. Years are the rating periods.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

UNIT = 400 / math.log(10)


def g(deviation):
    return 1 / math.sqrt(1 + 3 * (deviation / UNIT) ** 2 / math.pi**2)


def expected(own, opponent, deviation):
    return 1 / (1 + 10 ** (-g(deviation) * (own - opponent) / 400))


def said(games, year, player, ratings):
    """(d^2, sum of g (s - E)) of a player's games of a year, None without games."""
    information = surprise = 0.0
    for when, white, black, outcome, weight, lead in games:
        if when == year and player in (white, black):
            opponent = black if player == white else white
            score = outcome / 2 if player == white else 1 - outcome / 2
            own = ratings[player][0] + (lead if player == white else -lead)
            rating, deviation = ratings[opponent][:2]
            e = expected(own, rating, deviation)
            information += weight * g(deviation) ** 2 * e * (1 - e)
            surprise += weight * g(deviation) * (score - e)
    return (UNIT**2 / information, surprise) if information else None


def active(games, year):
    return sorted(
        {name for when, white, black, *_ in games if when == year for name in (white, black)}
    )


def glicko(games, prior_mean, prior_sd, c):
    """{(player, year): ((mean, sd) before, (mean, sd) after)}"""
    found, last = {}, {}
    for year in sorted({game[0] for game in games}):
        before = dict.fromkeys(active(games, year), (prior_mean, prior_sd))
        for name in before:
            if name in last:
                rating, deviation = found[name, last[name]][1]
                idle = year - last[name]
                before[name] = rating, min(math.sqrt(deviation**2 + c**2 * idle), prior_sd)
        for name, (rating, deviation) in before.items():
            d2, surprise = said(games, year, name, before)
            precision = 1 / deviation**2 + 1 / d2
            after = rating + surprise / UNIT / precision, math.sqrt(1 / precision)
            found[name, year], last[name] = (before[name], after), year
    return found


def smoothed(steps, c):
    """Means and covariance matrix of one player's ratings given all games, from ((year, before, after), ...).

    What the games of a year say is the Gaussian that takes the belief before to the one after; the joint posterior of
    the random walk and all of these is solved as one system.
    """
    n = len(steps)
    precision, weighted = np.zeros((n, n)), np.zeros(n)
    precision[0, 0] = 1 / steps[0][1][1] ** 2
    weighted[0] = steps[0][1][0] * precision[0, 0]
    for k, (year, (mean, sd), (mean_after, sd_after)) in enumerate(steps):
        precision[k, k] += 1 / sd_after**2 - 1 / sd**2
        weighted[k] += mean_after / sd_after**2 - mean / sd**2
        if k:
            link = 1 / (c**2 * (year - steps[k - 1][0]))
            precision[k - 1 : k + 1, k - 1 : k + 1] += link * np.array([[1, -1], [-1, 1]])
    covariance = np.linalg.inv(precision)
    return covariance @ weighted, covariance


def volatility_after(volatility, delta, phi, v, tau):
    """The root of Glickman's f, by a bracketing search of another kind than his."""
    a = math.log(volatility**2)

    def f(x):
        e = math.exp(x)
        return e * (delta**2 - phi**2 - v - e) / (2 * (phi**2 + v + e) ** 2) - (x - a) / tau**2

    return math.exp(brentq(f, a - 50 * tau**2 - 5, a + 50 * tau**2 + 5, xtol=1e-13) / 2)


def glicko2(games, prior_mean, prior_sd, prior_volatility, tau):
    """{(player, year): (mean, sd, volatility) after}"""
    found, last = {}, {}
    for year in sorted({game[0] for game in games}):
        before = dict.fromkeys(active(games, year), (prior_mean, prior_sd, prior_volatility))
        for name in before:
            if name in last:
                rating, deviation, volatility = found[name, last[name]]
                for _ in range(last[name] + 1, year):
                    deviation = min(math.hypot(deviation, UNIT * volatility), prior_sd)
                before[name] = rating, deviation, volatility
        for name, (rating, deviation, volatility) in before.items():
            d2, surprise = said(games, year, name, before)
            v, phi = d2 / UNIT**2, deviation / UNIT
            renewed = volatility_after(volatility, v * surprise, phi, v, tau)
            precision = 1 / (phi**2 + renewed**2) + 1 / v
            after = rating + UNIT * surprise / precision, UNIT / math.sqrt(precision), renewed
            found[name, year], last[name] = after, year
    return found
