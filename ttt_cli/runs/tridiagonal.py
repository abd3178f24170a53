"""Tridiagonal equations of many chains, all chains at once: numpy alone, which takes less time to load than LAPACK."""

from __future__ import annotations

import numpy as np

from ttt_cli.arrays import Array


class Chains:
    """L D L' of a symmetric matrix with `diagonal` (n,) and entries `beside` it (n - 1,), 0 between two chains.

    Links of all chains are solved for together, the first ones first; the longest chains stand first among them.
    Raises ValueError where the matrix is not positive definite.
    """

    def __init__(self, diagonal: Array, beside: Array) -> None:
        every = np.arange(len(diagonal))
        begins = np.append(True, beside == 0.0)[: len(diagonal)]
        number = np.cumsum(begins) - 1
        place = every - every[begins][number]
        longest = np.argsort(-np.bincount(number), kind="stable")
        rank = np.empty_like(longest)
        rank[longest] = np.arange(len(longest))
        self._order = np.lexsort((rank[number], place))
        ends = np.cumsum(np.bincount(place))
        starts = np.append(0, ends)[:-1]
        before = np.append(0.0, beside)[: len(diagonal)][self._order]
        self._pivot, self._share = diagonal[self._order], np.zeros(len(diagonal))
        self._steps = [
            (slice(begin, begin + end - middle), slice(middle, end))
            for begin, middle, end in zip(starts[:-1], starts[1:], ends[1:], strict=True)
        ]
        with np.errstate(divide="ignore", invalid="ignore"):
            for back, here in self._steps:
                self._share[here] = before[here] / self._pivot[back]
                self._pivot[here] -= self._share[here] * before[here]
        if not (self._pivot > 0.0).all():
            raise ValueError("not positive definite")

    def solve(self, b: Array) -> Array:
        """x of the equations with right-hand sides b (n,)."""
        x = b[self._order]
        for back, here in self._steps:
            x[here] -= self._share[here] * x[back]
        x /= self._pivot
        for back, here in reversed(self._steps):
            x[back] -= self._share[here] * x[here]
        found = np.empty_like(x)
        found[self._order] = x
        return found
