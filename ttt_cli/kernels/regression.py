"""Regressions of numbers of games on those who play: products with the normal equations.

A game has a row of coefficients: 1 and -1 of two players, or the shares of the members of teams, Black's with a minus.

| name | shape | |
|---|---|---|
| start | (games + 1,) | the first entry of each row, and the number of entries |
| player, coefficient | (entries,) | of each row |
| weight | (games,) | |

The matrix of the equations is B' W B, with the rows B and weights W. Beside its diagonal it has couplings of players:

| name | shape | |
|---|---|---|
| first | (players + 1,) | the first coupling of each player, and the number of couplings |
| other, coupling | (couplings,) | the other player, and the entry of the matrix; several of a pair add up |
"""

from ttt_cli.kernels.arrays import Index, Places, Rows, Vector
from ttt_cli.kernels.compile import at, kernel, span

AT_ONCE = 4  # terms: their number is a multiple


@kernel
def fill_couplings(
    start: Places, player: Index, coefficient: Vector, weight: Vector, first: Places, other: Index,
    coupling: Vector,
) -> None:  # fmt: skip
    """Fill `other` and `coupling`; moves `first` of each player, which ends at that of the next one."""
    for g in span(0, len(weight)):
        for e in span(start[g], start[g + 1]):
            p = at(player[e])
            times = weight[g] * coefficient[e]
            for f in span(start[g], start[g + 1]):
                if f != e:
                    c = at(first[p])
                    other[c] = player[f]
                    coupling[c] = times * coefficient[f]
                    first[p] += 1


@kernel
def fill_products(
    first: Places, other: Index, coupling: Vector, diagonal: Vector, x: Rows, products: Rows
) -> None:
    """Fill `products` (players, terms) with B' W B x."""
    for column in range(0, x.shape[1], AT_ONCE):
        k = at(column)
        for p in span(0, len(diagonal)):
            sum_0 = diagonal[p] * x[p, k]
            sum_1 = diagonal[p] * x[p, k + at(1)]
            sum_2 = diagonal[p] * x[p, k + at(2)]
            sum_3 = diagonal[p] * x[p, k + at(3)]
            for c in span(first[p], first[p + at(1)]):
                times = coupling[c]
                q = at(other[c])
                sum_0 += times * x[q, k]
                sum_1 += times * x[q, k + at(1)]
                sum_2 += times * x[q, k + at(2)]
                sum_3 += times * x[q, k + at(3)]
            products[p, k] = sum_0
            products[p, k + at(1)] = sum_1
            products[p, k + at(2)] = sum_2
            products[p, k + at(3)] = sum_3


@kernel
def add_sums(start: Places, player: Index, coefficient: Vector, numbers: Rows, sums: Rows) -> None:
    """Add B' y to `sums` (players, terms); `numbers` y are (games, terms)."""
    terms = at(numbers.shape[1])
    for g in span(0, len(numbers)):
        for e in span(start[g], start[g + 1]):
            for term in range(terms):
                sums[at(player[e]), term] += coefficient[e] * numbers[g, term]
