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
def postorder(parent: Index, weight: Index, order: Index) -> None:
    """Fill `order` (n,) with the nodes of a forest, children before parents, of siblings the heaviest first."""
    n = len(parent)
    by_weight = np.argsort(weight, kind="mergesort")
    first = np.full(n + 1, -1, np.int32)
    sibling = np.full(n, -1, np.int32)
    for k in range(n):  # the heaviest comes last, and so to the front
        i = np.int32(by_weight[k])
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
    first, last_first, last_leaf = (
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
    )
    ancestor = np.arange(n).astype(np.int32)
    for k in range(n):
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
def supernodes(parent: Index, count: Index, of: Index, above: Index, width: Places, below: Places) -> int:
    """Gather columns, in postorder, into supernodes; returns how many there were of columns of equal rows.

    Of these, `above` (n,) is the one above, -1 at roots, `width` and `below` (n,) their columns and rows below. A child
    joins its parent where the two take less work as one, zeros and all, the largest child first: `of` (n,) is the
    supernode that each column has joined.
    """
    n = len(parent)
    found = 0
    for j in range(n):
        if j == 0 or parent[j - 1] != j or count[j - 1] != count[j] + 1:
            width[found] = 0
            found += 1
        of[j] = found - 1
        width[found - 1] += 1
        below[found - 1] = count[j] - 1
    child, sibling, into = (
        np.full(found, -1, np.int32),
        np.full(found, -1, np.int32),
        np.full(found, -1, np.int32),
    )
    end = 0
    for s in range(found):
        end += width[s]
        above[s] = of[parent[end - 1]] if parent[end - 1] >= 0 else -1
        if above[s] >= 0:
            sibling[s] = child[above[s]]
            child[above[s]] = s
    children = np.empty(found, np.int32)
    for p in range(found):
        many = 0
        c = child[p]
        while c >= 0:
            children[many] = c
            many += 1
            c = sibling[c]
        for k in np.argsort(-below[children[:many]]):
            c = children[k]
            apart = _work(width[c], below[c]) + _work(width[p], below[p])
            if _work(width[c] + width[p], below[p]) < apart:
                width[p] += width[c]
                into[c] = p
    for s in range(found - 1, -1, -1):
        into[s] = s if into[s] < 0 else into[into[s]]
    for s in range(found):
        above[s] = into[above[s]] if above[s] >= 0 else -1
    for j in range(n):
        of[j] = into[of[j]]
    return found


@inner
def _add_below(candidates, s, least, mark, row, end):
    """Put those from `least` on that are not yet marked with s behind the rows so far; where these end now."""
    for i in candidates:
        if i >= least and mark[i] != s:
            mark[i] = s
            row[end] = i
            end += 1
    return end


@kernel
def supernode_rows(
    start: Places, neighbours: Index, first: Index, row_start: Places, row: Index, above: Index
) -> None:
    """Fill `row` with the rows of all supernodes below their own columns, ascending, and `above` (supernodes,).

    The rows of s are `row[row_start[s]]` up to `row_start[s + 1]`; `above` is the supernode of the first, -1 at roots.
    """
    n = len(start) - 1
    of, mark = np.empty(n, np.int32), np.full(n, -1, np.int32)
    child, sibling = np.full(len(above), -1, np.int32), np.full(len(above), -1, np.int32)
    for s in range(len(above)):
        of[first[s] : first[s + 1]] = s
    for s in range(len(above)):
        end = row_start[s]
        end = _add_below(neighbours[start[first[s]] : start[first[s + 1]]], s, first[s + 1], mark, row, end)
        c = child[s]
        while c >= 0:
            end = _add_below(row[row_start[c] : row_start[c + 1]], s, first[s + 1], mark, row, end)
            c = sibling[c]
        row[row_start[s] : end] = np.sort(row[row_start[s] : end])
        above[s] = of[row[row_start[s]]] if end > row_start[s] else -1
        if above[s] >= 0:
            sibling[s] = child[above[s]]
            child[above[s]] = s


@kernel
def stacked(above: Index, below: Places, kept: Places) -> None:
    """Fill `kept` with the places of squares on a stack, of supernodes above others, from the roots on.

    The child that is gone through last, the first in postorder, takes the place of its parent.
    """
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
            at = width + np.searchsorted(tree.row[begin:end], high[k])
        place[k] = tree.panel[s] + column * (width + end - begin) + at
