"""Whole-History Rating by dense matrices, from the formulas of Coulom 2008 and Rao and Kupper 1967; plain numpy.

Works on rows (year, white, black, outcome[, weight[, offset]]) as in `tests.support.builders`. Natural units inside.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

SCALE = 400 / np.log(10)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def outcome_probability(outcome, lead, margin):
    """Rao and Kupper: lead and margin in natural units."""
    win, loss = logistic(lead - margin), logistic(-lead - margin)
    return (loss, 1 - win - loss, win)[outcome]


class History:
    """All that is known of a history: `log_density(r)` for the ratings r of `nodes`, (player, year) in order."""

    def __init__(self, rows, tau, virtual_draws, margin, white_advantage=0.0, draws="margin"):
        self.nodes = sorted(
            {(row[1], row[0]) for row in rows} | {(row[2], row[0]) for row in rows},
            key=lambda node: (node[1], node[0]),
        )
        at = {node: i for i, node in enumerate(self.nodes)}
        self.games = []
        for year, white, black, outcome, *rest in rows:
            weight, offset = (*rest, *(1.0, 0.0)[len(rest) :])
            lead = (offset + white_advantage) / SCALE
            self.games.append((at[white, year], at[black, year], lead, outcome, weight))
        self.links, self.first = [], []
        for i, (player, year) in enumerate(self.nodes):
            before = [node for node in self.nodes if node[0] == player and node[1] < year]
            if before:
                self.links.append((at[before[-1]], i, (tau / SCALE) ** 2 * (year - before[-1][1])))
            else:
                self.first.append(i)
        self.virtual, self.margin, self.draws = virtual_draws, margin / SCALE, draws

    def of_game(self, lead, outcome):
        if self.draws == "halves":
            score = outcome / 2
            return score * np.log(logistic(lead)) + (1 - score) * np.log(logistic(-lead))
        return np.log(outcome_probability(outcome, lead, self.margin))

    def log_density(self, r):
        total = sum(
            w * self.of_game(r[i] - r[j] + lead, outcome) for i, j, lead, outcome, w in self.games
        )
        for i in self.first:
            total += self.virtual * (np.log(logistic(r[i])) + np.log(logistic(-r[i])))
            total -= betaln(self.virtual, self.virtual)
        for i, j, variance in self.links:
            total -= 0.5 * ((r[j] - r[i]) ** 2 / variance + np.log(2 * np.pi * variance))
        return total

    def derivatives(self, r):
        """Slopes and curvatures of the log density, each term by differences along its one direction."""
        n = len(self.nodes)
        slope, curved = np.zeros(n), np.zeros((n, n))

        def add(u, function):
            h = 1e-3
            low, mid, high = function(-h), function(0.0), function(h)
            far_low, far_high = function(-2 * h), function(2 * h)
            first = (8 * (high - low) - (far_high - far_low)) / (12 * h)
            second = (16 * (high + low) - (far_high + far_low) - 30 * mid) / (12 * h * h)
            slope[:] += u * first
            curved[:] += np.outer(u, u) * second

        for i, j, lead, outcome, w in self.games:
            u = np.zeros(n)
            u[i], u[j] = 1, -1
            at = r[i] - r[j] + lead
            add(u, lambda t: w * self.of_game(at + t, outcome))
        for i in self.first:
            u = np.zeros(n)
            u[i] = 1
            at = r[i]
            add(u, lambda t: self.virtual * (np.log(logistic(at + t)) + np.log(logistic(-at - t))))
        for i, j, variance in self.links:
            u = np.zeros(n)
            u[i], u[j] = -1, 1
            at = r[j] - r[i]
            add(u, lambda t: -0.5 * (at + t) ** 2 / variance)
        return slope, -curved

    def maximum(self):
        r = np.zeros(len(self.nodes))
        for _ in range(60):
            slope, information = self.derivatives(r)
            step = np.linalg.solve(information, slope)
            r += step / max(1.0, np.abs(step).max())
            if np.abs(step).max() < 1e-11:
                break
        return r

    def log_evidence(self, r):
        """Laplace's approximation at the maximum."""
        _, information = self.derivatives(r)
        _, log_det = np.linalg.slogdet(information)
        return self.log_density(r) + 0.5 * len(r) * np.log(2 * np.pi) - 0.5 * log_det


def whr(rows, prior_mean=0.0, **params):
    """{(player, year): (mean, sd)} with deviations of the whole inverse, and the log-evidence."""
    history = History(rows, **params)
    r = history.maximum()
    sd = np.sqrt(np.diag(np.linalg.inv(history.derivatives(r)[1])))
    found = {
        node: (prior_mean + SCALE * r[i], SCALE * sd[i]) for i, node in enumerate(history.nodes)
    }
    return found, history.log_evidence(r)
