"""The information matrix of a sparse Gaussian factorised: its determinant, and exact entries of its inverse.

Variables with few neighbours are eliminated one by one, the dense core that is left is factorised as such
(`kernels/bradley_terry/elimination.py`, `kernels/bradley_terry/selected_inverse.py`,
`inference/bradley_terry/dense.py`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.errors import ConfigError
from ttt_cli.inference.bradley_terry import dense

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

CORE_SHARE: Final = 0.05  # variables joined to more of those left are better taken as a whole, the core
LEAST_CORE: Final = 1000  # variables: fewer are eliminated one by one, too


MOST_CORE: Final = 16_000  # variables: 2 GB, and minutes of work


class Pattern:
    """Which pairs of n variables are joined, and the order in which to eliminate them.

    Pairs may recur. Raises ConfigError when too much would be left as a dense core.
    """

    def __init__(self, first: Ints, second: Ints, n: int) -> None:
        from ttt_cli.kernels.bradley_terry import elimination

        self.low, self.high, self._pair = _merged(first, second, n)
        self.order, self.column, rows = elimination.minimum_degree(
            *_neighbours(self.low, self.high, n), CORE_SHARE, LEAST_CORE
        )
        _refuse_large_core(n, self.core)
        self.place = np.empty(n, np.int32)
        self.place[self.order] = np.arange(n, dtype=np.int32)
        self.row = _sorted_rows(self.column, self.place[rows])

    @property
    def core(self) -> int:
        """How many variables are left as a dense core."""
        return len(self.order) - len(self.column) + 1

    def joined(self, coupling: Array) -> Array:
        """The sums over equal pairs of what stands at the pairs as they were given."""
        return np.bincount(self._pair, coupling, minlength=len(self.low)).astype(np.float64)


class Information:
    """A positive definite matrix A of shape (n, n), its logarithmic determinant and its inverse.

    A has `diagonal` (n) and -`coupling` at the pairs of `pattern`, as they were given there.
    """

    log_determinant: float
    _core: Array  # its inverse, of which the upper triangle counts
    variances: Array  # diagonal of the inverse (n)

    def __init__(self, pattern: Pattern, coupling: Array, diagonal: Array) -> None:
        from ttt_cli.kernels.bradley_terry import elimination, selected_inverse

        self._elimination = elimination
        self._inverse_kernels = selected_inverse
        self._order, self._place = pattern.order, pattern.place
        self._column, self._row = pattern.column, pattern.row
        self._factorise(pattern.low, pattern.high, pattern.joined(coupling), diagonal)

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
        self.log_determinant = float(np.log(self._pivot).sum()) + dense.invert(core)
        self._core = core
        self._inverse = np.empty(len(self._row))
        by_position = np.empty(n)
        self._inverse_kernels.invert(
            self._column, self._row, self._lower, self._pivot, core, self._inverse, by_position
        )
        self.variances = by_position[self._place]


def _refuse_large_core(n: int, core: int) -> None:
    if core > MOST_CORE:
        raise ConfigError(
            f"exact deviations of {n:,} ratings need a dense matrix of {core:,} rows ({8e-9 * core**2:.1f} GB): "
            f"at most {MOST_CORE:,} are taken",
            hint="-s model.deviations=own, or longer periods",
        )


def _merged(first: Ints, second: Ints, n: int) -> tuple[Ints, Ints, NDArray[np.intp]]:
    """Distinct pairs, the smaller number first, and the place of every pair among them."""
    keys = np.minimum(first, second).astype(np.int64) * n + np.maximum(first, second)
    distinct, index = np.unique(keys, return_inverse=True)
    return (distinct // max(n, 1)).astype(np.int32), (distinct % max(n, 1)).astype(np.int32), index


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
