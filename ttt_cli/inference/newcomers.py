"""The mean skill of newcomers by year, m(t): s(t0) ~ N(mu0 + m(t0), sigma0^2), m a random walk over the years.

m = L u with u standard normal, L the walk: N(0, 1) in the first year, then steps of variance drift^2 a year. In the
joint posterior its years are variables like skills. Given the skills of all newcomers it is Gaussian, so that it is
eliminated from the joint means; in factorised propagation each player hears of m what all others say of it
(docs/models/careers.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.fitted import NewcomerCurve
from ttt_cli.inference.year_margins import calendar
from ttt_cli.kernels.ep.structures import Chains, Messages
from ttt_cli.timeline import Timeline


class Newcomers:
    """m(t) of the players of a timeline, whose skill at the debut has the sd `sd` around it.

    | name | shape | unit | |
    |---|---|---|---|
    | first, year | (newcomers,) | | their first nodes, and the place of the year among years with newcomers |
    | prior_variance | (newcomers,) | points^2 | of the skill there, before anything is known of m |
    | place, calendar | (years,) | | of years with newcomers among those of all games, and how many these are |
    | mean, covariance | (years,), (years, years) | points | what is believed of m in years with newcomers |
    | squares | (years,) | | the expected squares of u |
    | given_skills | (years, years) | 1/points^2 | covariance of m given all skills, over sd^4 |
    | spread | | | no quadratic form of the skills' precision given m is more than so many times that without |
    """

    def __init__(self, timeline: Timeline, sd: float, drift: float) -> None:
        self.first: Places = np.flatnonzero(timeline.previous < 0)
        known, of_period = calendar(timeline)
        period = np.searchsorted(timeline.node_start, self.first, side="right") - 1
        self.place, self.year = np.unique(of_period[period], return_inverse=True)
        self.calendar, years = len(known), known[self.place]
        self._years: Ids = years
        self.sd, self._drift = sd, drift
        self._steps = np.append(1.0, drift**2 * np.diff(years))[: len(years)]
        self._root = np.tril(np.broadcast_to(np.sqrt(self._steps), (len(years), len(years))))
        prior = self._root @ self._root.T
        self.prior_variance = sd**2 + np.diag(prior)[self.year]
        information = self._root.T * self._sum(np.full(len(self.first), sd**-2)) @ self._root
        given = np.linalg.solve(np.eye(len(years)) + information, self._root.T)
        self.given_skills = self._root @ given / sd**4
        self.spread = 1.0 + float((prior @ self._sum(np.ones(len(self.first)))).max(initial=0.0)) / sd**2
        self.mean, self.covariance, self.log_evidence = np.zeros(len(years)), prior, 0.0
        self.squares = np.ones(len(years))

    def debuts(self, chains: Chains, messages: Messages) -> Debuts:
        """Those of the whole timeline."""
        return Debuts(self.first, self.place[self.year], self.calendar, self.sd, chains, messages)

    def listen(self, ask: Callable[..., list[Any]]) -> None:
        """Believe what messages say, and have first nodes receive what others say, by what `Debuts` are asked."""
        information, score = np.sum(ask("reported"), axis=0)[:, self.place]
        precision_of_u = np.eye(len(self._years)) + self._root.T * information @ self._root
        inverse, weighted_u = np.linalg.inv(precision_of_u), self._root.T @ score
        u = inverse @ weighted_u
        self.mean, self.covariance = self._root @ u, self._root @ inverse @ self._root.T
        self.squares = u**2 + np.diag(inverse)
        believed = self._of_calendar(self.mean), self._of_calendar(np.diag(self.covariance))
        apart = math.fsum(ask("receive", *believed))
        of_u = weighted_u @ u - np.linalg.slogdet(precision_of_u)[1]
        self.log_evidence = 0.5 * float(of_u - apart)

    def shared(self, total: Array) -> Array:
        """What the precision of skills takes off at first nodes of each calendar year, given their sums."""
        return self._of_calendar(self.given_skills @ total[self.place])

    def _of_calendar(self, values: Array) -> Array:
        found = np.zeros(self.calendar)
        found[self.place] = values
        return found

    def leave(self, chains: Chains) -> None:
        """Tell every first node of `chains` of m what the skills of all others do: for the joint precision matrix."""
        own = np.diag(self.given_skills)[self.year]
        chains.variance[self.first] = 1.0 / (self.sd**-2 - own)

    @property
    def alone(self) -> Array:
        """The variance of m given all skills, (years,)."""
        return np.diag(self.given_skills) * self.sd**4

    def by_skills(self, x: Array) -> Array:
        """The mean of m given all skills, (years,), from their origin."""
        return np.asarray(self.given_skills @ self._sum(x[self.first]) * self.sd**2)

    def told(self, weights: Array, size: int) -> Array:
        """Weights of skills, (size,), whose sum is that of `by_skills` with `weights`, (years,)."""
        found = np.zeros(size)
        found[self.first] = (self.given_skills @ weights * self.sd**2)[self.year]
        return found

    def waves(self, most: int) -> Array:
        """Weights of the sums of m that vary most before any game is known, (waves, years)."""
        return np.asarray(np.linalg.svd(self._root)[0].T[:most])

    def sample(self, rng: np.random.Generator) -> Array:
        """A sample of m before any game is known, of every newcomer's year, (newcomers,)."""
        return np.asarray((self._root @ rng.standard_normal(len(self._years)))[self.year])

    def tied(self, chains: Chains) -> Chains:
        """The chains with m of the years as further variables, from which those of newcomers' skills come."""
        nodes, years = len(chains.previous), np.arange(len(self._years), dtype=np.int32)
        previous = np.append(chains.previous, np.where(years > 0, nodes + years - 1, -1)).astype(np.int32)
        previous[self.first] = nodes + self.year
        mean, variance = np.append(chains.mean, np.zeros(len(years))), np.append(chains.variance, self._steps)
        mean[self.first], variance[self.first] = 0.0, self.sd**2
        return chains._replace(previous=previous, mean=mean, variance=variance)

    def gradient(self, squares: Array) -> dict[str, float]:
        """Of the log-evidence in the drift, from the expected squares of u, (years,)."""
        return {"prior_mean_drift": float((squares[1:] - 1.0).sum()) / self._drift}

    @property
    def beliefs(self) -> Array:
        """Means and sds of m, (2, years)."""
        return np.array([self.mean, np.sqrt(np.diag(self.covariance))])

    def curve(self, beliefs: Array) -> NewcomerCurve:
        """What is believed of m, of such `beliefs`."""
        return NewcomerCurve(self._years, *beliefs)

    def _sum(self, values: Array) -> Array:
        """Those of newcomers by year."""
        return np.bincount(self.year, values, len(self._years)).astype(np.float64)


class Debuts:
    """Newcomers of a timeline or a slice: their first nodes, and the places of their years among so many `years`."""

    def __init__(
        self, first: Places, year: Ids | Places, years: int, sd: float, chains: Chains, messages: Messages
    ) -> None:
        self.first, self.year, self.sd = first, year, sd
        self._years, self._chains, self._messages = years, chains, messages

    def summed(self, values: Array) -> Array:
        """Those of newcomers by year."""
        return np.bincount(self.year, values, self._years).astype(np.float64)

    def total(self, z: Array) -> Array:
        """The sums of variables at first nodes by year."""
        return self.summed(z[self.first])

    def reported(self) -> Array:
        """What smoothed messages of newcomers say of m: precision and precision times mean, (2, years)."""
        return np.array([self.summed(of) for of in self._each()])

    def receive(self, mean: Array, variance: Array) -> float:
        """Give every first node what others say of m, of which this is believed; minus twice its evidence."""
        precision, weighted = self._each()
        mean, own = mean[self.year], variance[self.year]
        left = 1.0 - own * precision
        mean, variance = (mean - own * weighted) / left, own / left
        self._chains.mean[self.first], self._chains.variance[self.first] = mean, self.sd**2 + variance
        apart = np.log(left) + left * (weighted**2 * variance + 2.0 * weighted * mean - precision * mean**2)
        return float(apart.sum())

    def _each(self) -> Array:
        """What each says, (2, newcomers)."""
        said = (self._messages.marginal[self.first] - self._messages.forward[self.first]).T
        return np.asarray(said / (1.0 + self.sd**2 * said[0]))

    def excess(self, z: Array) -> Array:
        """What the precision of skills given m has at first nodes beyond that of chains, times z, (newcomers,)."""
        return np.asarray((self.sd**-2 - 1.0 / self._chains.variance[self.first]) * z[self.first])

    def add_shared(self, shared: Array, z: Array, az: Array) -> None:
        """Add to `az` what the precision of skills has times z beyond that of chains, given what it takes off."""
        az[self.first] += self.excess(z) - shared[self.year]
