"""Slices of time: parts of a timeline, one for each thread; what one says to the next comes half a sweep later."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, Final, TypeVar

import numpy as np

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.kernels.ep.structures import Part
from ttt_cli.processes import available_cores

Result = TypeVar("Result")

GAMES_EACH: Final = 100_000  # at least: with fewer, handing them over costs more than it saves
SMALL: Final = 0.02
DECAY: Final = 0.3
MOST: Final = 8  # slices: with more, sweeps save less than they lose


class Slices:
    """Consecutive slices of about as many games, `parts`; `later`: nodes whose player's one before is elsewhere."""

    def __init__(
        self, node_start: Places, game_start: Places, previous: Ids, threads: int | None = None
    ) -> None:
        cuts = period_cuts(game_start, min(threads or available_cores(), MOST))
        bounds = zip(cuts.tolist(), node_start[cuts].tolist(), game_start[cuts].tolist(), strict=True)
        self.parts = [
            Part(*(bound for pair in zip(begin, end, strict=True) for bound in pair))
            for begin, end in pairwise(bounds)
        ] or [Part(0, 0, 0, 0, 0, 0)]
        self.later = crossing(previous, [(0, part.node, part.node_end) for part in self.parts[1:]])

    def __len__(self) -> int:
        return len(self.parts)

    def run(self, task: Callable[[int], Result]) -> list[Result]:
        """Do a task for the number of each slice, in a thread each; the results in order."""
        return side_by_side(len(self), task)


class Moves:
    """How far means and sds move from sweep to sweep; `marginal` (variables, 2) as in `kernels/ep/chains.py`."""

    def __init__(self, slices: Slices, marginal: Array) -> None:
        from ttt_cli.kernels.ep import chains

        self._kernels, self._slices, self._marginal = chains, slices, marginal
        self._firsts = range(0, len(marginal), max(slices.parts[-1].node_end, 1))
        self._beliefs = marginal[:0]
        self._moves = np.zeros(marginal.shape, np.float32)
        self._last = self._decay = 0.0

    def begin(self) -> None:
        """Take note of what is believed before a sweep."""
        self._beliefs = np.empty_like(self._marginal)
        self._each(self._kernels.believe)

    def largest(self) -> float:
        """The largest move in this sweep so far, points."""
        return max(self._each(self._kernels.largest_move), default=0.0)

    def end(self) -> tuple[float, float]:
        """The largest move of this sweep and what the slowest mean or sd has still to go, points.

        The rate of each is the ratio of its moves in two sweeps. Small ones have any ratio, so the earlier counts as
        `SMALL` times the largest there was, and `DECAY` times the one before it, at least.
        """
        ends = self._each(self._kernels.moves_to_come, self._moves, SMALL * self._last, self._decay)
        self._decay = 0.0 if self._last == 0.0 else DECAY
        self._last, ahead = (max(column) for column in zip(*ends, (0.0, 0.0), strict=True))
        self._beliefs = self._marginal[:0]
        return self._last, ahead

    def _each(self, kernel: Callable[..., Any], *more: Any) -> list[Any]:
        """What a kernel finds of the variables of every slice, once for every quantity that a node has."""

        def of_slice(number: int) -> list[Any]:
            part = self._slices.parts[number]
            return [
                kernel(first + part.node, first + part.node_end, self._marginal, self._beliefs, *more)
                for first in self._firsts
            ]

        return [found for of in self._slices.run(of_slice) for found in of]


def side_by_side(count: int, task: Callable[[int], Result]) -> list[Result]:
    """Do a task for the numbers below `count`, in a thread each; the results in order."""
    if count == 1:
        return [task(0)]
    return list(_pool(count).map(task, range(count)))


def crossing(previous: Ids, borders: Iterable[tuple[int, int, int]]) -> Ids:
    """Variables from a border to before `end` whose one before is from `begin` on, of (begin, border, end) in order."""
    found = [
        border + np.flatnonzero((previous[border:end] >= begin) & (previous[border:end] < border))
        for begin, border, end in borders
    ]
    return np.concatenate([np.empty(0, np.int32), *found]).astype(np.int32)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="ttt")


def period_cuts(game_start: Places, threads: int) -> Places:
    """The periods at which slices begin, and the end of the last."""
    games, periods = int(game_start[-1]), len(game_start) - 1
    count = max(1, min(threads, games // GAMES_EACH))
    wanted = np.arange(1, count) * games / count
    inner = np.searchsorted(game_start, wanted)
    return np.unique(np.concatenate([[0], inner[(inner > 0) & (inner < periods)], [periods]]))
