"""A fit over a Dask cluster: every worker holds slices of time as actors, which change in place and never travel."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ttt_cli.arrays import Places
from ttt_cli.cluster.chains import work_on
from ttt_cli.errors import SetupError
from ttt_cli.inference.ep.apart.cutting import Pieces
from ttt_cli.inference.ep.apart.held import HeldSlice
from ttt_cli.inference.ep.apart.inference import SliceLost
from ttt_cli.inference.ep.apart.pieces import Piece
from ttt_cli.inference.ep.slices import period_cuts
from ttt_cli.inference.play import Play
from ttt_cli.processes import Engine
from ttt_cli.room import FileRoom, Room
from ttt_cli.timeline import Timeline

if TYPE_CHECKING:
    from distributed import Client
    from distributed.actor import Actor, ActorFuture
    from distributed.client import Future

AWAITED: Final = 60  # seconds in which a worker should come back when none is left
LOOK: Final = 5  # seconds after which it is looked whether the worker of a slice to be made is still there
LOST: Final = "Worker holding Actor was lost"  # as Dask says it
RESUME: Final = "`ttt fit --resume FOLDER` goes on with a fit that had --scratch FOLDER"


class Cluster:
    """The workers of a cluster, as the place of a fit. All of them find `scratch`, if there is one."""

    name = "on a cluster"

    def __init__(self, client: Client, scratch: Path | None = None) -> None:
        self._client, self.scratch = client, scratch
        self.workers: Engine | None = partial(work_on, client)

    def finds(self, room: Room) -> bool:
        """Where there is `scratch`, files are there."""
        return self.scratch is not None and isinstance(room, FileRoom)

    def cuts(self, timeline: Timeline) -> Places:
        """As many slices as workers, fewer of few games."""
        return period_cuts(timeline.game_start, len(_addresses(self._client)))

    @contextmanager
    def hold(self, pieces: Pieces, play: Play, kept: Path | None) -> Iterator[Actors]:
        """A slice on each worker; nothing stays there after the block. Raises SetupError without a scheduler."""
        try:
            with self._client.as_current(), closing(Actors(self._client, pieces, play, kept)) as actors:
                yield actors  # that look for the client
        except BrokenPipeError:  # nobody reads what is shown
            raise
        except (OSError, CancelledError) as error:
            raise SetupError("the scheduler of the cluster is lost", hint=RESUME) from error


class Actors:
    """Slices held by workers, each by one that has the fewest; what a lost worker held is made again elsewhere."""

    def __init__(self, client: Client, pieces: Pieces, play: Play, kept: Path | None) -> None:
        self._client, self._pieces, self._made_with = client, pieces, (play, kept)
        self._where = [""] * len(pieces)
        made = [self._sent(piece) for piece in pieces]
        self._actors = [self._made(number, future) for number, future in enumerate(made)]

    def _sent(self, piece: Piece) -> Future[Actor] | None:
        """A piece on its way to a worker that makes an actor of it; None where this worker is lost meanwhile."""
        address = min(_addresses(self._client), key=self._where.count)
        self._where[piece.number] = address
        make = cast("Callable[..., Actor]", HeldSlice)
        with _Losses(), suppress(KeyError, ValueError):  # the scheduler knows the worker no more
            sent = self._client.scatter(piece, workers=[address], hash=False)
            return self._client.submit(
                make, sent, *self._made_with, actor=True, workers=[address], pure=False
            )
        return None

    def _made(self, number: int, future: Future[Actor] | None) -> Actor | None:
        """The actor when it is there; None when its worker was lost before."""
        found = None
        with _Losses():
            while future is not None and found is None:
                try:
                    found = future.result(timeout=LOOK)
                except TimeoutError:
                    if self._where[number] not in _addresses(self._client):
                        break
        return found

    def ask(self, name: str, each: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Ask all, then hear all. Raises SliceLost when a worker answers no more."""
        calls: dict[int, ActorFuture[Any]] = {}
        found: dict[int, Any] = {}
        for number, (actor, arguments) in enumerate(zip(self._actors, each, strict=False)):
            with _Losses():
                if actor is not None:
                    calls[number] = cast("ActorFuture[Any]", getattr(actor, name)(*arguments))
        for number, call in calls.items():
            with _Losses():
                found[number] = call.result()
        self._actors = [actor if number in found else None for number, actor in enumerate(self._actors)]
        if None in self._actors:
            raise SliceLost("a worker was lost with the slice of time that it held")
        return list(found.values())

    def close(self) -> None:
        """Let workers forget them, as soon as nothing refers to them any more."""
        self._actors.clear()
        gc.collect()  # Dask's actors, and calls of them, refer to each other

    def recover(self) -> None:
        """Make lost slices again. Raises SliceLost, and SetupError when no worker is left and none comes back."""
        lost = [number for number, actor in enumerate(self._actors) if actor is None]
        for number in lost:
            self._where[number] = ""
        for number in lost:
            self._actors[number] = self._made(number, self._sent(self._pieces[number]))
        if None in self._actors:
            raise SliceLost("a worker was lost while it was given a slice of time")


class _Losses:
    """Ends its block where a worker is lost, in any of the ways in which Dask says so."""

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: object, __: object) -> bool:
        from distributed.scheduler import KilledWorker

        if isinstance(error, RuntimeError):
            return str(error).startswith(LOST)
        return isinstance(error, OSError | CancelledError | KilledWorker)


def _addresses(client: Client) -> list[str]:
    """Of the workers there are. Raises SetupError when there is none and none comes, OSError without a scheduler."""
    found: list[str] = []
    while not found:  # the one that was waited for may be lost at once
        if client.status != "running":  # asking it would wait for another connection
            raise OSError
        try:
            client.wait_for_workers(1, timeout=AWAITED)
        except TimeoutError as error:
            raise SetupError("all workers of the cluster are lost", hint=RESUME) from error
        found = list(client.scheduler_info(n_workers=-1)["workers"])
    return found
