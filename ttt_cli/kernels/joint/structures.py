"""The arrays of a sparse factor A = L L^T, kept by supernodes: runs of columns that have the same rows."""

from typing import NamedTuple

from ttt_cli.kernels.arrays import Index, Places


class Tree(NamedTuple):
    """Supernodes in postorder. A supernode's panel holds its columns one after another: its own rows, then `row`.

    | name | shape | |
    |---|---|---|
    | first | (supernodes + 1,) | first column |
    | of | (n,) | the supernode of each column |
    | above | (supernodes,) | the one that its first row below belongs to, -1 at roots |
    | row_start | (supernodes + 1,) | where its rows below its own columns begin |
    | row | (rows,) | these rows, ascending |
    | panel | (supernodes + 1,) | where its panel begins |
    | kept | (supernodes,) | where a stack, from the roots on, holds its square of rows below; -1 where nobody asks |
    """

    first: Index
    of: Index
    above: Index
    row_start: Places
    row: Index
    panel: Places
    kept: Places
