"""Joint expectation propagation with dense matrices, as plainly as it can be written: every game one site, in turn.

A site stands for what one game says of a few directions in the space of all variables. Sites are updated one after the
other from a matrix that is inverted anew each time; moments come from quadrature (`tests/reference/ttt_d_ep.py`).
"""

from dataclasses import dataclass

import numpy as np

from tests.reference.ttt_d_ep import both_positive, one_sided
from tests.reference.ttt_ep import tilted as tilted_difference


@dataclass
class Site:
    """exp(-x'Qx / 2 + b'x) of x = U s, for so many equal games; `tilted(m, C)` are log Z, mean and covariance of x."""

    directions: np.ndarray
    tilted: object
    times: float = 1.0

    def __post_init__(self):
        k = len(self.directions)
        self.q, self.b = np.zeros((k, k)), np.zeros(k)


class DenseJoint:
    """`precision` and `weighted` of all variables before any game, and the sites."""

    def __init__(self, precision, weighted, sites):
        self.precision, self.weighted, self.sites = precision, weighted, sites

    def gaussian(self):
        p = self.precision + sum(s.times * s.directions.T @ s.q @ s.directions for s in self.sites)
        h = self.weighted + sum(s.times * s.directions.T @ s.b for s in self.sites)
        covariance = np.linalg.inv(p)
        return covariance @ h, covariance, p, h

    def cavity(self, site):
        mean, covariance, _, _ = self.gaussian()
        u = site.directions
        left = np.linalg.inv(u @ covariance @ u.T)
        c = np.linalg.inv(left - site.q)
        return c @ (left @ u @ mean - site.b), c

    def run(self, rounds=200, share=0.7):
        for _ in range(rounds):
            before = self.gaussian()[0]
            for site in self.sites:
                m, c = self.cavity(site)
                _, mean, covariance = site.tilted(m, c)
                new = np.linalg.inv(covariance)
                site.q += share * (new - np.linalg.inv(c) - site.q)
                site.b += share * (new @ mean - np.linalg.solve(c, m) - site.b)
            if np.abs(self.gaussian()[0] - before).max() < 1e-11:
                break
        return self

    def log_evidence(self):
        """log Z, with that of the prior as the measure."""
        _, _, p, h = self.gaussian()
        prior = np.linalg.solve(self.precision, self.weighted)
        total = 0.5 * (h @ np.linalg.solve(p, h) - self.weighted @ prior)
        total += 0.5 * (np.linalg.slogdet(self.precision)[1] - np.linalg.slogdet(p)[1])
        for site in self.sites:
            m, c = self.cavity(site)
            grown, pull = np.eye(len(m)) + c @ site.q, site.b - site.q @ m
            absorbed = m @ site.b - 0.5 * m @ site.q @ m + 0.5 * pull @ np.linalg.solve(grown, c) @ pull
            total += site.times * (site.tilted(m, c)[0] - absorbed + 0.5 * np.linalg.slogdet(grown)[1])
        return total


def of_difference(outcome, lead, noise, margin):
    """What a game of TTT tells: `outcome` 1, 0, -1, of the first, who is given `lead`."""

    def tilted(m, c):
        total = c[0, 0] + noise
        mean, variance, log_z = tilted_difference(m[0] + lead, total, outcome, margin)
        gain = c[0, 0] / total
        return log_z, m + gain * (mean - m[0] - lead), c - gain**2 * (total - variance)

    return tilted


def of_sides(outcome, lead, noise):
    """What a game of TTT-D tells of x1 = d + e_i and x2 = e_j - d."""

    def tilted(m, c):
        total = c + noise * np.array([[1.0, -1.0], [-1.0, 1.0]])
        centre = m + np.array([lead, -lead])
        if outcome == 0:
            log_z, mean, covariance = both_positive(centre, total)
        else:
            side = 1 if outcome == 1 else 0
            log_z, low, variance = one_sided(-centre[side], total[side, side])
            gain = total[:, side] / total[side, side]
            mean = centre + gain * (-low - centre[side])
            covariance = total - np.outer(gain, gain) * (total[side, side] - variance)
        gain = c @ np.linalg.inv(total)
        return log_z, m + gain @ (mean - centre), c - gain @ (total - covariance) @ gain.T

    return tilted


def above_zero(m, c):
    """What keeps a draw margin positive."""
    log_z, mean, variance = one_sided(m[0], c[0, 0])
    return log_z, np.array([mean]), np.array([[variance]])


def chains(timeline, mean, sd, drift, career=lambda years: (0.0, years)):
    """(precision, weighted) of a random walk of every player over the nodes of a timeline.

    `career` as of `tests.reference.ttt_ep.SlowTTT`.
    """
    n = timeline.n_nodes
    precision, weighted, age = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    for i, (before, gap) in enumerate(zip(timeline.previous, timeline.gap_years, strict=True)):
        u = np.zeros(n)
        u[i] = 1.0
        if before < 0:
            precision[i, i] += sd**-2
            weighted[i] += mean * sd**-2
        else:
            u[before] = -1.0
            age[i] = age[before] + gap
            (low, walked), (high, walked_later) = career(age[before]), career(age[i])
            variance = drift**2 * (walked_later - walked)
            precision += np.outer(u, u) / variance
            weighted += u * (high - low) / variance
    return precision, weighted


def with_newcomers(timeline, precision, weighted, drift):
    """(precision, weighted) of all skills where those of players are shifted by a walk over their first years."""
    covariance, debut = np.linalg.inv(precision), np.zeros(timeline.n_nodes)
    mean = covariance @ weighted
    for i, before in enumerate(timeline.previous):
        debut[i] = timeline.node_period[i] if before < 0 else debut[before]
    shared = 1.0 + drift**2 * (np.minimum.outer(debut, debut) - debut.min())
    precision = np.linalg.inv(covariance + shared)
    return precision, precision @ mean


def joint_ttt(timeline, params, margin, newcomers=0.0, **career):
    """Of TTT; every row of the timeline is a site. `newcomers`: the drift of their mean skill, over years."""
    precision, weighted = chains(timeline, params.prior_mean, params.prior_sd, params.tau, **career)
    if newcomers:
        precision, weighted = with_newcomers(timeline, precision, weighted, newcomers)
    sites = []
    for i, j, outcome, weight in zip(
        timeline.game_white, timeline.game_black, timeline.outcome, timeline.weight, strict=True
    ):
        u = np.zeros((1, timeline.n_nodes))
        u[0, i], u[0, j] = 1.0, -1.0
        told = of_difference(int(outcome) - 1, params.white_advantage, 2 * params.beta**2, margin)
        sites.append(Site(u, told, weight))
    return DenseJoint(precision, weighted, sites).run()


def joint_ttt_d(timeline, params, newcomers=0.0, **career):
    """Of TTT-D, of resolved parameters; the sites of positivity come last."""
    n = timeline.n_nodes
    of_skills = chains(timeline, params.prior_mean, params.prior_sd, params.tau, **career)
    if newcomers:
        of_skills = with_newcomers(timeline, *of_skills, newcomers)
    of_margins = chains(timeline, params.draw_margin_mean, params.draw_margin_sd, params.draw_margin_tau)
    precision = np.zeros((2 * n, 2 * n))
    precision[:n, :n], precision[n:, n:] = of_skills[0], of_margins[0]
    sites = []
    for i, j, outcome, weight in zip(
        timeline.game_white, timeline.game_black, timeline.outcome, timeline.weight, strict=True
    ):
        u = np.zeros((2, 2 * n))
        u[0, [i, j, n + i]] = 1.0, -1.0, 1.0
        u[1, [i, j, n + j]] = -1.0, 1.0, 1.0
        sites.append(Site(u, of_sides(int(outcome) - 1, params.white_advantage, 2 * params.beta**2), weight))
    sites += [Site(np.eye(2 * n)[[n + i]], above_zero) for i in range(n)]
    return DenseJoint(precision, np.append(of_skills[1], of_margins[1]), sites).run()


def log_positive(timeline, params):
    """log of the probability that no margin is negative, as joint propagation has it, without any game."""
    n = timeline.n_nodes
    prior = chains(timeline, params.draw_margin_mean, params.draw_margin_sd, params.draw_margin_tau)
    return DenseJoint(*prior, [Site(np.eye(n)[[i]], above_zero) for i in range(n)]).run().log_evidence()
