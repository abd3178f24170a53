"""Indices that are known not to be negative.

numba looks at every signed index whether it counts from the end of the array. In loops that do little else this takes
half of the time; an unsigned index it takes as it is.
"""

import numpy as np

from ttt_cli.kernels.compile import flat


@flat
def at(index):
    """An index that is 0 or more."""
    return np.uintp(index)


@flat
def span(begin, end):
    """The indices from `begin`, 0 or more, to before `end`."""
    return range(np.uintp(begin), np.uintp(end))
