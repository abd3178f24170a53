"""The Cholesky factor of a sparse matrix, the solution of systems by it, and the entries of the inverse that it needs.

Multifrontal by supernodes (Duff and Reid 1983): what a supernode takes off the rows below it is handed to the one above
in a dense triangle. The inverse goes the other way (Takahashi, Fagan and Chen 1973, by supernodes): Z = A^-1 on the
rows below is known from above, and with Y = L21 L11^-1 it is Z21 = -Z22 Y and Z11 = (L11 L11^T)^-1 - Y^T Z21.
"""

import numpy as np

from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.compile import inner, kernel, span
from ttt_cli.kernels.joint.blas import FULL, LEFT, LOWER, PLAIN, RIGHT, TURNED, Blas, call, pointer
from ttt_cli.kernels.joint.structures import Tree


@inner
def _shape(tree, s):
    """(columns, rows below, where the panel and the rows begin) of a supernode."""
    begin = tree.row_start[s]
    return np.int64(tree.first[s + 1] - tree.first[s]), tree.row_start[s + 1] - begin, tree.panel[s], begin


@inner
def _locate(tree, s, p, local):
    """Fill `local` with the rows below of s as rows of the front of p, the supernode above."""
    first, width, begin = tree.first[p], np.int64(tree.first[p + 1] - tree.first[p]), tree.row_start[p]
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
    """Copy so many numbers; slices would bring much more to compile."""
    for k in span(0, count):
        target[np.uintp(to) + k] = source[np.uintp(begin) + k]


@kernel
def factorise(blas: Blas, tree: Tree, panels: Vector, stack: Vector, front: Vector) -> int:
    """Turn the lower triangle of A in `panels` into L; returns -1, or the first supernode where A is not definite.

    `stack` holds triangles that wait for the supernode above, by columns, `front` (rows^2,) the present one.
    """
    count = len(tree.above)
    last_child, before = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
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
        own = pointer(panels, at)
        call(blas.potrf, (LOWER, width, own, rows, pointer(info, 0)))
        if info[0] != 0:
            return s
        if below:
            others, square = pointer(panels, at + width), pointer(front, 0)
            call(blas.trsm, (RIGHT, LOWER, TURNED, FULL, below, width, 1.0, own, rows, others, rows))
            call(blas.syrk, (LOWER, PLAIN, below, width, -1.0, others, rows, 1.0, square, below))
            for a in range(below):
                _copy(below - a, front, a * below + a, stack, top)
                top += below - a
        p = tree.above[s]
        if p >= 0:
            before[s] = last_child[p]
            last_child[p] = s
    return -1


@kernel
def log_determinant(tree: Tree, panels: Vector) -> float:
    """log |A| of A = L L^T."""
    total = 0.0
    for s in range(len(tree.above)):
        width, below, at, _ = _shape(tree, s)
        for j in range(width):
            total += np.log(panels[at + j * (width + below) + j])
    return 2.0 * total


@kernel
def solve(blas: Blas, tree: Tree, panels: Vector, x: Rows, forward: bool) -> None:
    """Solve A y = x, or if not `forward` L^T y = x, in place for all columns of `x` (n, columns)."""
    columns = x.shape[1]
    part = np.empty((len(tree.row) + 1, columns))
    count = len(tree.above)
    for turn in range(count if forward else 0):
        width, below, at, begin = _shape(tree, turn)
        rows, own = width + below, pointer(x, tree.first[turn] * columns)
        call(
            blas.trsm,
            (RIGHT, LOWER, TURNED, FULL, columns, width, 1.0, pointer(panels, at), rows, own, columns),
        )
        if below:
            call(
                blas.gemm,
                (
                    PLAIN, TURNED, columns, below, width, 1.0, own, columns,
                    pointer(panels, at + width), rows, 0.0, pointer(part, 0), columns,
                ),
            )  # fmt: skip
            for k in range(below):
                for c in range(columns):
                    x[tree.row[begin + k], c] -= part[k, c]
    for turn in range(count):
        s = count - 1 - turn
        width, below, at, begin = _shape(tree, s)
        rows, own = width + below, pointer(x, tree.first[s] * columns)
        if below:
            for k in range(below):
                for c in range(columns):
                    part[k, c] = x[tree.row[begin + k], c]
            call(
                blas.gemm,
                (
                    PLAIN, PLAIN, columns, width, below, -1.0, pointer(part, 0), columns,
                    pointer(panels, at + width), rows, 1.0, own, columns,
                ),
            )  # fmt: skip
        call(
            blas.trsm,
            (RIGHT, LOWER, PLAIN, FULL, columns, width, 1.0, pointer(panels, at), rows, own, columns),
        )


@kernel
def invert(blas: Blas, tree: Tree, panels: Vector, stack: Vector, front: Vector, y: Vector) -> None:
    """Turn L in `panels` into the entries of A^-1 there; the rest is working space, `stack` as `tree.kept` says."""
    local = np.empty(len(tree.row) + 1, np.int64)
    info = np.zeros(1, np.int64)
    for turn in range(len(tree.above)):
        s = len(tree.above) - 1 - turn
        width, below, at, _ = _shape(tree, s)
        rows, own = width + below, pointer(panels, at)
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
                    column = tree.kept[p] + (source - width_p) * below_p - width_p
                    for b in range(a, below):
                        front[a * below + b] = stack[column + local[b]]
            kept = tree.kept[s]
            if kept >= 0:
                _copy(below * below, front, 0, stack, kept)
            for j in range(width):
                _copy(below, panels, at + j * rows + width, y, j * below)
            call(blas.trsm, (RIGHT, LOWER, PLAIN, FULL, below, width, 1.0, own, rows, pointer(y, 0), below))
            call(
                blas.symm,
                (
                    LEFT, LOWER, below, width, -1.0, pointer(front, 0), below,
                    pointer(y, 0), below, 0.0, pointer(panels, at + width), rows,
                ),
            )  # fmt: skip
        call(blas.potri, (LOWER, width, own, rows, pointer(info, 0)))
        if below:
            call(
                blas.gemm,
                (
                    TURNED, PLAIN, width, width, below, -1.0, pointer(y, 0), below,
                    pointer(panels, at + width), rows, 1.0, own, rows,
                ),
            )  # fmt: skip
