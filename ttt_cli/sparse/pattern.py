"""The shape of a sparse symmetric matrix and of its factor, before any number is known."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.joint.structures import Tree

Ints = NDArray[np.int32]
Places = NDArray[np.int64]
Graph = tuple[Places, Ints]
Ends = NDArray[np.integer]


class Pattern:
    """Which pairs of n variables are joined, the order of elimination, and the supernodes of the factor.

    Pairs may recur. `entries` are the numbers that the factor holds, `flops` the multiplications that it takes; both
    are known before anything is allocated for them.

    | name | shape | |
    |---|---|---|
    | place | (n,) | the column of each variable |
    | pair | (pairs,) | which distinct pair each is |
    | front, broad | | sizes of working space (`kernels/joint/factor.py`) |
    """

    def __init__(self, first: Ends, second: Ends, n: int) -> None:
        keys = np.minimum(first, second).astype(np.int64) * n + np.maximum(first, second)
        distinct, self.pair = np.unique(keys, return_inverse=True)
        low, high = (part.astype(np.int32) for part in np.divmod(distinct, max(n, 1)))
        place, parent, count = _forest(low, high, _dissected(low, high, n))
        columns, self._begins, self._below = _gathered(parent, count)
        self.place = _inverse(columns)[place]
        self._low, self._high = low, high
        width, below = np.diff(self._begins).astype(np.int64), self._below
        self.entries = int((width * (width + 1) // 2 + width * below).sum())
        self.flops = float((width * (width * (width / 3.0 + below) + below.astype(np.float64) ** 2)).sum())
        self.front = int((below**2).max(initial=0))
        self.broad = int((below * width).max(initial=0))

    @cached_property
    def tree(self) -> Tree:
        """The rows of all supernodes: made when a factor is, since they may be many."""
        graph = _neighbours(self.place[self._low], self.place[self._high], len(self.place))
        return _tree(graph, self._begins, self._below)

    @cached_property
    def squares(self) -> int:
        """Numbers that an inversion keeps at once."""
        kept = self.tree.kept >= 0
        return int((self.tree.kept + self._below**2)[kept].max(initial=0))

    @cached_property
    def triangles(self) -> int:
        """Numbers that a factorisation keeps at once."""
        return _most_waiting(self.tree.above, self._below * (self._below + 1) // 2)

    @cached_property
    def entry(self) -> Places:
        """Where the panels hold the distinct pairs."""
        return self.places(self._low, self._high)

    @cached_property
    def diagonal(self) -> Places:
        """Where they hold every variable with itself."""
        return self.places(*[np.arange(len(self.place), dtype=np.int32)] * 2)

    def places(self, first: Ends, second: Ends) -> Places:
        """Where the panels hold entries at pairs of variables that are joined."""
        from ttt_cli.kernels.joint import symbolic

        one, other = self.place[first], self.place[second]
        found = np.empty(len(one), np.int64)
        symbolic.places(self.tree, np.minimum(one, other), np.maximum(one, other), found)
        return found


_last: tuple[Ends, Ends, Pattern] | None = None


def pattern_of(first: Ends, second: Ends, n: int) -> Pattern:
    """The pattern of pairs; the last one is kept, since fits of the same games at many parameters ask for it again."""
    global _last  # noqa: PLW0603
    if _last and n == len(_last[2].place) and all(map(np.array_equal, _last[:2], (first, second))):
        return _last[2]
    pattern = Pattern(first, second, n)
    _last = first, second, pattern
    return pattern


def _neighbours(low: Ints, high: Ints, n: int) -> Graph:
    """Where the neighbours of each variable begin, and the neighbours."""
    from scipy.sparse import coo_array

    graph = coo_array(
        (np.ones(2 * len(low), np.int8), (np.append(low, high), np.append(high, low))), (n, n)
    ).tocsr()
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int32)


def _dissected(low: Ints, high: Ints, n: int) -> Ints:
    """The column of each variable by nested dissection; by bandwidth where there is no METIS, as on Windows."""
    if not len(low):  # METIS takes no empty graph
        return np.arange(n, dtype=np.int32)
    begins, neighbours = _neighbours(low, high, n)
    try:
        import pymetis
    except ImportError:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        joined = csr_array((np.ones(len(neighbours), np.int8), neighbours, begins.astype(np.int32)), (n, n))
        order = np.asarray(reverse_cuthill_mckee(joined, symmetric_mode=True), np.int32)
    else:
        dissected = pymetis.nested_dissection(pymetis.CSRAdjacency(begins, neighbours))
        order = np.asarray(dissected[0], np.int32)
    return _inverse(order)


def _forest(low: Ints, high: Ints, place: Ints) -> tuple[Ints, Ints, Ints]:
    """`place` in postorder, and by column: the parent in the elimination tree, and how many entries it has."""
    from ttt_cli.kernels.joint import symbolic

    n = len(place)
    graph = _neighbours(place[low], place[high], n)
    parent, count, order = np.empty((3, n), np.int32)
    symbolic.elimination_tree(*graph, parent)
    symbolic.postorder(parent, np.arange(n, dtype=np.int32), order)
    symbolic.column_counts(*graph, parent, order, count)
    turned, above = _inverse(order), parent[order]
    return turned[place], np.where(above < 0, -1, turned[above]).astype(np.int32), count[order]


def _inverse(order: Ints) -> Ints:
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=order.dtype)
    return place


def _gathered(parent: Ints, count: Ints) -> tuple[Ints, Ints, Places]:
    """The order of columns by supernode; the first column of each supernode and its rows below."""
    from ttt_cli.kernels.joint import symbolic

    of, above, width, below = _fundamental(parent, count)
    into = np.empty_like(above)
    symbolic.gather(above, _ascending(below), width, below, into)
    joined = np.flatnonzero(into == np.arange(len(into)))
    number = np.full(len(into) + 1, -1, np.int32)  # the last is that of -1
    number[joined] = np.arange(len(joined), dtype=np.int32)
    order = np.empty(len(joined), np.int32)
    symbolic.postorder(number[above[joined]], _ascending(below[joined]), order)
    columns = _ascending(_inverse(order)[number[into[of]]])
    return columns, np.append(0, np.cumsum(width[joined][order])).astype(np.int32), below[joined][order]


def _fundamental(parent: Ints, count: Ints) -> tuple[Ints, Ints, Places, Places]:
    """Supernodes of equal rows, of columns in postorder: that of each column, those above, columns, rows below."""
    goes_on = (parent[:-1] == np.arange(1, len(parent))) & (count[:-1] == count[1:] + 1)
    of = np.append(0, np.cumsum(~goes_on)).astype(np.int32)[: len(parent)]
    last = np.flatnonzero(np.append(~goes_on, True)[: len(parent)])
    above = np.where(parent[last] < 0, -1, of[parent[last]]).astype(np.int32)
    return of, above, np.diff(last, prepend=-1).astype(np.int64), count[last].astype(np.int64) - 1


def _ascending(weight: NDArray[np.integer]) -> Ints:
    return np.argsort(weight, kind="stable").astype(np.int32)


def _tree(graph: Graph, first: Ints, below: Places) -> Tree:
    from ttt_cli.kernels.joint import symbolic

    columns, number = np.diff(first), np.arange(len(below), dtype=np.int32)
    of, row_start = np.repeat(number, columns), np.append(0, np.cumsum(below))
    row, above = np.empty(row_start[-1], np.int32), np.empty(len(below), np.int32)
    symbolic.supernode_rows(*graph, first, of, row_start, row, above)
    kept = np.full(len(below), -1, np.int64)
    symbolic.stacked(above, below, kept)
    panel = np.append(0, np.cumsum(columns * (columns + below)))
    return Tree(first, of, above, row_start, _sorted_within(number, below, row), panel, kept)


def _sorted_within(number: Ints, size: Places, row: Ints) -> Ints:
    """The rows of each supernode, `size` of them one after the other, ascending."""
    keys = np.repeat(number.astype(np.int64) << 32, size) | row
    keys.sort()
    return keys.astype(np.int32)  # the low half


def _most_waiting(above: Ints, size: Places) -> int:
    """The most numbers that wait for the supernode above at once, if each hands on so many."""
    inner = above >= 0
    taken = np.zeros(len(size), np.int64)
    np.add.at(taken, above[inner], size[inner])
    return int(np.cumsum(size - taken).max(initial=0))
