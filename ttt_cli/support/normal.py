"""The normal distribution function, without the import of scipy where it is called for few numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ttt_cli.support.arrays import Array

_MOST_WITHOUT_SCIPY: Final = 30_000  # numbers in a call; tournaments have many such calls


def normal_cdf(x: float) -> float:
    """Phi(x), accurate in both tails."""
    return 0.5 * math.erfc(-x * math.sqrt(0.5))


def normal_cdf_of_all(x: Array) -> Array:
    """Phi of every number of an array; the import of scipy takes as long as 3 million numbers without it."""
    if x.size > _MOST_WITHOUT_SCIPY:
        from scipy.special import ndtr

        of_all: Array = ndtr(x)
        return of_all
    import numpy as np

    erfc = math.erfc
    tails = [erfc(number) for number in (-x * math.sqrt(0.5)).ravel().tolist()]
    return 0.5 * np.array(tails).reshape(x.shape)
