"""Arrays of any shape, by the numbers in them, and rounded numbers."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ids = NDArray[np.int32]
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]


def rounded(value: float, digits: int) -> float:
    """The number with so many significant digits."""
    return float(f"{value:.{digits}g}")
