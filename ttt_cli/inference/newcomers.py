"""Mean skill of newcomers that follows the year: its prior, its posterior, and its part in the joint means.

Joint means are hard to find along the levels of years: constants added to all skills of a year, w = W c, with a column
of W for each year. Games compare skills of one year, so along levels the joint precision matrix A equals that of the
prior. E = W'AW has one row a year. Conjugate gradients are preconditioned with M^-1 + W E^-1 W' (an additive coarse
space: Nicolaides 1987). M is the precision of the chains with the diagonal of A.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ttt_cli.fitted import NewcomerCurve
from ttt_cli.inference.walk import smooth_walk, step_variances
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.support.arrays import Array, Ids, Places
from ttt_cli.timeline import Timeline, calendar


class NewcomerMessages(NamedTuple):
    """Messages of newcomers' first nodes on their mean, summed by calendar year, (years,)."""

    precision: Array
    weighted: Array


class MeanPosterior(NamedTuple):
    """Posterior of newcomers' mean m in years with newcomers.

    | name | shape | unit | |
    |---|---|---|---|
    | mean | (years,) | points | |
    | variance | (years,) | points^2 | |
    | squares | (years,) | | expected squares of the steps of m over their prior variances |
    | integral | | | its part of log Z, before the share of first nodes |
    """

    mean: Array
    variance: Array
    squares: Array
    integral: float


class MeanBeliefs(NamedTuple):
    """Means and variances of newcomers' mean by calendar year, 0 in years without newcomers, (years,)."""

    mean: Array
    variance: Array


class SliceLevels(NamedTuple):
    """Levels of years in a slice.

    | name | shape | |
    |---|---|---|
    | nodes | (years,) | number of nodes of each calendar year |
    | debuts | (years,) | number of first nodes |
    | precision | (years, years) | this slice's part of W'AW given m; None where levels are not free |
    """

    nodes: Array
    debuts: Array
    precision: Array | None


class FreeLevels(NamedTuple):
    """Levels of all years, when every year can move by itself.

    | name | shape | |
    |---|---|---|
    | debuts | (years,) | number of first nodes of each year |
    | shared | (years, years) | what levels take from the precision at first nodes |
    | inverse | (years, years) | E^-1 |
    """

    debuts: Array
    shared: Array
    inverse: Array


class YearSums(NamedTuple):
    """Sums over the nodes of each calendar year, (years,).

    | name | |
    |---|---|
    | debut | of z at first nodes |
    | excess | at first nodes, of their precision beyond that of the chains, times z |
    | residual | of the residual at all nodes |
    | image | of A z, without newcomers' mean, at all nodes |
    """

    debut: Array
    excess: Array
    residual: Array
    image: Array


class LevelCorrection(NamedTuple):
    """Corrections by year: `shared`, subtracted from A z at first nodes; `level`, added to all z if levels are free."""

    shared: Array
    level: Array | None


class LevelSolution(NamedTuple):
    """LevelCorrection of z and A z, and what it adds to r'z and to z'(A - M)z."""

    correction: LevelCorrection
    product: float
    coupling: float


class Waves(NamedTuple):
    """Sums of newcomers' mean: weights (waves, years) of m, and equivalent weights (waves, variables) of skills."""

    weights: Array
    of_skills: Array


class Newcomers:
    """Mean skill m(t) of newcomers by year, a random walk; skills at the debut have the sd `sd` around it.

    | name | shape | unit | |
    |---|---|---|---|
    | first, year | (newcomers,) | | their first nodes, and the index of the year among years with newcomers |
    | prior_variance | (newcomers,) | points^2 | prior variance of the skill there |
    | years | (years,) | | years with newcomers |
    | calendar_index, calendar_size | (years,) | | these among the years of all games, and the number of the latter |
    | given_skills | (years, years) | 1/points^2 | covariance of m given all skills, over sd^4 |
    | most_shared | | | bound on the ratio of the skills' precision given m to that without |
    | posterior | | | of m |
    | log_evidence | | | contribution of m to log Z |
    | levels | | | levels of years, if these are free |
    """

    def __init__(self, timeline: Timeline, sd: float, drift: float) -> None:
        self.first: Places = np.flatnonzero(timeline.previous < 0)
        all_years, period_year = calendar(timeline)
        period = np.searchsorted(timeline.node_start, self.first, side="right") - 1
        self.calendar_index, self.year = np.unique(period_year[period], return_inverse=True)
        self.calendar_size = len(all_years)
        self.years: Ids = all_years[self.calendar_index]
        self.sd = sd
        self._drift = drift
        self._step_variances = step_variances(self.years, drift)
        self._root = np.tril(
            np.broadcast_to(np.sqrt(self._step_variances), (len(self.years), len(self.years)))
        )
        count = self._by_year(np.ones(len(self.first)))
        prior = np.cumsum(self._step_variances)
        self.prior_variance = sd**2 + prior[self.year]
        self.given_skills = self._covariance(count / sd**2) / sd**4
        shared = np.minimum.outer(prior, prior) @ count
        self.most_shared = 1.0 + float(shared.max(initial=0.0)) / sd**2
        self.posterior = MeanPosterior(
            np.zeros(len(self.years)), prior, np.ones(len(self.years)), 0.0
        )
        self.log_evidence = 0.0
        self.levels: FreeLevels | None = None

    def update(self, messages: NewcomerMessages) -> MeanBeliefs:
        """Update m from the messages of newcomers; returns what their first nodes receive."""
        information, score = np.stack(messages)[:, self.calendar_index]
        walk = smooth_walk(self._step_variances, information, score)
        integral = float(score @ walk.mean - walk.log_determinant_ratio)
        self.posterior = MeanPosterior(walk.mean, walk.variance, walk.squares, integral)
        return MeanBeliefs(self._of_calendar(walk.mean), self._of_calendar(walk.variance))

    def _covariance(self, information: Array) -> Array:
        """Covariance (years, years) of m given this information (years,) on it."""
        root = self._root
        precision = np.eye(len(root)) + root.T * information @ root
        return np.asarray(root @ np.linalg.solve(precision, root.T))

    def complete_evidence(self, deviance: float) -> None:
        """Complete the contribution to log Z; `deviance`: -2 times the contribution of the first nodes."""
        self.log_evidence = 0.5 * (self.posterior.integral - deviance)

    def collect(self, levels: Sequence[SliceLevels]) -> None:
        """Invert E, given the levels of all slices."""
        nodes = np.add.reduce([part.nodes for part in levels])
        debuts = np.add.reduce([part.debuts for part in levels])
        parts = [part.precision for part in levels if part.precision is not None]
        if not nodes.all() or len(parts) < len(levels):
            return
        shared = np.zeros((self.calendar_size, self.calendar_size))
        index = self.calendar_index
        shared[np.ix_(index, index)] = self.given_skills * debuts[index]
        precision = np.sum(parts, axis=0) - debuts[:, np.newaxis] * shared
        self.levels = FreeLevels(debuts, shared, np.linalg.inv(precision))

    def correction(self, sums: YearSums, product: float) -> LevelSolution:
        """LevelCorrection of z and A z; `product` is z times `excess` over all first nodes."""
        shared = self.shared(sums.debut)
        coupling = product - float(sums.debut @ shared)
        if self.levels is None:
            return LevelSolution(LevelCorrection(shared, None), 0.0, coupling)
        level = self.levels.inverse @ sums.residual
        image = sums.image + sums.excess - self.levels.debuts * shared
        correction = LevelCorrection(shared + self.levels.shared @ level, level)
        return LevelSolution(
            correction, float(level @ sums.residual), coupling + 2.0 * float(level @ image)
        )

    def shared(self, total: Array) -> Array:
        """Reduction of the precision at first nodes of each calendar year, given their sums."""
        return self._of_calendar(self.given_skills @ total[self.calendar_index])

    def _of_calendar(self, values: Array) -> Array:
        """Values by year with newcomers, and 0 in the other calendar years."""
        by_year = np.zeros(self.calendar_size)
        by_year[self.calendar_index] = values
        return by_year

    def conditioned(self, chains: Chains) -> Chains:
        """Chains with the variance of first nodes given all other skills, for the joint precision matrix."""
        by_mean = np.diag(self.given_skills)[self.year]
        variance = chains.variance.copy()
        variance[self.first] = 1.0 / (self.sd**-2 - by_mean)
        return chains._replace(variance=variance)

    @property
    def conditional_variance(self) -> Array:
        """Variance (years,) of m given all skills."""
        return np.diag(self.given_skills) * self.sd**4

    def by_skills(self, x: Array) -> Array:
        """Mean (years,) of m given all skills, from their origin."""
        return np.asarray(self.given_skills @ self._by_year(x[self.first]) * self.sd**2)

    def waves(self, most: int, size: int) -> Waves:
        """The `most` sums of m with the largest prior variance, among `size` variables."""
        weights = np.linalg.svd(self._root)[0].T[:most]
        of_skills = np.zeros((len(weights), size))
        of_skills[:, self.first] = (weights @ self.given_skills * self.sd**2)[:, self.year]
        return Waves(weights, of_skills)

    def sample(self, rng: np.random.Generator) -> Array:
        """Prior sample of m at the debut of each newcomer, (newcomers,)."""
        return np.asarray((self._root @ rng.standard_normal(len(self.years)))[self.year])

    def tied(self, chains: Chains) -> Chains:
        """Chains with m of the years as further variables that precede newcomers' skills."""
        nodes = len(chains.previous)
        years = np.arange(len(self.years), dtype=np.int32)
        previous = np.append(chains.previous, np.where(years > 0, nodes + years - 1, -1)).astype(
            np.int32
        )
        previous[self.first] = nodes + self.year
        mean = np.append(chains.mean, np.zeros(len(years)))
        variance = np.append(chains.variance, self._step_variances)
        mean[self.first] = 0.0
        variance[self.first] = self.sd**2
        return chains._replace(previous=previous, mean=mean, variance=variance)

    def gradient(self, squares: Array) -> dict[str, float]:
        """Gradient of the log-evidence in the drift, from the expected squares of its steps, (years,)."""
        return {"prior_mean_drift": float((squares[1:] - 1.0).sum()) / self._drift}

    @property
    def beliefs(self) -> Array:
        """Means and sds (2, years) of m."""
        return np.array([self.posterior.mean, np.sqrt(self.posterior.variance)])

    def curve(self, beliefs: Array) -> NewcomerCurve:
        """NewcomerCurve of means and sds (2, years)."""
        return NewcomerCurve(self.years, *beliefs)

    def _by_year(self, values: Array) -> Array:
        """Sums over newcomers by year with newcomers."""
        return np.bincount(self.year, values, len(self.years)).astype(np.float64)
