"""Precision matrices of sparse Gaussians: chain steps, links between variables, solutions.

Only numpy is imported until there is something to solve.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.support.arrays import Array, Places

if TYPE_CHECKING:
    from ttt_cli.gaussian.factor import Factor

Index = NDArray[np.integer]
Solver = Callable[[Array], Array]

MOST_STEPS: Final = 10_000  # of conjugate gradients
DELAY: Final = 8  # steps over which the remaining error is estimated
FEW: Final = 50  # columns of the inverse that take less time by conjugate gradients than a factor does
NOWHERE: Final = np.empty(0, np.int64)


class Entries(NamedTuple):
    """Rows, columns and values of a symmetric matrix, each pair once; duplicates add up."""

    row: Index
    column: Index
    value: Array


def sums_of_games(first: Index, second: Index, margins: int) -> tuple[tuple[Index, ...], Array]:
    """Variables of games, and U of their sites: s_i - s_j or, with margins e, s_i - s_j + e_i and e_j - s_i + s_j.

    `margins`: place of the first margin, 0 without.
    """
    if not margins:
        return (first, second), np.array([[1.0, -1.0]])
    u = np.array([[1.0, -1.0, 1.0, 0.0], [-1.0, 1.0, 0.0, 1.0]])
    return (first, second, first + margins, second + margins), u


def link_entries(variables: Sequence[Index], u: Array, q: Array) -> list[Entries]:
    """Entries of U' Q U, summed over links, for each pair of their variables.

    A link is a Gaussian of k sums U s of its m variables s: `variables` are m arrays (links,), `u` (k, m) is common
    to all links, `q` (k (k + 1) / 2, links) the upper triangle of Q by rows.
    """
    one, other = np.triu_indices(len(u))
    parts = []
    for a, first in enumerate(variables):
        for b, second in enumerate(variables[a:], a):
            weight = u[one, a] * u[other, b] + np.where(one != other, u[other, a] * u[one, b], 0.0)
            parts.append(Entries(first, second, weight @ q if weight.any() else np.zeros(q.shape[1])))
    return parts


def link_pulls(variables: Sequence[Index], u: Array, h: Array, size: int) -> Array:
    """U' h summed over links, (size,); `h` (k, links) is the precision times the mean of the sums."""
    pulls = np.zeros(size)
    for variable, column in zip(variables, u.T, strict=True):
        pulls += np.bincount(variable, column @ h, size)
    return pulls


def first_of(before: Index, *since: Array) -> Index:
    """Turn `before`, the variable before each or, at the first of a chain, itself, into the first one of its chain.

    Each of `since` becomes its sum from the first variable, which has 0, on.
    """
    while (further := before[before] != before).any():
        for values in since:
            values[further] += values[before[further]]
        before[further] = before[before[further]]
    return before


class Precision:
    """Symmetric matrix A of chains and further entries. Raises ValueError unless positive definite.

    | name | shape | |
    |---|---|---|
    | diagonal | (variables,) | |
    | low, high, above | (entries,) | rows, columns and values off the diagonal, steps last |
    """

    def __init__(self, previous: Index, step: Array, entries: Sequence[Entries]) -> None:
        """`step` is the precision of the change since the variable `previous`, or of a first one (-1) itself."""
        size = len(previous)
        later = np.flatnonzero(previous >= 0)
        before = previous[later]
        self.diagonal: Array = step + np.bincount(before, step[later], size)
        apart = []
        for row, column, value in entries:
            own = row == column
            self.diagonal += np.bincount(row[own], value[own], size)
            apart.append((row[~own], column[~own], value[~own]))
        self.low, self.high, self.above = map(
            np.concatenate, zip(*apart, (before, later, -step[later]), strict=True)
        )
        self._previous = previous
        self._steps = len(later)

    def times(self, x: Array) -> Array:
        """A x for x of shape (variables,)."""
        product: Array = self.diagonal * x  # scipy's product is faster by less than its import takes
        product += np.bincount(self.low, self.above * x[self.high], len(x))
        product += np.bincount(self.high, self.above * x[self.low], len(x))
        return product

    def solve(self, b: Array, *, residual: float = 0.0, energy: float = 0.0) -> tuple[Array, Array]:
        """x and b - A x by `conjugate_gradients`, preconditioned with the chains and the whole diagonal."""
        x, r, reached = conjugate_gradients(self.times, self._chains, b, residual=residual, energy=energy)
        if not reached:
            raise ValueError("conjugate gradients do not converge")
        return x, r

    def factor(self, first: Places = NOWHERE, second: Places = NOWHERE, *, once: bool = False) -> Factor:
        """Factor of A; its selected inverse includes the given further pairs.

        Raises ConfigError where it is not affordable, LinAlgError unless A is positive definite.
        """
        from ttt_cli.gaussian.factor import Factor, Pattern, require_affordable

        apart = first != second
        ends = np.append(self.low, first[apart]), np.append(self.high, second[apart])
        pattern = Pattern(*ends, len(self.diagonal))
        del ends  # while the factor takes memory
        require_affordable(pattern, "covariances", f"ask for at most {FEW} at once")
        above = np.append(self.above, np.zeros(apart.sum()))
        return Factor(pattern, above, self.diagonal, once=once)

    @cached_property
    def _chains(self) -> Solver:
        """Solution for the chains and the whole diagonal, by cyclic reduction: every second variable is eliminated.

        `beside` is the entry with the variable before, in order of chains.
        """
        every = np.arange(len(self.diagonal))
        root = first_of(np.where(self._previous < 0, every, self._previous))
        order = np.argsort(root, kind="stable")
        beside = np.zeros(len(every))
        beside[self._previous >= 0] = self.above[len(self.above) - self._steps :]
        pivot = self.diagonal[order]
        beside = beside[order]
        levels = []
        with np.errstate(divide="ignore", invalid="ignore"):
            while beside.any():
                own = pivot[1::2].copy()
                low = beside[1::2]
                high = beside[2::2]
                before = low / own
                after = high / own[: len(high)]
                levels.append((own, before, after))
                pivot = pivot[::2].copy()
                pivot[: len(low)] -= before * low
                pivot[1 : 1 + len(high)] -= after * high
                beside = np.zeros(len(pivot))
                beside[1 : 1 + len(high)] = -after * low[: len(high)]
        if not all((left > 0.0).all() for left in (pivot, *(own for own, *_ in levels))):
            raise ValueError("not positive definite")

        def solve(b: Array) -> Array:
            x = b[order]
            eliminated = []
            found = np.empty_like(b)
            for _, before, after in levels:
                own = x[1::2]
                x = x[::2].copy()
                x[: len(own)] -= before * own
                x[1 : 1 + len(after)] -= after * own[: len(after)]
                eliminated.append(own)
            x /= pivot
            for (own, before, after), right in zip(reversed(levels), reversed(eliminated), strict=True):
                whole = np.empty(len(x) + len(own))
                whole[::2] = x
                odd = right / own
                odd -= before * x[: len(own)]
                odd[: len(after)] -= after * x[1 : 1 + len(after)]
                whole[1::2] = odd
                x = whole
            found[order] = x
            return found

        return solve


def conjugate_gradients(
    times: Solver,
    precondition: Solver,
    b: Array,
    *,
    residual: float = 0.0,
    energy: float = 0.0,
    most: int = MOST_STEPS,
) -> tuple[Array, Array, bool]:
    """x of A x = b, b - A x, and whether it converged in `most` steps.

    It ends when the residual is `residual` times b in the norm of the preconditioner's inverse, or the error about
    `energy` times x in the norm of A, estimated over the last steps (Hestenes and Stiefel 1952). Raises ValueError
    unless A is positive definite.
    """
    x = np.zeros_like(b)
    r = b.astype(np.float64)
    p = precondition(r)
    rz = first = dot(r, p)
    recent: deque[float] = deque(maxlen=DELAY)
    total = 0.0
    for _ in range(most):
        if rz <= residual**2 * first:
            return x, r, True
        ap = times(p)
        curvature = dot(p, ap)
        if not curvature > 0.0:
            raise ValueError("not positive definite")
        alpha = rz / curvature
        x += alpha * p
        r -= alpha * ap
        recent.append(alpha * rz)
        total += alpha * rz
        if len(recent) == DELAY and sum(recent) < energy**2 * total:
            return x, r, True
        z = precondition(r)
        before = rz
        rz = dot(r, z)
        p = z + (rz / before) * p
    return x, r, rz <= residual**2 * first


def dot(x: Array, y: Array) -> float:
    """Dot product in one thread; BLAS threads wait longer than they work."""
    return float(np.einsum("i,i->", x, y))
