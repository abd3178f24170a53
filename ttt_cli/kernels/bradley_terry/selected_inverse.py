"""The inverse of a sparse symmetric matrix where the matrix or its factor has entries, from A = L D L^T.

Takahashi, Fagan and Chen 1973; Erisman and Tinney 1975: Z = A^-1 satisfies Z = D^-1 L^-1 + (I - L^T) Z, so its columns
follow from the last one backward, each from entries that are already known. Layout as in `elimination`.
"""

from __future__ import annotations

from ttt_cli.kernels.compile import inner, kernel


@inner
def _search(row, low, high, wanted):
    """The place of `wanted` among the ascending rows from `low` to before `high`, or where it would stand."""
    while low < high:
        middle = (low + high) >> 1
        if row[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(
    "void(int64[::1], int32[::1], float64[::1], float64[::1], float64[:, ::1], float64[::1], float64[::1])"
)
def invert(column, row, lower, pivot, core, inverse, diagonal):
    """Fill `inverse` (Z in the places of L) and `diagonal` (of Z), by position.

    `core` is the inverse of the core, of which the upper triangle is used: it is that part of Z.
    """
    m = len(pivot)
    for i in range(len(core)):
        diagonal[m + i] = core[i, i]
    for j in range(m - 1, -1, -1):
        begin, end = column[j], column[j + 1]
        for p in range(begin, end):
            inverse[p] = 0.0
        total = 1.0 / pivot[j]
        for p in range(begin, end):
            a = row[p]
            low = column[a] if a < m else 0
            share = diagonal[a] * lower[p]
            for q in range(p + 1, end):
                b = row[q]
                if a < m:
                    low = _search(row, low, column[a + 1], b)
                    z = inverse[low]
                else:
                    z = core[a - m, b - m]
                share += z * lower[q]
                inverse[q] -= z * lower[p]
            inverse[p] -= share
            total -= lower[p] * inverse[p]
        diagonal[j] = total


@kernel("void(int64[::1], int32[::1], float64[::1], float64[:, ::1], int32[::1], int32[::1], float64[::1])")
def look_up(column, row, inverse, core, first, second, out):
    """Fill `out` with entries of Z at pairs of different positions that L or the core joins; 0 at others."""
    m = len(column) - 1
    for g in range(len(first)):
        a, b = min(first[g], second[g]), max(first[g], second[g])
        out[g] = 0.0
        if a >= m:
            out[g] = core[a - m, b - m]
        else:
            p = _search(row, column[a], column[a + 1], b)
            if p < column[a + 1] and row[p] == b:
                out[g] = inverse[p]
