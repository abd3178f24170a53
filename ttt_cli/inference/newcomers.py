"""Mean skill of newcomers that follows the year: its posterior, and its part in the joint means.

Joint means are hard to find along the levels of years: constants added to all skills of a year, w = W c, with a column
of W for each year. Games compare skills of one year, so along levels the joint precision matrix A equals that of the
prior. E = W'AW has one row a year. Conjugate gradients are preconditioned with M^-1 + W E^-1 W' (an additive coarse
space: Nicolaides 1987). M is the precision of the chains with the diagonal of A.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.fitted import NewcomerCurve
from ttt_cli.kernels.ep.structures import Chains, Messages
from ttt_cli.room import MEMORY, Room
from ttt_cli.support.arrays import Array, Ids, Places
from ttt_cli.timeline import Timeline, calendar

STIFF: Final = 1e-10  # of the widest prior's variance: where steps are smaller, levels of years are not free


class Elsewhere(NamedTuple):
    """Steps of skills to other slices, (steps,): the node here, the index of the other node's year, the variance."""

    node: Ids
    year: Ids
    variance: Array


class Correction(NamedTuple):
    """Corrections by year: `shared`, subtracted from A z at first nodes; `level`, added to all z if levels are free."""

    shared: Array
    level: Array | None


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
        self.calendar = len(known)
        years = known[self.place]
        self._years: Ids = years
        self.sd = sd
        self._drift = drift
        self._walk = GaussianWalk(years, drift)
        root = self._walk.root
        count = self._sum(np.ones(len(self.first)))
        prior = root @ root.T
        self.prior_variance = sd**2 + np.diag(prior)[self.year]
        self.given_skills = root @ np.linalg.solve(self._walk.precision(count / sd**2), root.T) / sd**4
        self.spread = 1.0 + float((prior @ count).max(initial=0.0)) / sd**2
        self.mean = np.zeros(len(years))
        self.covariance = prior
        self.log_evidence = 0.0
        self.squares = np.ones(len(years))

    def update(self, call: Callable[..., list[Any]]) -> None:
        """Update m from the messages of newcomers, and send the result to their first nodes."""
        information, score = np.sum(call("reported"), axis=0)[:, self.place]
        root = self._walk.root
        precision = self._walk.precision(information)
        covariance = np.linalg.inv(precision)
        u = covariance @ (root.T @ score)
        self.mean = root @ u
        self.covariance = root @ covariance @ root.T
        self.squares = u**2 + np.diag(covariance)
        posterior = self._of_calendar(self.mean), self._of_calendar(np.diag(self.covariance))
        deviance = math.fsum(call("receive", *posterior))
        self.log_evidence = 0.5 * float(score @ self.mean - np.linalg.slogdet(precision)[1] - deviance)

    def collect(self, levels: Sequence[tuple[Array, Array | None]]) -> None:
        """Invert E, given the `levels` of all slices."""
        nodes, self._debuts = np.sum([counts for counts, _ in levels], axis=0)
        parts = [e for _, e in levels if e is not None]
        self._free = bool(nodes.all()) and len(parts) == len(levels)
        if self._free:
            self._shared = np.array([self.shared(of) for of in np.diag(self._debuts)]).T
            shared = self._debuts[:, np.newaxis] * self._shared
            self._inverse = np.linalg.inv(np.sum(parts, axis=0) - shared)

    def correction(self, sums: Array, product: float) -> tuple[Correction, float, float]:
        """Correction of z and A z from `NewcomersOfSlice.sums`; its contributions to r'z and to z'(A - M)z."""
        debuts, excess, known, image = sums
        away = self.shared(debuts)
        apart = product - float(debuts @ away)
        if not self._free:
            return Correction(away, None), 0.0, apart
        level = self._inverse @ known
        image = image + excess - self._debuts * away
        by = Correction(away + self._shared @ level, level)
        return by, float(level @ known), apart + 2.0 * float(level @ image)

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

    def waves(self, most: int, size: int) -> tuple[Array, Array]:
        """Sums of m with the largest prior variance: weights (waves, years) of m, and (waves, size) of skills.

        The latter are equivalent to the former of `by_skills`.
        """
        weights = np.linalg.svd(self._walk.root)[0].T[:most]
        of_skills = np.zeros((len(weights), size))
        of_skills[:, self.first] = (weights @ self.given_skills * self.sd**2)[:, self.year]
        return weights, of_skills

    def sample(self, rng: np.random.Generator) -> Array:
        """Prior sample of m at the debut of each newcomer, (newcomers,)."""
        return np.asarray((self._walk.root @ rng.standard_normal(len(self._years)))[self.year])

    def tied(self, chains: Chains) -> Chains:
        """Chains with m of the years as further variables that precede newcomers' skills."""
        nodes = len(chains.previous)
        years = np.arange(len(self._years), dtype=np.int32)
        previous = np.append(chains.previous, np.where(years > 0, nodes + years - 1, -1)).astype(np.int32)
        previous[self.first] = nodes + self.year
        mean = np.append(chains.mean, np.zeros(len(years)))
        variance = np.append(chains.variance, self._walk.variances)
        mean[self.first] = 0.0
        variance[self.first] = self.sd**2
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


class NewcomersOfSlice:
    """First nodes in a timeline or slice of it, and the levels of years there.

    `nodes`: the variables that are skills; `place` (nodes,): index of each node's year among `years`, ascending;
    `sd`: of skills around m; `elsewhere`: steps from earlier and to later slices.
    """

    def __init__(
        self,
        nodes: slice,
        place: Ids,
        years: int,
        sd: float,
        chains: Chains,
        messages: Messages,
        elsewhere: Sequence[Elsewhere] = (),
        room: Room = MEMORY,
    ) -> None:
        self._nodes = nodes
        self._sd = sd
        self._chains = chains
        self._messages = messages
        begin = nodes.start
        self._years = years
        previous = chains.previous[nodes]
        variance = chains.variance[nodes]
        first = np.flatnonzero(previous < 0).astype(np.int32)
        self._first = begin + first
        self._year = place[first]
        self._count = np.bincount(place, minlength=years)
        self._start = np.cumsum(self._count) - self._count
        later = np.flatnonzero(previous >= begin)
        steps = np.concatenate([variance[later], *(of.variance for of in elsewhere)])
        self._free = bool((steps > STIFF * sd**2).all())
        if not self._free:
            return
        before = previous[later] - begin
        # of its year and of those of both neighbours
        self._weight = room.empty("levels", (len(place), 3), np.float64)
        self._neighbour = room.empty("years of levels", (len(place), 3), np.int32)
        self._neighbour[:] = place[:, np.newaxis]
        self._weight[later, 1] = self._weight[before, 2] = -1.0 / variance[later]
        self._neighbour[later, 1] = place[before]
        self._neighbour[before, 2] = place[later]
        for column, of in enumerate(elsewhere, 1):
            self._weight[of.node - begin, column] = -1.0 / of.variance
            self._neighbour[of.node - begin, column] = of.year
        self._weight[:, 0] = -self._weight.sum(axis=1)
        self._weight[first, 0] += sd**-2
        self._ends = np.arange(0, self._weight.size + 1, 3, dtype=np.int32)

    def reported(self) -> Array:
        """Precision and precision times mean (2, years) of the smoothed messages on m."""
        return np.array([self._summed(of) for of in self._each()])

    def receive(self, mean: Array, variance: Array) -> float:
        """Set the prior of each first node from m without its own message; returns -2 times the evidence."""
        precision, weighted = self._each()
        mean = mean[self._year]
        own = variance[self._year]
        left = 1.0 - own * precision
        mean = (mean - own * weighted) / left
        variance = own / left
        self._chains.mean[self._first] = mean
        self._chains.variance[self._first] = self._sd**2 + variance
        deviance = np.log(left) + left * (
            weighted**2 * variance + 2.0 * weighted * mean - precision * mean**2
        )
        return float(deviance.sum())

    def _each(self) -> Array:
        messages = (self._messages.marginal[self._first] - self._messages.forward[self._first]).T
        return np.asarray(messages / (1.0 + self._sd**2 * messages[0]))

    def levels(self) -> tuple[Array, Array | None]:
        """Numbers of nodes and debuts of each year, (2, years), and this slice's part of W'AW given m, or None."""
        years = self._years
        of = np.repeat(np.arange(self._years), self._count)
        counts = np.array([self._count, np.bincount(self._year, minlength=years)], np.float64)
        if not self._free:
            return counts, None
        e = np.zeros(years**2)
        for year, weight in zip(self._neighbour.T, self._weight.T, strict=True):
            e += np.bincount(of * years + year, weight, years**2)
        return counts, e.reshape(years, years)

    def total(self, z: Array) -> Array:
        """Sums of variables at first nodes by year."""
        return self._summed(z[self._first])

    def sums(self, residual: Array, z: Array, az: Array) -> tuple[Array, float]:
        """Sums by year, (4, years): z and e at first nodes, then `residual` and `az` at all nodes; and the product z'e.

        z = M^-1 `residual`, and `az` is the product of z with the precision of chains and games. e is the excess
        precision of first nodes given m, times z.
        """
        own = self._excess(z)
        played = self._count > 0
        of_nodes = np.zeros((2, self._years))
        for found, of in zip(of_nodes, (residual, az), strict=True):
            found[played] = np.add.reduceat(of[self._nodes], self._start[played])
        return np.array([self.total(z), self._summed(own), *of_nodes]), float(own @ z[self._first])

    def correct(self, by: Correction, z: Array, az: Array) -> None:
        """Complete `az` to A z, then add the levels to z and their product to `az`."""
        from scipy.sparse import csr_array

        self.add_shared(by.shared, z, az)
        if by.level is not None:
            whole = self._weight.ravel(), self._neighbour.ravel(), self._ends
            z[self._nodes] += np.repeat(by.level, self._count)
            az[self._nodes] += csr_array(whole, (len(self._weight), self._years)) @ by.level

    def add_shared(self, shared: Array, z: Array, az: Array) -> None:
        """Add the part of the precision beyond the chains, times z, to `az`."""
        az[self._first] += self._excess(z) - shared[self._year]

    def _excess(self, z: Array) -> Array:
        """Precision at first nodes beyond that of the chains, times z, (newcomers,)."""
        return np.asarray((self._sd**-2 - 1.0 / self._chains.variance[self._first]) * z[self._first])

    def _summed(self, values: Array) -> Array:
        return np.bincount(self._year, values, self._years).astype(np.float64)
