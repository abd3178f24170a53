"""A sparse positive definite matrix factorised: its determinant, solutions, samples, and entries of its inverse."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache, cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ttt_cli.errors import ConfigError
from ttt_cli.kernels.joint.blas import Blas
from ttt_cli.sparse.pattern import Pattern

Array = NDArray[np.float64]

MOST_ENTRIES: Final = 250_000_000  # of a factor: 2 GB
MOST_FLOPS: Final = 2e12


def affordable(pattern: Pattern) -> bool:
    """Whether a factor is within reach of memory and patience."""
    return pattern.entries <= MOST_ENTRIES and pattern.flops <= MOST_FLOPS


def require_affordable(pattern: Pattern, what: str, hint: str) -> None:
    """Raise ConfigError, with the numbers and a hint, where a factor is out of reach."""
    if not affordable(pattern):
        raise ConfigError(
            f"{what} of {len(pattern.place):,} skills need a factor of {pattern.entries:,} numbers and "
            f"{pattern.flops:.1e} operations: at most {MOST_ENTRIES:,} and {MOST_FLOPS:.0e} are taken",
            hint=hint,
        )


class Factor:
    """L of A = L L^T, where A has `diagonal` (n,) and -`coupling` at the pairs of `pattern`, as they were given there.

    With `once` the inverse takes the place of L, so that nothing can be solved after it. Raises LinAlgError where A is
    not positive definite.
    """

    def __init__(self, pattern: Pattern, coupling: Array, diagonal: Array, *, once: bool = False) -> None:
        from ttt_cli.kernels.joint import factor

        self._kernels, self._pattern, self._once = factor, pattern, once
        self._panels = np.zeros(pattern.tree.panel[-1])
        self._panels[pattern.entry] = -np.bincount(pattern.pair, coupling, minlength=len(pattern.entry))
        self._panels[pattern.diagonal] = diagonal
        waiting, front = np.empty(pattern.triangles), np.empty(pattern.front)
        with _one_thread():
            failed = factor.factorise(_blas(), pattern.tree, self._panels, waiting, front)
        if failed >= 0:
            raise np.linalg.LinAlgError("the matrix of a joint Gaussian is not positive definite")
        self.log_determinant = float(factor.log_determinant(pattern.tree, self._panels))

    def solve(self, b: Array) -> Array:
        """A^-1 b for b of shape (n,) or (n, columns)."""
        return self._solved(b, forward=True)

    def coloured(self, z: Array) -> Array:
        """L^-T z: has covariance A^-1 where z, (n,) or (n, samples), has covariance I."""
        return self._solved(z, forward=False)

    @property
    def variances(self) -> Array:
        """The diagonal of A^-1, (n,)."""
        return self._inverse[self._pattern.diagonal]

    @property
    def joined(self) -> Array:
        """Entries of A^-1 at the pairs of `pattern`, as they were given there."""
        return self._inverse[self._pattern.entry][self._pattern.pair]

    def covariances(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> Array:
        """Entries of A^-1 at pairs of variables that `pattern` joins."""
        return self._inverse[self._pattern.places(first, second)]

    @cached_property
    def _inverse(self) -> Array:
        pattern = self._pattern
        panels = self._panels if self._once else self._panels.copy()
        work = (np.empty(size) for size in (pattern.squares, pattern.front, pattern.broad))
        with _one_thread():
            self._kernels.invert(_blas(), pattern.tree, panels, *work)
        return panels

    def _solved(self, b: Array, *, forward: bool) -> Array:
        place = self._pattern.place
        x = np.empty((len(b), 1) if b.ndim == 1 else b.shape)
        x[place] = b.reshape(x.shape)
        with _one_thread():
            self._kernels.solve(_blas(), self._pattern.tree, self._panels, x, forward)
        return x[place].reshape(b.shape)


@cache
def _blas() -> Blas:
    from numba.extending import get_cython_function_address

    libraries = {name: "cython_lapack" if name.startswith("po") else "cython_blas" for name in Blas._fields}
    return Blas(
        *(get_cython_function_address(f"scipy.linalg.{at}", f"d{name}") for name, at in libraries.items())
    )


@cache
def _pools() -> ThreadpoolController:
    _blas()
    return ThreadpoolController()


def _one_thread() -> AbstractContextManager[object]:
    """BLAS in one thread: most supernodes are too small to share out, and waiting for each other costs all the rest."""
    limited: AbstractContextManager[object] = _pools().limit(limits=1, user_api="blas")
    return limited
