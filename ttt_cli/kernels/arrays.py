"""Arrays as kernels take them: contiguous, and written to unless they are `Fixed`; each with numba's word for it."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

Vector = Annotated[NDArray[np.float64], "float64[::1]"]
Strided = Annotated[NDArray[np.float64], "float64[:]"]
Rows = Annotated[NDArray[np.float64], "float64[:, ::1]"]
SmallRows = Annotated[NDArray[np.float32], "float32[:, ::1]"]
Places = Annotated[NDArray[np.int64], "int64[::1]"]
Index = Annotated[NDArray[np.int32], "int32[::1]"]
IndexRows = Annotated[NDArray[np.int32], "int32[:, ::1]"]
Codes = Annotated[NDArray[np.uint8], "uint8[::1]"]
