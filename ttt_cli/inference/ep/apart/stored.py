"""A fit in less memory than it takes: every array of a slice is a file, mapped into memory while it is at work."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from ttt_cli.arrays import Places
from ttt_cli.errors import ConfigError
from ttt_cli.inference.ep.apart.cutting import Pieces
from ttt_cli.inference.ep.apart.held import HeldSlice
from ttt_cli.inference.ep.apart.pieces import Piece
from ttt_cli.inference.ep.slices import period_cuts
from ttt_cli.inference.play import Play
from ttt_cli.processes import Engine, available_cores
from ttt_cli.room import FileRoom, Room, folder_of_files
from ttt_cli.timeline import Timeline

VARIABLE: Final = 225  # bytes of a slice for each of its variables
GAME: Final = 35, 55  # and for each of its games, at most: of itself, and for each quantity
LEVELS: Final = 40  # and for each of its nodes where newcomers' mean moves
SEGMENT: Final = 300  # bytes that are held of the nodes of a player in a slice who also plays in others
FULL: Final = 0.8  # of what is free: the least slice may be larger than the others
PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Stored:
    """The slices in the files of a folder, as many in memory at a time as there are threads."""

    def __init__(self, pieces: Pieces, threads: int, stored: Callable[[Piece], "_StoredSlice"]) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="ttt")
        self._slices = [stored(piece) for piece in pieces]

    def ask(self, name: str, each: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Do it for some slices at a time, in their order."""
        calls = (
            partial(one.ask, name, *arguments) for one, arguments in zip(self._slices, each, strict=True)
        )
        return list(self._pool.map(lambda call: call(), calls))

    def recover(self) -> None:
        """Nothing is lost here."""

    def close(self) -> None:
        """End the threads, and look at the files no more."""
        self._pool.shutdown()
        self._slices.clear()


class Storage:
    """Files in a folder of this machine, or a temporary one, as the place of a fit that may take so many bytes."""

    name = "in files"
    workers: Engine | None = None

    def __init__(
        self,
        scratch: Path | None,
        memory: int,
        threads: int | None,
        quantities: int = 1,
        newcomers: bool = False,
    ) -> None:
        self.scratch, self._memory, self._threads = scratch, memory, threads or available_cores()
        self._quantities, self._folder = quantities, ExitStack()
        self._node = VARIABLE * quantities + LEVELS * newcomers

    def finds(self, room: Room) -> bool:  # noqa: ARG002
        """It is this process."""
        return True

    def holds(self, timeline: Timeline) -> bool:
        """Whether there is memory for a whole fit."""
        return self._whole(timeline) <= FULL * (self._memory - resident())

    def cuts(self, timeline: Timeline) -> Places:
        """Slices of which enough have room at a time beside what is in memory. Raises ConfigError when none has."""
        taken = resident()
        room, whole = FULL * (self._memory - taken), self._whole(timeline)
        count = max(self._threads, 1)
        while count <= max(len(timeline.periods), self._threads):
            cuts = period_cuts(timeline.game_start, count)
            crossing = SEGMENT * self._quantities * segments(timeline, cuts)
            if crossing + self._threads * whole / count <= room:
                return cuts
            count += -(-count // 4)
        raise ConfigError(
            f"{self._memory / 1e9:.3g} GB are too little: "
            f"with games and players the program takes {taken / 1e9:.3g} GB already",
            hint="solver.threads=1 works on one slice of time at a time; more memory, or a cluster, helps",
        )

    def _whole(self, timeline: Timeline) -> int:
        """About how many bytes a fit takes beside the timeline."""
        each = GAME[0] + GAME[1] * self._quantities
        return self._node * timeline.n_nodes + each * timeline.n_games

    @contextmanager
    def hold(self, pieces: Pieces, play: Play, kept: Path | None) -> Iterator[Stored]:
        """The files are gone after the block. Raises SetupError when there is no room for them."""
        with self._folder:
            folder = self._folder.enter_context(folder_of_files(self.scratch, "slices"))

            def stored(piece: Piece) -> _StoredSlice:
                place = folder / str(piece.number)
                return _StoredSlice(place, self._memory, self._threads, partial(HeldSlice, piece, play, kept))

            held = Stored(pieces, self._threads, stored)
            try:
                yield held
            finally:
                held.close()

    def close(self) -> None:
        """Remove the files of a fit that is given up while a thread is still at it."""
        self._folder.close()


class _StoredSlice:
    """A slice whose arrays are files; as many of its size as there are threads need room in `memory`, bytes."""

    def __init__(self, folder: Path, memory: int, threads: int, held: Callable[..., HeldSlice]) -> None:
        folder.mkdir()
        self._room = FileRoom(folder)
        self._slice = held(room=self._room.empty)
        self._most = memory - threads * self._room.size
        self._unload()

    def ask(self, name: str, *arguments: Any) -> Any:
        found = getattr(self._slice, name)(*arguments)
        self._unload()
        return found

    def _unload(self) -> None:
        """Give back what is loaded if the next slices have no room; the system itself may do so, too."""
        if not 0 < resident() <= self._most:
            self._room.let_go()


def segments(timeline: Timeline, cuts: Places) -> int:
    """How many players in slices there are who also play in others."""
    inner, found = timeline.node_start[cuts[1:-1]], 0
    crosses = np.zeros(len(timeline.players), np.bool_)
    for part in timeline.room.parts(timeline.n_nodes):
        begin = np.searchsorted(inner, np.arange(part.start, part.stop), side="right")
        first, previous = np.append(0, inner)[begin], timeline.previous[part]
        later = np.flatnonzero((previous >= 0) & (previous < first))
        crosses[timeline.node_player[part][later]] = True
        found += len(later)
    return found + int(np.count_nonzero(crosses))


def resident() -> int:
    """Bytes that this process has in memory; 0 where nothing tells."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0
