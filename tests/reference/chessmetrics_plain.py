"""Chessmetrics written down as its author describes it: the padded formula applied over and over to everybody.

Games are (year, white, black, outcome, weight, lead): 0, 1, 2 for a loss, draw or win of White, and points on top of
White's rating. Years are the periods.
"""

from __future__ import annotations


def share_left(year, now, window):
    """What the games of a year count at the end of another: the mean over twelve months, each linear in its age."""
    ages = [12 * (now - year) + month for month in range(12)]
    return sum(max(1 - age / (12 * window), 0) for age in ages) / 12


def rating_of(games, score, opponents, points, near, far, reference):
    """The padded performance rating of so many games, scored `score` against opponents of mean rating `opponents`."""
    performance = opponents + (score / games - 0.5) * points
    return (performance * games + opponents * near + reference * far) / (games + near + far)


def list_at(games, now, points, near, far, reference, window, rounds=3000):
    """{player: rating} at the end of the year `now`, without the bonus."""
    sides = {}
    for year, white, black, outcome, weight, lead in games:
        if year <= now and now - year < window:
            left = weight * share_left(year, now, window)
            sides.setdefault(white, []).append((black, outcome / 2, left, -lead))
            sides.setdefault(black, []).append((white, 1 - outcome / 2, left, lead))
    ratings = dict.fromkeys(sides, reference)
    for _ in range(rounds):
        renewed = {}
        for player, met in sides.items():
            played = sum(weight for _, _, weight, _ in met)
            score = sum(score * weight for _, score, weight, _ in met)
            opponents = sum(weight * ratings[name] for name, _, weight, _ in met) / played
            ahead = sum(weight * lead for *_, weight, lead in met) / played
            renewed[player] = rating_of(
                played, score, opponents + ahead, points, near, far, reference
            )
        if all(abs(renewed[name] - ratings[name]) < 1e-11 for name in sides):
            break
        ratings = renewed
    return ratings
