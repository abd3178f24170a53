"""Sparse positive definite matrices: pattern, factor, determinant, solutions, samples, entries of the inverse."""

from __future__ import annotations

import sys
from functools import cache, cached_property
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ttt_cli.kernels import factor as kernels
from ttt_cli.kernels.factor import Blas, Tree
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.support.errors import ConfigError

Ends = NDArray[np.integer]
MOST_ENTRIES: Final = 250_000_000  # of a factor: 2 GB
MOST_FLOPS: Final = 2e12
NOBODY: Final = np.empty(0, np.int32)


class Pattern:
    """Joined pairs of n variables, the elimination order, and the supernodes of the factor.

    Pairs may repeat. `entries` and `flops` are the size and the multiplications of the factor, computed before any
    allocation. Variables that are eliminated `last`, after all others, make the factor larger, but the inverse among
    them needs only its end.

    | name | shape | |
    |---|---|---|
    | last | (last,) | distinct variables that are eliminated last |
    | column_of | (n,) | column of each variable |
    | pair | (pairs,) | index of the distinct pair |
    | front, broad | | sizes of work space (`kernels/factor.py`) |
    """

    def __init__(self, first: Ends, second: Ends, n: int, last: Ends = NOBODY) -> None:
        keys = np.minimum(first, second).astype(np.int64) * n + np.maximum(first, second)
        distinct, self.pair = np.unique(keys, return_inverse=True)
        low, high = np.array(np.divmod(distinct, max(n, 1)), np.int32)
        self.last = last
        column = _dissected_before(low, high, n, last)
        parent, count, order = np.empty((3, n), np.int32)
        kernels.elimination_tree(*_graph(column[low], column[high], n), parent, count)
        kernels.postorder(parent, np.arange(n, dtype=np.int32), order)
        postordered = _inverse(order)
        above = parent[order]
        column = postordered[column]
        parent = np.where(above < 0, -1, postordered[above]).astype(np.int32)
        is_last = np.zeros(n, np.bool_)  # of columns
        is_last[column[last]] = True
        supernodes = _gathered(parent, count[order], is_last)
        self._begins = supernodes.begins
        self._below = supernodes.below
        self._above = supernodes.above
        self.column_of = _inverse(supernodes.columns)[column]
        self._low = low
        self._high = high
        width = np.diff(self._begins).astype(np.int64)
        below = self._below
        self.entries = int((width * (width + 1) // 2 + width * below).sum())
        self.flops = float(
            (width * (width * (width / 3.0 + below) + below.astype(np.float64) ** 2)).sum()
        )
        self.front = int((below**2).max(initial=0))
        self.broad = int((below * width).max(initial=0))

    @cached_property
    def tree(self) -> Tree:
        """Rows of all supernodes; computed when a factor is made."""
        column_of = self.column_of
        graph = _graph(column_of[self._low], column_of[self._high], len(column_of))
        first = self._begins
        below = self._below
        above = self._above
        columns = np.diff(first)
        number = np.arange(len(below), dtype=np.int32)
        of = np.repeat(number, columns)
        row_start = np.append(0, np.cumsum(below))
        row = np.empty(row_start[-1], np.int32)
        square_start = np.full(len(below), -1, np.int64)
        kernels.supernode_rows(*graph, first, above, row_start, row)
        kernels.stacked(above, below, square_start)
        panel = np.append(0, np.cumsum(columns * (columns + below)))
        # rows are sorted inside each supernode
        self._rows = np.sort(_row_keys(np.repeat(number, below), row))
        # the low half of a key is the row, the high half its supernode
        return Tree(first, of, above, row_start, self._rows.astype(np.int32), panel, square_start)

    @cached_property
    def first_inverted(self) -> int:
        """The first supernode of which the inverse is computed: that of the first of the variables eliminated last."""
        return int(self.tree.of[self.column_of[self.last].min()]) if len(self.last) else 0

    @cached_property
    def squares(self) -> int:
        """Size of the stack of an inversion."""
        stacked = self.tree.square_start >= 0
        return int((self.tree.square_start + self._below**2)[stacked].max(initial=0))

    @cached_property
    def triangles(self) -> int:
        """Size of the stack of a factorisation, in which each supernode leaves a triangle for its parent."""
        above = self.tree.above
        size = self._below * (self._below + 1) // 2
        inner = above >= 0
        taken = np.zeros(len(size), np.int64)
        np.add.at(taken, above[inner], size[inner])
        return int(np.cumsum(size - taken).max(initial=0))

    @cached_property
    def entry(self) -> Places:
        """Panel positions of the distinct pairs."""
        return self.panel_positions(self._low, self._high)

    @cached_property
    def diagonal(self) -> Places:
        """Panel positions of the diagonal."""
        variables = np.arange(len(self.column_of), dtype=np.int32)
        return self.panel_positions(variables, variables)

    def panel_positions(self, first: Ends, second: Ends) -> Places:
        """Panel positions of joined pairs."""
        tree = self.tree
        first_column = self.column_of[first]
        second_column = self.column_of[second]
        low = np.minimum(first_column, second_column)
        high = np.maximum(first_column, second_column)
        node = tree.of[low]
        below = np.searchsorted(self._rows, _row_keys(node, high)) - tree.row_start[node]
        width = np.diff(tree.first)[node]
        begin = tree.first[node]
        at = np.where(high < begin + width, high - begin, width + below)
        return np.asarray(
            tree.panel[node] + (low - begin) * (width + self._below[node]) + at, np.int64
        )


_last: tuple[Ends, Ends, Pattern] | None = None


def pattern_of(first: Ends, second: Ends, n: int) -> Pattern:
    """Pattern of pairs; the last one is cached for fits of the same games."""
    global _last  # noqa: PLW0603
    if _last is not None:
        last_first, last_second, pattern = _last
        same_size = n == len(pattern.column_of)
        if same_size and np.array_equal(last_first, first) and np.array_equal(last_second, second):
            return pattern
    pattern = Pattern(first, second, n)
    _last = first, second, pattern
    return pattern


class _Graph(NamedTuple):
    """Joined variables: neighbours of i are `neighbours[begins[i]]` up to `neighbours[begins[i + 1]]`, ascending."""

    begins: Places
    neighbours: Ids


def _graph(low: Ids, high: Ids, n: int) -> _Graph:
    """The graph of distinct pairs of n variables."""
    one_way = low.astype(np.int64) * n + high
    other_way = high.astype(np.int64) * n + low
    keys = np.concatenate([one_way, other_way])
    keys.sort()
    variable, neighbours = np.divmod(keys, max(n, 1))
    begins = np.append(0, np.cumsum(np.bincount(variable, minlength=n)))
    return _Graph(begins, neighbours.astype(np.int32))


def _dissected(low: Ids, high: Ids, n: int) -> Ids:
    """Column of each variable by nested dissection, or by bandwidth where there is no METIS (Windows)."""
    if not len(low):  # METIS takes no empty graph
        return np.arange(n, dtype=np.int32)
    begins, neighbours = _graph(low, high, n)
    try:
        import pymetis
    except ImportError:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        joined = csr_array(
            (np.ones(len(neighbours), np.int8), neighbours, begins.astype(np.int32)), (n, n)
        )
        order = np.asarray(reverse_cuthill_mckee(joined, symmetric_mode=True), np.int32)
    else:
        dissected = pymetis.nested_dissection(pymetis.CSRAdjacency(begins, neighbours))
        order = np.asarray(dissected[0], np.int32)
    return _inverse(order)


def _dissected_before(low: Ids, high: Ids, n: int, last: Ends) -> Ids:
    """Column of each variable: nested dissection of all others, then those that are `last`."""
    is_other = np.ones(n, bool)
    is_other[last] = False
    number = np.cumsum(is_other, dtype=np.int32) - 1  # of the others
    joined = is_other[low] & is_other[high]
    column = np.empty(n, np.int32)
    column[is_other] = _dissected(number[low[joined]], number[high[joined]], n - len(last))
    column[last] = np.arange(n - len(last), n)
    return column


def _inverse(order: Ids) -> Ids:
    position = np.empty_like(order)
    position[order] = np.arange(len(order), dtype=order.dtype)
    return position


class _Supernodes(NamedTuple):
    """Supernodes in postorder.

    | name | shape | |
    |---|---|---|
    | columns | (n,) | the columns by supernode |
    | begins | (supernodes + 1,) | first column |
    | below | (supernodes,) | number of rows below |
    | above | (supernodes,) | parent, -1 at roots |
    """

    columns: Ids
    begins: Ids
    below: Places
    above: Ids


def _gathered(parent: Ids, count: Ids, is_last: Mask) -> _Supernodes:
    """Supernodes of columns that are in postorder; none has columns that are last and others."""
    goes_on = (parent[:-1] == np.arange(1, len(parent))) & (count[:-1] == count[1:] + 1)
    goes_on &= is_last[:-1] == is_last[1:]
    of = np.append(0, np.cumsum(~goes_on)).astype(np.int32)[: len(parent)]  # fundamental supernodes
    end_column = np.flatnonzero(np.append(~goes_on, True)[: len(parent)])
    above = np.where(parent[end_column] < 0, -1, of[parent[end_column]]).astype(np.int32)
    width = np.diff(end_column, prepend=-1).astype(np.int64)
    below = count[end_column].astype(np.int64) - 1
    into = np.empty_like(above)
    is_last_node = is_last[end_column]
    into_last = np.flatnonzero((above >= 0) & ~is_last_node & is_last_node[above])
    parents_of_these = above[into_last]
    above[into_last] = -1  # they stay apart
    kernels.gather(above, _ascending(below), width, below, into)
    above[into_last] = into[parents_of_these]
    joined = np.flatnonzero(into == np.arange(len(into)))
    number = np.full(len(into) + 1, -1, np.int32)  # the last is that of -1
    number[joined] = np.arange(len(joined), dtype=np.int32)
    order = np.empty(len(joined), np.int32)
    parents = number[above[joined]]
    kernels.postorder(parents, _ascending(below[joined]), order)
    position = np.append(_inverse(order), np.int32(-1))
    columns = _ascending(position[number[into[of]]])
    begins = np.append(0, np.cumsum(width[joined][order]))
    return _Supernodes(
        columns, begins.astype(np.int32), below[joined][order], position[parents[order]]
    )


def _row_keys(supernode: Ids, row: Ids) -> Places:
    """Rows below supernodes as integers that sort by supernode, then row."""
    keys: Places = supernode.astype(np.int64) << 32 | row
    return keys


def _ascending(weight: NDArray[np.integer]) -> Ids:
    return np.argsort(weight, kind="stable").astype(np.int32)


def affordable(pattern: Pattern) -> bool:
    """Whether a factor is within the limits of memory and time."""
    return pattern.entries <= MOST_ENTRIES and pattern.flops <= MOST_FLOPS


def require_affordable(pattern: Pattern, what: str, hint: str) -> None:
    """Raise ConfigError where a factor is not affordable."""
    if not affordable(pattern):
        raise ConfigError(
            f"{what} of {len(pattern.column_of):,} skills need a factor of {pattern.entries:,} numbers and "
            f"{pattern.flops:.1e} operations: at most {MOST_ENTRIES:,} and {MOST_FLOPS:.0e} are taken",
            hint=hint,
        )


class Factor:
    """L of A = L L^T, where A has `diagonal` (n,) and `above` at the pairs of `pattern`, in their order.

    With `once` the inverse replaces L and `solve` is not possible after it. Entries of the inverse are NaN in columns
    before those that the pattern eliminates last, if there are such. Raises LinAlgError unless A is positive definite.
    """

    def __init__(
        self, pattern: Pattern, above: Array, diagonal: Array, *, once: bool = False
    ) -> None:
        self._pattern = pattern
        self._once = once
        self._panels = np.zeros(pattern.tree.panel[-1])
        self._panels[pattern.entry] = np.bincount(pattern.pair, above, minlength=len(pattern.entry))
        self._panels[pattern.diagonal] = diagonal
        waiting = np.empty(pattern.triangles)
        front = np.empty(pattern.front)
        with _one_thread():
            failed = kernels.factorise(_blas()[0], pattern.tree, self._panels, waiting, front)
        if failed >= 0:
            raise np.linalg.LinAlgError("the matrix of a joint Gaussian is not positive definite")
        self.log_determinant = 2.0 * float(np.log(self._panels[pattern.diagonal]).sum())

    def solve(self, b: Array, *, forward: bool = True) -> Array:
        """A^-1 b for b of shape (n,) or (n, columns).

        Without `forward` L^-T b, which has covariance A^-1 where b is standard normal.
        """
        column_of = self._pattern.column_of
        x = np.empty((len(b), 1) if b.ndim == 1 else b.shape)
        x[column_of] = b.reshape(x.shape)
        with _one_thread():
            kernels.solve(_blas()[0], self._pattern.tree, self._panels, x, forward)
        return x[column_of].reshape(b.shape)

    @property
    def variances(self) -> Array:
        """The diagonal of A^-1, (n,)."""
        return self._inverse[self._pattern.diagonal]

    @property
    def joined(self) -> Array:
        """Entries of A^-1 at the pairs of `pattern`, in their order."""
        return self._inverse[self._pattern.entry][self._pattern.pair]

    def covariances(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> Array:
        """Entries of A^-1 at pairs of variables that `pattern` joins."""
        return self._inverse[self._pattern.panel_positions(first, second)]

    @cached_property
    def _inverse(self) -> Array:
        pattern = self._pattern
        tree = pattern.tree
        panels = self._panels if self._once else self._panels.copy()
        squares = np.empty(pattern.squares)
        front = np.empty(pattern.front)
        broad = np.empty(pattern.broad)
        with _one_thread():
            end = _from_supernode(tree, pattern.first_inverted)
            kernels.invert(_blas()[0], end, panels, squares, front, broad)
        panels[: tree.panel[pattern.first_inverted]] = np.nan
        return panels


def _from_supernode(tree: Tree, begin: int) -> Tree:
    """The supernodes of a tree from one on, in which are those above each."""
    above = np.where(tree.above[begin:] < 0, -1, tree.above[begin:] - begin).astype(np.int32)
    return tree._replace(
        first=tree.first[begin:],
        above=above,
        row_start=tree.row_start[begin:],
        panel=tree.panel[begin:],
        square_start=tree.square_start[begin:],
    )


@cache
def _blas() -> tuple[Blas, ThreadpoolController]:
    from numba.extending import get_cython_function_address

    blas = "scipy.linalg.cython_blas"
    lapack = "scipy.linalg.cython_lapack"
    for module in (blas, lapack):
        _load_without_package(module)
    addresses = []
    for name in Blas._fields:
        addresses.append(
            get_cython_function_address(lapack if name.startswith("po") else blas, f"d{name}")
        )
    return Blas(*addresses), ThreadpoolController()


def _load_without_package(name: str) -> None:
    """Load a compiled module of scipy that only has addresses of routines, unless it is loaded.

    The import of its package, scipy.linalg, takes as long as that of numba. Where the module is not in a file of its
    own, nothing is loaded, and numba imports it with the package.
    """
    import scipy

    if name in sys.modules:
        return
    folder = Path(scipy.__file__).parent.joinpath(*name.split(".")[1:-1])
    loader = (ExtensionFileLoader, EXTENSION_SUFFIXES)
    spec = FileFinder(str(folder), loader).find_spec(name)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module


def _one_thread() -> Any:
    """Limit BLAS to one thread: most supernodes are too small to share."""
    return _blas()[1].limit(limits=1, user_api="blas")
