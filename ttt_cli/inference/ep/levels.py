"""Joint means where the mean of newcomers moves: the weakly determined levels of years are solved for separately.

A level is a constant added to all skills of a year: w = W c, with a column of W for each year. Games compare
skills of one year, so along levels the joint precision matrix A equals that of the prior. E = W'AW has one row a year.
Conjugate gradients are preconditioned with M^-1 + W E^-1 W' (an additive coarse space: Nicolaides 1987). M is the
precision of the chains with the diagonal of A.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.inference.prior import Debuts, Newcomers
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.room import MEMORY, Room
from ttt_cli.support.arrays import Array, Ids

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


class YearLevels:
    """Sums over the skills of each year, in a timeline or a slice of it.

    `nodes`: the variables that are skills. `place` (nodes,): index of each node's year, ascending. `chains`: chains of
    the skills, with newcomers' mean m marginalised at `debuts`. `elsewhere`: steps from earlier and to later slices.
    """

    def __init__(
        self,
        nodes: slice,
        place: Ids,
        years: int,
        chains: Chains,
        debuts: Debuts,
        elsewhere: Sequence[Elsewhere] = (),
        room: Room = MEMORY,
    ) -> None:
        self._nodes, self._debuts = nodes, debuts
        self._count = np.bincount(place, minlength=years)
        self._start = np.cumsum(self._count) - self._count
        begin, inverse = nodes.start, debuts.sd**-2
        previous, variance = chains.previous[nodes] - begin, chains.variance[nodes]
        later = np.flatnonzero(previous >= 0)
        steps = np.concatenate([variance[later], *(of.variance for of in elsewhere)])
        self.free = bool((steps * inverse > STIFF).all())
        if not self.free:
            return
        before = previous[later]
        # of its year and of those of both neighbours
        self._weight = room.empty("levels", (len(place), 3), np.float64)
        self._year = room.empty("years of levels", (len(place), 3), np.int32)
        self._year[:] = place[:, np.newaxis]
        self._weight[later, 1] = self._weight[before, 2] = -1.0 / variance[later]
        self._year[later, 1], self._year[before, 2] = place[before], place[later]
        for column, of in enumerate(elsewhere, 1):
            self._weight[of.node - begin, column] = -1.0 / of.variance
            self._year[of.node - begin, column] = of.year
        self._weight[:, 0] = -self._weight.sum(axis=1)
        self._weight[debuts.first - begin, 0] += inverse
        self._ends = np.arange(0, self._weight.size + 1, 3, dtype=np.int32)

    def known(self) -> tuple[Array, Array | None]:
        """Numbers of nodes and debuts of each year, (2, years), and this slice's part of W'AW given m, or None."""
        years, of = len(self._count), np.repeat(np.arange(len(self._count)), self._count)
        counts = np.array([self._count, np.bincount(self._debuts.year, minlength=years)], np.float64)
        if not self.free:
            return counts, None
        e = np.zeros(years**2)
        for year, weight in zip(self._year.T, self._weight.T, strict=True):
            e += np.bincount(of * years + year, weight, years**2)
        return counts, e.reshape(years, years)

    def sums(self, residual: Array, z: Array, az: Array) -> tuple[Array, float]:
        """Sums by year, (4, years): z and e at first nodes, then `residual` and `az` at all nodes; and the product z'e.

        z = M^-1 `residual`, and `az` is the product of z with the precision of chains and games. e is the excess
        precision of first nodes given m, times z.
        """
        debuts, own = self._debuts, self._debuts.excess(z)
        by_year = debuts.total(z), debuts.summed(own)
        of_nodes = (self._sums(of[self._nodes]) for of in (residual, az))
        return np.array([*by_year, *of_nodes]), float(own @ z[debuts.first])

    def correct(self, by: Correction, z: Array, az: Array) -> None:
        """Complete `az` to A z, then add the levels to z and their product to `az`."""
        from scipy.sparse import csr_array

        self._debuts.add_shared(by.shared, z, az)
        if by.level is not None:
            whole = self._weight.ravel(), self._year.ravel(), self._ends
            z[self._nodes] += np.repeat(by.level, self._count)
            az[self._nodes] += csr_array(whole, (len(self._year), len(by.level))) @ by.level

    def _sums(self, values: Array) -> Array:
        """Sum of the nodes of each year."""
        found, played = np.zeros(len(self._count)), self._count > 0
        found[played] = np.add.reduceat(values, self._start[played])
        return found


class Levels:
    """The part of A beyond chains and games, summed over all `YearLevels`.

    A is at least 1 / `spread` times the precision matrix given m.
    """

    def __init__(self, newcomers: Newcomers, known: Sequence[tuple[Array, Array | None]]) -> None:
        self._newcomers, self.spread = newcomers, newcomers.spread
        nodes, self._debuts = np.sum([counts for counts, _ in known], axis=0)
        parts = [e for _, e in known if e is not None]
        self._free = bool(nodes.all()) and len(parts) == len(known)
        if self._free:
            self._shared = np.array([newcomers.shared(of) for of in np.diag(self._debuts)]).T
            shared = self._debuts[:, np.newaxis] * self._shared
            self._inverse = np.linalg.inv(np.sum(parts, axis=0) - shared)

    def correction(self, sums: Array, product: float) -> tuple[Correction, float, float]:
        """The correction of z and A z, and its contributions to r'z and to z'(A - M)z."""
        debuts, excess, known, image = sums
        away = self._newcomers.shared(debuts)
        apart = product - float(debuts @ away)
        if not self._free:
            return Correction(away, None), 0.0, apart
        level = self._inverse @ known
        image = image + excess - self._debuts * away
        by = Correction(away + self._shared @ level, level)
        return by, float(level @ known), apart + 2.0 * float(level @ image)
