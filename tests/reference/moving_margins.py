"""TTT and TTT-D with draw margins that move, as plainly as they can be written: Newton steps between slow sweeps.

Scores are differences of log normalisers; the precision matrix P of the walk over the years is dense.
"""

import math

import numpy as np

from tests.reference.ttt_d_ep import SlowTTTD
from tests.reference.ttt_ep import SlowTTT

STEP = 5e-5


class Years:
    """theta of each year, a random walk that begins at N(0, 1)."""

    def __init__(self, years, drift):
        self.years, self.theta = sorted(set(years)), dict.fromkeys(years, 0.0)
        n = len(self.years)
        self.precision = np.zeros((n, n))
        self.precision[0, 0] = 1.0
        for k in range(1, n):
            u = np.zeros(n)
            u[k], u[k - 1] = 1.0, -1.0
            self.precision += np.outer(u, u) / (drift**2 * (self.years[k] - self.years[k - 1]))

    def step(self, score, information):
        theta = np.array([self.theta[y] for y in self.years])
        move = np.linalg.solve(self.precision + np.diag(information), score - self.precision @ theta)
        self.theta = dict(zip(self.years, (theta + move).tolist(), strict=True))
        return np.abs(move).max()

    def log_evidence(self, information):
        theta = np.array([self.theta[y] for y in self.years])
        posterior = self.precision + np.diag(information)
        logs = [np.linalg.slogdet(of)[1] for of in (self.precision, posterior)]
        return 0.5 * (logs[0] - logs[1] - theta @ self.precision @ theta)


class MovingTTT(SlowTTT):
    """Margins by year and by strength; outcomes are 1, 0, -1."""

    def __init__(self, *given, drift=0.0, strength=0.0, **more):
        super().__init__(*given, **more)
        self.drift, self.strength = drift, strength
        self.year = [g.year if g.calendar is None else g.calendar for g in self.games]
        self.years_walk = Years(self.year, drift or 1.0)
        self.above = [0.0] * len(self.games)

    def margin_of(self, k, more=0.0):
        theta = self.years_walk.theta[self.year[k]]
        return self.margin * math.exp(theta + self.strength * self.above[k] + more)

    def levels(self):
        """Half the sum of the skills of every game's players, and its mean over the games of the year."""
        half = self.gaussian()[0][np.array(self.ends)].mean(axis=1)
        weight, of = np.array([g.weight for g in self.games]), np.array(self.year)
        return half, {
            year: np.average(half[of == year], weights=weight[of == year]) for year in set(self.year)
        }

    def follow_strength(self):
        half, level = self.levels()
        self.above = [min(max((x - level[y]) / 400, -2), 2) for x, y in zip(half, self.year, strict=True)]

    def scores(self):
        """Score and Fisher information of each year's theta."""
        score, information = np.zeros((2, len(self.years_walk.years)))
        gaussian = self.gaussian()
        for k, game in enumerate(self.games):
            (mw, vw), (mb, vb) = self.cavities(k, gaussian)
            d, c = mw - mb + game.lead, vw + vb + 2 * self.beta**2
            at = self.years_walk.years.index(self.year[k])
            for outcome in (1, 0, -1):
                up, here, down = (
                    self.moments(d, c, outcome, self.margin_of(k, h))[2] for h in (STEP, 0, -STEP)
                )
                slope = (up - down) / (2 * STEP)
                information[at] += game.weight * math.exp(here) * slope**2
                score[at] += game.weight * slope * (outcome == game.outcome)
        return score, information

    def run(self, tol=1e-11, most=400):
        for _ in range(most):
            change = self.sweep()
            if self.strength:
                self.follow_strength()
            if self.drift:
                change = max(change, self.years_walk.step(*self.scores()))
            if change < tol:
                return self
        raise AssertionError("the slow twin did not converge")

    def log_evidence(self):
        theta = self.years_walk.log_evidence(self.scores()[1]) if self.drift else 0.0
        return super().log_evidence() + theta


class MovingTTTD(SlowTTTD):
    """Means of newcomers' margins by year: the mean of a Gaussian prior has score (E[e] - m) / s^2."""

    def __init__(self, games, model, nodes=None, *, drift):
        super().__init__(games, model, nodes)
        self.debut = {player: min(year for p, year in self.nodes if p == player) for player, _ in self.nodes}
        self.drift, self.years_walk = drift, Years([year for _, year in self.nodes], drift)

    def newcomer(self, player):
        return self.model.nu0 * math.exp(self.years_walk.theta[self.debut[player]])

    def chain(self, kind, player):
        years, mean, cov, total = super().chain(kind, player)
        return years, (np.full(len(years), self.newcomer(player)) if kind == "e" else mean), cov, total

    def scores(self):
        score, information = np.zeros((2, len(self.years_walk.years)))
        for player, year in self.debut.items():
            at, m, prior = self.years_walk.years.index(year), self.newcomer(player), self.model.varsigma0**2
            mean, variance = self.belief("e", player, year)
            score[at] += m * (mean - m) / prior
            information[at] += m**2 * (1 - variance / prior) / prior
        return score, information

    def run(self, tol=1e-9, most=400):
        for _ in range(most):
            super().run(tol)
            if self.years_walk.step(*self.scores()) < tol:
                return self
        raise AssertionError("the slow twin did not converge")

    def log_evidence(self):
        nothing = MovingTTTD([], self.model, self.nodes, drift=self.drift).run()
        return self.whole() - nothing.whole()

    def whole(self):
        return self.log_z() + self.years_walk.log_evidence(self.scores()[1])


def follow_newcomers(joint, timeline, params, drift):
    """The walk over the years of newcomers' margins, together with the sites of `joint_ep.joint_ttt_d`, to rest."""
    walk, first = Years(timeline.node_period.tolist(), drift), np.flatnonzero(timeline.previous < 0)
    prior, own = params.draw_margin_sd**2, timeline.n_nodes + first
    at = [walk.years.index(year) for year in timeline.node_period[first].tolist()]
    for _ in range(100):
        theta = np.array([walk.theta[year] for year in walk.years])
        margin = params.draw_margin_mean * np.exp(theta[at])
        joint.weighted[own] = margin / prior
        mean, covariance, _, _ = joint.run().gaussian()
        score, information = np.zeros((2, len(walk.years)))
        np.add.at(score, at, margin * (mean[own] - margin) / prior)
        np.add.at(information, at, margin**2 * (1 - np.diag(covariance)[own] / prior) / prior)
        if walk.step(score, information) < 1e-9:
            return walk
    raise AssertionError("the walk of the twin did not come to rest")
