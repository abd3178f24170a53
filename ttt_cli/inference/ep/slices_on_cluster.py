"""Slices of a fit on the workers of a cluster of Dask."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, TypeVarTuple, cast

from ttt_cli.inference.ep.cutting import SliceInput, SliceInputs
from ttt_cli.inference.ep.parts import period_cuts
from ttt_cli.inference.ep.state import SliceState, make_state
from ttt_cli.inference.ep.transport import SliceLost, Slices
from ttt_cli.inference.model import Play
from ttt_cli.parallel.cluster import losses
from ttt_cli.storage import ArrayFiles, ArrayStorage
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import SetupError
from ttt_cli.timeline import Timeline

if TYPE_CHECKING:
    from distributed import Client
    from distributed.actor import Actor, ActorFuture
    from distributed.client import Future

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

AWAITED: Final = 60  # seconds in which a worker should come back when none is left
CONTINUE: Final = "the same command continues a fit that was started with --scratch FOLDER"


class Cluster:
    """The workers of a cluster, for slices of a fit. All of them find `scratch`, if there is one."""

    name = "on a cluster"

    def __init__(self, client: Client, scratch: Path | None = None) -> None:
        self.scratch = scratch
        self._client = client

    def cuts(self, timeline: Timeline) -> Places:
        """As many slices as workers, fewer of few games."""
        return period_cuts(timeline.game_start, len(worker_addresses(self._client)))

    @contextmanager
    def hold(self, slice_inputs: SliceInputs, play: Play, folder: Path | None) -> Iterator[Slices]:
        """Make a slice on each worker; all are released after the block. Raises SetupError without a scheduler."""
        try:
            with self._client.as_current():  # actors look for it
                slices = SlicesOnCluster(
                    self._client, slice_inputs, play, folder, shares_files=self.scratch is not None
                )
                try:
                    slices.make()
                    yield slices
                finally:
                    slices.clear()
                    gc.collect()  # Dask's actors, and calls of them, refer to each other
        except BrokenPipeError:  # nobody reads what is shown
            raise
        except (OSError, CancelledError) as error:
            raise SetupError("the scheduler of the cluster is lost", hint=CONTINUE) from error


class RemoteSlice:
    """A slice on a worker, which Dask keeps there as an actor."""

    def __init__(self, slice_input: SliceInput, play: Play, folder: Path | None) -> None:
        self._state = make_state(slice_input, play, folder)

    def run(
        self, step: Callable[[SliceState, *Arguments], Result], *arguments: *Arguments
    ) -> Result:
        """Do a step."""
        return step(self._state, *arguments)


class SlicesOnCluster(Slices):
    """Slices as actors, each on a worker with the fewest; those of a lost worker are made again elsewhere."""

    def __init__(
        self,
        client: Client,
        slice_inputs: SliceInputs,
        play: Play,
        folder: Path | None,
        *,
        shares_files: bool,
    ) -> None:
        self._client = client
        self._pieces = slice_inputs
        self._play = play
        self._folder = folder
        self._shares_files = shares_files
        self._addresses = [""] * len(slice_inputs)
        self._actors: list[Actor | None] = []

    def make(self) -> None:
        """Send all slices to workers, then wait for their actors."""
        sent = [self._send(slice_input) for slice_input in self._pieces]
        self._actors = [_actor_of(future) for future in sent]

    def clear(self) -> None:
        """Release all slices."""
        self._actors.clear()

    def _send(self, slice_input: SliceInput) -> Future[Actor] | None:
        """A slice on its way to a worker that makes an actor of it; None where this worker is lost meanwhile."""
        address = min(worker_addresses(self._client), key=self._addresses.count)
        self._addresses[slice_input.number] = address
        make_actor = cast("Callable[..., Actor]", RemoteSlice)
        with losses(), suppress(KeyError, ValueError):  # the scheduler no longer knows the worker
            content = self._client.scatter(slice_input, workers=[address], hash=False)
            return self._client.submit(
                make_actor,
                content,
                self._play,
                self._folder,
                actor=True,
                workers=[address],
                pure=False,
            )
        return None

    def run(
        self,
        step: Callable[[SliceState, *Arguments], Result],
        arguments: Sequence[tuple[*Arguments]],
    ) -> list[Result]:
        """Ask all slices for a step, then collect the results. Raises SliceLost when a worker is lost."""
        calls: dict[int, ActorFuture[Result]] = {}
        results: dict[int, Result] = {}
        for number, actor in enumerate(self._actors):
            with losses():
                if actor is not None:
                    calls[number] = cast("ActorFuture[Result]", actor.run(step, *arguments[number]))
        for number, call in calls.items():
            with losses():
                results[number] = call.result()
        self._actors = [
            actor if number in results else None for number, actor in enumerate(self._actors)
        ]
        if None in self._actors:
            raise SliceLost("a worker was lost with its slice")
        return list(results.values())

    def recover(self) -> None:
        """Make lost slices again. Raises SliceLost, and SetupError when no worker is left and none returns."""
        lost = [number for number, actor in enumerate(self._actors) if actor is None]
        for number in lost:
            self._addresses[number] = ""
        for number in lost:
            self._actors[number] = _actor_of(self._send(self._pieces[number]))
        if None in self._actors:
            raise SliceLost("a worker was lost while it received a slice")

    def can_write(self, storage: ArrayStorage) -> bool:
        """Where all workers find a folder, files are there."""
        return self._shares_files and isinstance(storage, ArrayFiles)


def _actor_of(future: Future[Actor] | None) -> Actor | None:
    """The actor, or None if its worker was lost: Dask then cancels it for want of the object sent."""
    with losses():
        if future:
            return future.result()
    return None


def worker_addresses(client: Client) -> list[str]:
    """Addresses of the workers. Raises SetupError when none appears, OSError without a scheduler."""
    addresses: list[str] = []
    while not addresses:  # the one that was waited for may be lost at once
        if client.status != "running":  # asking it would wait for another connection
            raise OSError
        try:
            client.wait_for_workers(1, timeout=AWAITED)
        except TimeoutError as error:
            raise SetupError("all workers of the cluster are lost", hint=CONTINUE) from error
        addresses = list(client.scheduler_info(n_workers=-1)["workers"])
    return addresses
