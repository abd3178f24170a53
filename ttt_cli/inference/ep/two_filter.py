"""The chains of all players, gone through from both ends of time to the middle and back, in a thread each."""

from collections.abc import Callable
from typing import TypeVar

from ttt_cli.arrays import Array
from ttt_cli.inference.ep.slices import Slices, crossing, side_by_side
from ttt_cli.kernels.ep.structures import Chains, Messages, Way

Vector = Array
Result = TypeVar("Result")


class TwoFilter:
    """`chains`, the ways of each half to the middle (`elimination`) and back, and variables just after it (`later`)."""

    def __init__(self, chains: Chains, slices: Slices) -> None:
        from ttt_cli.kernels.ep import chains as kernels

        self._kernels = kernels
        self.chains = chains
        nodes = max(slices.parts[-1].node_end, 1)
        middle = slices.parts[len(slices) // 2].node if len(slices) > 1 else nodes
        firsts = range(0, len(chains.previous), nodes)
        spans = [(0, middle), (middle, nodes)][: min(len(slices), 2)]
        self.elimination = [
            [self._way(first + begin, first + end, half == 1) for first in firsts]
            for half, (begin, end) in enumerate(spans)
        ]
        self.substitution = [
            [self._way(way.begin, way.end, not way.back) for way in ways] for ways in self.elimination
        ]
        self.later = crossing(chains.previous, [(first, first + middle, first + nodes) for first in firsts])

    def _way(self, begin: int, end: int, back: bool) -> Way:
        _, previous, following, *_ = self.chains
        return Way(begin, end, back, *((following, previous) if back else (previous, following)))

    def run(self, task: Callable[[int], Result]) -> list[Result]:
        """Do a task for the number of each half, in a thread each."""
        return side_by_side(len(self.elimination), task)

    def smooth(self, messages: Messages) -> None:
        """All messages along the chains, exactly; on entry the marginals are the sites alone."""
        kernels, chains, marginal = self._kernels, self.chains, messages.marginal

        def eliminate(half: int) -> None:
            for way in self.elimination[half]:
                kernels.eliminate(way, chains, messages[half], marginal)

        def substitute(half: int) -> None:
            for way in self.substitution[half]:
                kernels.substitute(way, chains, messages[half], messages[1 - half], marginal)

        self.run(eliminate)
        kernels.join(self.later, chains, messages)
        self.run(substitute)
