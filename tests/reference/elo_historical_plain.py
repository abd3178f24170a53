"""Elo's historical method as plainly as it can be written: slow fixed-point rounds, dense least squares, sums.

Games are rows (year, white, black, outcome, weight, offset).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np


def pools(rows, span, padding):
    """Scores by (player, block) and opponent: {entry: [(opponent, games, score, lead that odds give)]}."""
    games = {}
    for year, white, black, _, weight, _ in rows:
        for player in (white, black):
            entry = player, year // span
            games[entry] = games.get(entry, 0.0) + weight
    results = {entry: [] for entry in games}
    for year, white, black, outcome, weight, offset in rows:
        one, other = (white, year // span), (black, year // span)
        drawn = weight * padding / 2 * (1 / games[one] + 1 / games[other])
        score = weight * outcome / 2 + drawn / 2
        results[one].append((other, weight + drawn, score, offset))
        results[other].append((one, weight + drawn, weight + drawn - score, -offset))
    return games, results


def performances(results, rounds=4000):
    """Each rating in turn is set where the expected score is the score, by bisection on the last rounds' others."""
    rating = dict.fromkeys(results, 0.0)
    for _ in range(rounds):
        moved = 0.0
        for entry, played in results.items():
            low, high = -5000.0, 5000.0
            while high - low > 1e-10:
                middle = (low + high) / 2
                expected = sum(
                    games / (1 + 10 ** ((rating[other] - middle - ahead) / 400))
                    for other, games, _, ahead in played
                )
                low, high = (
                    (middle, high) if expected < sum(row[2] for row in played) else (low, middle)
                )
            moved = max(moved, abs(middle - rating[entry]))
            rating[entry] = middle
        if moved < 1e-9:
            return rating
    raise AssertionError("the slow twin did not converge")


def components(members, links):
    """Group of each member: the smallest member it is tied to."""
    group = {member: member for member in members}
    for _ in members:
        for one, other in links:
            group[one] = group[other] = min(group[one], group[other])
    return group


def on_one_level(games, results, rating):
    """Ratings moved by pool so that players keep theirs, by weighted least squares with the least moves."""
    entries = sorted(games)
    pool = components(entries, [(one, row[0]) for one, played in results.items() for row in played])
    names = sorted(set(pool.values()))
    ties = [(one, other) for one, other in pairwise(entries) if one[0] == other[0]]
    matrix, gaps = np.zeros((len(ties), len(names))), np.zeros(len(ties))
    for row, (one, other) in enumerate(ties):
        n, m = games[one], games[other]
        root = math.sqrt(n * m / (n + m) / (other[1] - one[1]))
        matrix[row, names.index(pool[one])] += root
        matrix[row, names.index(pool[other])] -= root
        gaps[row] = root * (rating[other] - rating[one])
    moves = np.linalg.lstsq(matrix, gaps)[0] if ties else np.zeros(len(names))
    moved = {entry: rating[entry] + moves[names.index(pool[entry])] for entry in entries}
    group = components(names, [(pool[one], pool[other]) for one, other in ties])
    for name in set(group.values()):
        inside = [entry for entry in entries if group[pool[entry]] == name]
        mean = sum(moved[entry] for entry in inside) / len(inside)
        for entry in inside:
            moved[entry] -= mean
    return moved


def ratings(rows, span, padding, width, start=1500.0):
    """{(player, year): rating} of all player-years."""
    games, results = pools(rows, span, padding)
    moved = on_one_level(games, results, performances(results))
    found = {}
    for player, year in {(name, row[0]) for row in rows for name in row[1:3]}:
        total = weighted = 0.0
        for entry, n in games.items():
            if entry[0] == player:
                own = [
                    (row[0], row[4])
                    for row in rows
                    if player in row[1:3] and row[0] // span == entry[1]
                ]
                middle = sum(when * weight for when, weight in own) / n
                share = n * math.exp(-(((year - middle) / width) ** 2) / 2)
                total, weighted = total + share, weighted + share * moved[entry]
        found[player, year] = start + weighted / total
    return found
