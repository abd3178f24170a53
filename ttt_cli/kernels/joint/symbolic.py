"""The factor of a sparse symmetric matrix before its numbers are known: elimination tree, counts, supernodes, rows.

Liu 1990 (tree); Gilbert, Ng and Peyton 1994 (counts); Ashcraft and Grimes 1989 (supernodes with some zeros).
The matrix is a graph: the neighbours of i are `neighbours[start[i]]` up to `start[i + 1]`, both ways, each once.
"""

import numpy as np

from ttt_cli.kernels.arrays import Index, Places
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.joint.structures import Tree

MOVE = 20.0  # operations in the time that it takes to hand a number on
CALL = 5000.0  # and to begin with a supernode


@kernel
def elimination_tree(start: Places, neighbours: Index, parent: Index) -> None:
    """Fill `parent` (n,): the first row below the diagonal of each column of the factor, -1 if there is none."""
    n = len(parent)
    ancestor = np.full(n, -1, np.int32)
    for i in range(n):
        parent[i] = -1
        for e in range(start[i], start[i + 1]):
            j = neighbours[e]
            while j >= 0 and j < i:
                above = ancestor[j]
                ancestor[j] = i
                if above < 0:
                    parent[j] = i
                j = above


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
def _common(i, ancestor):
    """The root of the set of i, with the way there made short."""
    root = i
    while root != ancestor[root]:
        root = ancestor[root]
    while i != root:
        i, ancestor[i] = ancestor[i], root
    return root


@kernel
def column_counts(start: Places, neighbours: Index, parent: Index, order: Index, count: Index) -> None:
    """Fill `count` (n,) with the entries of each column of the factor, the diagonal one too; `order` is a postorder."""
    n = len(parent)
    first, last_first = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    last_leaf, ancestor = np.full(n, -1, np.int32), np.empty(n, np.int32)
    for k in range(n):
        ancestor[k] = k
        j = order[k]
        count[j] = 1 if first[j] < 0 else 0
        while j >= 0 and first[j] < 0:
            first[j] = k
            j = parent[j]
    for k in range(n):
        j = order[k]
        if parent[j] >= 0:
            count[parent[j]] -= 1
        for e in range(start[j], start[j + 1]):
            i = neighbours[e]
            if i <= j or first[j] <= last_first[i]:
                continue
            last_first[i] = first[j]
            before = last_leaf[i]
            last_leaf[i] = j
            count[j] += 1
            if before >= 0:
                count[_common(before, ancestor)] -= 1
        if parent[j] >= 0:
            ancestor[j] = parent[j]
    for k in range(n):
        j = order[k]
        if parent[j] >= 0:
            count[parent[j]] += count[j]


@inner
def _work(width, below):
    """What a supernode takes, operations: its columns, what it takes off the rows below, and handing that on."""
    w, r = float(width), float(below)
    return w * w * (w / 3.0 + r) + w * r * r + MOVE * (r * r + w * (w + r)) + CALL


@kernel
def gather(above: Index, by_below: Index, width: Places, below: Places, into: Index) -> None:
    """Let supernodes join those above them where the two take less work as one, zeros and all: `into` (n,).

    In postorder, with `width` columns and rows `below`; of the children of one the last `by_below` first. Supernodes
    that join nothing are their own `into`; of those, `above` and `width` become what they are then.
    """
    n = len(above)
    child, sibling = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    for k in range(n):
        s = by_below[k]
        if above[s] >= 0:
            sibling[s] = child[above[s]]
            child[above[s]] = s
    for p in range(n):
        into[p] = p
        c = child[p]
        while c >= 0:
            apart = _work(width[c], below[c]) + _work(width[p], below[p])
            if _work(width[c] + width[p], below[p]) < apart:
                width[p] += width[c]
                into[c] = p
            c = sibling[c]
    for s in range(n - 1, -1, -1):
        into[s] = into[into[s]]
        above[s] = into[above[s]] if above[s] >= 0 else -1


@inner
def _add_below(candidates, begin, last, s, least, mark, row, end):
    """Put those candidates from `least` on that are not yet marked with s behind the rows so far; returns their end."""
    for k in range(begin, last):
        i = candidates[k]
        if i >= least and mark[i] != s:
            mark[i] = s
            row[end] = i
            end += 1
    return end


@kernel
def supernode_rows(
    start: Places, neighbours: Index, first: Index, of: Index, row_start: Places, row: Index, above: Index
) -> None:
    """Fill `row` with the rows of all supernodes below their own columns, and `above` (supernodes,).

    The rows of s are `row[row_start[s]]` up to `row_start[s + 1]`, in no order; `above` is the supernode of the least,
    -1 at roots. `of` (n,) is the supernode of each column.
    """
    mark = np.full(len(of), -1, np.int32)
    child, sibling = np.full(len(above), -1, np.int32), np.full(len(above), -1, np.int32)
    for s in range(len(above)):
        end = row_start[s]
        least = first[s + 1]
        end = _add_below(neighbours, start[first[s]], start[least], s, least, mark, row, end)
        c = child[s]
        while c >= 0:
            end = _add_below(row, row_start[c], row_start[c + 1], s, least, mark, row, end)
            c = sibling[c]
        above[s] = -1
        if end > row_start[s]:
            nearest = row[row_start[s]]
            for k in range(row_start[s], end):
                nearest = min(nearest, row[k])
            above[s] = of[nearest]
            sibling[s] = child[above[s]]
            child[above[s]] = s


@kernel
def stacked(above: Index, below: Places, kept: Places) -> None:
    """Fill `kept` with places on a stack, from the roots on; the child gone through last takes its parent's place."""
    count = len(above)
    first = np.full(count, -1, np.int32)
    for s in range(count - 1, -1, -1):
        if above[s] >= 0:
            first[above[s]] = s
    for s in range(count - 1, -1, -1):
        if first[s] >= 0:
            p = above[s]
            kept[s] = 0 if p < 0 else kept[p] + (0 if first[p] == s else below[p] * below[p])
        else:
            kept[s] = -1


@kernel
def places(tree: Tree, low: Index, high: Index, place: Places) -> None:
    """Fill `place` with where the panels hold the entries at pairs of positions, low <= high, all in the pattern."""
    for k in range(len(low)):
        s = tree.of[low[k]]
        column = np.int64(low[k] - tree.first[s])
        width = np.int64(tree.first[s + 1] - tree.first[s])
        begin, end = tree.row_start[s], tree.row_start[s + 1]
        at = np.int64(high[k] - tree.first[s])
        if at >= width:
            least, most = begin, end
            while least < most:
                middle = (least + most) // 2
                if tree.row[middle] < high[k]:
                    least = middle + 1
                else:
                    most = middle
            at = width + least - begin
        place[k] = tree.panel[s] + column * (width + end - begin) + at
