"""The information matrix of a sparse Gaussian factorised: its determinant, and exact entries of its inverse.

Variables with few neighbours are eliminated one by one, the dense core that is left is factorised as such
(`kernels/elimination.py`, `kernels/selected_inverse.py`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

CORE_SHARE: Final = 0.05  # variables joined to more of those left are better taken as a whole, the core
LEAST_CORE: Final = 1000  # variables: fewer are eliminated one by one, too


class Information:
    """A positive definite matrix A of shape (n, n), its logarithmic determinant and its inverse.

    A has `diagonal` (n) and -`pull` at the pairs `first`, `second` (pairs may recur and add up).
    """

    log_determinant: float
    _core: Array  # its inverse, of which the upper triangle counts
    variances: Array  # diagonal of the inverse (n)

    def __init__(self, first: Ints, second: Ints, pull: Array, diagonal: Array) -> None:
        from ttt_cli.kernels import elimination, selected_inverse

        self._elimination = elimination
        self._inverse_kernels = selected_inverse
        n = len(diagonal)
        low, high, joined = _merged(first, second, pull, n)
        order, self._column, rows = elimination.minimum_degree(
            *_neighbours(low, high, n), CORE_SHARE, LEAST_CORE
        )
        self._order = order
        self._place = np.empty(n, np.int32)
        self._place[order] = np.arange(n, dtype=np.int32)
        self._row = _sorted_rows(self._column, self._place[rows])
        self._factorise(low, high, joined, diagonal)

    def solve(self, b: Array) -> Array:
        """A^-1 b for b of shape (n,)."""
        from scipy.linalg.blas import dsymv

        x = b[self._order]
        m = len(self._pivot)
        self._elimination.forward(self._column, self._row, self._lower, x)
        if m < len(x):
            x[m:] = dsymv(1.0, self._core.T, x[m:], lower=1)
        self._elimination.backward(self._column, self._row, self._lower, self._pivot, x)
        solution: Array = np.empty_like(x)
        solution[self._order] = x
        return solution

    def covariances(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> Array:
        """Entries of A^-1 at pairs of different variables that A joins (others may come out as 0)."""
        out = np.empty(len(first))
        self._inverse_kernels.look_up(
            self._column, self._row, self._inverse, self._core, self._place[first], self._place[second], out
        )
        return out

    def _factorise(self, low: Ints, high: Ints, joined: Array, diagonal: Array) -> None:
        from scipy.linalg.lapack import dpotrf, dpotri

        n, m = len(diagonal), len(self._column) - 1
        starts, rows, entries = _columns(self._place[low], self._place[high], -joined, n)
        turned = diagonal[self._order]
        core = np.zeros((n - m, n - m))
        inside = np.repeat(np.arange(m, n), np.diff(starts[m:]))
        core[inside - m, rows[starts[m] :] - m] = entries[starts[m] :]
        core[np.arange(n - m), np.arange(n - m)] = turned[m:]
        self._lower, self._pivot = np.empty(len(self._row)), np.empty(m)
        self._elimination.eliminate(
            self._column, self._row, starts, rows, entries, turned, self._lower, self._pivot, core
        )
        self.log_determinant = float(np.log(self._pivot).sum())
        if len(core):
            root, _ = dpotrf(core.T, lower=1, overwrite_a=1)
            self.log_determinant += 2.0 * float(np.log(np.diagonal(root)).sum())
            core = dpotri(root, lower=1, overwrite_c=1)[0].T
        self._core = core
        self._inverse = np.empty(len(self._row))
        by_position = np.empty(n)
        self._inverse_kernels.invert(
            self._column, self._row, self._lower, self._pivot, core, self._inverse, by_position
        )
        self.variances = by_position[self._place]


def _merged(first: Ints, second: Ints, pull: Array, n: int) -> tuple[Ints, Ints, Array]:
    """Distinct pairs, the smaller number first, and the sums of their pulls."""
    keys = np.minimum(first, second).astype(np.int64) * n + np.maximum(first, second)
    distinct, index = np.unique(keys, return_inverse=True)
    joined = np.bincount(index, pull, minlength=len(distinct)).astype(np.float64)
    return (distinct // max(n, 1)).astype(np.int32), (distinct % max(n, 1)).astype(np.int32), joined


def _neighbours(low: Ints, high: Ints, n: int) -> tuple[NDArray[np.int64], Ints]:
    """Where the neighbours of each variable begin, and the neighbours."""
    ends, others = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.argsort(ends, kind="stable")
    return np.searchsorted(ends[order], np.arange(n + 1)).astype(np.int64), others[order]


def _sorted_rows(column: NDArray[np.int64], row: Ints) -> Ints:
    """The rows of every column in ascending order."""
    of = np.repeat(np.arange(len(column) - 1), np.diff(column))
    return row[np.lexsort((row, of))]


def _columns(first: Ints, second: Ints, value: Array, n: int) -> tuple[NDArray[np.int64], Ints, Array]:
    """(starts, rows, values) by columns of what stands at pairs of positions, below the diagonal."""
    col, row = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((row, col))
    starts = np.searchsorted(col[order], np.arange(n + 1)).astype(np.int64)
    return starts, row[order], value[order]
