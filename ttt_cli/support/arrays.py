"""Arrays of any shape, by the numbers in them, and rounded numbers."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ids = NDArray[np.int32]
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]


def ranges(first: NDArray[np.integer], count: NDArray[np.integer]) -> Places:
    """Ranges of so many numbers from each `first`, one after the other."""
    before = np.cumsum(count) - count
    numbers: Places = np.arange(count.sum()) + np.repeat(first - before, count)
    return numbers


def rounded(value: float, digits: int) -> float:
    """The number with so many significant digits."""
    return float(f"{value:.{digits}g}")
