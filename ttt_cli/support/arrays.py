"""Arrays of any shape, by the numbers in them."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ids = NDArray[np.int32]
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]
