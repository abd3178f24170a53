"""Ratios of the normal distribution, accurate in both tails: by the Mills ratio R(z) = Q(z) / phi(z), z >= 0."""

import math

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.compile import inner

LOG_SQRT_2PI = 0.9189385332046727418
INV_SQRT_2PI = 0.3989422804014326779

_SCALE = 4.0  # R(z) * (z + 4) is smooth in u = 4 / (4 + z), which maps z >= 0 to (0, 1]
_CELLS = 96
_DEGREE = 7


def _mills_exact(z: float) -> float:
    if z < 5.0:
        return math.sqrt(math.pi / 2.0) * math.erfc(z / math.sqrt(2.0)) * math.exp(0.5 * z * z)
    tail = z
    for k in range(80, 0, -1):  # continued fraction, Abramowitz and Stegun 26.2.14
        tail = z + k / tail
    return 1.0 / tail


def _mills_table() -> NDArray[np.float64]:
    """Polynomial coefficients, highest first, of R(z) * (z + 4) over equal cells of u; shape (cells, degree + 1)."""
    nodes = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1)) / 2.0
    table = np.empty((_CELLS, _DEGREE + 1))
    for cell in range(_CELLS):
        z = _SCALE / ((cell + 0.5 + nodes) / _CELLS) - _SCALE
        values = np.array([_mills_exact(max(x, 0.0)) * (x + _SCALE) for x in z])
        table[cell] = np.linalg.solve(np.vander(nodes), values)
    return table


_TABLE = _mills_table()


@inner
def mills(z: float) -> float:
    """Q(z) / phi(z) for z >= 0, relative error below 1e-14."""
    u = _SCALE / (_SCALE + z)
    x = u * _CELLS
    cell = min(int(x), _CELLS - 1)
    x -= cell + 0.5
    row = _TABLE[cell]
    value = row[0]
    for k in range(1, _DEGREE + 1):
        value = value * x + row[k]
    return value * u / _SCALE


@inner
def density(z: float) -> float:
    """phi(z), the standard normal density."""
    return INV_SQRT_2PI * math.exp(-0.5 * z * z)


@inner
def log_cdf(x: float) -> float:
    """log Phi(x), accurate in both tails."""
    if x < 0.0:
        return math.log(mills(-x)) - 0.5 * x * x - LOG_SQRT_2PI
    return math.log1p(-density(x) * mills(x))
