"""TTT-D by expectation propagation, as plainly as it can be written: dense matrices, nothing kept but the sites.

Four Gaussian sites per game, on both skills and both draw margins, and one per player and year that keeps the margin
positive. Chains are dense Gaussians; the moments of a draw come from quadrature. Unknown colours average both
colourings of a game.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import log_ndtr, ndtr

from tests.reference.ttt_ep import dense_log_integral, log_integral


@dataclass(frozen=True)
class Model:
    mu0: float
    sigma0: float
    beta: float
    tau: float
    nu0: float
    varsigma0: float
    varsigma: float
    advantage: float = 0.0
    colours: bool = True
    career: object = None  # as of `tests.reference.ttt_ep.SlowTTT`


def one_sided(mean, var):
    """(log Z, mean, variance) of N(mean, var) above zero."""
    sd = math.sqrt(var)
    x = mean / sd
    v = math.exp(-0.5 * x * x - 0.5 * math.log(2 * math.pi) - log_ndtr(x))
    return log_ndtr(x), mean + sd * v, var * (1 - v * (v + x))


_X, _W = leggauss(400)


def both_positive(mean, cov):
    """(log Z, mean, covariance) of a two-dimensional Gaussian where both are positive, by quadrature in the first."""
    sd = math.sqrt(cov[0, 0])
    low, high = max(0.0, mean[0] - 12 * sd), max(mean[0], 0.0) + 12 * sd
    x = low + (high - low) / 2 * (_X + 1)
    density = _W * (high - low) / 2 * np.exp(-0.5 * ((x - mean[0]) / sd) ** 2) / (math.sqrt(2 * math.pi) * sd)
    slope = cov[0, 1] / cov[0, 0]
    centre, rest = mean[1] + slope * (x - mean[0]), math.sqrt(cov[1, 1] - slope * cov[0, 1])
    t = centre / rest
    mass, edge = ndtr(t), np.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)
    first, second = centre * mass + rest * edge, (centre**2 + rest**2) * mass + centre * rest * edge
    z = (density * mass).sum()
    m = np.array([(density * x * mass).sum(), (density * first).sum()]) / z
    cross = (density * x * first).sum() / z
    square = np.array([[(density * x * x * mass).sum() / z, cross], [cross, (density * second).sum() / z]])
    return math.log(z), m, square - np.outer(m, m)


def tilted(model, outcome, advantage, means, variances):
    """(log Z, means, variances) of s_i, s_j, e_i, e_j given the outcome 1, 0, -1 of i."""
    (vi, vj, ai, aj), total = variances, variances[0] + variances[1] + 2 * model.beta**2
    d = means[0] - means[1] + advantage
    mean = np.array([d + means[2], means[3] - d])
    cov = np.array([[total + ai, -total], [-total, total + aj]])
    across = np.array([[vi, -vi], [-vj, vj], [ai, 0], [0, aj]])
    if outcome == 0:
        log_z, new_mean, new_cov = both_positive(mean, cov)
    else:
        side = 1 if outcome == 1 else 0
        log_z, low, var = one_sided(-mean[side], cov[side, side])
        mean, cov, across = mean[[side]], cov[[side]][:, [side]], across[:, [side]]
        new_mean, new_cov = np.array([-low]), np.array([[var]])
    gain = across @ np.linalg.inv(cov)
    return log_z, means + gain @ (new_mean - mean), variances - np.diag(gain @ (cov - new_cov) @ gain.T)


def tilted_game(model, outcome, means, variances):
    """The same of a game that may have unknown colours."""
    one = tilted(model, outcome, model.advantage, means, variances)
    if model.colours:
        return one
    other = tilted(model, outcome, -model.advantage, means, variances)
    share = 1 / (1 + math.exp(other[0] - one[0]))
    mean = share * one[1] + (1 - share) * other[1]
    square = share * (one[2] + one[1] ** 2) + (1 - share) * (other[2] + other[1] ** 2)
    return np.logaddexp(one[0], other[0]) - math.log(2), mean, square - mean**2


class SlowTTTD:
    """`games` are (year, white, black, outcome of White as 1, 0, -1); without them only margins stay positive."""

    def __init__(self, games, model, nodes=None):
        self.games, self.model = games, model
        self.nodes = sorted(nodes or {(p, year) for year, *both, _ in games for p in both})
        self.sites = defaultdict(lambda: (0.0, 0.0))  # (factor, kind, player, year) -> precision, times mean
        self.priors = {}  # of (kind, player)
        self.of = defaultdict(list)  # (kind, player) -> sites
        for player, year in self.nodes:
            self.of["e", player].append(("positive", "e", player, year))
        for k in range(len(games)):
            for kind, player, year in self.places(k):
                self.of[kind, player].append((k, kind, player, year))

    def prior(self, kind, player):
        """Years, means and covariance of a player's skill or margin before all sites."""
        m = self.model
        years = [year for p, year in self.nodes if p == player]
        mean, sd, drift = (m.mu0, m.sigma0, m.tau) if kind == "s" else (m.nu0, m.varsigma0, m.varsigma)
        at = np.array(years, float) - years[0]
        change = np.zeros(len(at))
        if kind == "s" and m.career:
            change, at = np.array([m.career(a) for a in at]).T
        return years, mean + change, sd**2 + drift**2 * np.minimum.outer(at, at)

    def chain(self, kind, player):
        """The same, and the summed sites."""
        if (kind, player) not in self.priors:
            self.priors[kind, player] = self.prior(kind, player)
        years, mean, cov = self.priors[kind, player]
        total = np.zeros((len(years), 2))
        for site in self.of[kind, player]:
            total[years.index(site[-1])] += self.sites[site]
        return years, mean, cov, total

    def belief(self, kind, player, year, without=None):
        """Mean and variance, with all sites or without that of one factor."""
        years, mean, cov, total = self.chain(kind, player)
        if without is not None:
            total[years.index(year)] -= self.sites[without, kind, player, year]
        grown = np.eye(len(years)) + cov * total[:, 0]
        posterior = np.linalg.solve(grown, cov)
        at = years.index(year)
        return (mean + posterior @ (total[:, 1] - total[:, 0] * mean))[at], posterior[at, at]

    def places(self, k):
        year, white, black, _ = self.games[k]
        return [("s", white, year), ("s", black, year), ("e", white, year), ("e", black, year)]

    def cavities(self, k):
        beliefs = [self.belief(*place, without=k) for place in self.places(k)]
        return np.array([m for m, _ in beliefs]), np.array([v for _, v in beliefs])

    def sweep(self):
        """Update every site once; returns the largest change of a mean or sd, points."""
        change = 0.0
        for player, year in self.nodes:
            mean, var = self.belief("e", player, year, without="positive")
            _, new_mean, new_var = one_sided(mean, var)
            change = max(
                change, self.replace("positive", "e", player, year, (mean, var), (new_mean, new_var))
            )
        for k, (_, _, _, outcome) in enumerate(self.games):
            means, variances = self.cavities(k)
            _, new_means, new_variances = tilted_game(self.model, outcome, means, variances)
            for place, *old_new in zip(
                self.places(k), means, variances, new_means, new_variances, strict=True
            ):
                change = max(change, self.replace(k, *place, old_new[:2], old_new[2:]))
        return change

    def replace(self, factor, kind, player, year, old, new):
        before = self.belief(kind, player, year)
        self.sites[factor, kind, player, year] = (1 / new[1] - 1 / old[1], new[0] / new[1] - old[0] / old[1])
        return max(abs(new[0] - before[0]), abs(math.sqrt(new[1]) - math.sqrt(before[1])))

    def run(self, tol=1e-10, most=2000):
        for _ in range(most):
            if self.sweep() < tol:
                return self
        raise AssertionError("the slow twin did not converge")

    def found(self, player, year):
        """Mean and sd of the skill, then of the margin."""
        beliefs = [self.belief(kind, player, year) for kind in "se"]
        return tuple(x for mean, var in beliefs for x in (mean, math.sqrt(var)))

    def log_z(self):
        total = 0.0
        for player, year in self.nodes:
            mean, var = self.belief("e", player, year, without="positive")
            total += one_sided(mean, var)[0] - log_integral(
                mean, var, *self.sites["positive", "e", player, year]
            )
        for k, (_, _, _, outcome) in enumerate(self.games):
            means, variances = self.cavities(k)
            total += tilted_game(self.model, outcome, means, variances)[0]
            for place, mean, var in zip(self.places(k), means, variances, strict=True):
                total -= log_integral(mean, var, *self.sites[k, *place])
        for player in {player for player, _ in self.nodes}:
            for kind in "se":
                _, mean, cov, sites = self.chain(kind, player)
                total += dense_log_integral(mean, cov, sites[:, 0], sites[:, 1])
        return total

    def log_evidence(self):
        """log Z(games) - log Z(no games)."""
        return self.log_z() - SlowTTTD([], self.model, self.nodes).run().log_z()
