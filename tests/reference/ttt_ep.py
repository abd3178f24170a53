"""TTT by expectation propagation, as slowly and plainly as it can be written: one site per game and player.

The dense Gaussian of all skills is computed from scratch for every site update; moments come from scipy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr


@dataclass
class Game:
    white: str
    black: str
    year: float
    outcome: int  # White's: 1, 0, -1
    lead: float = 0.0  # given to White, points
    weight: float = 1.0
    calendar: int | None = None  # the year, where `year` is another measure of time


def density(x: float) -> float:
    return math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def tilted(mean: float, var: float, outcome: int, margin: float) -> tuple[float, float, float]:
    """Mean, variance and log normaliser of N(mean, var) truncated by an outcome."""
    sd = math.sqrt(var)
    if outcome == 0:
        low, high = (-margin - mean) / sd, (margin - mean) / sd
    elif outcome == 1:
        low, high = (margin - mean) / sd, math.inf
    else:
        low, high = -math.inf, (-margin - mean) / sd
    log_mass = log_ndtr(high) + math.log1p(-math.exp(log_ndtr(low) - log_ndtr(high)))
    mass = math.exp(log_mass)
    p_low = density(low) if math.isfinite(low) else 0.0
    p_high = density(high) if math.isfinite(high) else 0.0
    shift = (p_low - p_high) / mass
    edge = (low * p_low if p_low else 0.0) - (high * p_high if p_high else 0.0)
    return mean + sd * shift, var * (1 + edge / mass - shift * shift), log_mass


class SlowTTT:
    """Gaussian sites as (precision, precision times mean), one per game and player, beside the prior of all skills.

    `career(years)`: what the mean has gained, and the years that the walk has walked, so long after the first game.
    `newcomers`: the drift of the mean skill of newcomers, a walk over the years. Where `colours` are unknown a game is
    the mean of both. A game of weight w has its site to the power w.
    """

    def __init__(
        self,
        games,
        mu0,
        sigma0,
        beta,
        tau,
        margin,
        advantage=0.0,
        career=lambda years: (0.0, years),
        colours=True,
        newcomers=None,
    ):
        self.games, self.beta, self.margin, self.advantage, self.colours = (
            games,
            beta,
            margin,
            advantage,
            colours,
        )
        self.nodes = sorted({(player, g.year) for g in games for player in (g.white, g.black)})
        self.ends = [[self.nodes.index((player, g.year)) for player in (g.white, g.black)] for g in games]
        self.sites = np.zeros((len(games), 2, 2))
        player = np.array([player for player, _ in self.nodes])
        debut = np.array([min(year for p, year in self.nodes if p == player) for player, _ in self.nodes])
        gained, walked = np.array(
            [career(year - first) for (_, year), first in zip(self.nodes, debut, strict=True)]
        ).T
        walk = sigma0**2 + tau**2 * np.minimum.outer(walked, walked)
        self.mean, self.covariance = mu0 + gained, walk * np.equal.outer(player, player)
        if newcomers is not None:
            self.covariance += 1.0 + newcomers**2 * (np.minimum.outer(debut, debut) - debut.min())

    def margin_of(self, k):
        return self.margin

    def total(self):
        """Precisions and precisions times means of all nodes by their games."""
        total = np.zeros((len(self.nodes), 2))
        for game, ends, sites in zip(self.games, self.ends, self.sites, strict=True):
            total[ends] += game.weight * sites
        return total.T

    def moments(self, difference, variance, outcome, margin):
        """By how much an outcome moves a difference, the variance it leaves, and its log probability."""
        signs = (1, -1) if not self.colours and self.advantage else (1,)
        centres = [difference + sign * self.advantage for sign in signs]
        found = [tilted(d, variance, outcome, margin) for d in centres]
        p = [math.exp(log_z) / len(signs) for *_, log_z in found]
        shifts = [mean - d for d, (mean, *_) in zip(centres, found, strict=True)]
        shift = sum(share * move for share, move in zip(p, shifts, strict=True)) / sum(p)
        square = sum(
            share * (var + move**2) for share, move, (_, var, _) in zip(p, shifts, found, strict=True)
        ) / sum(p)
        return shift, square - shift**2, math.log(sum(p))

    def gaussian(self):
        """Means and covariance of all skills given all sites."""
        p, h = self.total()
        covariance = np.linalg.solve(np.eye(len(p)) + self.covariance * p, self.covariance)
        return self.mean + covariance @ (h - p * self.mean), covariance

    def cavities(self, k, gaussian=None):
        """(mean, variance) of both players without one game."""
        mean, covariance = gaussian or self.gaussian()
        m, v = mean[self.ends[k]], np.diag(covariance)[self.ends[k]]
        p, h = self.sites[k].T
        return list(zip((m / v - h) / (1 / v - p), 1 / (1 / v - p), strict=True))

    def sweep(self):
        change = 0.0
        for k, game in enumerate(self.games):
            (mw, vw), (mb, vb) = self.cavities(k)
            total = vw + vb + 2 * self.beta**2
            shift, var, _ = self.moments(mw - mb + game.lead, total, game.outcome, self.margin_of(k))
            for side, m, v, sign in ((0, mw, vw, 1), (1, mb, vb, -1)):
                post_m = m + sign * v / total * shift
                post_v = v - v * v / total * (1 - var / total)
                new = (1 / post_v - 1 / v, post_m / post_v - m / v)
                change = max(change, abs(new[1] - self.sites[k, side, 1]) * math.sqrt(self.covariance[0, 0]))
                self.sites[k, side] = new
        return change

    def run(self, tol=1e-12, most=5000):
        for _ in range(most):
            if self.sweep() < tol:
                return self
        raise AssertionError("the slow twin did not converge")

    def skill(self, player, year):
        mean, covariance = self.gaussian()
        at = self.nodes.index((player, year))
        return mean[at], math.sqrt(covariance[at, at])

    def log_evidence(self):
        total, gaussian = dense_log_integral(self.mean, self.covariance, *self.total()), self.gaussian()
        for k, game in enumerate(self.games):
            (mw, vw), (mb, vb) = self.cavities(k, gaussian)
            variance = vw + vb + 2 * self.beta**2
            of_game = self.moments(mw - mb + game.lead, variance, game.outcome, self.margin_of(k))[2]
            of_sites = log_integral(mw, vw, *self.sites[k, 0]) + log_integral(mb, vb, *self.sites[k, 1])
            total += game.weight * (of_game - of_sites)
        return total


def log_integral(mean, var, precision, weighted):
    """log of the integral of N(s; mean, var) exp(-precision s^2 / 2 + weighted s)."""
    return dense_log_integral(
        np.array([mean]), np.array([[var]]), np.array([precision]), np.array([weighted])
    )


def dense_log_integral(mean, cov, p, h):
    """The same of several variables; the covariance may be singular."""
    grown = np.eye(len(mean)) + cov * p
    pull = h - p * mean
    constant = (h * mean - 0.5 * p * mean**2).sum()
    return constant + 0.5 * pull @ np.linalg.solve(grown, cov) @ pull - 0.5 * np.linalg.slogdet(grown)[1]
