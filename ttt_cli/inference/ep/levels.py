"""Joint means where the mean of newcomers moves: the levels of years, which little holds, are solved for apart.

What is added to all skills of a year changes no game, so that for such levels w = W c the precision matrix A of the
joint Gaussian is that of the prior, T, and W'AW is a small matrix E. Conjugate gradients are preconditioned with
M^-1 + W E^-1 W' (an additive coarse space: Nicolaides 1987), M being the chains with the diagonal of A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids
from ttt_cli.inference.newcomers import Debuts, Newcomers
from ttt_cli.inference.year_margins import calendar, in_memory
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.timeline import Timeline

STIFF: Final = 1e-10  # of the widest prior's variance: where steps are smaller, levels of years are not free


class Elsewhere(NamedTuple):
    """Steps of skills to other slices, (steps,): nodes here, places of the years there, and variances."""

    node: Ids
    year: Ids
    variance: Array


class Correction(NamedTuple):
    """What is still to be done by year: to take off A z at first nodes, and to add to all z if levels are free."""

    shared: Array
    level: Array | None


class YearLevels:
    """Sums over the skills of each year, the variables `nodes`, of a timeline or a slice of it.

    `place` (nodes,) are places of years, in order; `chains` those of the skills, whose `debuts` lack m. `elsewhere` are
    steps from slices before, and to those after.
    """

    def __init__(
        self,
        nodes: slice,
        place: Ids,
        years: int,
        chains: Chains,
        debuts: Debuts,
        elsewhere: Sequence[Elsewhere] = (),
        room: Callable[[str, tuple[int, ...], type], NDArray[Any]] = in_memory,
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
        self._weight = room(
            "levels", (len(place), 3), np.float64
        )  # of its year and of those of both neighbours
        self._year = room("years of levels", (len(place), 3), np.int32)
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
        """How many nodes and debuts each year has, (2, years), and its part of W'AW given m if levels are free."""
        years, of = len(self._count), np.repeat(np.arange(len(self._count)), self._count)
        counts = np.array([self._count, np.bincount(self._debuts.year, minlength=years)], np.float64)
        if not self.free:
            return counts, None
        e = np.zeros(years**2)
        for year, weight in zip(self._year.T, self._weight.T, strict=True):
            e += np.bincount(of * years + year, weight, years**2)
        return counts, e.reshape(years, years)

    def sums(self, residual: Array, z: Array, az: Array) -> tuple[Array, float]:
        """Sums by year, (4, years), where `az` is what chains and games make of z = M^-1 `residual`.

        At first nodes of z, and of what their precision given m has beyond that of chains times z; of all nodes of
        the residual and of `az`. With them the product of z and the second.
        """
        debuts, own = self._debuts, self._debuts.excess(z)
        by_year = debuts.total(z), debuts.summed(own)
        of_nodes = (self._sums(of[self._nodes]) for of in (residual, az))
        return np.array([*by_year, *of_nodes]), float(own @ z[debuts.first])

    def correct(self, by: Correction, z: Array, az: Array) -> None:
        """Complete A z, and add the levels to both."""
        from scipy.sparse import csr_array

        self._debuts.add_shared(by.shared, z, az)
        if by.level is not None:
            whole = self._weight.ravel(), self._year.ravel(), self._ends
            z[self._nodes] += np.repeat(by.level, self._count)
            az[self._nodes] += csr_array(whole, (len(self._year), len(by.level))) @ by.level

    def _sums(self, values: Array) -> Array:
        """Of the nodes of each year."""
        found, played = np.zeros(len(self._count)), self._count > 0
        found[played] = np.add.reduceat(values, self._start[played])
        return found


class Levels:
    """What chains and games lack of A, of what all `YearLevels` know; A is no less than 1 / `spread` of it without."""

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
        """How to complete A z and add levels to z; what r'z and z'(A - M)z gain by both."""
        debuts, excess, known, image = sums
        away = self._newcomers.shared(debuts)
        apart = product - float(debuts @ away)
        if not self._free:
            return Correction(away, None), 0.0, apart
        level = self._inverse @ known
        image = image + excess - self._debuts * away
        by = Correction(away + self._shared @ level, level)
        return by, float(level @ known), apart + 2.0 * float(level @ image)


def levels_of(
    timeline: Timeline, newcomers: Newcomers, chains: Chains, debuts: Debuts
) -> tuple[Levels, YearLevels]:
    """The levels of a timeline that is held as a whole, and their sums."""
    place = np.repeat(calendar(timeline)[1], np.diff(timeline.node_start))
    of_years = YearLevels(slice(0, timeline.n_nodes), place, newcomers.calendar, chains, debuts)
    return Levels(newcomers, [of_years.known()]), of_years
