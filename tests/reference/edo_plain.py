"""Edo as Edwards describes it, one matrix row for every year of every career, gaps included; plain Python and numpy.

Works on rows (year, white, black, outcome[, weight[, offset]]) as in `tests.support.builders`. One connected group is
assumed after players without a positive or without a negative score have been removed, again and again.
"""

from __future__ import annotations

import numpy as np

SCALE = 400 / np.log(10)


def ratable(rows):
    """The rows that remain, and the players removed."""
    removed = set()
    while True:
        best, worst = {}, {}
        for _, white, black, outcome, *_ in rows:
            for name, score in ((white, outcome), (black, 2 - outcome)):
                best[name] = max(best.get(name, 0), score)
                worst[name] = min(worst.get(name, 2), score)
        hopeless = {name for name in best if best[name] == 0 or worst[name] == 2}
        if not hopeless:
            return rows, removed
        removed |= hopeless
        rows = [row for row in rows if not {row[1], row[2]} & hopeless]


def player_years(rows):
    """{(player, year): row} for all years of all careers, and those in which there are games."""
    years = {}
    for year, white, black, *_ in rows:
        for name in (white, black):
            years.setdefault(name, set()).add(year)
    every = [
        (name, year)
        for name in sorted(years)
        for year in range(min(years[name]), max(years[name]) + 1)
    ]
    return {key: i for i, key in enumerate(every)}, {
        (name, year) for name in years for year in years[name]
    }


def raw_ratings(rows, ties=30, comparisons=2):
    """({(player, year): (rating about the mean of all player-years with games, deviation)}), raw, points."""
    at, active = player_years(rows)
    matches = []  # row, row, lead in natural units given beforehand, score, games
    for year, white, black, outcome, *rest in rows:
        weight, offset = (*rest, *(1.0, 0.0)[len(rest) :])
        matches.append(
            (at[white, year], at[black, year], offset / SCALE, weight * outcome / 2, weight)
        )
    for name, year in at:
        if (name, year - 1) in at:
            matches.append((at[name, year], at[name, year - 1], 0.0, ties / 2, ties))
    n = len(at)
    mean = np.array([(key in active) / len(active) for key in at])
    rating = np.zeros(n)
    for _ in range(200):
        slope, information = np.zeros(n), np.zeros((n, n))
        for i, j, shift, score, games in matches:
            expected = 1 / (1 + np.exp(-(rating[i] - rating[j] + shift)))
            u = np.zeros(n)
            u[i], u[j] = 1, -1
            slope += u * (score - games * expected)
            information += np.outer(u, u) * games * expected * (1 - expected)
        step = np.linalg.solve(
            information + 1 / n, slope
        )  # the level, which games leave open, held fast
        rating += step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-11:
            break
    away = np.eye(n) - mean[None, :]  # the difference from the mean of all
    variance = np.diag(away @ np.linalg.inv(information + 1 / n) @ away.T) / comparisons
    raw = away @ rating
    return {key: (SCALE * raw[i], SCALE * np.sqrt(variance[i])) for key, i in at.items()}, active


def adjust(rating, deviation, prior_mean=1500.0, prior_sd=300.0):
    """The most probable rating under both the games and the distribution of all players, and its deviation."""
    precision = deviation**-2 + prior_sd**-2
    return (rating / deviation**2 + prior_mean / prior_sd**2) / precision, precision**-0.5


def edo(rows, raw_mean, ties=30, comparisons=2, prior_mean=1500.0, prior_sd=300.0):
    """{(player, year): (mean, sd)}: adjusted, with straight lines across gaps, and the players removed."""
    rows, removed = ratable(rows)
    raw, active = raw_ratings(rows, ties, comparisons)
    found = {}
    for key, (rating, deviation) in raw.items():
        found[key] = adjust(rating + raw_mean, deviation, prior_mean, prior_sd)
    for name, year in raw:
        if (name, year) not in active:
            before = max(y for p, y in active if p == name and y < year)
            after = min(y for p, y in active if p == name and y > year)
            line = np.interp(year, [before, after], [found[name, before][0], found[name, after][0]])
            found[name, year] = (float(line), found[name, year][1])
    return found, removed
