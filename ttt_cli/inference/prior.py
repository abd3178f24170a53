"""Priors of a quantity of the players: a chain of Gaussian steps for each player, as arrays.

A new prior is a class like `RandomWalk`, made by the parameters of a model (`PlayParams.skill_prior`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from ttt_cli.fitted import NewcomerCurve
from ttt_cli.histories import DECLINE_YEARS, STEADY, Chain, Curve, Filter, Walk
from ttt_cli.kernels.ep.structures import Chains, Messages
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.support.arrays import Array, Ids, Places
from ttt_cli.timeline import Timeline, calendar


class Prior(Protocol):
    """Chains of one quantity; means are relative to `origin`; `newcomers` is the common mean of first nodes."""

    origin: float
    newcomers: Newcomers | None

    def steps(self) -> tuple[Array, Array]:
        """Mean and variance (nodes,) of the change since the player's previous node; of the quantity at first nodes."""

    def gradient(self, by_mean: Array, by_variance: Array) -> dict[str, float]:
        """Gradient in the parameters except `origin`, from the gradient in the `steps`."""

    def history(self, mean: Array, sd: Array, covariance: Array) -> Chain:
        """Chain of marginals at the nodes, points; `covariance` is with the player's previous node."""

    def filtered(self, mean: Array, sd: Array) -> Filter:
        """Chain of filtered marginals after each node's games, points, and of predictions before them."""


class RandomWalk:
    """N(`origin`, `sd`^2) at the first node, then steps of mean 0 and variance `drift`^2 per year.

    `drift` is a scalar or (nodes,): that after each node. `names` are the parameters of `sd` and `drift`. A filter's
    sd is at most `ceiling`. `curve` is the remaining career after each node.
    """

    curve: Curve = STEADY
    newcomers: Newcomers | None = None

    def __init__(
        self,
        timeline: Timeline,
        origin: float,
        sd: float,
        drift: float | Array,
        names: tuple[str, str] = ("prior_sd", "tau"),
        ceiling: float = np.inf,
    ) -> None:
        self.origin, self.ceiling, self._sd, self._drift, self._names = origin, ceiling, sd, drift, names
        self._previous, self._years = timeline.previous, timeline.gap_years

    def steps(self) -> tuple[Array, Array]:
        """Zero means and variances (nodes,)."""
        drift = np.broadcast_to(self._drift, self._years.shape)[self._previous]
        variance = np.where(self._previous < 0, self._sd**2, drift**2 * self._years)
        return np.zeros(len(variance)), variance

    def gradient(self, by_mean: Array, by_variance: Array) -> dict[str, float]:  # noqa: ARG002
        """Gradient in `sd` and `drift`."""
        sd, drift = self._names
        return {
            sd: 2.0 * self._sd * float(by_variance[self._previous < 0].sum()),
            drift: 2.0 * float(self._drift * self._years @ by_variance),
        }

    def history(self, mean: Array, sd: Array, covariance: Array) -> Chain:
        """Smoothed walk."""
        return Walk(mean=mean, sd=sd, covariance=covariance, drift=self._drift, curve=self.curve)

    def filtered(self, mean: Array, sd: Array) -> Filter:
        """Filtered walk; `sd` may be NaN throughout."""
        change, variance = self.steps()
        first, previous = self._previous < 0, self._previous
        return Filter(
            mean=mean,
            sd=sd,
            before_mean=change + np.where(first, self.origin, mean[previous]),
            before_sd=np.minimum(np.sqrt(variance + np.where(first, 0.0, sd[previous] ** 2)), self.ceiling),
            drift=self._drift,
            ceiling=self.ceiling,
            curve=self.curve,
        )


def prior_slopes(priors: Mapping[str, Prior], by_mean: Array, by_variance: Array) -> dict[str, float]:
    """Gradient in the parameters of all priors, from the gradient in the steps of all variables."""
    found: dict[str, float] = {}
    parts = np.split(np.array([by_mean, by_variance]), len(priors), axis=1)
    for prior, part in zip(priors.values(), parts, strict=True):
        found |= prior.gradient(*part)
    return found


def histories(priors: Mapping[str, Prior], beliefs: Array) -> dict[str, Chain]:
    """Chains of mean (from the origin, which is added here), sd and covariance, (3, quantities, nodes), points."""
    found = {}
    for (name, prior), (mean, sd, covariance) in zip(priors.items(), beliefs.swapaxes(0, 1), strict=True):
        np.add(mean, prior.origin, out=mean)
        found[name] = prior.history(mean, sd, covariance)
    return found


class GaussianWalk:
    """Random walk L u over the years, u standard normal: variance 1 in the first year, then drift^2 a year.

    `variances` (years,) are those of its steps; `root` (years, years) is L.
    """

    def __init__(self, years: Ids, drift: float) -> None:
        self.variances = np.append(1.0, drift**2 * np.diff(years))[: len(years)]
        self.root = np.tril(np.broadcast_to(np.sqrt(self.variances), (len(years), len(years))))

    def precision(self, information: Array) -> Array:
        """Precision of u, (years, years), with this information on L u."""
        return np.asarray(np.eye(len(self.root)) + self.root.T * information @ self.root)


class Newcomers:
    """Mean skill m(t) of newcomers by year, a random walk; skills at the debut have the sd `sd` around it.

    | name | shape | unit | |
    |---|---|---|---|
    | first, year | (newcomers,) | | their first nodes, and the index of the year among years with newcomers |
    | prior_variance | (newcomers,) | points^2 | prior variance of the skill there |
    | place, calendar | (years,) | | years with newcomers among those of all games, and the number of the latter |
    | mean, covariance | (years,), (years, years) | points | posterior of m in years with newcomers |
    | squares | (years,) | | the expected squares of u |
    | given_skills | (years, years) | 1/points^2 | covariance of m given all skills, over sd^4 |
    | spread | | | bound on the ratio of the skills' precision given m to that without |
    """

    def __init__(self, timeline: Timeline, sd: float, drift: float) -> None:
        self.first: Places = np.flatnonzero(timeline.previous < 0)
        known, of_period = calendar(timeline)
        period = np.searchsorted(timeline.node_start, self.first, side="right") - 1
        self.place, self.year = np.unique(of_period[period], return_inverse=True)
        self.calendar, years = len(known), known[self.place]
        self._years: Ids = years
        self.sd, self._drift, self._walk = sd, drift, GaussianWalk(years, drift)
        root, count = self._walk.root, self._sum(np.ones(len(self.first)))
        prior = root @ root.T
        self.prior_variance = sd**2 + np.diag(prior)[self.year]
        self.given_skills = root @ np.linalg.solve(self._walk.precision(count / sd**2), root.T) / sd**4
        self.spread = 1.0 + float((prior @ count).max(initial=0.0)) / sd**2
        self.mean, self.covariance, self.log_evidence = np.zeros(len(years)), prior, 0.0
        self.squares = np.ones(len(years))

    def update(self, call: Callable[..., list[Any]]) -> None:
        """Update m from the messages of newcomers, and send the result to their first nodes."""
        information, score = np.sum(call("reported"), axis=0)[:, self.place]
        root, precision = self._walk.root, self._walk.precision(information)
        covariance = np.linalg.inv(precision)
        u = covariance @ (root.T @ score)
        self.mean, self.covariance = root @ u, root @ covariance @ root.T
        self.squares = u**2 + np.diag(covariance)
        posterior = self._of_calendar(self.mean), self._of_calendar(np.diag(self.covariance))
        deviance = math.fsum(call("receive", *posterior))
        self.log_evidence = 0.5 * float(score @ self.mean - np.linalg.slogdet(precision)[1] - deviance)

    def shared(self, total: Array) -> Array:
        """Reduction of the precision at first nodes of each calendar year, given their sums."""
        return self._of_calendar(self.given_skills @ total[self.place])

    def _of_calendar(self, values: Array) -> Array:
        found = np.zeros(self.calendar)
        found[self.place] = values
        return found

    def condition(self, chains: Chains) -> None:
        """Set the variance of first nodes given all other skills, for the joint precision matrix."""
        own = np.diag(self.given_skills)[self.year]
        chains.variance[self.first] = 1.0 / (self.sd**-2 - own)

    @property
    def alone(self) -> Array:
        """Variance (years,) of m given all skills."""
        return np.diag(self.given_skills) * self.sd**4

    def by_skills(self, x: Array) -> Array:
        """Mean (years,) of m given all skills, from their origin."""
        return np.asarray(self.given_skills @ self._sum(x[self.first]) * self.sd**2)

    def skill_weights(self, weights: Array, size: int) -> Array:
        """Weights (size,) of skills equivalent to `weights` (years,) of `by_skills`."""
        found = np.zeros(size)
        found[self.first] = (self.given_skills @ weights * self.sd**2)[self.year]
        return found

    def waves(self, most: int) -> Array:
        """Weights (waves, years) of the sums of m with the largest prior variance."""
        return np.asarray(np.linalg.svd(self._walk.root)[0].T[:most])

    def sample(self, rng: np.random.Generator) -> Array:
        """Prior sample of m at the debut of each newcomer, (newcomers,)."""
        return np.asarray((self._walk.root @ rng.standard_normal(len(self._years)))[self.year])

    def tied(self, chains: Chains) -> Chains:
        """Chains with m of the years as further variables that precede newcomers' skills."""
        nodes, years = len(chains.previous), np.arange(len(self._years), dtype=np.int32)
        previous = np.append(chains.previous, np.where(years > 0, nodes + years - 1, -1)).astype(np.int32)
        previous[self.first] = nodes + self.year
        mean, variance = (
            np.append(chains.mean, np.zeros(len(years))),
            np.append(chains.variance, self._walk.variances),
        )
        mean[self.first], variance[self.first] = 0.0, self.sd**2
        return chains._replace(previous=previous, mean=mean, variance=variance)

    def gradient(self, squares: Array) -> dict[str, float]:
        """Gradient of the log-evidence in the drift, from the expected squares of u, (years,)."""
        return {"prior_mean_drift": float((squares[1:] - 1.0).sum()) / self._drift}

    @property
    def beliefs(self) -> Array:
        """Means and sds (2, years) of m."""
        return np.array([self.mean, np.sqrt(np.diag(self.covariance))])

    def curve(self, beliefs: Array) -> NewcomerCurve:
        """NewcomerCurve of means and sds (2, years)."""
        return NewcomerCurve(self._years, *beliefs)

    def _sum(self, values: Array) -> Array:
        return np.bincount(self.year, values, len(self._years)).astype(np.float64)


class Debuts:
    """First nodes of newcomers in a timeline or slice, and the index of their years among `years`."""

    def __init__(
        self, first: Places, year: Ids | Places, years: int, sd: float, chains: Chains, messages: Messages
    ) -> None:
        self.first, self.year, self.sd = first, year, sd
        self._years, self._chains, self._messages = years, chains, messages

    def summed(self, values: Array) -> Array:
        """Sums of values (newcomers,) by year."""
        return np.bincount(self.year, values, self._years).astype(np.float64)

    def total(self, z: Array) -> Array:
        """Sums of variables at first nodes by year."""
        return self.summed(z[self.first])

    def reported(self) -> Array:
        """Precision and precision times mean (2, years) of the smoothed messages on m."""
        return np.array([self.summed(of) for of in self._each()])

    def receive(self, mean: Array, variance: Array) -> float:
        """Set the prior of each first node from m without its own message; returns -2 times the evidence."""
        precision, weighted = self._each()
        mean, own = mean[self.year], variance[self.year]
        left = 1.0 - own * precision
        mean, variance = (mean - own * weighted) / left, own / left
        self._chains.mean[self.first], self._chains.variance[self.first] = mean, self.sd**2 + variance
        deviance = np.log(left) + left * (
            weighted**2 * variance + 2.0 * weighted * mean - precision * mean**2
        )
        return float(deviance.sum())

    def _each(self) -> Array:
        messages = (self._messages.marginal[self.first] - self._messages.forward[self.first]).T
        return np.asarray(messages / (1.0 + self.sd**2 * messages[0]))

    def excess(self, z: Array) -> Array:
        """Precision at first nodes beyond that of the chains, times z, (newcomers,)."""
        return np.asarray((self.sd**-2 - 1.0 / self._chains.variance[self.first]) * z[self.first])

    def add_shared(self, shared: Array, z: Array, az: Array) -> None:
        """Add the part of the precision beyond the chains, times z, to `az`."""
        az[self.first] += self.excess(z) - shared[self.year]


class CareerWalk(RandomWalk):
    """Random walk along a `Curve`: steps have mean D(a') - D(a) and variance drift^2 (A(a') - A(a)) at ages a.

    With a `mean_drift` the means of first nodes walk over the years (`Newcomers`).
    """

    def __init__(
        self,
        timeline: Timeline,
        origin: float,
        sd: float,
        drift: float,
        career: Curve,
        mean_drift: float = 0.0,
    ) -> None:
        super().__init__(timeline, origin, sd, drift)
        self.newcomers = Newcomers(timeline, sd, mean_drift) if mean_drift else None
        self._career, self._tau, self._timeline = career, drift, timeline
        if career.growth or career.decline or career.early:
            self.curve = career.after(ages(timeline))

    def steps(self) -> tuple[Array, Array]:
        """Means and variances (nodes,) of steps along the curve."""
        if self.curve is STEADY:
            return super().steps()
        rest = self._career.after(ages(self._timeline) - self._years)
        variance = np.where(self._previous < 0, self._sd**2, self._tau**2 * rest.clock(self._years))
        if self.newcomers:
            variance[self.newcomers.first] = self.newcomers.prior_variance
        return rest.change(self._years), variance

    def gradient(self, by_mean: Array, by_variance: Array) -> dict[str, float]:
        """Gradient in the walk's and the curve's parameters."""
        first, years, after = self._previous < 0, self._years, ages(self._timeline)
        before = after - years
        _, growth_years, decline, decline_after, early, early_years = self._career
        grown, rest = -np.expm1(-years / growth_years), self._career.after(before)
        slower = (before * grown - years * (1.0 - grown)) / growth_years**2
        passed, young = -np.expm1(-years / early_years), np.exp(-before / early_years)
        longer = young * (passed + (before * passed - years * (1.0 - passed)) / early_years)
        declining = self._career.declined(after) - self._career.declined(before)
        started = _declines(after - decline_after) - _declines(before - decline_after)
        by_clock = np.where(first, 0.0, self._tau**2 * by_variance)
        return super().gradient(by_mean, by_variance) | {
            "prior_mean_drift": 0.0,
            "tau": 2.0 * self._tau * float(rest.clock(years) @ by_variance),
            "growth": float(np.exp(-before / growth_years) * grown @ by_mean),
            "growth_years": float(rest.growth * slower @ by_mean),
            "decline": -float(declining @ by_mean),
            "decline_after": float(decline * started @ by_mean),
            "early": float(early_years * young * passed @ by_clock),
            "early_years": float(early * longer @ by_clock),
        }


def _declines(years: Array) -> Array:
    """1 in the years of decline, counted from its start, else 0."""
    return np.where((years > 0.0) & (years <= DECLINE_YEARS), 1.0, 0.0)


def ages(timeline: Timeline) -> Array:
    """Years (nodes,) since the player's first period."""
    first = np.zeros(len(timeline.players), np.int64)
    debut = timeline.previous < 0
    first[timeline.node_player[debut]] = timeline.node_period[debut]
    return np.asarray((timeline.node_period - first[timeline.node_player]) / STEPS_PER_YEAR[timeline.period])
