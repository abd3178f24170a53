"""Newcomers in a slice: messages between their first nodes and their mean, and the levels of years in joint means.

The mathematics is in `inference/newcomers.py`.
"""

from __future__ import annotations

from copy import copy
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.inference.newcomers import (
    LevelCorrection,
    MeanBeliefs,
    NewcomerMessages,
    SliceLevels,
    YearSums,
)
from ttt_cli.kernels.ep.structures import Chains, Messages
from ttt_cli.storage import MEMORY, ArrayStorage
from ttt_cli.support.arrays import Array, Ids

# Least variance of a step relative to that of a newcomer's skill: below it years cannot have levels of their own.
LEAST_STEP: Final = 1e-10


class StepsElsewhere(NamedTuple):
    """Steps of skills to other slices, (steps,): the node here, the index of the other node's year, the variance."""

    node: Ids
    year: Ids
    variance: Array


NO_STEPS: Final = StepsElsewhere(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


class NewcomersInput(NamedTuple):
    """What a slice knows of newcomers: the sd of skills around their mean, and steps to earlier and later slices."""

    sd: float
    past: StepsElsewhere = NO_STEPS
    future: StepsElsewhere = NO_STEPS


class LevelRows(NamedTuple):
    """Rows of A W of the nodes of a slice, in compressed form: at most three years of each node.

    A is the joint precision given newcomers' mean, W (nodes, years) has a 1 in the year of each node: a column of W
    lifts all skills of a year.

    | name | shape | |
    |---|---|---|
    | weight | (nodes, 3) | entry in the year of the node, of the node before, of the node after |
    | year | (nodes, 3) | these years |
    | start | (nodes + 1,) | first entry of each row, and the end of the last |
    """

    weight: Array
    year: Ids
    start: Ids


class DebutSums(NamedTuple):
    """Sums of a slice by year, and the product of z and its excess over the first nodes (`SliceNewcomers`).

    From the product `Newcomers.correction` subtracts that of z and what is shared, which needs the sums of all slices.
    """

    by_year: YearSums
    product: float


class DebutMessages(NamedTuple):
    """Message of each first node on newcomers' mean, (newcomers,)."""

    precision: Array
    weighted: Array


class SliceNewcomers:
    """First nodes in a timeline or slice of it, and the levels of years there.

    `nodes`: the variables that are skills; `node_year` (nodes,): index of each node's year among `years`, ascending.
    `levels`: whether all games compare skills, so that none tells the level of a year.

    The joint precision A differs from that of chains and games at first nodes only, which share newcomers' mean:

        A z = (chains and games) z + excess - shared
        excess = (1 / sd^2 - 1 / v) z, v the variances of first nodes in the chains
        shared = G s, s the sums of z over the first nodes of each year, G = `Newcomers.given_skills`
    """

    def __init__(
        self,
        nodes: slice,
        node_year: Ids,
        years: int,
        newcomers: NewcomersInput,
        chains: Chains,
        messages: Messages,
        storage: ArrayStorage = MEMORY,
        *,
        levels: bool = True,
    ) -> None:
        self._nodes = nodes
        self._sd = newcomers.sd
        self._chains = chains
        self._messages = messages
        self._years = years
        first = np.flatnonzero(chains.previous[nodes] < 0).astype(np.int32)
        self._first = nodes.start + first
        self._year = node_year[first]
        self._count = np.bincount(node_year, minlength=years)
        self._start = np.cumsum(self._count) - self._count
        self._levels = self._level_rows(node_year, newcomers, storage) if levels else None

    def with_chains(self, chains: Chains) -> SliceNewcomers:
        """The same newcomers in other chains, with other variances of first nodes."""
        newcomers = copy(self)
        newcomers._chains = chains
        return newcomers

    def _level_rows(
        self, node_year: Ids, newcomers: NewcomersInput, storage: ArrayStorage
    ) -> LevelRows | None:
        """Rows of A W, None where a step is so small that levels are not free.

        Games compare skills of one year, so they add nothing to A W. A step of variance v between two nodes adds 1 / v
        to the diagonal of A at both, and -1 / v between them; the prior of a first node given m adds 1 / sd^2.
        """
        begin = self._nodes.start
        previous = self._chains.previous[self._nodes]
        variance = self._chains.variance[self._nodes]
        later = np.flatnonzero(previous >= begin)
        steps = np.concatenate(
            [variance[later], newcomers.past.variance, newcomers.future.variance]
        )
        if not (steps > LEAST_STEP * self._sd**2).all():
            return None
        before = previous[later] - begin
        weight = storage.zeros("levels", (len(node_year), 3), np.float64)
        year = storage.zeros("years of levels", (len(node_year), 3), np.int32)
        year[:] = node_year[:, np.newaxis]
        weight[later, 1] = -1.0 / variance[later]
        weight[before, 2] = -1.0 / variance[later]
        year[later, 1] = node_year[before]
        year[before, 2] = node_year[later]
        for column, across in ((1, newcomers.past), (2, newcomers.future)):
            weight[across.node - begin, column] = -1.0 / across.variance
            year[across.node - begin, column] = across.year
        # steps compare skills: without priors rows of A sum to 0
        weight[:, 0] = -weight.sum(axis=1)
        weight[self._first - begin, 0] += self._sd**-2
        return LevelRows(weight, year, np.arange(0, weight.size + 1, 3, dtype=np.int32))

    def messages(self) -> NewcomerMessages:
        """The smoothed messages on m, summed by year."""
        messages = self._debut_messages()
        return NewcomerMessages(self._by_year(messages.precision), self._by_year(messages.weighted))

    def set_priors(self, beliefs: MeanBeliefs) -> float:
        """Set the prior of each first node from m without its own message; returns -2 times their share of log Z.

        Newcomers' mean m has the variance v. The message of a first node on m has precision p and precision times mean
        h; m without it, the cavity, has mean c and variance u. The log integral of N(m; c, u) exp(-p m^2 / 2 + h m) is
        log(1 - v p) / 2 + (1 - v p) (h^2 u + 2 h c - p c^2) / 2, and log Z has minus that for each first node.
        """
        precision, weighted = self._debut_messages()
        mean = beliefs.mean[self._year]
        variance = beliefs.variance[self._year]
        cavity_share = 1.0 - variance * precision
        cavity_mean = (mean - variance * weighted) / cavity_share
        cavity_variance = variance / cavity_share
        self._chains.mean[self._first] = cavity_mean
        self._chains.variance[self._first] = self._sd**2 + cavity_variance
        twice_exponent = (
            weighted**2 * cavity_variance
            + 2.0 * weighted * cavity_mean
            - precision * cavity_mean**2
        )
        deviance = np.log(cavity_share) + cavity_share * twice_exponent
        return float(deviance.sum())

    def _debut_messages(self) -> DebutMessages:
        """Messages of first nodes on m: what is known of their skills without the prior, after the step of sd `sd`."""
        difference = self._messages.marginal[self._first] - self._messages.forward[self._first]
        precision, weighted = difference.T
        shrink = 1.0 + self._sd**2 * precision
        return DebutMessages(precision / shrink, weighted / shrink)

    def levels(self) -> SliceLevels:
        """Numbers of nodes and debuts of each year, and this slice's part of W'AW given m."""
        nodes = self._count.astype(np.float64)
        debuts = np.bincount(self._year, minlength=self._years).astype(np.float64)
        if self._levels is None:
            return SliceLevels(nodes, debuts, None)
        node_year = np.repeat(np.arange(self._years), self._count)
        size = self._years**2
        precision = np.zeros(size)
        for year, weight in zip(self._levels.year.T, self._levels.weight.T, strict=True):
            precision += np.bincount(node_year * self._years + year, weight, size)
        return SliceLevels(nodes, debuts, precision.reshape(self._years, self._years))

    def total(self, z: Array) -> Array:
        """Sums of z over the first nodes of each year."""
        return self._by_year(z[self._first])

    def sums(self, residual: Array, z: Array, az: Array) -> DebutSums:
        """What `Newcomers.correction` takes: z = M^-1 `residual`, `az` the product of z with chains and games."""
        excess = self._excess(z)
        sums = YearSums(
            debut=self.total(z),
            excess=self._by_year(excess),
            residual=self._of_nodes(residual),
            image=self._of_nodes(az),
        )
        return DebutSums(sums, float(excess @ z[self._first]))

    def _of_nodes(self, values: Array) -> Array:
        """Sums over all nodes of each year."""
        sums = np.zeros(self._years)
        played = self._count > 0
        sums[played] = np.add.reduceat(values[self._nodes], self._start[played])
        return sums

    def correct(self, correction: LevelCorrection, z: Array, az: Array) -> None:
        """Complete `az` to A z, then add the levels to z and their product to `az`."""
        from scipy.sparse import csr_array

        self.add_newcomers_precision(correction.shared, z, az)
        if correction.level is not None and self._levels is not None:
            weight, year, start = self._levels
            rows = csr_array((weight.ravel(), year.ravel(), start), (len(weight), self._years))
            z[self._nodes] += np.repeat(correction.level, self._count)
            az[self._nodes] += np.asarray(rows @ correction.level)

    def add_newcomers_precision(self, shared: Array, z: Array, az: Array) -> None:
        """Add what newcomers add to A z at first nodes, excess - `shared` (years,), to `az`."""
        az[self._first] += self._excess(z) - shared[self._year]

    def _excess(self, z: Array) -> Array:
        """Precision at first nodes beyond that of the chains, times z, (newcomers,)."""
        return np.asarray(
            (self._sd**-2 - 1.0 / self._chains.variance[self._first]) * z[self._first]
        )

    def _by_year(self, values: Array) -> Array:
        """Sums over first nodes by year."""
        return np.bincount(self._year, values, self._years).astype(np.float64)
