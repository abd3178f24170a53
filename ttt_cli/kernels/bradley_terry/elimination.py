"""Sparse symmetric matrices: which variables to eliminate first, and the elimination, A = L D L^T.

The variables with few neighbours go first, by minimum degree (Tinney and Walker 1967; Markowitz 1957), each leaving its
neighbours joined to one another. What is left when all have many neighbours, the core, is dense and no matter of
these kernels. Position is the place in the order of elimination; positions from m on are the core.
Columns are held one after the other: that of position j lies from `column[j]` to `column[j + 1]`.
"""

from __future__ import annotations

import numpy as np

from ttt_cli.kernels.compile import inner, kernel


@inner
def _put(node, degree, head, above, below):
    """Enter a node in the list of its degree."""
    top = head[degree]
    above[node] = -1
    below[node] = top
    if top >= 0:
        above[top] = node
    head[degree] = node


@inner
def _take(node, degree, head, above, below):
    """Remove a node from the list of its degree."""
    up, down = above[node], below[node]
    if up >= 0:
        below[up] = down
    else:
        head[degree] = down
    if down >= 0:
        above[down] = up


@inner
def _moved(pool, used, begin, room, node, length, needed):
    """(pool, used) with the list of `node` moved to where it has room for `needed` entries and as many again."""
    if used + 2 * needed > len(pool):
        larger = np.empty(2 * len(pool) + 2 * needed, np.int32)
        larger[:used] = pool[:used]
        pool = larger
    pool[used : used + length] = pool[begin[node] : begin[node] + length]
    begin[node] = used
    room[node] = 2 * needed
    return pool, used + 2 * needed


@inner
def _join(pool, begin, length, node, pivot, others, mark, stamp):
    """In the list of `node`, put those of `others` that are not there yet in the place of `pivot`; its new length."""
    at = begin[node]
    end = at
    mark[node] = stamp
    mark[pivot] = stamp
    for p in range(at, at + length):
        neighbour = pool[p]
        if neighbour != pivot:
            mark[neighbour] = stamp
            pool[end] = neighbour
            end += 1
    for other in others:
        if mark[other] != stamp:
            pool[end] = other
            end += 1
    return end - at


@kernel("Tuple((int32[::1], int64[::1], int32[::1]))(int64[::1], int32[::1], float64, int64)")
def minimum_degree(start, neighbours, share, least_core):
    """The order of elimination of a graph, and for each eliminated node its neighbours then, by node.

    The neighbours of i are `neighbours[start[i]]` up to `start[i + 1]`, each once. It ends when more than `least_core`
    nodes are left and each has more than `share` of them as neighbours. Returns (order, column, rows): nodes by
    position, and where the neighbours `rows` of each eliminated one begin.
    """
    n = len(start) - 1
    head = np.full(max(n, 1), -1, np.int32)
    above, below = np.empty(n, np.int32), np.empty(n, np.int32)
    begin, room = start[:-1].copy(), np.diff(start)
    degree = room.copy()
    used = len(neighbours)
    pool = np.empty(2 * used + 64, np.int32)
    pool[:used] = neighbours
    mark = np.full(n, -1, np.int64)
    order, place = np.empty(n, np.int32), np.full(n, -1, np.int32)
    column = np.zeros(n + 1, np.int64)
    rows = np.empty(2 * used + 64, np.int32)
    for i in range(n - 1, -1, -1):
        _put(i, degree[i], head, above, below)
    stamp, least, done = 0, 0, 0
    while done < n:
        while head[least] < 0:
            least += 1
        if n - done > least_core and least > share * (n - done):
            break
        pivot = head[least]
        _take(pivot, least, head, above, below)
        end = column[done] + least
        if end > len(rows):
            larger = np.empty(2 * end, np.int32)
            larger[: column[done]] = rows[: column[done]]
            rows = larger
        rows[column[done] : end] = pool[begin[pivot] : begin[pivot] + least]
        others = rows[column[done] : end]
        order[done], place[pivot] = pivot, done
        done += 1
        column[done] = end
        for node in others:
            _take(node, degree[node], head, above, below)
            needed = degree[node] + len(others)
            if needed > room[node]:
                pool, used = _moved(pool, used, begin, room, node, degree[node], needed)
            degree[node] = _join(pool, begin, degree[node], node, pivot, others, mark, stamp)
            stamp += 1
            _put(node, degree[node], head, above, below)
            least = min(least, degree[node])
    m = done
    for i in range(n):
        if place[i] < 0:
            order[done] = i
            done += 1
    return order, column[: m + 1].copy(), rows[: column[m]].copy()


@inner
def _queue(k, at, end, row, m, head, following):
    """Let column k wait for its next row, if that is eliminated too."""
    if at < end and row[at] < m:
        following[k] = head[row[at]]
        head[row[at]] = k


@kernel(
    "void(int64[::1], int32[::1], int64[::1], int32[::1], float64[::1], float64[::1], float64[::1], float64[::1], "
    "float64[:, ::1])"
)
def eliminate(column, row, entry_start, entry_row, entry, diagonal, lower, pivot, core):
    """Fill `lower` (L below its diagonal, in the places of `row`) and `pivot` (D), and take their part off `core`.

    All by position, rows ascending. The matrix below its diagonal has `entry` in `entry_row`, by columns; `core`
    holds its core part, of which the upper triangle is used. Left-looking: a column is made from all before it.
    """
    m = len(pivot)
    work = np.zeros(m + len(core))
    head, following = np.full(m, -1, np.int64), np.full(m, -1, np.int64)
    at = column[:m].copy()
    for j in range(m):
        for e in range(entry_start[j], entry_start[j + 1]):
            work[entry_row[e]] += entry[e]
        rest = diagonal[j]
        k = head[j]
        while k >= 0:
            after = following[k]
            p = at[k]
            scaled = lower[p] * pivot[k]
            rest -= scaled * lower[p]
            for q in range(p + 1, column[k + 1]):
                work[row[q]] -= scaled * lower[q]
            at[k] = p + 1
            _queue(k, p + 1, column[k + 1], row, m, head, following)
            k = after
        pivot[j] = rest
        for p in range(column[j], column[j + 1]):
            lower[p] = work[row[p]] / rest
            work[row[p]] = 0.0
        _queue(j, column[j], column[j + 1], row, m, head, following)
    for k in range(m):
        for p in range(at[k], column[k + 1]):
            scaled = lower[p] * pivot[k]
            for q in range(p, column[k + 1]):
                core[row[p] - m, row[q] - m] -= scaled * lower[q]


@kernel("void(int64[::1], int32[::1], float64[::1], float64[::1])")
def forward(column, row, lower, x):
    """Solve L y = x in place, the core as it is."""
    for j in range(len(column) - 1):
        for p in range(column[j], column[j + 1]):
            x[row[p]] -= lower[p] * x[j]


@kernel("void(int64[::1], int32[::1], float64[::1], float64[::1], float64[::1])")
def backward(column, row, lower, pivot, x):
    """Solve D L^T x = y in place, where the core already holds its solution."""
    for j in range(len(pivot) - 1, -1, -1):
        value = x[j] / pivot[j]
        for p in range(column[j], column[j + 1]):
            value -= lower[p] * x[row[p]]
        x[j] = value
