"""Array types of kernels: contiguous, writable unless `Fixed`; each with its numba type."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

Vector = Annotated[NDArray[np.float64], "float64[::1]"]
Strided = Annotated[NDArray[np.float64], "float64[:]"]
Rows = Annotated[NDArray[np.float64], "float64[:, ::1]"]
SmallRows = Annotated[NDArray[np.float32], "float32[:, ::1]"]
Places = Annotated[NDArray[np.int64], "int64[::1]"]
Index = Annotated[NDArray[np.int32], "int32[::1]"]
PlaceRows = Annotated[NDArray[np.int64], "int64[:, ::1]"]
IndexRows = Annotated[NDArray[np.int32], "int32[:, ::1]"]
Codes = Annotated[NDArray[np.uint8], "uint8[::1]"]
Outcomes = Annotated[NDArray[np.int8], "int8[::1]"]
Flags = Annotated[NDArray[np.bool_], "boolean[::1]"]
FixedCodes = Annotated[NDArray[np.uint8], "Array(uint8, 1, 'C', True)"]
FixedPlaces = Annotated[NDArray[np.int64], "Array(int64, 1, 'C', True)"]
FixedIndex = Annotated[NDArray[np.int32], "Array(int32, 1, 'C', True)"]
FixedVector = Annotated[NDArray[np.float64], "Array(float64, 1, 'A', True)"]
