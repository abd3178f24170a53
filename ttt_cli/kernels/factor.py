"""Cholesky factor of a sparse symmetric matrix: pattern, numbers, solutions, entries of the inverse.

The pattern: Davis 2005 (elimination tree, counts); Ashcraft and Grimes 1989 (supernodes with some zeros). The matrix
is a graph there: the neighbours of i are `neighbours[start[i]]` up to `neighbours[start[i + 1]]`, in both directions,
each once.

The numbers: multifrontal by supernodes (Duff and Reid 1983). The inverse: Takahashi, Fagan and Chen 1973, by
supernodes, from the root: with Z = A^-1 on the rows below and Y = L21 L11^-1, Z21 = -Z22 Y and Z11 = (L11 L11^T)^-1 -
Y^T Z21. BLAS and LAPACK are called by addresses passed in, so that compiled code on disk has none.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ttt_cli.kernels.arrays import Index, Places, Rows, Vector
from ttt_cli.kernels.compile import inner, kernel, span

BYTES: Final = ir.IntType(8).as_pointer()
LOWER, LEFT, RIGHT, PLAIN, TURNED, FULL = (np.uint8(ord(letter)) for letter in "LLRNTN")


class Blas(NamedTuple):
    """Addresses of Fortran routines for double precision."""

    potrf: int
    potri: int
    trsm: int
    syrk: int
    symm: int
    gemm: int


@inner
def pointer(array, index):
    """Address of an array entry."""
    return np.uintp(array.ctypes.data) + np.uintp(8) * np.uintp(index)


def _called(typing: Any, address: Any, arguments: Any) -> Any:
    """Call the routine at `address`: arguments by reference, integers as C's, addresses (uintp) unchanged."""

    def code(context: Any, builder: Any, _: Any, values: Any) -> Any:
        passed = []
        for index, argument_type in enumerate(arguments.types):
            value = builder.extract_value(values[1], index)
            if argument_type == types.uintp:
                passed.append(builder.inttoptr(value, BYTES))
                continue
            if argument_type == types.int64:
                value = builder.trunc(value, ir.IntType(32))
            slot = cgutils.alloca_once(builder, value.type)
            builder.store(value, slot)
            passed.append(builder.bitcast(slot, BYTES))
        routine = ir.FunctionType(ir.VoidType(), [BYTES] * len(passed))
        builder.call(builder.inttoptr(values[0], routine.as_pointer()), passed)
        return context.get_dummy_value()

    return types.void(address, arguments), code


call: Any = intrinsic(_called)


class Tree(NamedTuple):
    """Supernodes in postorder. A panel has a supernode's columns one after another: its own rows, then `row`.

    | name | shape | |
    |---|---|---|
    | first | (supernodes + 1,) | first column |
    | of | (n,) | supernode of each column |
    | above | (supernodes,) | supernode of its first row below, -1 at roots |
    | row_start | (supernodes + 1,) | start of its rows below |
    | row | (rows,) | these rows, ascending |
    | panel | (supernodes + 1,) | start of its panel |
    | square_start | (supernodes,) | position on a stack of its square of rows below, from the roots on; -1: unused |
    """

    first: Index
    of: Index
    above: Index
    row_start: Places
    row: Index
    panel: Places
    square_start: Places


MOVE = 20.0  # operations in the time that it takes to hand a number on
CALL = 5000.0  # and of starting a supernode


@kernel
def elimination_tree(start: Places, neighbours: Index, parent: Index, count: Index) -> None:
    """Fill `parent` (n,), the first row below the diagonal of each column of the factor, -1 if there is none.

    And `count` (n,), the entries of each column, diagonal included.
    """
    n = len(parent)
    mark = np.full(n, -1, np.int32)
    for i in range(n):
        parent[i] = -1
        mark[i] = i
        count[i] = 1
        for e in range(start[i], start[i + 1]):
            j = neighbours[e]
            while j < i and mark[j] != i:
                if parent[j] < 0:
                    parent[j] = i
                mark[j] = i
                count[j] += 1
                j = parent[j]


@kernel
def postorder(parent: Index, by_weight: Index, order: Index) -> None:
    """Fill `order` (n,) with the nodes of a forest, children before parents, of siblings the last `by_weight` first."""
    n = len(parent)
    first = np.full(n + 1, -1, np.int32)
    sibling = np.full(n, -1, np.int32)
    for k in range(n):
        i = by_weight[k]
        sibling[i] = first[parent[i]]
        first[parent[i]] = i
    done = 0
    stack = np.empty(n, np.int32)
    root = first[n]  # which is first[-1]
    while root >= 0:
        stack[0] = root
        depth = 1
        while depth:
            i = stack[depth - 1]
            child = first[i]
            if child >= 0:
                first[i] = sibling[child]
                stack[depth] = child
                depth += 1
            else:
                order[done] = i
                done += 1
                depth -= 1
        root = sibling[root]


@inner
def _work(width, below):
    """Operations of a supernode: its columns, the update of the rows below, and its transfer."""
    w = float(width)
    r = float(below)
    return w * w * (w / 3.0 + r) + w * r * r + MOVE * (r * r + w * (w + r)) + CALL


@kernel
def gather(above: Index, by_below: Index, width: Places, below: Places, into: Index) -> None:
    """Merge supernodes into their parents where the two are cheaper as one, zeros included: `into` (n,).

    In postorder, with `width` columns and rows `below`; of siblings the last `by_below` first. Supernodes not merged
    are their own `into`; their `above` and `width` are updated.
    """
    n = len(above)
    child = np.full(n, -1, np.int32)
    sibling = np.full(n, -1, np.int32)
    for k in range(n):
        s = by_below[k]
        if above[s] >= 0:
            sibling[s] = child[above[s]]
            child[above[s]] = s
    for p in range(n):
        into[p] = p
        c = child[p]
        while c >= 0:
            separate_cost = _work(width[c], below[c]) + _work(width[p], below[p])
            if _work(width[c] + width[p], below[p]) < separate_cost:
                width[p] += width[c]
                into[c] = p
            c = sibling[c]
    for s in range(n - 1, -1, -1):
        into[s] = into[into[s]]
        above[s] = into[above[s]] if above[s] >= 0 else -1


@inner
def _add_below(candidates, begin, last, s, least, mark, row, end):
    """Append candidates from `least` on that are not marked with s; returns the new end."""
    for k in range(begin, last):
        i = candidates[k]
        if i >= least and mark[i] != s:
            mark[i] = s
            row[end] = i
            end += 1
    return end


@kernel
def supernode_rows(
    start: Places, neighbours: Index, first: Index, above: Index, row_start: Places, row: Index
) -> None:
    """Fill `row` with the rows of all supernodes below their own columns; the arrays are those of `Tree`.

    The rows of s are `row[row_start[s]]` up to `row_start[s + 1]`, unsorted.
    """
    mark = np.full(first[-1], -1, np.int32)
    child = np.full(len(above), -1, np.int32)
    sibling = np.full(len(above), -1, np.int32)
    for s in range(len(above)):
        end = row_start[s]
        least = first[s + 1]
        end = _add_below(neighbours, start[first[s]], start[least], s, least, mark, row, end)
        c = child[s]
        while c >= 0:
            end = _add_below(row, row_start[c], row_start[c + 1], s, least, mark, row, end)
            c = sibling[c]
        if above[s] >= 0:
            sibling[s] = child[above[s]]
            child[above[s]] = s


@kernel
def stacked(above: Index, below: Places, square_start: Places) -> None:
    """Fill `square_start` with positions on a stack, from the roots on; the last child reuses its parent's."""
    count = len(above)
    first = np.full(count, -1, np.int32)
    for s in range(count - 1, -1, -1):
        if above[s] >= 0:
            first[above[s]] = s
    for s in range(count - 1, -1, -1):
        if first[s] >= 0:
            p = above[s]
            square_start[s] = 0
            if p >= 0:
                square_start[s] = square_start[p]
                if first[p] != s:
                    square_start[s] += below[p] * below[p]
        else:
            square_start[s] = -1


@inner
def _shape(tree, s):
    """(columns, rows below, start of the panel, start of the rows) of a supernode."""
    begin = tree.row_start[s]
    return (
        np.int64(tree.first[s + 1] - tree.first[s]),
        tree.row_start[s + 1] - begin,
        tree.panel[s],
        begin,
    )


@inner
def _locate(tree, s, p, local):
    """Fill `local` with the rows below of s as rows of the front of p, the supernode above."""
    first = tree.first[p]
    width = np.int64(tree.first[p + 1] - tree.first[p])
    begin = tree.row_start[p]
    at = begin
    for k in range(tree.row_start[s], tree.row_start[s + 1]):
        i = tree.row[k]
        if i < first + width:
            local[k - tree.row_start[s]] = i - first
        else:
            while tree.row[at] < i:
                at += 1
            local[k - tree.row_start[s]] = width + at - begin


@inner
def _copy(count, source, begin, target, to):
    """Copy `count` numbers; slices would compile much more slowly."""
    for k in span(0, count):
        target[np.uintp(to) + k] = source[np.uintp(begin) + k]


@kernel
def factorise(blas: Blas, tree: Tree, panels: Vector, stack: Vector, front: Vector) -> int:
    """Turn the lower triangle of A in `panels` into L; returns -1, or the first supernode where A is not definite.

    `stack` has the triangles of children by columns, `front` (rows^2,) the current one.
    """
    count = len(tree.above)
    last_child = np.full(count, -1, np.int32)
    before = np.full(count, -1, np.int32)
    local = np.empty(len(tree.row) + 1, np.int64)
    info = np.zeros(1, np.int64)
    top = 0
    for s in range(count):
        width, below, at, _ = _shape(tree, s)
        rows = width + below
        for k in span(0, below * below):
            front[k] = 0.0
        c = last_child[s]
        while c >= 0:
            size = tree.row_start[c + 1] - tree.row_start[c]
            _locate(tree, np.int64(c), s, local)
            top -= size * (size + 1) // 2
            source = top
            for a in range(size):
                into = local[a]
                if into < width:
                    column = at + into * rows
                    for b in range(a, size):
                        panels[column + local[b]] += stack[source + b - a]
                else:
                    column = (into - width) * below - width
                    for b in range(a, size):
                        front[column + local[b]] += stack[source + b - a]
                source += size - a
            c = before[c]
        diagonal_block = pointer(panels, at)
        call(blas.potrf, (LOWER, width, diagonal_block, rows, pointer(info, 0)))
        if info[0] != 0:
            return s
        if below:
            lower_block = pointer(panels, at + width)
            square = pointer(front, 0)
            call(
                blas.trsm,
                (
                    RIGHT,
                    LOWER,
                    TURNED,
                    FULL,
                    below,
                    width,
                    1.0,
                    diagonal_block,
                    rows,
                    lower_block,
                    rows,
                ),
            )
            call(
                blas.syrk, (LOWER, PLAIN, below, width, -1.0, lower_block, rows, 1.0, square, below)
            )
            for a in range(below):
                _copy(below - a, front, a * below + a, stack, top)
                top += below - a
        p = tree.above[s]
        if p >= 0:
            before[s] = last_child[p]
            last_child[p] = s
    return -1


@kernel
def solve(blas: Blas, tree: Tree, panels: Vector, x: Rows, forward: bool) -> None:
    """Solve A y = x, or if not `forward` L^T y = x, in place for all columns of `x` (n, columns)."""
    columns = x.shape[1]
    part = np.empty((len(tree.row) + 1, columns))
    count = len(tree.above)
    for turn in range(count if forward else 0):
        width, below, at, begin = _shape(tree, turn)
        rows = width + below
        x_block = pointer(x, tree.first[turn] * columns)
        call(
            blas.trsm,
            (
                RIGHT,
                LOWER,
                TURNED,
                FULL,
                columns,
                width,
                1.0,
                pointer(panels, at),
                rows,
                x_block,
                columns,
            ),
        )
        if below:
            call(
                blas.gemm,
                (
                    PLAIN, TURNED, columns, below, width, 1.0, x_block, columns,
                    pointer(panels, at + width), rows, 0.0, pointer(part, 0), columns,
                ),
            )  # fmt: skip
            for k in range(below):
                for c in range(columns):
                    x[tree.row[begin + k], c] -= part[k, c]
    for turn in range(count):
        s = count - 1 - turn
        width, below, at, begin = _shape(tree, s)
        rows = width + below
        x_block = pointer(x, tree.first[s] * columns)
        if below:
            for k in range(below):
                for c in range(columns):
                    part[k, c] = x[tree.row[begin + k], c]
            call(
                blas.gemm,
                (
                    PLAIN, PLAIN, columns, width, below, -1.0, pointer(part, 0), columns,
                    pointer(panels, at + width), rows, 1.0, x_block, columns,
                ),
            )  # fmt: skip
        call(
            blas.trsm,
            (
                RIGHT,
                LOWER,
                PLAIN,
                FULL,
                columns,
                width,
                1.0,
                pointer(panels, at),
                rows,
                x_block,
                columns,
            ),
        )


@kernel
def invert(blas: Blas, tree: Tree, panels: Vector, stack: Vector, front: Vector, y: Vector) -> None:
    """Turn L in `panels` into the entries of A^-1 there; the rest is work space, `stack` as in `tree.square_start`."""
    local = np.empty(len(tree.row) + 1, np.int64)
    info = np.zeros(1, np.int64)
    for turn in range(len(tree.above)):
        s = len(tree.above) - 1 - turn
        width, below, at, _ = _shape(tree, s)
        rows = width + below
        diagonal_block = pointer(panels, at)
        if below:
            p = np.int64(tree.above[s])
            width_p, below_p, at_p, _ = _shape(tree, p)
            rows_p = width_p + below_p
            _locate(tree, s, p, local)
            for a in range(below):
                source = local[a]
                if source < width_p:
                    column = at_p + source * rows_p
                    for b in range(a, below):
                        front[a * below + b] = panels[column + local[b]]
                else:
                    column = tree.square_start[p] + (source - width_p) * below_p - width_p
                    for b in range(a, below):
                        front[a * below + b] = stack[column + local[b]]
            square_start = tree.square_start[s]
            if square_start >= 0:
                _copy(below * below, front, 0, stack, square_start)
            for j in range(width):
                _copy(below, panels, at + j * rows + width, y, j * below)
            call(
                blas.trsm,
                (
                    RIGHT,
                    LOWER,
                    PLAIN,
                    FULL,
                    below,
                    width,
                    1.0,
                    diagonal_block,
                    rows,
                    pointer(y, 0),
                    below,
                ),
            )
            call(
                blas.symm,
                (
                    LEFT, LOWER, below, width, -1.0, pointer(front, 0), below,
                    pointer(y, 0), below, 0.0, pointer(panels, at + width), rows,
                ),
            )  # fmt: skip
        call(blas.potri, (LOWER, width, diagonal_block, rows, pointer(info, 0)))
        if below:
            call(
                blas.gemm,
                (
                    TURNED, PLAIN, width, width, below, -1.0, pointer(y, 0), below,
                    pointer(panels, at + width), rows, 1.0, diagonal_block, rows,
                ),
            )  # fmt: skip
