"""Run work on a Dask cluster: its address, workers of this machine, and the engine of `processes.run_chains`."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

from ttt_cli.parallel.processes import (
    BESIDE_OTHERS,
    Engine,
    Outcomes,
    StepReport,
    Unwanted,
    Worker,
    WorkerLost,
    outcome_of,
    watched,
)
from ttt_cli.support import VERSION
from ttt_cli.support.errors import ConfigError, SetupError
from ttt_cli.support.progress import waiting
from ttt_cli.support.replacing import temporary_folder

if TYPE_CHECKING:
    from distributed import Client, Future, Scheduler


CONNECTED: Final = 30  # seconds after which a scheduler should have answered
_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_ADDRESS = re.compile(r"((tcp|tls|ucx|wss?)://)?(?!local:)[^\s/]+:\d+")
_FORMS: Final = "local:N, HOST:PORT, tls://HOST:PORT or the scheduler's FILE.json"


def cluster_asked(configured: str | None) -> str | None:
    """Address of the cluster: `solver.cluster`, else `$TTT_CLUSTER`; None without a cluster."""
    return configured or os.environ.get("TTT_CLUSTER") or None


def check_address(where: str) -> str:
    """Check an address. Raises ValueError if it is malformed."""
    if not (_LOCAL.fullmatch(where) or _ADDRESS.fullmatch(where) or where.endswith(".json")):
        raise ValueError(f"{where!r} is no cluster: it is given as {_FORMS}")
    return where


def local_workers(where: str) -> int | None:
    """Number of workers to start on this machine; None for an existing cluster."""
    match = _LOCAL.fullmatch(where)
    return int(match[1]) if match else None


@contextmanager
def cluster_client(where: str) -> Iterator[Client]:
    """A client of the cluster at `where`, which is the address of its scheduler, the file that the scheduler wrote
    (`--scheduler-file`), or `local:N`: N workers of this machine, which end with the block or with this process,
    whatever ends it. Certificates for `tls://` are those of Dask's own config.

    Raises ConfigError for what is no place, SetupError without Dask or when no scheduler answers.
    """
    try:
        check_address(where)
    except ValueError as error:
        raise ConfigError(
            str(error), hint="--cluster, solver.cluster or $TTT_CLUSTER says where"
        ) from error
    workers = local_workers(where)
    if not workers:
        import_dask()
    with local_scheduler(workers) if workers else nullcontext(where) as address, _quiet():
        from distributed import Client, Security

        if where.startswith("tls://") and not Security().get_connection_args("client").get(
            "ssl_context"
        ):
            raise SetupError(
                f"{where} asks for certificates",
                hint="distributed.comm.tls in Dask's config names them (docs/cluster.md)",
            )
        if where.endswith(".json") and not Path(where).is_file():
            raise SetupError(
                f"there is no {where}", hint="dask scheduler --scheduler-file writes it"
            )
        at = {"scheduler_file" if where.endswith(".json") else "address": address}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of versions, which the work itself looks at
                client = Client(**at, timeout=CONNECTED, set_as_default=False, name="ttt")
            if workers:
                client.wait_for_workers(workers, timeout=CONNECTED)
        except Exception as error:
            hint = f"is it running? {error or type(error).__name__}"
            raise SetupError(f"no Dask scheduler answers at {address}", hint=hint) from error
        with client:
            yield client


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's logging in this process; failures are raised as errors."""
    names = [
        name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"
    ]
    levels = {name: logging.getLogger(name).level for name in names}
    try:
        for name in names:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


HERE: Final = "127.0.0.1"
_SCHEDULER_PROGRAM: Final = (
    "import sys; sys.path[:] = {};"
    " from ttt_cli.parallel.cluster import serve_cluster; serve_cluster({})"
)
_SETTINGS: Final = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    # Dask looks at every thread a hundred times a second, at every loop fifty times and at the system twice
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
    **BESIDE_OTHERS,
}
_PROCESSES: Final[Any] = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
# Imported before workers are forked, which then share their memory
_IMPORTED: Final = (
    "distributed",
    "numba",
)


@contextmanager
def local_scheduler(workers: int) -> Iterator[str]:
    """Start a scheduler and single-threaded workers; returns the address. Raises SetupError."""
    with (
        TemporaryFile() as errors,
        subprocess.Popen(
            [sys.executable, "-c", _SCHEDULER_PROGRAM.format(sys.path, workers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            env={**os.environ, **_SETTINGS},
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            import_dask()
            if not (address := process.stdout.readline().decode().strip()):
                errors.seek(0)
                *_, last = errors.read().decode(errors="replace").splitlines() or [
                    "it says nothing"
                ]
                raise SetupError("the local cluster did not start", hint=last)
            yield address
        finally:
            process.stdin.close()  # it sees this, and ends


def import_dask() -> None:
    """Import Dask. Raises SetupError if it is not installed."""
    try:
        import_module("distributed")
    except ImportError as error:
        raise SetupError(
            "a cluster needs Dask, which is not installed",
            hint="pip install 'ttt-ratings[cluster]'",
        ) from error


def serve_cluster(workers: int) -> None:
    """Main function of a scheduler process: run it and its workers until the pipe is closed.

    Its first line on standard output is the address of the scheduler, and the only one: what libraries print goes to
    standard error.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent_output = os.dup(1)
    os.dup2(2, 1)
    with temporary_folder("workers") as scratch:
        os.environ["DASK_TEMPORARY_DIRECTORY"] = str(scratch)
        for name in _IMPORTED:
            import_module(name)
        scheduler, address = _start_scheduler()
        os.write(parent_output, f"{address}\n".encode())
        os.close(parent_output)
        _keep_workers(workers, scheduler, address)
    scheduler.kill()  # the last of all, after what workers leave behind
    scheduler.join()
    os._exit(0)


class _RunningScheduler(NamedTuple):
    """The process of a scheduler, and its address."""

    process: BaseProcess
    address: str


def _start_scheduler() -> _RunningScheduler:
    """Start a scheduler; exit if it ends before it has an address."""
    receiver, sender = _PROCESSES.Pipe(duplex=False)
    scheduler = _begun(_schedule, sender)
    sender.close()
    try:
        return _RunningScheduler(scheduler, receiver.recv())
    except EOFError:
        scheduler.join()
        sys.exit(1)


def _keep_workers(count: int, scheduler: BaseProcess, address: str) -> None:
    """Keep so many workers running, until the parent closes the standard input or ends, or the scheduler ends."""
    # the second end has a message when the standard input ends
    parent_gone, end_of_input = _PROCESSES.Pipe(duplex=False)
    Thread(target=lambda: end_of_input.send(os.read(0, 1)), daemon=True).start()
    working: list[BaseProcess] = []
    ready: Sequence[object] = ()
    while not {parent_gone, scheduler.sentinel}.intersection(ready):
        working = [process for process in working if process.is_alive()]
        working += [_begun(_work, address) for _ in range(count - len(working))]
        ready = connection.wait(
            [parent_gone, scheduler.sentinel, *(process.sentinel for process in working)]
        )
    for process in working:  # at once, whatever they do
        process.kill()
        process.join()


def _begun(run: Callable[[Any], Coroutine[Any, Any, None]], argument: object) -> BaseProcess:
    process: BaseProcess = _PROCESSES.Process(target=_alone, args=(run, argument), daemon=True)
    process.start()
    return process


def _alone(run: Callable[[Any], Coroutine[Any, Any, None]], argument: object) -> None:
    """Main function of a process that ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        os.setsid()  # systems that share processors among sessions would have workers share one part

    def follow() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
        os._exit(1)

    Thread(target=follow, daemon=True).start()
    asyncio.run(run(argument))


def _answer_no_http(server: Any) -> None:
    """Keep schedulers and workers of this process from starting an HTTP server (Dask has no other switch)."""
    server.start_http_server = lambda *_, **__: None


async def _schedule(sender: Connection) -> None:
    from distributed import Scheduler

    _answer_no_http(Scheduler)
    async with Scheduler(host=HERE, port=0, dashboard=False) as scheduler:
        sender.send(scheduler.address)
        sender.close()
        await scheduler.finished()


async def _work(address: str) -> None:
    from distributed import Worker

    _answer_no_http(Worker)
    async with Worker(address, host=HERE, nthreads=1, memory_limit=0) as worker:
        await worker.finished()


LOOK: Final = 1.0  # seconds between two looks at what workers there are
LOST: Final = "Worker holding Actor was lost"  # as Dask says it


@contextmanager
def losses() -> Iterator[None]:
    """End the block when a worker is lost, however Dask reports it."""
    from distributed.scheduler import KilledWorker

    try:
        yield
    except (OSError, CancelledError, KilledWorker):
        pass
    except RuntimeError as error:
        if not str(error).startswith(LOST):
            raise


@contextmanager
def chain_workers(where: str | None, jobs: int) -> Iterator[int | Engine]:
    """The `jobs` argument of `run_chains`: a number of processes, or the cluster at `where`."""
    if where is None:
        yield jobs
    else:
        with cluster_client(where) as client:
            yield partial(work_on, client)


def threads_each(where: str | None, jobs: int, threads: int | None, cores: int) -> int:
    """Number of threads for one chain.

    On this computer (`where` None or `local:N`) chains share `threads`, or the cores; on a cluster that exists each has
    as many as `threads`, or one.
    """
    workers = jobs if where is None else local_workers(where)
    if workers is None:
        return threads or 1
    return max(1, (threads or cores) // workers)


DEATHS: Final = 4  # times that an item of a chain is tried again after Dask has given it up


@dataclass
class _Chain:
    """Progress of a chain: `done` items are finished; Dask has given up the next one `deaths` times."""

    items: Sequence[Any]
    done: int = 0
    deaths: int = 0


def work_on(client: Client, worker: Worker[Any, Any], chains: Iterable[Sequence[Any]]) -> Outcomes:
    """Run chains on a cluster, each as a task that Dask repeats when its worker is lost; cancel all at the end.

    Outcomes arrive in two ways, and both put a message with the task's key into one queue:

    1. Reports and the outcomes of all items but the last are events, which the scheduler keeps under the key: the
       message is the pickled position and outcome.
    2. The last outcome, or the error of the chain, is the result of the task: the message is None when it has ended.

    A task that Dask repeats begins with the first item, so positions that have been delivered are passed over. One
    that Dask has given up is repeated here, `DEATHS` times. Raises SetupError when the scheduler is lost or a worker
    cannot do the work.
    """
    unfinished = {f"chain-{uuid4().hex}": _Chain(chain) for chain in chains if chain}
    if not (keys := list(unfinished)):
        return
    tasks: dict[str, Future[bytes]] = {}
    messages: SimpleQueue[tuple[str, bytes | None]] = SimpleQueue()  # None: the task has ended

    def follow(key: str) -> None:
        tasks[key].add_done_callback(lambda _: messages.put((key, None)))

    try:
        for key in keys:
            client.subscribe_topic(key, lambda event, key=key: messages.put((key, event[1])))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is large: it holds the games
            content = client.submit(
                bytes, pickle.dumps(worker, pickle.HIGHEST_PROTOCOL), pure=False
            )
        _await_worker(client)
        with suppress(ValueError):  # the worker has gone
            # Dask would leave all chains to the one worker that has it
            client.replicate(content, n=len(keys))
        orders = [
            pickle.dumps(chain.items, pickle.HIGHEST_PROTOCOL) for chain in unfinished.values()
        ]
        futures = client.map(
            run_chain, orders, key=keys, pure=False, content=content, version=VERSION
        )
        tasks.update(zip(keys, futures, strict=True))
        for key in keys:
            follow(key)
        while unfinished:
            key, message = _next(client, messages)
            if not (chain := unfinished.get(key)):
                continue
            delivery = _delivery(chain, message, tasks[key])
            if delivery is None:
                tasks[key].retry()
                follow(key)
            elif delivery.position == chain.done:  # else another worker sent it already
                outcome = delivery.outcome
                if not isinstance(outcome, StepReport):
                    chain.done += 1
                    chain.deaths = 0
                    if isinstance(outcome, Exception) or chain.done == len(chain.items):
                        del unfinished[key]
                        tasks.pop(key).cancel(force=True)
                yield chain.items[delivery.position], outcome
    except (OSError, CancelledError) as error:
        raise SetupError("the scheduler of the cluster does not answer any more") from error
    finally:
        if client.status == "running":
            with suppress(Exception):
                client.cancel(list(tasks.values()), force=True)
                client.run_on_scheduler(_forget_events, keys)


class _DeliveredStep(NamedTuple):
    """An outcome of the item at a position of its chain."""

    position: int
    outcome: Any


def _delivery(chain: _Chain, message: bytes | None, task: Future[bytes]) -> _DeliveredStep | None:
    """What a message or, without one, the task's result delivers; None if the task is to be repeated."""
    from distributed.scheduler import KilledWorker

    try:
        return _DeliveredStep(*pickle.loads(message or task.result()))
    except KilledWorker:  # Dask repeats a task only so often by itself
        chain.deaths += 1
        if chain.deaths <= DEATHS:
            return None
        sentence = "several workers of the cluster ended on the same task"
        return _DeliveredStep(
            chain.done, WorkerLost(sentence, hint="perhaps they ran out of memory")
        )
    except (OSError, CancelledError):
        raise
    except Exception as error:
        raise SetupError(
            f"a worker of the cluster cannot do the work: {error}",
            hint="workers need the same ttt and the same libraries as the client (docs/cluster.md)",
        ) from error


def _next(
    client: Client, messages: SimpleQueue[tuple[str, bytes | None]]
) -> tuple[str, bytes | None]:
    """The next message. Raises OSError when the scheduler is lost."""
    while client.status == "running":  # else asking it would wait for another connection
        try:
            return messages.get(timeout=LOOK)
        except Empty:
            _await_worker(client)
    raise OSError("the connection is lost")


def _await_worker(client: Client) -> None:
    if not client.scheduler_info(n_workers=1)["workers"]:
        with waiting("waiting for a worker of the cluster"):
            client.wait_for_workers(1)


def _forget_events(keys: Sequence[str], dask_scheduler: Scheduler) -> None:
    for key in keys:
        dask_scheduler._broker._topics.pop(key, None)


def run_chain(order: bytes, content: bytes, version: str) -> bytes:
    """Run a chain on a worker of the cluster: a task of `work_on`. Raises SetupError for another version."""
    from distributed import get_worker
    from distributed.utils import sync

    if version != VERSION:
        raise SetupError(f"it has ttt {VERSION} instead of {version}")
    dask_worker = get_worker()
    worker = pickle.loads(content)
    items = pickle.loads(order)
    key = str(dask_worker.get_current_task())
    position = 0

    def send(outcome: object) -> None:
        """Deliver the outcome at this position, unless the task is not wanted any more.

        Returns when the scheduler has it, so that what is done is not lost with this process.
        """
        check()
        message = pickle.dumps((position, outcome), pickle.HIGHEST_PROTOCOL)
        sync(dask_worker.loop, dask_worker.scheduler.log_event, topic=key, msg=message)

    def check() -> None:
        """Raise Unwanted when the task was cancelled or its client is lost."""
        task = dask_worker.state.tasks.get(key)
        if task is None or task.state != "executing":
            raise Unwanted

    with watched(lambda message: send(StepReport(message)), check):
        for position, item in enumerate(items):
            outcome = outcome_of(worker, item, fresh=position == 0)
            if isinstance(outcome, Exception) or position == len(items) - 1:
                break
            send(outcome)
    return pickle.dumps((position, outcome), pickle.HIGHEST_PROTOCOL)
