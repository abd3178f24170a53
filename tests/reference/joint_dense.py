"""Small random problems of joint means (`kernels/ep/joint_means.py`) with their dense matrices, from the definition."""

from __future__ import annotations

import numpy as np

from ttt_cli.inference.ep.cutting import NO_SEGMENTS, SliceInput, StartSites
from ttt_cli.inference.ep.state import make_state
from ttt_cli.inference.model import Play
from ttt_cli.kernels.ep.chains import accumulate
from ttt_cli.kernels.ep.structures import Chains, Pairings


class Problem:
    """Random chains, games and links; `variables` is 1 for skills alone, 2 for skills and then margins."""

    def __init__(self, seed, drift, kinds, players=4, periods=3):
        self.rng = rng = np.random.default_rng(seed)
        here = rng.random((periods, players)) < 0.7
        here[0, :2] = True
        self.node = np.full((periods, players), -1)
        self.node[here] = np.arange(here.sum())
        self.n = n = int(here.sum())
        self.start = np.concatenate([[0], here.sum(axis=1).cumsum()]).astype(np.int64)
        previous = np.full(n, -1)
        for player in range(players):
            chain = self.node[here[:, player], player]
            previous[chain[1:]] = chain[:-1]
        following = np.full(n, -1)
        following[previous[previous >= 0]] = np.flatnonzero(previous >= 0)
        self.previous = self.chained(previous, n, kinds)
        self.following = self.chained(following, n, kinds)
        prior = np.repeat([400.0**2, 90.0**2][:kinds], n)
        self.variance = np.where(self.previous < 0, prior, drift**2 * rng.integers(1, 4, kinds * n))
        ends = [rng.choice(self.node[p, here[p]], 2, replace=False) for p in range(periods)
                if here[p].sum() > 1 for _ in range(players)]  # fmt: skip
        self.first, self.second = (np.array(side, np.int32) for side in zip(*ends, strict=True))
        self.weight = rng.choice([0.5, 1.0, 3.0], len(ends))
        of = np.searchsorted(self.start, self.first, "right") - 1
        self.game_start = np.searchsorted(of, np.arange(periods + 1)).astype(np.int64)

    @staticmethod
    def chained(links, n, kinds):
        return np.concatenate(
            [np.where(links < 0, -1, links + kind * n) for kind in range(kinds)]
        ).astype(np.int32)

    def covariance(self):
        """The prior covariance of all variables, from the definition of the random walk."""
        size = len(self.previous)
        walk = np.zeros((size, size))  # each variable as a sum of independent steps
        for v in range(size):
            at = v
            while at >= 0:
                walk[v, at] = 1.0
                at = self.previous[at]
        return walk * self.variance @ walk.T

    def slice(self, threads=1):
        """The engine's slice of it, with its sites and links."""
        prior_variance = self.variance.copy()
        accumulate(self.previous, prior_variance)
        kinds = len(prior_variance) // max(self.n, 1)
        nothing, code = np.zeros_like(self.variance), np.ones(len(self.first), np.uint8)
        chains = Chains(self.start, self.previous, self.following, nothing, self.variance)
        games = Pairings(self.game_start, self.first, self.second, code, self.weight)
        sites = StartSites(
            np.zeros((len(self.first), 4 * kinds)), np.zeros((self.n if kinds > 1 else 0, 2))
        )
        if hasattr(self, "sites"):
            sites = StartSites(self.sites, self.positivity)
        slice_input = SliceInput(
            number=0,
            period_year=np.zeros(len(self.start) - 1, np.int32),
            years=1,
            chains=chains,
            games=games,
            handicap=np.zeros((0, 2)),
            balance=np.empty(0),
            game_start=self.game_start,
            prior_variance=prior_variance,
            segments=NO_SEGMENTS,
            sites=sites,
        )
        play = Play(1.0, 0.0, 1.0, own_margin_sd=float(kinds > 1))
        state = make_state(slice_input, play, threads=threads)
        if hasattr(self, "links"):
            state.pairs.sites.link[:] = self.links
        return state


class Skills(Problem):
    """Games as links on s_i - s_j."""

    def __init__(self, seed, drift, **size):
        super().__init__(seed, drift, 1, **size)
        games = len(self.first)
        self.links = np.stack(
            [self.rng.exponential(1e-5, games), self.rng.normal(0, 5e-3, games)], axis=1
        )
        self.sites = np.stack(
            [self.rng.exponential(1e-5, games), self.rng.normal(0, 5e-3, games)] * 2, axis=1
        )
        self.positivity = np.zeros((0, 2))

    def dense(self):
        """L and b of the joint Gaussian."""
        matrix, b = np.zeros((self.n, self.n)), np.zeros(self.n)
        for i, j, w, (q, qy) in zip(self.first, self.second, self.weight, self.links, strict=True):
            u = np.zeros(self.n)
            u[[i, j]] = 1, -1
            matrix += w * q * np.outer(u, u)
            b += w * qy * u
        return matrix, b


class SkillsAndMargins(Problem):
    """Games as links on (s_i - s_j + e_i, e_j - s_i + s_j), and factors on the margins."""

    def __init__(self, seed, drift, **size):
        super().__init__(seed, drift, 2, **size)
        games, rng = len(self.first), self.rng
        roots = rng.normal(0, 3e-3, (games, 2, 2))
        q = roots @ roots.transpose(0, 2, 1)
        self.links = np.column_stack(
            [q[:, 0, 0], q[:, 0, 1], q[:, 1, 1], rng.normal(0, 5e-3, (games, 2))]
        )
        site = lambda: [rng.exponential(1e-5, games), rng.normal(0, 5e-3, games)]  # noqa: E731
        self.sites = np.stack([*site(), *site(), *site(), *site()], axis=1)
        self.positivity = np.column_stack(
            [rng.exponential(1e-5, self.n), rng.normal(0, 5e-3, self.n)]
        )

    def dense(self):
        n = self.n
        matrix = np.diag(np.concatenate([np.zeros(n), self.positivity[:, 0]]))
        b = np.concatenate([np.zeros(n), self.positivity[:, 1]])
        for i, j, w, (q11, q12, q22, b1, b2) in zip(
            self.first, self.second, self.weight, self.links, strict=True
        ):
            u = np.zeros((2, 2 * n))
            u[0, [i, j, n + i]] = 1, -1, 1
            u[1, [i, j, n + j]] = -1, 1, 1
            matrix += w * u.T @ np.array([[q11, q12], [q12, q22]]) @ u
            b += w * u.T @ np.array([b1, b2])
        return matrix, b


def joint_means(problem):
    matrix, b = problem.dense()
    covariance = problem.covariance()
    return np.linalg.solve(np.eye(len(b)) + covariance @ matrix, covariance @ b)
