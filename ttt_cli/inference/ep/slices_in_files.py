"""Slices of a fit in files of this machine, where memory is scarce."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, TypeVar, TypeVarTuple

import numpy as np

from ttt_cli.inference.ep.cutting import SliceInputs
from ttt_cli.inference.ep.parts import period_cuts
from ttt_cli.inference.ep.state import SliceState, make_state
from ttt_cli.inference.ep.transport import Slices
from ttt_cli.inference.model import Play
from ttt_cli.parallel.processes import available_cores
from ttt_cli.storage import ArrayFiles, ArrayStorage, folder_of_files
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import ConfigError
from ttt_cli.timeline import Timeline

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

VARIABLE: Final = 225  # bytes of a slice for each of its variables
GAME: Final = 35  # and for each of its games, at most
GAME_QUANTITY: Final = 55  # and for each of its games and quantities
LEVELS: Final = 40  # and for each of its nodes where newcomers' mean moves
# Bytes that are held of the nodes of a player in a slice who also plays in others
SEGMENT: Final = 300
FULL: Final = 0.8  # of what is free: the least slice may be larger than the others
PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class FilesPlacement:
    """Files in a folder of this machine, or a temporary one, for a fit that may take so many bytes of memory.

    As many slices are in memory at a time as there are threads.
    """

    name = "in files"

    def __init__(
        self,
        scratch: Path | None,
        memory: int,
        threads: int | None,
        quantities: int = 1,
        newcomers: bool = False,
    ) -> None:
        self.scratch = scratch
        self._memory = memory
        self._threads = threads or available_cores()
        self._quantities = quantities
        self._node_bytes = VARIABLE * quantities + LEVELS * newcomers
        self._folder = ExitStack()

    def fits_in_memory(self, timeline: Timeline) -> bool:
        """Whether there is memory for a fit of the timeline as one slice."""
        return self._fit_bytes(timeline) <= FULL * (self._memory - resident())

    def cuts(self, timeline: Timeline) -> Places:
        """Slices of which enough have room at a time beside what is in memory. Raises ConfigError when none has."""
        taken = resident()
        free = FULL * (self._memory - taken)
        fit_bytes = self._fit_bytes(timeline)
        count = max(self._threads, 1)
        while count <= max(len(timeline.periods), self._threads):
            cuts = period_cuts(timeline.game_start, count)
            crossing = SEGMENT * self._quantities * count_segments(timeline, cuts)
            if crossing + self._threads * fit_bytes / (len(cuts) - 1) <= free:
                return cuts
            count += -(-count // 4)
        raise ConfigError(
            f"{self._memory / 1e9:.3g} GB are too little: "
            f"with games and players the program takes {taken / 1e9:.3g} GB already",
            hint="solver.threads=1 works on one slice of time at a time; more memory, or a cluster, helps",
        )

    def _fit_bytes(self, timeline: Timeline) -> int:
        """About how many bytes a fit takes beside the timeline."""
        game_bytes = GAME + GAME_QUANTITY * self._quantities
        return self._node_bytes * timeline.n_nodes + game_bytes * timeline.n_games

    @contextmanager
    def hold(self, slice_inputs: SliceInputs, play: Play, folder: Path | None) -> Iterator[Slices]:
        """Slices in files, which are removed after the block. Raises SetupError when there is no room for them."""
        with self._folder, ThreadPoolExecutor(self._threads, thread_name_prefix="ttt") as pool:
            parent = self._folder.enter_context(folder_of_files(self.scratch, "slices"))
            slices = SlicesInFiles(pool, self._memory, self._threads)
            try:
                for slice_input in slice_inputs:
                    storage = ArrayFiles(parent / str(slice_input.number))
                    storage.folder.mkdir()
                    slices.add(make_state(slice_input, play, folder, storage), storage)
                yield slices
            finally:
                slices.clear()

    def close(self) -> None:
        """Remove the files of a fit that is given up while a thread is still at it."""
        self._folder.close()


class SlicesInFiles(Slices):
    """Slices whose arrays are in files, for so many bytes of memory and threads at the same time."""

    def __init__(self, pool: ThreadPoolExecutor, memory: int, threads: int) -> None:
        self._pool = pool
        self._memory = memory
        self._threads = threads
        self._states: list[SliceState] = []
        self._storages: list[ArrayFiles] = []

    def add(self, state: SliceState, storage: ArrayFiles) -> None:
        """Add a slice whose arrays are in this storage."""
        self._states.append(state)
        self._storages.append(storage)
        self._unload(storage)

    def clear(self) -> None:
        """Forget all slices."""
        self._states.clear()
        self._storages.clear()

    def run(
        self,
        step: Callable[[SliceState, *Arguments], Result],
        arguments: Sequence[tuple[*Arguments]],
    ) -> list[Result]:
        """Do a step in some slices at a time."""

        def run_in(state: SliceState, storage: ArrayFiles, arguments: tuple[*Arguments]) -> Result:
            result = step(state, *arguments)
            self._unload(storage)
            return result

        return list(self._pool.map(run_in, self._states, self._storages, arguments))

    def can_write(self, storage: ArrayStorage) -> bool:  # noqa: ARG002
        """Slices are in this process."""
        return True

    def _unload(self, storage: ArrayFiles) -> None:
        """Release memory if the next slices have no room, or may have none; the system itself may do so, too."""
        taken = resident()
        unknown = taken == 0
        if unknown or taken > self._memory - self._threads * storage.size:
            storage.release()


def count_segments(timeline: Timeline, cuts: Places) -> int:
    """How many segments slices have: of each player who plays in several slices one in each of these.

    A segment that is not the player's first is counted at its first node, where the chain comes from an earlier slice;
    the first ones are as many as players whose chains cross a border.
    """
    inner = timeline.node_start[cuts[1:-1]]
    later_segments = 0
    crosses = np.zeros(len(timeline.players), np.bool_)
    for part in timeline.storage.parts(timeline.n_nodes):
        index = np.searchsorted(inner, np.arange(part.start, part.stop), side="right")
        first = np.append(0, inner)[index]
        previous = timeline.previous[part]
        later = np.flatnonzero((previous >= 0) & (previous < first))
        crosses[timeline.node_player[part][later]] = True
        later_segments += len(later)
    return later_segments + int(np.count_nonzero(crosses))


def resident() -> int:
    """Bytes of this process in memory; 0 where unknown."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0
