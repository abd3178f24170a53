"""TTT-D of two players in two years by quadrature: the log-evidence, as exactly as doubles allow.

Given the differences d of the skills in both years and the margins, games are independent. Skills are integrated by
Gauss-Hermite, margins, which are positive, by Gauss-Legendre.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import leggauss
from scipy.special import ndtr


def normal(x, mean, sd):
    return np.exp(-0.5 * ((x - mean) / sd) ** 2) / (math.sqrt(2 * math.pi) * sd)


def outcome_probability(outcome, d, own, other, noise):
    """P of 1, 0 or -1 for the player with the margin `own` and the lead d against one with `other`."""
    win, loss = ndtr((d - other) / noise), ndtr((-d - own) / noise)
    return {1: win, -1: loss, 0: 1 - win - loss}[outcome]


def log_evidence(years, gap, sigma0, beta, tau, nu0, varsigma0, varsigma, nodes=40):
    """log Z(games) - log Z(no games); `years` holds the outcomes 1, 0, -1 of the first player, year by year."""
    x, wx = hermegauss(nodes)
    wx = wx / wx.sum()
    spread, step = math.sqrt(2) * sigma0, math.sqrt(2 * gap) * tau
    first = spread * x
    d = [first, (first[:, None] + step * x).ravel()]
    reach = nu0 + 8 * math.sqrt(varsigma0**2 + gap * varsigma**2)
    e, we = leggauss(nodes)
    e, we = reach / 2 * (e + 1), reach / 2 * we
    chain = np.outer(we * normal(e, nu0, varsigma0), we)
    chain *= normal(
        e[:, None], e, varsigma * math.sqrt(gap)
    )  # weights of (margin in year 1, in year 2)

    def likelihood(outcomes, d):
        own, other = e[:, None], e
        p = (
            outcome_probability(o, d[:, None, None], own, other, math.sqrt(2) * beta)
            for o in outcomes
        )
        return math.prod(p, start=np.ones((len(d), nodes, nodes)))

    early = np.einsum("dab,ac,bf->dcf", likelihood(years[0], d[0]), chain, chain, optimize=True)
    late = likelihood(years[1], d[1]).reshape(nodes, nodes, nodes, nodes)
    games = np.einsum("d,t,dcf,dtcf->", wx, wx, early, late, optimize=True)
    return math.log(games) - 2 * math.log(chain.sum())
