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
    from scipy.sparse import csr_matrix

    from ttt_cli.gaussian.factor import Factor

Index = NDArray[np.integer]
Solver = Callable[[Array], Array]

MOST_STEPS: Final = 10_000  # of conjugate gradients
DELAY: Final = 8  # steps over which the remaining error is estimated
# Entries multiplied in all, from which scipy\'s products save more than its import takes
LONG: Final = 64_000_000
# Columns of the inverse that take less time by conjugate gradients than a factor does
FEW: Final = 50
# Variables, and their share of all, that are eliminated last where only entries of the inverse among them are needed:
# a third of the time for 1,700 of 96,000, but more are a dense matrix of their own
MOST_LAST: Final = 5000
MOST_LAST_SHARE: Final = 0.05
NOWHERE: Final = np.empty(0, np.int64)


class Entries(NamedTuple):
    """Rows, columns and values of a symmetric matrix, each pair once; duplicates add up."""

    row: Index
    column: Index
    value: Array


def sums_of_games(first: Index, second: Index, margins: int) -> tuple[tuple[Index, ...], Array]:
    """Variables of games, and U of their sites: s_i - s_j or, with margins e, s_i - s_j + e_i and e_j - s_i + s_j.

    `margins`: index of the first margin, 0 without.
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
    row, column = np.triu_indices(len(u))
    entries = []
    for a, first in enumerate(variables):
        for b, second in enumerate(variables[a:], a):
            mirrored = np.where(row != column, u[column, a] * u[row, b], 0.0)
            weight = u[row, a] * u[column, b] + mirrored
            value = weight @ q if weight.any() else np.zeros(q.shape[1])
            entries.append(Entries(first, second, value))
    return entries


class RowPairs(NamedTuple):
    """Pairs of entries of the same row of a sparse matrix C, by row, then the first of them, then the second.

    | name | shape | |
    |---|---|---|
    | first, second | (pairs,) | variables of both |
    | row | (pairs,) | the row of each |
    | product | (pairs,) | of both coefficients |
    """

    first: Index
    second: Index
    row: Places
    product: Array


class EntryPairs(NamedTuple):
    """Pairs of entries of the same row of a sparse matrix, in the order of `RowPairs`, (pairs,) each."""

    first: Places
    second: Places


class SumRows(NamedTuple):
    """Sums of variables as rows of a sparse matrix C.

    | name | shape | |
    |---|---|---|
    | start | (rows + 1,) | the first entry of each row, and the number of entries |
    | variable | (entries,) | |
    | coefficient | (entries,) | |
    """

    start: Places
    variable: Index
    coefficient: Array

    @property
    def length(self) -> Places:
        """The number of entries of each row, (rows,)."""
        return np.diff(self.start)

    def pairs_of_entries(self) -> EntryPairs:
        """All pairs of entries of each row: of a row with entries 4, 5 and 6 these are (4, 5), (4, 6) and (5, 6)."""
        entries = len(self.variable)
        end = np.repeat(self.start[1:], self.length)  # of the row of each entry
        partners = end - np.arange(entries) - 1
        first = np.repeat(np.arange(entries), partners)
        before = np.cumsum(partners) - partners
        second = np.arange(len(first)) - np.repeat(before, partners) + first + 1
        return EntryPairs(first, second)

    def pairs(self) -> RowPairs:
        """The variables of `pairs_of_entries`."""
        first, second = self.pairs_of_entries()
        return RowPairs(
            self.variable[first],
            self.variable[second],
            np.repeat(np.arange(len(self.length)), self.length)[first],
            self.coefficient[first] * self.coefficient[second],
        )

    def entries(self, precision: Array, pairs: RowPairs) -> list[Entries]:
        """Entries of C' Q C for a diagonal Q, `precision` (rows,), which may repeat."""
        on_diagonal = np.repeat(precision, self.length) * self.coefficient**2
        of_pairs = precision[pairs.row] * pairs.product
        return [
            Entries(self.variable, self.variable, on_diagonal),
            Entries(pairs.first, pairs.second, of_pairs),
        ]


def link_pulls(variables: Sequence[Index], u: Array, h: Array, size: int) -> Array:
    """U' h summed over links, (size,); `h` (k, links) is the precision times the mean of the sums."""
    pulls = np.zeros(size)
    for variable, column in zip(variables, u.T, strict=True):
        pulls += np.bincount(variable, column @ h, size)
    return pulls


class ChainSums(NamedTuple):
    """The first variable of each variable's chain, and the sum of values from there, (variables,)."""

    first: Index
    total: Array


def first_variables(before: Index) -> Index:
    """The first variable of the chain of each; `before`: the one before or, at the first, itself."""
    first = before.copy()
    while (unfinished := first[first] != first).any():
        first[unfinished] = first[first[unfinished]]
    return first


def sums_from_first(before: Index, values: Array) -> ChainSums:
    """Sums of values along chains, where first variables have 0; `before` as in `first_variables`.

    Each step doubles the part of its chain that a variable has the sum of, and that it jumps over.
    """
    first = before.copy()
    total = values.copy()
    while (unfinished := first[first] != first).any():
        jump = first[unfinished]
        total[unfinished] += total[jump]
        first[unfinished] = first[jump]
    return ChainSums(first, total)


class Solved(NamedTuple):
    """An approximate solution x of A x = b, and what is left of b, b - A x; (variables,) each."""

    x: Array
    residual: Array

    def times(self, factor: float) -> Solved:
        """The solution for a multiple of b."""
        return Solved(factor * self.x, factor * self.residual)


class Precision:
    """Symmetric matrix A of chains and further entries. Raises ValueError unless positive definite.

    | name | shape | |
    |---|---|---|
    | diagonal | (variables,) | |
    | low, high, above | (entries,) | rows, columns and values off the diagonal, steps last |
    """

    def __init__(self, previous: Index, step_precision: Array, entries: Sequence[Entries]) -> None:
        """`step_precision` is that of the change since the variable `previous`, or of a first one (-1) itself."""
        size = len(previous)
        later = np.flatnonzero(previous >= 0)
        before = previous[later]
        self.diagonal: Array = step_precision + np.bincount(before, step_precision[later], size)
        off_diagonal = []
        for row, column, value in entries:
            diagonal = row == column
            self.diagonal += np.bincount(row[diagonal], value[diagonal], size)
            off_diagonal.append(Entries(row[~diagonal], column[~diagonal], value[~diagonal]))
        off_diagonal.append(Entries(before, later, -step_precision[later]))
        self.low = np.concatenate([part.row for part in off_diagonal])
        self.high = np.concatenate([part.column for part in off_diagonal])
        self.above = np.concatenate([part.value for part in off_diagonal])
        self._previous = previous
        self._steps = len(later)
        self._multiplied = 0
        self._is_compiled = False

    def compile_products(self) -> None:
        """Multiply by compiled code from now on, for those who load the compiler anyway: in a third of the time."""
        self._is_compiled = True

    def times(self, x: Array) -> Array:
        """A x for x of shape (variables,)."""
        if self._is_compiled:
            from ttt_cli.kernels.products import multiply

            filled = np.empty(len(x))
            multiply(self.diagonal, self.low, self.high, self.above, x, filled)
            return filled
        self._multiplied += len(self.above)
        if self._multiplied > LONG:
            return np.asarray(self._matrix @ x)
        product: Array = self.diagonal * x
        product += np.bincount(self.low, self.above * x.take(self.high), len(x))
        product += np.bincount(self.high, self.above * x.take(self.low), len(x))
        return product

    def solve(
        self,
        b: Array,
        *,
        residual: float = 0.0,
        energy: float = 0.0,
        added: Solver | None = None,
        similar: Solution | None = None,
    ) -> Solved:
        """x of A x = b by `conjugate_gradients`, preconditioned with the chains and the whole diagonal.

        `added`: the product of x with a matrix that is added to A. `similar`: the solution for a similar b.
        """
        times = self.times
        if added is not None:

            def times(x: Array) -> Array:
                return self.times(x) + added(x)

        result = conjugate_gradients(
            times, self._chains, b, residual=residual, energy=energy, similar=similar
        )
        if not result.converged:
            raise ValueError("conjugate gradients do not converge")
        return Solved(result.x, result.residual)

    def factor(
        self, first: Places = NOWHERE, second: Places = NOWHERE, *, once: bool = False
    ) -> Factor:
        """Factor of A; its selected inverse includes the given further pairs.

        With `once` it may be NaN at all other pairs, where few variables are in those given. Raises ConfigError where
        it is not affordable, LinAlgError unless A is positive definite.
        """
        from ttt_cli.gaussian.factor import Factor, Pattern, affordable, require_affordable

        n = len(self.diagonal)
        off_diagonal = first != second
        low = np.append(self.low, first[off_diagonal])
        high = np.append(self.high, second[off_diagonal])
        wanted = np.union1d(first, second)
        is_few = once and len(wanted) <= min(MOST_LAST, n * MOST_LAST_SHARE)
        pattern = Pattern(low, high, n, last=wanted if is_few else NOWHERE)
        if is_few and not affordable(pattern):
            pattern = Pattern(low, high, n)
        del low, high  # while the factor takes memory
        require_affordable(pattern, "covariances", f"ask for at most {FEW} at once")
        above = np.append(self.above, np.zeros(off_diagonal.sum()))
        return Factor(pattern, above, self.diagonal, once=once)

    @cached_property
    def _matrix(self) -> csr_matrix:
        from scipy.sparse import coo_matrix

        variables = np.arange(len(self.diagonal))
        row = np.concatenate([self.low, self.high, variables])
        column = np.concatenate([self.high, self.low, variables])
        values = np.concatenate([self.above, self.above, self.diagonal])
        return coo_matrix((values, (row, column))).tocsr()

    @cached_property
    def _chains(self) -> Solver:
        """Solution for the chains and the whole diagonal. Raises ValueError unless positive definite."""
        variables = np.arange(len(self.diagonal))
        root = first_variables(np.where(self._previous < 0, variables, self._previous))
        order = np.argsort(root, kind="stable")
        with_previous = np.zeros(len(variables))
        with_previous[self._previous >= 0] = self.above[len(self.above) - self._steps :]
        reduced = reduce_tridiagonal(self.diagonal[order], with_previous[order])
        if np.array_equal(order, variables):
            return reduced.solve

        def solve(b: Array) -> Array:
            x = np.empty_like(b)
            x[order] = reduced.solve(b[order])
            return x

        return solve


class _Level(NamedTuple):
    """A step of a cyclic reduction, in which every second variable is eliminated: its pivots, and its links with the
    variables before and after, divided by the pivots.
    """

    pivot: Array
    before: Array
    after: Array


class CyclicReduction(NamedTuple):
    """A tridiagonal matrix, reduced level by level to the `pivots` of what is not linked any more."""

    levels: list[_Level]
    pivots: Array

    def solve(self, b: Array) -> Array:
        """x of A x = b, (variables,)."""
        x = b
        eliminated = []
        for level in self.levels:
            odd = x[1::2]
            x = x[::2].copy()
            x[: len(odd)] -= level.before * odd
            x[1 : 1 + len(level.after)] -= level.after * odd[: len(level.after)]
            eliminated.append(odd)
        x = x / self.pivots
        for level, right in zip(reversed(self.levels), reversed(eliminated), strict=True):
            odd = right / level.pivot
            odd -= level.before * x[: len(odd)]
            odd[: len(level.after)] -= level.after * x[1 : 1 + len(level.after)]
            merged = np.empty(len(x) + len(odd))
            merged[::2] = x
            merged[1::2] = odd
            x = merged
        return x


def reduce_tridiagonal(diagonal: Array, with_previous: Array) -> CyclicReduction:
    """Reduce the matrix with a `diagonal` and the entries of each variable with the one before it.

    Raises ValueError unless it is positive definite.
    """
    pivots = diagonal
    levels = []
    with np.errstate(divide="ignore", invalid="ignore"):
        while with_previous.any():
            pivot = pivots[1::2].copy()
            low = with_previous[1::2]
            high = with_previous[2::2]
            level = _Level(pivot, before=low / pivot, after=high / pivot[: len(high)])
            levels.append(level)
            pivots = pivots[::2].copy()
            pivots[: len(low)] -= level.before * low
            pivots[1 : 1 + len(high)] -= level.after * high
            with_previous = np.zeros(len(pivots))
            with_previous[1 : 1 + len(high)] = -level.after * low[: len(high)]
    if not all((values > 0.0).all() for values in (pivots, *(level.pivot for level in levels))):
        raise ValueError("not positive definite")
    return CyclicReduction(levels, pivots)


class Solution(NamedTuple):
    """An approximate solution x, and the product A x, (variables,) each."""

    x: Array
    product: Array


class CgResult(NamedTuple):
    """Result of conjugate gradients: x, the residual b - A x, and whether they converged within the steps allowed."""

    x: Array
    residual: Array
    converged: bool


def conjugate_gradients(
    times: Solver,
    precondition: Solver,
    b: Array,
    *,
    residual: float = 0.0,
    energy: float = 0.0,
    most: int = MOST_STEPS,
    similar: Solution | None = None,
) -> CgResult:
    """Solve A x = b by conjugate gradients, from 0 or from the multiple of a `similar` solution of least error.

    It ends when the residual is `residual` times b in the norm of the preconditioner's inverse, or the error about
    `energy` times x in the norm of A, estimated over the last steps (Hestenes and Stiefel 1952). Raises ValueError
    unless A is positive definite.
    """
    x = np.zeros_like(b)
    r = b.astype(np.float64)
    p = precondition(r)
    rz = first = dot(r, p)
    total = 0.0
    if similar is not None and similar.x.any():
        share = dot(similar.x, b) / dot(similar.x, similar.product)
        x += share * similar.x
        r -= share * similar.product
        total = share * dot(similar.x, b)
        p = precondition(r)
        rz = dot(r, p)
    recent: deque[float] = deque(maxlen=DELAY)
    for _ in range(most):
        if rz <= residual**2 * first:
            return CgResult(x, r, True)
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
            return CgResult(x, r, True)
        z = precondition(r)
        before = rz
        rz = dot(r, z)
        p = z + (rz / before) * p
    return CgResult(x, r, rz <= residual**2 * first)


def dot(x: Array, y: Array) -> float:
    """Dot product in one thread; BLAS threads wait longer than they work."""
    return float(np.einsum("i,i->", x, y))
