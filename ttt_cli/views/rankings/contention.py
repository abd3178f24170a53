"""The probability of being the best of a field, the posteriors taken as independent.

P(i is best) is the integral of i's density times the product of the others' cdfs, by equal steps fine enough for
the narrowest posterior that matters: for Gaussians such steps converge faster than any power.
"""

import math
from functools import cache
from typing import Any, Final

import numpy as np

from ttt_cli.arrays import Array, Places

_REACH: Final = 6.5  # sds: what lies further is below 1e-10
_MATTERS: Final = 7.0  # sds: a player so far below the field's lowest maximum changes nothing
_NEVER: Final = 1e-10
_CHOICES: Final = 64  # points among which the field's lowest maximum is looked for
_NEAR: Final = 100  # players looked at one by one; the others' product is smooth
_NODES: Final = 32  # Chebyshev nodes for it
_FINENESS: Final = 1.2  # of the steps, see _step
_CELLS: Final = 512  # of the table of log Phi, per sd
_TABLE_REACH: Final = 9
_CHUNK: Final = 1 << 17  # numbers worked on at a time


def best_probabilities(mean: Array, sd: Array, chosen: Places) -> Array:
    """For each of the `chosen` (indices) the probability that nobody in the field is stronger.

    `mean`, `sd`: points, shape (players,). Absolute error below 1e-6; the probabilities of all players add up to 1.
    """
    low = _lowest(mean, sd)
    high = float((mean[chosen] + _REACH * sd[chosen]).max(initial=low))
    matters = mean + _MATTERS * sd > low
    field = _Field(mean[matters], sd[matters], low, high)
    x = field.steps(low, high)
    step, product = float(x[1] - x[0]), field.log_cdf(x)
    probabilities = np.empty(len(chosen))
    rows = max(_CHUNK // len(x), 1)
    for start in range(0, len(chosen), rows):
        part = chosen[start : start + rows, None]
        z = (x - mean[part]) / sd[part]
        others = product - np.where(matters[part], log_cdf(z), 0.0)
        density = np.exp(others - 0.5 * z * z) / (math.sqrt(2.0 * math.pi) * sd[part])
        probabilities[start : start + rows] = step * density.sum(axis=1)
    return np.minimum(probabilities, 1.0)


def _lowest(mean: Array, sd: Array) -> float:
    """A point below which the strongest of the field is with a probability of less than `_NEVER`."""
    least = float((mean - _REACH * sd).max())
    nearest = np.argpartition(-mean, min(_NEAR, len(mean)) - 1)[:_NEAR]
    x = np.linspace(least, float(mean.max()), _CHOICES)
    below = int(np.searchsorted(_log_cdfs(x, mean[nearest], sd[nearest]), math.log(_NEVER)))
    return float(x[max(below - 1, 0)])


class _Field:
    """The distribution of the maximum of a field between two points.

    The log of minus the log cdf of all but the nearest players is smooth: it is interpolated.
    """

    def __init__(self, mean: Array, sd: Array, low: float, high: float) -> None:
        order = np.argsort((mean.max() - mean) / sd)
        near, far = order[:_NEAR], order[_NEAR:]
        self._mean, self._sd = mean[near], sd[near]
        self._count = len(mean)
        self._end = float((mean[far] + _REACH * sd[far]).max(initial=low))
        self._smooth: Any = None
        if len(far) and self._end > low:
            from numpy.polynomial import Chebyshev

            def exponent(x: Array) -> Array:
                return np.log(-_log_cdfs(x, mean[far], sd[far]))

            self._smooth = Chebyshev.interpolate(exponent, _NODES, domain=[low, min(self._end, high)])

    def steps(self, low: float, high: float) -> Array:
        """Equal steps; the maximum of n equals is narrower than each of them by the root of 2 log n."""
        step = _FINENESS * float(self._sd.min()) / (1.0 + math.sqrt(2.0 * math.log(self._count + 1)))
        steps: Array = low + step * np.arange(max(math.ceil((high - low) / step), 1) + 1, dtype=np.float64)
        return steps

    def log_cdf(self, x: Array) -> Array:
        """log of the probability that the maximum is below x, shape of x."""
        total = _log_cdfs(x, self._mean, self._sd)
        if self._smooth is not None:
            here = x < self._end
            total[here] -= np.exp(self._smooth(x[here]))
        return total


def _log_cdfs(x: Array, mean: Array, sd: Array) -> Array:
    """The sum of log Phi((x - mean) / sd) over all players, at every x."""
    total = np.zeros(len(x))
    rows = max(_CHUNK // len(x), 1)
    for start in range(0, len(mean), rows):
        part = slice(start, start + rows)
        total += log_cdf((x - mean[part, None]) / sd[part, None]).sum(axis=0)
    return total


def log_cdf(z: Array) -> Array:
    """log Phi(z) from a table with slopes and curvatures; relative error below 1e-7, constant beyond 9 sds."""
    value, slope, curvature = _table()
    cells = np.clip(z, -_TABLE_REACH, _TABLE_REACH) * _CELLS
    nearest = np.rint(cells)
    index = nearest.astype(np.intp) + _TABLE_REACH * _CELLS
    off = (cells - nearest) / _CELLS
    result: Array = value[index] + off * (slope[index] + off * curvature[index])
    return result


@cache
def _table() -> tuple[Array, Array, Array]:
    """log Phi, its slope, and half its curvature on the table's points."""
    z = np.arange(-_TABLE_REACH * _CELLS, _TABLE_REACH * _CELLS + 1) / _CELLS
    tail = np.array([0.5 * math.erfc(x * math.sqrt(0.5)) for x in np.abs(z).tolist()])
    value = np.where(z < 0.0, np.log(tail), np.log1p(-tail))
    slope = np.exp(-0.5 * z * z - value) / math.sqrt(2.0 * math.pi)
    return value, slope, -0.5 * slope * (z + slope)
