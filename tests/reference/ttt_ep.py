"""TTT by expectation propagation, as slowly and plainly as it can be written: one site per game and player.

Messages along each chain are recomputed from scratch for every site update; moments come from scipy.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

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
    """Gaussian sites as (precision, precision times mean), one per game and player.

    `career(years)`: what the mean has gained, and the years that the walk has walked, so long after the first game.
    Where `colours` are unknown a game is the mean of both. A game of weight w has its site to the power w.
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
    ):
        self.colours = colours
        self.games, self.mu0, self.sigma0, self.beta, self.tau = games, mu0, sigma0, beta, tau
        self.margin, self.advantage, self.career = margin, advantage, career
        self.sites = {(g, side): (0.0, 0.0) for g in range(len(games)) for side in "wb"}
        self.played = defaultdict(lambda: defaultdict(list))  # player -> year -> game and side
        for k, g in enumerate(games):
            self.played[g.white][g.year].append((k, "w"))
            self.played[g.black][g.year].append((k, "b"))

    def margin_of(self, k):
        return self.margin

    def years(self, player):
        return sorted(self.played[player])

    def total(self, player, year):
        precision = weighted = 0.0
        for k, side in self.played[player][year]:
            times, (p, h) = self.games[k].weight, self.sites[k, side]
            precision, weighted = precision + times * p, weighted + times * h
        return precision, weighted

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

    def marginal(self, player, year):
        """Precision and precision times mean of the skill given all sites, by exact smoothing."""
        years = self.years(player)
        at = years.index(year)
        p, h = 1 / self.sigma0**2, self.mu0 / self.sigma0**2
        for before, after in pairwise(years[: at + 1]):
            sp, sh = self.total(player, before)
            p, h = drift(p + sp, h + sh, *self.step(years[0], before, after))
        back_p = back_h = 0.0
        for before, after in reversed(list(pairwise(years[at:]))):
            sp, sh = self.total(player, after)
            variance, change = self.step(years[0], before, after)
            back_p, back_h = drift(back_p + sp, back_h + sh, variance, -change)
        sp, sh = self.total(player, year)
        return p + back_p + sp, h + back_h + sh

    def step(self, first, before, after):
        """Variance and mean of the change between two years."""
        (low, walked), (high, walked_later) = (self.career(year - first) for year in (before, after))
        return self.tau**2 * (walked_later - walked), high - low

    def cavity(self, k, side):
        game = self.games[k]
        p, h = self.marginal(game.white if side == "w" else game.black, game.year)
        sp, sh = self.sites[k, side]
        return (h - sh) / (p - sp), 1 / (p - sp)

    def sweep(self):
        change = 0.0
        for k, game in enumerate(self.games):
            mw, vw = self.cavity(k, "w")
            mb, vb = self.cavity(k, "b")
            total = vw + vb + 2 * self.beta**2
            shift, var, _ = self.moments(mw - mb + game.lead, total, game.outcome, self.margin_of(k))
            for side, m, v, sign in (("w", mw, vw, 1), ("b", mb, vb, -1)):
                post_m = m + sign * v / total * shift
                post_v = v - v * v / total * (1 - var / total)
                new = (1 / post_v - 1 / v, post_m / post_v - m / v)
                change = max(change, abs(new[1] - self.sites[k, side][1]) * self.sigma0)
                self.sites[k, side] = new
        return change

    def run(self, tol=1e-13, most=5000):
        for _ in range(most):
            if self.sweep() < tol:
                return self
        raise AssertionError("the slow twin did not converge")

    def skill(self, player, year):
        p, h = self.marginal(player, year)
        return h / p, math.sqrt(1 / p)

    def log_evidence(self):
        total = 0.0
        for k, game in enumerate(self.games):
            (mw, vw), (mb, vb) = self.cavity(k, "w"), self.cavity(k, "b")
            variance = vw + vb + 2 * self.beta**2
            of_game = self.moments(mw - mb + game.lead, variance, game.outcome, self.margin_of(k))[2]
            of_game -= log_integral(mw, vw, *self.sites[k, "w"]) + log_integral(mb, vb, *self.sites[k, "b"])
            total += game.weight * of_game
        for player in self.played:
            years = self.years(player)
            mean, var, last = self.mu0, self.sigma0**2, years[0]
            for year in years:
                grown, change = self.step(years[0], last, year)
                mean, var = mean + change, var + grown
                p, h = self.total(player, year)
                total += log_integral(mean, var, p, h)
                mean, var = (mean / var + h) / (1 / var + p), 1 / (1 / var + p)
                last = year
        return total


def drift(precision, weighted, variance, change=0.0):
    """A message (precision, precision times mean) after a Gaussian step of the given variance and mean."""
    grown = precision / (1 + variance * precision)
    return grown, (weighted + precision * change) / (1 + variance * precision)


def log_integral(mean, var, precision, weighted):
    """log of the integral of N(s; mean, var) exp(-precision s^2 / 2 + weighted s)."""
    total = 1 / var + precision
    peak = (mean / var + weighted) ** 2 / total - mean * mean / var
    return 0.5 * peak - 0.5 * math.log(var * total)
