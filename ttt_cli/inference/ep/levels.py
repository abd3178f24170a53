"""Joint means where the mean of newcomers moves: the levels of years, which little holds, are solved for apart.

What is added to all skills of a year changes no game, so that for such levels w = W c the precision matrix A of the
joint Gaussian is that of the prior, T, and W'AW is a small matrix E. Conjugate gradients are preconditioned with
M^-1 + W E^-1 W' (an additive coarse space: Nicolaides 1987), M being the chains with the diagonal of A.
"""

from typing import Final

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.inference.newcomers import Newcomers
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.periods import calendar_year
from ttt_cli.timeline import Timeline

STIFF: Final = 1e-10  # of the widest prior's variance: where steps are smaller, levels of years are not free


class Levels:
    """What `chains` and games lack of A, and the levels of the years, for `JointSolver`.

    `spread`: A is at least 1 / `spread` times what it is without what newcomers share.
    """

    def __init__(self, timeline: Timeline, chains: Chains, newcomers: Newcomers) -> None:
        from scipy.sparse import coo_array

        self._newcomers, self.spread = newcomers, newcomers.spread
        self._nodes, self._variance = timeline.n_nodes, chains.variance
        periods = [calendar_year(number, timeline.period) for number in timeline.periods.tolist()]
        years, place = np.unique(np.array(periods, np.int64), return_inverse=True)
        of = np.repeat(place, np.diff(timeline.node_start))
        self._count = np.bincount(of, minlength=len(years))
        self._start = np.cumsum(self._count) - self._count
        later, first = np.flatnonzero(timeline.previous >= 0), newcomers.first
        before, steps = timeline.previous[later], chains.variance[later]
        self._free = bool((steps > STIFF * newcomers.sd**2).all() and self._count.all())
        if not self._free:
            return
        own, weight = np.full(len(first), newcomers.sd**-2), 1.0 / steps
        row = np.concatenate([first, later, before, later, before])
        column = np.concatenate([of[first], of[later], of[before], of[before], of[later]])
        value = np.concatenate([own, weight, weight, -weight, -weight])
        self._apart = coo_array((value, (row, column)), (self._nodes, len(years))).tocsr()
        debuts = coo_array(
            (np.ones(len(first)), (newcomers.year, of[first])), (len(newcomers.mean), len(years))
        )
        self._shared: Array = np.asarray(newcomers.given_skills @ debuts)
        e = coo_array((value, (of[row], column)), (len(years), len(years))).toarray()
        self._inverse = np.linalg.inv(e - debuts.T @ self._shared)

    def precondition(self, residual: Array, z: Array, az: Array) -> tuple[float, float]:
        """Complete A z where z = M^-1 r, and then add to z what levels do; what r'z and z'(A - M)z gain by both."""
        apart = self._newcomers.add_shared(self._variance, z, az)
        if not self._free:
            return 0.0, apart
        known, image = (np.add.reduceat(of[: self._nodes], self._start) for of in (residual, az))
        level = self._inverse @ known
        z[: self._nodes] += np.repeat(level, self._count)
        az[: self._nodes] += self._apart @ level
        az[self._newcomers.first] -= (self._shared @ level)[self._newcomers.year]
        return float(level @ known), apart + 2.0 * float(level @ image)
