"""Elo's update and Spinrad's method as plainly as they can be written: dictionaries, one game after the other.

Games are rows (year, white, black, outcome, weight, offset) with whole weights, sorted by year.
"""

from __future__ import annotations

import math
from itertools import groupby
from statistics import NormalDist

from scipy.optimize import brentq


def logistic(lead):
    return 1.0 / (1.0 + 10.0 ** (-lead / 400.0))


def normal(lead):
    return NormalDist(sigma=200.0 * math.sqrt(2.0)).cdf(lead)


def outcome_probability(lead, margin, outcome, expect=logistic):
    """Rao and Kupper's rule for loss (0), draw (1) and win (2), at the lead where it expects the score of `lead`."""

    def excess(x):
        return (1.0 + logistic(x - margin) - logistic(-x - margin)) / 2.0 - expect(lead)

    x = brentq(excess, -1e4, 1e4, xtol=1e-12)
    loss, win = logistic(-x - margin), logistic(x - margin)
    return (loss, 1.0 - loss - win, win)[outcome]


class PlainElo:
    """Ratings, numbers of games and highest ratings by player; `history` holds (player, year): rating."""

    def __init__(
        self, start=1500.0, k=24.0, k_new=None, k_top=None, new_games=30, top=2400, **rules
    ):
        self.start, self.k, self.k_new, self.k_top = start, k, k_new or k, k_top or k
        self.new_games, self.top = new_games, top
        self.limit = rules.get("limit", math.inf)
        self.margin, self.advantage = rules.get("margin", 100.0), rules.get("advantage", 0.0)
        self.colours, self.expect = rules.get("colours", True), rules.get("expect", logistic)
        self.rating, self.played, self.best, self.history = {}, {}, {}, {}
        self.log_evidence = 0.0

    def enter(self, player):
        if player not in self.rating:
            self.rating[player] = self.best[player] = self.start
            self.played[player] = 0

    def step(self, player):
        if self.played[player] < self.new_games:
            return self.k_new
        return self.k_top if self.best[player] >= self.top else self.k

    def leads(self, white, black, offset):
        lead = self.rating[white] - self.rating[black] + offset
        return (
            [lead + self.advantage]
            if self.colours
            else [lead + self.advantage, lead - self.advantage]
        )

    def surprise(self, white, black, outcome, offset):
        """White's score less the expected one; the game is foreseen first."""
        leads = self.leads(white, black, offset)
        chances = [outcome_probability(lead, self.margin, outcome, self.expect) for lead in leads]
        chance = sum(chances) / len(leads)
        self.log_evidence += math.log(chance)
        return outcome / 2 - sum(map(self.expect, leads)) / len(leads)

    def gain(self, player, points, games=1):
        self.rating[player] += points
        self.best[player] = max(self.best[player], self.rating[player])
        self.played[player] += games

    def by_game(self, rows):
        for year, games in groupby(rows, key=lambda row: row[0]):
            seen = set()
            for _, white, black, outcome, weight, offset in games:
                seen |= {white, black}
                for _ in range(int(weight)):
                    self.enter(white)
                    self.enter(black)
                    more = self.surprise(white, black, outcome, offset)
                    steps = self.step(white), self.step(black)
                    self.gain(white, steps[0] * more)
                    self.gain(black, -steps[1] * more)
            self.history.update({(player, year): self.rating[player] for player in seen})
        return self

    def by_period(self, rows):
        for year, games in groupby(rows, key=lambda row: row[0]):
            results = {}
            for _, white, black, outcome, weight, offset in games:
                for _ in range(int(weight)):
                    self.enter(white)
                    self.enter(black)
                    more = self.surprise(white, black, outcome, offset)
                    results.setdefault(white, []).append(more)
                    results.setdefault(black, []).append(-more)
            for player, surprises in results.items():
                step = min(self.step(player), self.limit / len(surprises))
                self.gain(player, step * sum(surprises), len(surprises))
            self.history.update({(player, year): self.rating[player] for player in results})
        return self


def spinrad(rows, rounds, **rules):
    """{(player, year): rating} after so many runs forwards and backwards."""
    elo = PlainElo(**rules)
    for _ in range(rounds):
        forwards = dict(elo.by_game(rows).history)
        backwards = dict(elo.by_game(rows[::-1]).history)
    return {key: (forwards[key] + backwards[key]) / 2 for key in forwards}
