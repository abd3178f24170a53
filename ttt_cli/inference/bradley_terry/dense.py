"""The inverse of a dense positive definite matrix, in place and block by block.

LAPACK sees single blocks only: its threaded routines end in a crash where a matrix has some 20,000 rows. What is
between blocks are products of matrices.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BLOCK: Final = 1024  # rows


def invert(matrix: Array, block: int = BLOCK) -> float:
    """Put A^-1 in the place of A, shape (n, n), and return the logarithm of A's determinant.

    The upper triangle counts, before and after; what is below is of no meaning. A = U^T U, then V = U^-1, then V V^T.
    All is NaN where A is not positive definite.
    """
    blocks = [slice(begin, min(begin + block, len(matrix))) for begin in range(0, len(matrix), block)]
    try:
        log_determinant = _factorise(matrix, blocks)
    except np.linalg.LinAlgError:
        matrix.fill(math.nan)
        return math.nan
    _invert_factor(matrix, blocks)
    _square(matrix, blocks)
    return log_determinant


def _factorise(matrix: Array, blocks: list[slice]) -> float:
    """Put U in the place of A, but V in the blocks on the diagonal; returns the logarithm of A's determinant."""
    half = 0.0
    for number, one in enumerate(blocks):
        lower = np.linalg.cholesky(matrix[one, one].T)
        half += float(np.log(np.diagonal(lower)).sum())
        inverse = matrix[one, one] = np.triu(np.linalg.inv(lower).T)
        matrix[one, one.stop :] = inverse.T @ matrix[one, one.stop :]
        for other in blocks[number + 1 :]:
            matrix[other, other.start :] -= matrix[one, other].T @ matrix[one, other.start :]
    return 2.0 * half


def _invert_factor(matrix: Array, blocks: list[slice]) -> None:
    """Put V in the place of U where it is not yet."""
    for number, one in enumerate(blocks):
        for above in blocks[:number]:
            between = slice(above.start, one.start)
            matrix[above, one] = -(matrix[above, between] @ matrix[between, one]) @ matrix[one, one]


def _square(matrix: Array, blocks: list[slice]) -> None:
    """Put V V^T in the place of V."""
    for number, one in enumerate(blocks):
        for other in blocks[number:]:
            right = slice(other.start, None)
            matrix[one, other] = matrix[one, right] @ matrix[other, right].T
