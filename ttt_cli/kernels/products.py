"""Products with sparse symmetric matrices."""

from ttt_cli.kernels.arrays import Places, Vector
from ttt_cli.kernels.compile import at, kernel, span


@kernel
def multiply(
    diagonal: Vector, low: Places, high: Places, above: Vector, x: Vector, product: Vector
) -> None:
    """Fill `product` with A x, (variables,) each, where A has a diagonal and entries `above` it.

    Each entry, in row `low` and column `high`, stands in row `high` and column `low`, too.
    """
    for i in span(0, len(diagonal)):
        product[i] = diagonal[i] * x[i]
    for e in span(0, len(above)):
        i = at(low[e])
        j = at(high[e])
        product[i] += above[e] * x[j]
        product[j] += above[e] * x[i]
