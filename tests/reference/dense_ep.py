"""Factorised expectation propagation of TTT with any joint Gaussian prior, by dense matrices."""

import numpy as np

from tests.reference.ttt_ep import log_integral, tilted


class DenseEP:
    """`precision`, `weighted` of all nodes before any game; `games` are (node, node, outcome 1, 0 or -1)."""

    def __init__(self, precision, weighted, games, beta, margin):
        self.precision, self.weighted, self.games, self.beta, self.margin = (
            precision,
            weighted,
            games,
            beta,
            margin,
        )
        self.sites = np.zeros((len(games), 2, 2))

    def gaussian(self):
        p, h = self.precision.copy(), self.weighted.copy()
        for (*ends, _), sites in zip(self.games, self.sites, strict=True):
            for node, (q, b) in zip(ends, sites, strict=True):
                p[node, node] += q
                h[node] += b
        return np.linalg.solve(p, h), np.linalg.inv(p), p, h

    def cavities(self, k):
        mean, covariance, _, _ = self.gaussian()
        found = []
        for node, (q, b) in zip(self.games[k][:2], self.sites[k], strict=True):
            p = 1.0 / covariance[node, node] - q
            found.append(((mean[node] / covariance[node, node] - b) / p, 1.0 / p))
        return found

    def run(self, tol=1e-12, most=3000):
        for _ in range(most):
            before = self.sites.copy()
            for k, (*_, outcome) in enumerate(self.games):
                (mi, vi), (mj, vj) = self.cavities(k)
                total = vi + vj + 2 * self.beta**2
                mean, var, _ = tilted(mi - mj, total, outcome, self.margin)
                for side, (m, v, sign) in enumerate(((mi, vi, 1), (mj, vj, -1))):
                    post_m = m + sign * v / total * (mean - mi + mj)
                    post_v = v - v * v / total * (1 - var / total)
                    self.sites[k, side] = 1 / post_v - 1 / v, post_m / post_v - m / v
            if np.abs(self.sites - before).max() < tol:
                return self
        raise AssertionError("the slow twin did not converge")

    def log_evidence(self):
        _, _, p, h = self.gaussian()
        prior = np.linalg.solve(self.precision, self.weighted)
        total = 0.5 * (h @ np.linalg.solve(p, h) - self.weighted @ prior)
        total += 0.5 * (np.linalg.slogdet(self.precision)[1] - np.linalg.slogdet(p)[1])
        for k, (*_, outcome) in enumerate(self.games):
            (mi, vi), (mj, vj) = self.cavities(k)
            total += tilted(mi - mj, vi + vj + 2 * self.beta**2, outcome, self.margin)[2]
            total -= log_integral(mi, vi, *self.sites[k, 0]) + log_integral(mj, vj, *self.sites[k, 1])
        return total
