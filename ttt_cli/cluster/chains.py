"""Chains of work on a cluster: the engine of `ttt_cli.processes.run_chains` there.

A chain is one task, so that what a step leaves for the next lives in that task and never travels, and Dask does the
rest: it shares tasks out, also to workers that join, and begins again elsewhere what was at work on one that is gone.
(Its actors would keep state as well, but nothing begins them again.) Results come through a queue as they are there.
A chain that begins again does its finished items again, without their results being handed on twice: warm starts, and
so the results to come, are the same to the last digit whatever is lost.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable
from uuid import uuid4

from ttt_cli import __version__
from ttt_cli.cluster.client import cluster_client, local_workers
from ttt_cli.errors import SetupError
from ttt_cli.processes import Engine, Found, Report, Unwanted, Worker, WorkerLost, outcome_of, watched
from ttt_cli.progress import Wait, announce

if TYPE_CHECKING:
    from distributed import Client, Future, Queue

LOOK: Final = 1.0  # seconds between two looks at tasks that say nothing
DEATHS: Final = 7  # workers that may end one after the other over the same item
MOST: Final = 50  # of them where every one came further
IDLE: Final = 20  # times one after the other that a task may be lost before it begins


@runtime_checkable
class Redoing(Protocol):
    """A worker that can do an item again at less cost when its result is known."""

    def redo(self, item: Any, result: Any, *, fresh: bool) -> object:
        """Leave what `step` would leave for the next item."""


@runtime_checkable
class Recalling(Protocol):
    """A worker that can go on in the middle of an item."""

    def recall(self, messages: Sequence[Any]) -> object:
        """What the item that comes next had reported before its worker was lost."""


@contextmanager
def chain_workers(where: str | None, jobs: int) -> Iterator[int | Engine]:
    """What `run_chains` takes as its `jobs`: so many processes, or the cluster at `where`."""
    if where is None:
        yield jobs
    else:
        with cluster_client(where) as client:
            yield partial(work_on, client)


def threads_each(where: str | None, jobs: int, threads: int | None, cores: int) -> int:
    """How many threads the work of one chain may take beside the others."""
    workers = jobs if where is None else local_workers(where)
    return threads or 1 if workers is None else max(1, (threads or cores) // workers)


def work_on(client: Client, worker: Worker[Any, Any], chains: Iterable[Sequence[Any]]) -> Found:
    """What comes of items; no task of it stays on the cluster. Raises SetupError when the scheduler is lost."""
    job = _Job(client, worker, [_Chain(list(chain)) for chain in chains if chain])
    try:
        yield from job.events()
    finally:
        job.end()


@dataclass
class _Chain:
    """A chain as it stands, at item `position` of the last of its `runs`: one more when Dask begins `task` again."""

    items: list[Any]
    results: list[Any] = field(default_factory=list)
    reported: list[Any] = field(default_factory=list)  # by the first item without a result
    task: Future[None] | None = None
    runs: list[str] = field(default_factory=list)
    position: int = 0
    deaths: int = 0  # of workers over that item
    idle: int = 0  # times that its task was lost before it began

    @property
    def item(self) -> Any:
        """The first item without a result."""
        return self.items[len(self.results)]


@dataclass(frozen=True)
class _Sent:
    """What every worker gets once; Dask takes such an object for small, and does not keep work where it is already."""

    content: bytes


@dataclass(frozen=True)
class _At:
    """A run of a chain has come to the item at a position."""

    position: int


@dataclass(frozen=True)
class _Message:
    """What a run of a task says, which does the chain of that number."""

    number: int
    task: str
    run: str
    what: Any


class _Job:
    def __init__(self, client: Client, worker: Worker[Any, Any], chains: list[_Chain]) -> None:
        from distributed import Queue

        self._client, self._chains, self._name = client, chains, f"ttt-{uuid4().hex}"
        self._worker = _Sent(pickle.dumps(worker, pickle.HIGHEST_PROTOCOL))
        self._recalls = isinstance(worker, Recalling)
        self._sent: Future[_Sent] | None = None
        self._left = set(range(len(chains)))
        self._tasks = 0
        self._queue: Queue = Queue(self._name, client)

    def events(self) -> Found:
        """Do the chains."""
        for number in self._left:
            self._submit(number)
        looked = monotonic()
        while self._left:
            if (message := self._receive()) is not None:
                yield from self._understand(message)
            if monotonic() - looked > LOOK:
                for number in sorted(self._left):
                    yield from self._look_at(number, silent=message is None)
                looked = monotonic()

    def end(self) -> None:
        """Leave nothing behind; steps that are at work end when they look up."""
        with suppress(Exception):
            self._queue.close()
        with suppress(Exception):
            if self._client.status == "running":
                self._client.cancel([chain.task for chain in self._chains if chain.task], force=True)
        self._sent = None

    def _submit(self, number: int) -> None:
        """Have a chain done from its first item without a result on."""
        while self._sent is None or self._sent.status != "finished":  # all workers that held it may be gone
            self._await_workers()
            try:
                self._sent = self._client.scatter(self._worker, broadcast=True, hash=False)
            except (OSError, KeyError, ValueError):  # they are lost while it is on its way
                continue
            except Exception as error:
                raise _refused(error) from error
        chain = self._chains[number]
        order = pickle.dumps((chain.items, chain.results, chain.reported), pickle.HIGHEST_PROTOCOL)
        self._tasks += 1
        chain.runs, chain.position = [], 0
        chain.task = self._client.submit(
            do_chain, self._sent, order, self._name, number, __version__,
            key=f"{self._name}-{number}-{self._tasks}", pure=False,
        )  # fmt: skip

    def _await_workers(self) -> None:
        if self._client.status != "running":
            raise _lost_scheduler()
        words = "waiting for a worker of the cluster"
        with suppress(TimeoutError):
            self._client.wait_for_workers(1, timeout=LOOK)
            return
        announce(Wait(words, 0, over=False))
        try:
            self._client.wait_for_workers(1)
        finally:
            announce(Wait(words, 0, over=True))

    def _receive(self) -> _Message | None:
        """What a run of a task says; None when for a while there was nothing."""
        try:
            found: _Message = pickle.loads(self._queue.get(timeout=LOOK))
        except TimeoutError:
            if self._client.status != "running":
                raise _lost_scheduler() from None
            return None
        except OSError as error:
            raise _lost_scheduler() from error
        return found

    def _understand(self, message: _Message) -> Found:
        chain, what = self._chains[message.number], message.what
        if chain.task is None or message.task != chain.task.key or message.number not in self._left:
            return
        if message.run not in chain.runs:
            chain.runs.append(message.run)
            if len(chain.runs) > 1:
                yield from self._begin_again(message.number)
                return
        if message.run != chain.runs[-1]:
            return  # its worker was given up, but lives
        if isinstance(what, _At):
            chain.position = what.position
        elif isinstance(what, Report):
            chain.reported.append(what.message)
            yield chain.item, what
        else:
            yield from self._take(message.number, what)

    def _take(self, number: int, outcome: Any) -> Found:
        chain = self._chains[number]
        item = chain.item
        chain.results.append(outcome)
        chain.reported, chain.deaths = [], 0
        if isinstance(outcome, Exception) or len(chain.results) == len(chain.items):
            self._left.remove(number)
        yield item, outcome

    def _look_at(self, number: int, *, silent: bool) -> Found:
        """See to a chain whose task has ended without a word."""
        from distributed.scheduler import KilledWorker

        chain = self._chains[number]
        assert chain.task is not None
        status = chain.task.status
        if status == "error" and not isinstance(error := chain.task.exception(), KilledWorker):
            yield from self._take(number, _refused(error))
        elif status in ("error", "cancelled", "lost") or (silent and status == "finished"):
            yield from self._begin_again(number)

    def _begin_again(self, number: int) -> Found:
        """Have a lost chain done by another worker, unless the item it was at has ended too many."""
        chain = self._chains[number]
        chain.idle = 0 if chain.runs else chain.idle + 1
        chain.deaths += bool(chain.runs) and chain.position == len(chain.results)
        self._client.cancel([chain.task], force=True)
        allowed = min(DEATHS + len(chain.reported), MOST) if self._recalls else DEATHS
        if chain.deaths <= allowed and chain.idle <= IDLE:
            self._submit(number)
            return
        said = "workers of the cluster ended one after the other over the same piece of work"
        yield from self._take(number, WorkerLost(said, hint="have they memory enough?"))


def do_chain(worker: _Sent, order: bytes, queue: str, number: int, version: str) -> None:
    """The whole life of a chain, on a worker of the cluster."""
    run = _Run(queue, number)
    with suppress(Unwanted):
        run.send(_At(0))
        try:
            if version != __version__:
                raise SetupError(f"it has ttt {__version__} instead of {version}")
            here = pickle.loads(worker.content)
            items, results, messages = pickle.loads(order)
        except Exception as error:
            run.send(_refused(error))
            return
        for position, (item, result) in enumerate(zip(items, results, strict=False)):
            run.send(_At(position))
            with watched(lambda _: None, run.end_if_unwanted):
                redo = (
                    here.redo if isinstance(here, Redoing) else lambda item, _, **how: here.step(item, **how)
                )
                redo(item, result, fresh=position == 0)
        if messages and isinstance(here, Recalling):
            here.recall(messages)
        for position, item in enumerate(items[len(results) :], len(results)):
            run.send(_At(position))
            with watched(lambda message: run.send(Report(message)), run.end_if_unwanted):
                outcome = outcome_of(here, item, position == 0)
            run.send(outcome)
            if isinstance(outcome, Exception):
                return


class _Run:
    """A chain at work on this worker, and the way from it to whoever asked for it."""

    def __init__(self, queue: str, number: int) -> None:
        from distributed import get_worker

        self._worker = get_worker()
        self._task = str(self._worker.get_current_task())
        self._queue, self._number, self._name = queue, number, uuid4().hex

    def send(self, what: object) -> None:
        """Hand something on, in order. Raises Unwanted."""
        from distributed.utils import sync

        self.end_if_unwanted()
        message = _Message(self._number, self._task, self._name, what)
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        try:
            sync(self._worker.loop, self._worker.scheduler.queue_put, name=self._queue, data=data)
        except KeyError as error:  # there is no such queue any more
            raise Unwanted from error

    def end_if_unwanted(self) -> None:
        """Raise Unwanted when the task was cancelled, by whoever asked for it or because that one is gone."""
        task = self._worker.state.tasks.get(self._task)
        if task is None or task.state not in ("executing", "long-running"):
            raise Unwanted


def _refused(error: BaseException | None) -> SetupError:
    return SetupError(
        f"a worker of the cluster cannot do the work: {error}",
        hint="workers need the same ttt and the same libraries as the machine that asks them (docs/cluster.md)",
    )


def _lost_scheduler() -> SetupError:
    return SetupError("the scheduler of the cluster does not answer any more")
