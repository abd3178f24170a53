"""The random walks of all players, gone through from both ends of time to a period in the middle and back.

The early half hands on what it knows to the later, the late half to the earlier; where they meet each learns of the
other. So two threads can work on what one would do forward and then backward, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.inference.ep.slices import Slices, crossing, side_by_side

Vector = NDArray[np.float64]
Result = TypeVar("Result")


class Way(NamedTuple):
    """How one half goes through its variables: from `begin` to before `end`, up or `back`.

    Each comes after its `source`, which is a step of `variance` away.
    """

    begin: int
    end: int
    back: bool
    source: NDArray[np.int32]
    variance: Vector


class Walks:
    """Chains of variables, all of them once for every quantity that a node has.

    `previous` and `following` (variables,) are the neighbours (-1 at the ends), `variance` that of the step from the
    one before, `prior_precision` counts at the first of each chain. `later` are the variables just after the middle
    that have one before it.
    """

    def __init__(
        self,
        previous: NDArray[np.int32],
        following: NDArray[np.int32],
        variance: Vector,
        prior_precision: Vector,
        slices: Slices,
    ) -> None:
        from ttt_cli.kernels.ep import chains

        self._kernels = chains
        self.previous, self.variance = previous, variance
        self.prior_precision = prior_precision
        self._sources = (previous, variance), (following, np.where(following < 0, 0.0, variance[following]))
        nodes = max(slices.nodes[-1][1], 1)
        middle = slices.nodes[len(slices) // 2][0] if len(slices) > 1 else nodes
        self._firsts = range(0, len(previous), nodes)
        self._spans = [(0, middle), (middle, nodes)][: min(len(slices), 2)]
        self.later = crossing(previous, [(first, first + middle, first + nodes) for first in self._firsts])

    def before_games(self) -> tuple[NDArray[np.intp], Vector]:
        """The first variable of the chain of each, and how uncertain each is before a game is seen, points squared."""
        begins = self.previous < 0
        first = np.where(begins, np.arange(len(begins)), self.previous)
        variance = np.where(begins, 0.0, self.variance)
        while (further := first[first] != first).any():
            variance[further] += variance[first[further]]
            first = first[first]
        return first, variance + 1.0 / self.prior_precision[first]

    def inward(self, half: int) -> list[Way]:
        """The ways of a half towards the middle."""
        return self._ways(half, back=half == 1)

    def outward(self, half: int) -> list[Way]:
        """The ways of a half from the middle."""
        return self._ways(half, back=half == 0)

    def run(self, task: Callable[[int], Result]) -> list[Result]:
        """Do a task for the number of each half, in a thread each."""
        return side_by_side(len(self._spans), task)

    def smooth(self, forward: Vector, backward: Vector, marginal: Vector) -> None:
        """All messages along the chains, exactly; on entry `marginal` holds the sites alone. Shapes (variables, 2)."""
        messages = forward, backward

        def collect(half: int) -> None:
            for way in self.inward(half):
                self._kernels.inward(*way, self.prior_precision, messages[half], marginal)

        def spread(half: int) -> None:
            told, message = messages[half], messages[1 - half]
            for way, away in zip(self.outward(half), self.inward(half), strict=True):
                self._kernels.outward(*way, self.prior_precision, away.source, told, message, marginal)

        self.run(collect)
        self._kernels.meet(self.later, self.previous, self.variance, *messages, marginal)
        self.run(spread)

    def _ways(self, half: int, *, back: bool) -> list[Way]:
        begin, end = self._spans[half]
        return [Way(first + begin, first + end, back, *self._sources[back]) for first in self._firsts]
