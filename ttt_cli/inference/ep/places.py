"""Where the slices of a fit are: in this process as a whole, in files where memory is scarce, or on a cluster."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ttt_cli.cluster import cluster_asked, cluster_client, local_workers, losses
from ttt_cli.config.schema import SolverConfig, size_of
from ttt_cli.inference.ep.cutting import Cutter, SliceInput
from ttt_cli.inference.ep.inference import Holder, SliceLost
from ttt_cli.inference.ep.slices import Slice, period_cuts
from ttt_cli.inference.years import Play
from ttt_cli.room import FileRoom, Room, folder_of_files
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import ConfigError, SetupError
from ttt_cli.support.files import temporary_folder
from ttt_cli.timeline import Timeline
from ttt_cli.work import available_cores

if TYPE_CHECKING:
    from distributed import Client
    from distributed.actor import Actor, ActorFuture
    from distributed.client import Future

VARIABLE: Final = 225  # bytes of a slice for each of its variables
GAME: Final = 35, 55  # and for each of its games, at most: of itself, and for each quantity
LEVELS: Final = 40  # and for each of its nodes where newcomers' mean moves
SEGMENT: Final = 300  # bytes that are held of the nodes of a player in a slice who also plays in others
FULL: Final = 0.8  # of what is free: the least slice may be larger than the others
PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@contextmanager
def fit_place(
    solver: SolverConfig, timeline: Timeline, name: str, *, quantities: int, newcomers: bool = False
) -> Iterator[Place | None]:
    """Where the slices of a fit are to be, as the solver is configured; None: in this process, as a whole.

    `quantities` is how many a node has of the system of that name. Raises ConfigError where it has no slices.
    """
    where = cluster_asked(solver.cluster)
    scratch = None if solver.scratch is None else Path(solver.scratch)
    storage = None
    if solver.memory:
        storage = Storage(scratch, size_of(solver.memory), solver.threads, quantities, newcomers)
    if where is None and (storage is None or storage.holds(timeline)):
        yield None
    elif not quantities:
        raise ConfigError(
            f"{name} is not fitted {'over a cluster' if where else 'in less memory than it takes'} yet",
            hint="without --cluster (solver.cluster, $TTT_CLUSTER) and --memory (solver.memory) it is fitted whole",
        )
    elif where is None:
        assert storage is not None
        with closing(storage):
            yield storage
    else:
        with ExitStack() as stack:
            if scratch is None and local_workers(where):
                scratch = stack.enter_context(temporary_folder("cluster"))
            yield Cluster(stack.enter_context(cluster_client(where)), scratch)


class Storage(Holder):
    """Files in a folder of this machine, or a temporary one, as the place of a fit that may take so many bytes.

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
        self._folder = ExitStack()
        self._slices: list[tuple[Slice, FileRoom]] = []
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
        room = FULL * (self._memory - taken)
        whole = self._whole(timeline)
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
    def hold(self, pieces: Cutter, play: Play, kept: Path | None) -> Iterator[Holder]:
        """Slices in files, which are removed after the block. Raises SetupError when there is no room for them."""
        with self._folder, ThreadPoolExecutor(self._threads, thread_name_prefix="ttt") as self._pool:
            folder = self._folder.enter_context(folder_of_files(self.scratch, "slices"))
            try:
                for piece in pieces:
                    room = FileRoom(folder / str(piece.number))
                    room.folder.mkdir()
                    self._slices.append((Slice(piece, play, kept, room), room))
                    self._unload(room)
                yield self
            finally:
                self._slices.clear()

    def ask(self, name: str, each: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call some slices at a time; the results in order."""

        def call(one: tuple[Slice, FileRoom], arguments: tuple[Any, ...]) -> Any:
            found = getattr(one[0], name)(*arguments)
            self._unload(one[1])
            return found

        return list(self._pool.map(call, self._slices, each))

    def _unload(self, room: FileRoom) -> None:
        """Release memory if the next slices have no room; the system itself may do so, too."""
        if not 0 < resident() <= self._memory - self._threads * room.size:
            room.let_go()

    def close(self) -> None:
        """Remove the files of a fit that is given up while a thread is still at it."""
        self._folder.close()


def segments(timeline: Timeline, cuts: Places) -> int:
    """How many players in slices there are who also play in others."""
    inner = timeline.node_start[cuts[1:-1]]
    found = 0
    crosses = np.zeros(len(timeline.players), np.bool_)
    for part in timeline.room.parts(timeline.n_nodes):
        begin = np.searchsorted(inner, np.arange(part.start, part.stop), side="right")
        first = np.append(0, inner)[begin]
        previous = timeline.previous[part]
        later = np.flatnonzero((previous >= 0) & (previous < first))
        crosses[timeline.node_player[part][later]] = True
        found += len(later)
    return found + int(np.count_nonzero(crosses))


def resident() -> int:
    """Bytes of this process in memory; 0 where unknown."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


AWAITED: Final = 60  # seconds in which a worker should come back when none is left
CONTINUE: Final = "the same command continues a fit that was started with --scratch FOLDER"


class Cluster(Holder):
    """The workers of a cluster, as the place of a fit. All of them find `scratch`, if there is one.

    Each slice is an actor on a worker with the fewest; those of a lost worker are made again elsewhere.
    """

    name = "on a cluster"

    def __init__(self, client: Client, scratch: Path | None = None) -> None:
        self._client = client
        self.scratch = scratch
        self._actors: list[Actor | None] = []

    def finds(self, room: Room) -> bool:
        """Where there is `scratch`, files are there."""
        return self.scratch is not None and isinstance(room, FileRoom)

    def cuts(self, timeline: Timeline) -> Places:
        """As many slices as workers, fewer of few games."""
        return period_cuts(timeline.game_start, len(_addresses(self._client)))

    @contextmanager
    def hold(self, pieces: Cutter, play: Play, kept: Path | None) -> Iterator[Holder]:
        """Make a slice on each worker; all are released after the block. Raises SetupError without a scheduler."""
        self._pieces = pieces
        self._made_with = (play, kept)
        self._where = [""] * len(pieces)
        try:
            with self._client.as_current():  # actors look for it
                try:
                    sent = [self._sent(piece) for piece in pieces]
                    self._actors = [_made(future) for future in sent]
                    yield self
                finally:
                    self._actors.clear()
                    gc.collect()  # Dask's actors, and calls of them, refer to each other
        except BrokenPipeError:  # nobody reads what is shown
            raise
        except (OSError, CancelledError) as error:
            raise SetupError("the scheduler of the cluster is lost", hint=CONTINUE) from error

    def _sent(self, piece: SliceInput) -> Future[Actor] | None:
        """A piece on its way to a worker that makes an actor of it; None where this worker is lost meanwhile."""
        address = min(_addresses(self._client), key=self._where.count)
        self._where[piece.number] = address
        make = cast("Callable[..., Actor]", Slice)
        with losses(), suppress(KeyError, ValueError):  # the scheduler no longer knows the worker
            content = self._client.scatter(piece, workers=[address], hash=False)
            more = {"actor": True, "workers": [address], "pure": False}
            return self._client.submit(make, content, *self._made_with, **more)
        return None

    def ask(self, name: str, each: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call all slices, then collect the results. Raises SliceLost when a worker is lost."""
        calls: dict[int, ActorFuture[Any]] = {}
        found: dict[int, Any] = {}
        for number, (actor, arguments) in enumerate(zip(self._actors, each, strict=False)):
            with losses():
                if actor is not None:
                    calls[number] = cast("ActorFuture[Any]", getattr(actor, name)(*arguments))
        for number, call in calls.items():
            with losses():
                found[number] = call.result()
        self._actors = [actor if number in found else None for number, actor in enumerate(self._actors)]
        if None in self._actors:
            raise SliceLost("a worker was lost with its slice")
        return list(found.values())

    def recover(self) -> None:
        """Make lost slices again. Raises SliceLost, and SetupError when no worker is left and none returns."""
        lost = [number for number, actor in enumerate(self._actors) if actor is None]
        for number in lost:
            self._where[number] = ""
        for number in lost:
            self._actors[number] = _made(self._sent(self._pieces[number]))
        if None in self._actors:
            raise SliceLost("a worker was lost while it received a slice")


def _made(future: Future[Actor] | None) -> Actor | None:
    """The actor, or None if its worker was lost: Dask then cancels it for want of the object sent."""
    with losses():
        if future:
            return future.result()
    return None


def _addresses(client: Client) -> list[str]:
    """Addresses of the workers. Raises SetupError when none appears, OSError without a scheduler."""
    found: list[str] = []
    while not found:  # the one that was waited for may be lost at once
        if client.status != "running":  # asking it would wait for another connection
            raise OSError
        try:
            client.wait_for_workers(1, timeout=AWAITED)
        except TimeoutError as error:
            raise SetupError("all workers of the cluster are lost", hint=CONTINUE) from error
        found = list(client.scheduler_info(n_workers=-1)["workers"])
    return found


Place = Storage | Cluster
