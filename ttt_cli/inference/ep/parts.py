"""Parts of a slice, which threads share: ranges of periods with their nodes, games and variables."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

import numpy as np

from ttt_cli.kernels.ep.structures import Chains, Part
from ttt_cli.support.arrays import Ids, Places

Item = TypeVar("Item")
Result = TypeVar("Result")

# Games of a part at least: with fewer, threads cost more than they save
GAMES_EACH: Final = 100_000
MOST_THREADS: Final = 8  # each has a part: with more, sweeps save less than they lose


class VariableRange(NamedTuple):
    """Variables from `begin` to before `end`."""

    begin: int
    end: int


class ExtraRanges(NamedTuple):
    """Extra variables of links: those with chains, then performances."""

    chained: VariableRange
    performances: VariableRange


@dataclass(frozen=True)
class SliceParts:
    """How a slice is divided.

    | name | |
    |---|---|
    | parts | ranges of periods with about as many games each |
    | quantities | variables of each quantity of nodes: skills, and draw margins if players have their own |
    | variables | of each quantity in each part, then extra ones |
    | between | variables that follow one of an earlier part |
    | extra | extra variables of links, None without links |
    | threads | how many work at the same time |
    """

    parts: list[Part]
    quantities: list[VariableRange]
    variables: list[VariableRange]
    between: Ids
    threads: int
    extra: ExtraRanges | None = None

    @property
    def node_variables(self) -> int:
        """Number of variables of nodes, which come first; then those of links."""
        return self.quantities[-1].end

    @property
    def ranges(self) -> list[VariableRange]:
        """All variables: of quantities, and extra ones."""
        return [*self.quantities, *(self.extra or ())]

    @property
    def with_prior(self) -> list[VariableRange]:
        """All variables but performances."""
        return [*self.quantities, self.extra.chained] if self.extra else self.quantities

    def run(self, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Do a task for each item, in threads if they share the slice."""
        if self.threads == 1:
            return [task(item) for item in items]
        return list(_pool(self.threads).map(task, items))

    def in_one_thread(self) -> "SliceParts":
        """The same parts, one after the other."""
        return replace(self, threads=1)


def divide(
    chains: Chains,
    game_start: Places,
    pair_start: Places,
    quantities: list[VariableRange],
    threads: int,
) -> SliceParts:
    """Divide a slice for so many threads.

    `game_start` (periods + 1,) counts all games, `pair_start` distinct ones. Node 0 has the variable 0.
    """
    node_start = chains.node_start
    base = int(node_start[0])
    parts = []
    variables = []
    between = [np.empty(0, np.int32)]
    for begin, end in pairwise(period_cuts(game_start, min(threads, MOST_THREADS)).tolist()):
        node, node_end = node_start[[begin, end]].tolist()
        game, game_end = pair_start[[begin, end]].tolist()
        parts.append(Part(begin, end, node, node_end, game, game_end))
        for first, _ in quantities:
            low = first - base + node
            high = first - base + node_end
            variables.append(VariableRange(low, high))
            previous = chains.previous[low:high]
            later = np.flatnonzero((previous >= first) & (previous < low))
            between.append((low + later).astype(np.int32))
    return SliceParts(parts, quantities, variables, np.concatenate(between), len(parts))


def with_extra(parts: SliceParts, extra: ExtraRanges) -> SliceParts:
    """The only part of a slice, with extra variables."""
    return replace(parts, variables=[*parts.variables, *extra], extra=extra)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="ttt")


def period_cuts(game_start: Places, count: int) -> Places:
    """The first periods of so many parts or slices of about as many games, and the end of the last."""
    games = int(game_start[-1])
    periods = len(game_start) - 1
    count = max(1, min(count, games // GAMES_EACH))
    wanted = np.arange(1, count) * games / count
    inner = np.searchsorted(game_start, wanted)
    return np.concatenate([[0], np.unique(inner[(inner > 0) & (inner < periods)]), [periods]])
