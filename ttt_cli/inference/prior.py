"""Priors of a quantity of the players: a chain of Gaussian steps for each player, as arrays.

A new prior is a subclass of `RandomWalk`, made by the parameters of a model (`PlayParams.skill_prior`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ttt_cli.fitted import Chain, Filter, Walk
from ttt_cli.histories import DECLINE_YEARS, STEADY, Curve
from ttt_cli.inference.newcomers import Newcomers
from ttt_cli.periods import STEPS_PER_YEAR, year_of
from ttt_cli.support.arrays import Array
from ttt_cli.timeline import Timeline


class RandomWalk:
    """N(`origin`, `sd`^2) at the first node, then steps of mean 0 and variance `drift`^2 per year.

    Means are relative to `origin`; `newcomers` is the common mean of first nodes, if it moves. `drift` is a scalar or
    (nodes,): that after each node. `names` are the parameters of `sd` and `drift`. A filter's sd is at most `ceiling`.
    `curve` is the remaining career after each node.
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
        self.origin = origin
        self.ceiling = ceiling
        self._sd = sd
        self._drift = drift
        self._names = names
        self._previous = timeline.previous
        self._years = timeline.gap_years

    def steps(self) -> tuple[Array, Array]:
        """Mean and variance (nodes,) of the change since the player's previous node; of the quantity at first nodes."""
        drift = np.broadcast_to(self._drift, self._years.shape)[self._previous]
        variance = np.where(self._previous < 0, self._sd**2, drift**2 * self._years)
        return np.zeros(len(variance)), variance

    def gradient(self, by_mean: Array, by_variance: Array) -> dict[str, float]:  # noqa: ARG002
        """Gradient in the parameters except `origin`, from the gradient in the `steps`."""
        sd, drift = self._names
        return {
            sd: 2.0 * self._sd * float(by_variance[self._previous < 0].sum()),
            drift: 2.0 * float(self._drift * self._years @ by_variance),
        }

    def history(self, mean: Array, sd: Array, covariance: Array) -> Chain:
        """Chain of marginals at the nodes, points; `covariance` is with the player's previous node."""
        return Walk(mean=mean, sd=sd, covariance=covariance, drift=self._drift, curve=self.curve)

    def filtered(self, mean: Array, sd: Array) -> Filter:
        """Chain of filtered marginals after each node's games, points, and of predictions before; `sd` may be NaN."""
        change, variance = self.steps()
        first = self._previous < 0
        previous = self._previous
        return Filter(
            mean=mean,
            sd=sd,
            before_mean=change + np.where(first, self.origin, mean[previous]),
            before_sd=np.minimum(
                np.sqrt(variance + np.where(first, 0.0, sd[previous] ** 2)), self.ceiling
            ),
            drift=self._drift,
            ceiling=self.ceiling,
            curve=self.curve,
        )


def prior_slopes(
    priors: Mapping[str, RandomWalk], by_mean: Array, by_variance: Array
) -> dict[str, float]:
    """Gradient in the parameters of all priors, from the gradient in the steps of all variables."""
    gradient: dict[str, float] = {}
    parts = np.split(np.array([by_mean, by_variance]), len(priors), axis=1)
    for prior, part in zip(priors.values(), parts, strict=True):
        gradient |= prior.gradient(*part)
    return gradient


def histories(priors: Mapping[str, RandomWalk], beliefs: Array) -> dict[str, Chain]:
    """Chains of mean (from the origin, which is added here), sd and covariance, (3, quantities, nodes), points."""
    chains = {}
    for (name, prior), (mean, sd, covariance) in zip(
        priors.items(), beliefs.swapaxes(0, 1), strict=True
    ):
        np.add(mean, prior.origin, out=mean)
        chains[name] = prior.history(mean, sd, covariance)
    return chains


class CareerWalk(RandomWalk):
    """Random walk along a `Curve`: steps have mean D(a') - D(a) and variance drift^2 (A(a') - A(a)), a career years.

    Careers begin with the debut, or at the age `career_age` (`career_years`). With a `mean_drift` the means of first
    nodes walk over the years (`Newcomers`).
    """

    def __init__(
        self,
        timeline: Timeline,
        origin: float,
        sd: float,
        drift: float,
        career: Curve,
        mean_drift: float = 0.0,
        career_age: float | None = None,
    ) -> None:
        super().__init__(timeline, origin, sd, drift)
        self.newcomers = Newcomers(timeline, sd, mean_drift) if mean_drift else None
        self._career = career
        self._tau = drift
        self._timeline = timeline
        self._career_age = career_age
        self._first_means: Array | None = None
        if timeline.newcomer_means is not None:
            self._first_means = timeline.newcomer_means[timeline.node_player]
        if career.growth or career.decline or career.early:
            self.curve = career.after(self._years_of_career.at)

    @property
    def _years_of_career(self) -> CareerYears:
        """Computed each time: a fit keeps no array of all nodes for it."""
        return career_years(self._timeline, self._career_age)

    def steps(self) -> tuple[Array, Array]:
        """Means and variances (nodes,) of steps along the curve."""
        mean, variance = self._steps_of_curve()
        if self._first_means is not None:
            mean = mean + np.where(self._previous < 0, self._first_means, 0.0)
        return mean, variance

    def _steps_of_curve(self) -> tuple[Array, Array]:
        """Steps of newcomers who are all alike."""
        if self.curve is STEADY:
            return super().steps()
        remaining = self._career.after(self._years_of_career.before)
        variance = np.where(
            self._previous < 0, self._sd**2, self._tau**2 * remaining.clock(self._years)
        )
        if self.newcomers:
            variance[self.newcomers.first] = self.newcomers.prior_variance
        return remaining.change(self._years), variance

    def gradient(self, by_mean: Array, by_variance: Array) -> dict[str, float]:
        """Gradient in the walk's and the curve's parameters."""
        first = self._previous < 0
        years = self._years
        years_of_career = self._years_of_career
        before = years_of_career.before
        after = years_of_career.after
        _, growth_years, decline, decline_after, early, early_years = self._career
        grown = -np.expm1(-years / growth_years)
        remaining = self._career.after(before)
        slower = (before * grown - years * (1.0 - grown)) / growth_years**2
        passed = -np.expm1(-years / early_years)
        young = np.exp(-before / early_years)
        longer = young * (passed + (before * passed - years * (1.0 - passed)) / early_years)
        declining = self._career.declined(after) - self._career.declined(before)
        started = _declines(after - decline_after) - _declines(before - decline_after)
        by_clock = np.where(first, 0.0, self._tau**2 * by_variance)
        return super().gradient(by_mean, by_variance) | {
            "prior_mean_drift": 0.0,
            "tau": 2.0 * self._tau * float(remaining.clock(years) @ by_variance),
            "growth": float(np.exp(-before / growth_years) * grown @ by_mean),
            "growth_years": float(remaining.growth * slower @ by_mean),
            "decline": -float(declining @ by_mean),
            "decline_after": float(decline * started @ by_mean),
            "early": float(early_years * young * passed @ by_clock),
            "early_years": float(early * longer @ by_clock),
        }


def _declines(years: Array) -> Array:
    """1 in the years of decline, counted from its start, else 0."""
    return np.where((years > 0.0) & (years <= DECLINE_YEARS), 1.0, 0.0)


class CareerYears(NamedTuple):
    """Years of careers, (nodes,): `at` nodes; `before` and `after` the step from the player's node before."""

    at: Array
    before: Array
    after: Array


def career_years(timeline: Timeline, career_age: float | None) -> CareerYears:
    """Years since the debut, or since the age `career_age`; younger players are at the beginning of their careers.

    Players whose births are unknown have debuted at the median age of those whose births are known.
    """
    since_debut = years_since_debut(timeline)
    if career_age is None or timeline.births is None:
        return CareerYears(since_debut, since_debut - timeline.gap_years, since_debut)
    middle = year_of(timeline.node_period.astype(np.float64) + 0.5, timeline.period)
    since_age = middle - timeline.births[timeline.node_player] - career_age
    is_debut_with_birth = (timeline.previous < 0) & ~np.isnan(since_age)
    typical_debut = (
        float(np.median(since_age[is_debut_with_birth])) if is_debut_with_birth.any() else 0.0
    )
    years = np.where(np.isnan(since_age), since_debut + max(typical_debut, 0.0), since_age)
    before = np.maximum(years - timeline.gap_years, 0.0)
    return CareerYears(np.maximum(years, 0.0), before, before + timeline.gap_years)


def years_since_debut(timeline: Timeline) -> Array:
    """Years (nodes,) since the player's first period."""
    first = np.zeros(len(timeline.players), np.int64)
    debut = timeline.previous < 0
    first[timeline.node_player[debut]] = timeline.node_period[debut]
    return np.asarray(
        (timeline.node_period - first[timeline.node_player]) / STEPS_PER_YEAR[timeline.period]
    )
