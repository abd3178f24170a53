"""Run work on a Dask cluster: address, workers of this machine, and the engine of `ttt_cli.work.run_chains`."""

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
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from importlib import import_module
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryFile
from threading import Semaphore, Thread
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, runtime_checkable

from ttt_cli.support.errors import ConfigError, SetupError
from ttt_cli.support.files import temporary_folder
from ttt_cli.support.progress import waiting
from ttt_cli.support.version import VERSION
from ttt_cli.work import (
    BESIDE_OTHERS,
    LOOK,
    ChainState,
    Engine,
    Found,
    Pool,
    StepReport,
    Unwanted,
    Worker,
    WorkerLost,
    outcome_of,
    watched,
)

if TYPE_CHECKING:
    from distributed import Client, Future
    from distributed.actor import Actor


CONNECTED: Final = 30  # seconds after which a scheduler should have answered
_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_ADDRESS = re.compile(r"((tcp|tls|ucx|wss?)://)?(?!local:)[^\s/]+:\d+")
_FORMS: Final = "local:N, HOST:PORT, tls://HOST:PORT or the scheduler's FILE.json"


def cluster_asked(configured: str | None) -> str | None:
    """Address of the cluster: `solver.cluster`, else `$TTT_CLUSTER`; None without a cluster."""
    return configured or os.environ.get("TTT_CLUSTER") or None


def check_place(where: str) -> str:
    """Check an address. Raises ValueError if it is malformed."""
    if not (_LOCAL.fullmatch(where) or _ADDRESS.fullmatch(where) or where.endswith(".json")):
        raise ValueError(f"{where!r} is no cluster: it is given as {_FORMS}")
    return where


def local_workers(where: str) -> int | None:
    """Number of workers to start on this machine; None for an existing cluster."""
    found = _LOCAL.fullmatch(where)
    return int(found[1]) if found else None


@contextmanager
def cluster_client(where: str) -> Iterator[Client]:
    """A client of the cluster at `where`, which is the address of its scheduler, the file that the scheduler wrote
    (`--scheduler-file`), or `local:N`: N workers of this machine, which end with the block or with this process,
    whatever ends it. Certificates for `tls://` are those of Dask's own config.

    Raises ConfigError for what is no place, SetupError without Dask or when no scheduler answers.
    """
    try:
        check_place(where)
    except ValueError as error:
        raise ConfigError(str(error), hint="--cluster, solver.cluster or $TTT_CLUSTER says where") from error
    workers = local_workers(where)
    if not workers:
        import_dask()
    place: AbstractContextManager[str] = local_scheduler(workers) if workers else nullcontext(where)
    with place as address, _quiet(), _connected(address, workers) as client:
        yield client


@contextmanager
def _connected(where: str, workers: int | None) -> Iterator[Client]:
    from distributed import Client, Security

    if where.startswith("tls://") and not Security().get_connection_args("client").get("ssl_context"):
        raise SetupError(
            f"{where} asks for certificates",
            hint="distributed.comm.tls in Dask's config names them (docs/cluster.md)",
        )
    at = {"scheduler_file": where} if where.endswith(".json") else {"address": where}
    if where.endswith(".json") and not Path(where).is_file():
        raise SetupError(f"there is no {where}", hint="dask scheduler --scheduler-file writes it")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions, which the work itself looks at
            client = Client(**at, timeout=CONNECTED, set_as_default=False, name="ttt")
        if workers:
            client.wait_for_workers(workers, timeout=CONNECTED)
    except Exception as error:
        raise SetupError(
            f"no Dask scheduler answers at {where}", hint=f"is it running? {error or type(error).__name__}"
        ) from error
    with client:
        yield client


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's logging in this process; failures are raised as errors."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    levels = {name: logging.getLogger(name).level for name in names}
    try:
        for name in names:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


HERE: Final = "127.0.0.1"
_START: Final = "import sys; sys.path[:] = {}; from ttt_cli.cluster import serve; serve({})"
_SETTINGS: Final = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    # Dask looks at every thread a hundred times a second, at every loop fifty times and at the system twice
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
    **BESIDE_OTHERS,
}
_begin: Final[Any] = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
_IMPORTED: Final = "distributed", "numba"  # before workers begin: they share what it takes


@contextmanager
def local_scheduler(workers: int) -> Iterator[str]:
    """Start a scheduler and single-threaded workers; returns the address. Raises SetupError."""
    with (
        TemporaryFile() as errors,
        subprocess.Popen(
            [sys.executable, "-c", _START.format(sys.path, workers)],
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
                *_, last = errors.read().decode(errors="replace").splitlines() or ["it says nothing"]
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
            "a cluster needs Dask, which is not installed", hint="pip install 'ttt-ratings[cluster]'"
        ) from error


def serve(workers: int) -> None:
    """Main function of a scheduler process: run it and its workers until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    os.dup2(2, 1)  # nothing else may be written there
    with temporary_folder("workers") as scratch:
        os.environ["DASK_TEMPORARY_DIRECTORY"] = str(scratch)
        for name in _IMPORTED:
            import_module(name)
        addresses, found = _begin.Pipe(duplex=False)
        scheduler = _begun(_schedule, found)
        found.close()
        try:
            address = addresses.recv()
        except EOFError:
            scheduler.join()
            sys.exit(1)
        os.write(answers, f"{address}\n".encode())
        os.close(answers)
        unwanted, told = _begin.Pipe(duplex=False)
        Thread(target=lambda: told.send(os.read(0, 1)), daemon=True).start()
        working: list[BaseProcess] = []
        ready: Sequence[object] = ()
        while not {unwanted, scheduler.sentinel}.intersection(ready):
            working = [process for process in working if process.is_alive()]
            working += [_begun(_work, address) for _ in range(workers - len(working))]
            ready = connection.wait([unwanted, scheduler.sentinel, *(one.sentinel for one in working)])
        for process in working:  # at once, whatever they do
            process.kill()
            process.join()
    scheduler.kill()  # the last of all, after what workers leave behind
    scheduler.join()
    os._exit(0)


def _begun(run: Callable[[Any], Coroutine[Any, Any, None]], argument: object) -> BaseProcess:
    process: BaseProcess = _begin.Process(target=_alone, args=(run, argument), daemon=True)
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


async def _schedule(found: Connection) -> None:
    from distributed import Scheduler

    _answer_no_http(Scheduler)
    async with Scheduler(host=HERE, port=0, dashboard=False) as scheduler:
        found.send(scheduler.address)
        found.close()
        await scheduler.finished()


async def _work(address: str) -> None:
    from distributed import Worker

    _answer_no_http(Worker)
    async with Worker(address, host=HERE, nthreads=1, memory_limit=0) as worker:
        await worker.finished()


DEATHS: Final = 7  # workers that may end one after the other over the same item
MOST: Final = 50  # of them where every one came further
LOST: Final = "Worker holding Actor was lost"  # as Dask says it


class Losses:
    """End the block when a worker is lost, however Dask reports it."""

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: object, __: object) -> bool:
        from distributed.scheduler import KilledWorker

        if isinstance(error, RuntimeError):
            return str(error).startswith(LOST)
        return isinstance(error, OSError | CancelledError | KilledWorker)


def submit_actor(
    client: Client, address: str, kind: type, sent: object, *arguments: object
) -> Future[Actor] | None:
    """Send an object to a worker and create an actor of it there; None if the worker is lost."""
    make = cast("Callable[..., Actor]", kind)
    with Losses(), suppress(KeyError, ValueError):  # the scheduler no longer knows the worker
        content = client.scatter(sent, workers=[address], hash=False)
        return client.submit(make, content, *arguments, actor=True, workers=[address], pure=False)
    return None


def made_actor(client: Client, address: str, future: Future[Actor] | None) -> Actor | None:
    """The actor, or None if its worker was lost."""
    with Losses():
        while future:
            try:
                return future.result(timeout=LOOK)
            except TimeoutError:
                if address not in client.scheduler_info(n_workers=-1)["workers"]:
                    break
    return None


@runtime_checkable
class Recalling(Protocol):
    """A worker that can resume an item."""

    def recall(self, messages: Sequence[Any]) -> object:
        """Receive the messages that the next item had reported before its worker was lost."""


@contextmanager
def chain_workers(where: str | None, jobs: int) -> Iterator[int | Engine]:
    """The `jobs` argument of `run_chains`: a number of processes, or the cluster at `where`."""
    if where is None:
        yield jobs
    else:
        with cluster_client(where) as client:
            yield partial(work_on, client)


def threads_each(where: str | None, jobs: int, threads: int | None, cores: int) -> int:
    """Number of threads for one chain."""
    workers = jobs if where is None else local_workers(where)
    return threads or 1 if workers is None else max(1, (threads or cores) // workers)


def work_on(client: Client, worker: Worker[Any, Any], chains: Iterable[Sequence[Any]]) -> Found:
    """Run chains on a cluster, one per thread of a worker, and cancel everything at the end. Raises SetupError when
    the scheduler is lost or a worker cannot do the work.
    """
    content, recalls = pickle.dumps(worker, pickle.HIGHEST_PROTOCOL), isinstance(worker, Recalling)
    pool = Pool(chains, lambda chain: min(DEATHS + recalls * len(chain.reported), MOST))
    runners: list[Future[Actor]] = []
    attended: list[tuple[str, Thread]] = []

    def begin(address: str) -> _RemoteProcess | None:
        future = submit_actor(client, address, ChainRunner, content, VERSION)
        if future:
            runners.append(future)
        try:
            runner = made_actor(client, address, future)
        except Exception as error:
            raise _refused(error) from error
        return _RemoteProcess(future, runner) if future and runner else None

    def attend(address: str) -> None:
        with client.as_current():  # actors look for it
            pool.attend(partial(begin, address))

    def look() -> None:
        """Assign idle workers while chains wait."""
        addresses = _threads_of(client)
        attended[:] = [(address, thread) for address, thread in attended if thread.is_alive()]
        for address, _ in attended:
            if address in addresses:
                addresses.remove(address)
        for address in addresses[: len(pool.waiting)]:
            attended.append((address, Thread(target=attend, args=(address,), daemon=True)))
            attended[-1][1].start()

    try:
        yield from pool.events(look)
    finally:
        pool.ended = True
        with suppress(Exception):
            if client.status == "running":
                client.cancel(runners, force=True)


def _threads_of(client: Client) -> list[str]:
    """Addresses of workers, each as often as it has threads; waits for the first. Raises SetupError."""
    found: list[str] = []
    while not found:
        if client.status != "running":  # asking it would wait for another connection
            raise _lost_scheduler()
        try:
            workers = client.scheduler_info(n_workers=-1)["workers"]
            found = [address for address, about in workers.items() for _ in range(about["nthreads"])]
            if not found:
                with waiting("waiting for a worker of the cluster"):
                    client.wait_for_workers(1)
        except OSError as error:
            raise _lost_scheduler() from error
    return found


class _RemoteProcess:
    """A worker of the cluster that runs chains."""

    def __init__(self, made: Future[Actor], runner: Actor) -> None:
        self._made, self._runner = made, runner

    def run(self, chain: ChainState) -> Iterator[Any]:
        """Yield messages of the remaining items; finished ones are repeated first."""
        order = pickle.dumps((chain.items, chain.results, chain.reported), pickle.HIGHEST_PROTOCOL)
        with Losses():
            self._runner.begin(order).result()
            for _ in range(chain.done, len(chain.items)):
                while isinstance(outcome := self._receive(), StepReport):
                    yield outcome
                yield outcome
                if isinstance(outcome, Exception):
                    return
            return
        said = "several workers of the cluster ended on the same task"
        raise WorkerLost(said, hint="perhaps they ran out of memory")

    def _receive(self) -> Any:
        call = self._runner.receive()
        while True:
            try:
                return pickle.loads(call.result(timeout=LOOK))
            except TimeoutError:
                if self._made.status != "finished":
                    raise OSError("lost or cancelled") from None


class ChainRunner:
    """Runs chains on a worker of the cluster: the actor of `_RemoteProcess`. Raises SetupError for other versions."""

    def __init__(self, content: bytes, version: str) -> None:
        from distributed import get_worker

        if version != VERSION:
            raise SetupError(f"it has ttt {VERSION} instead of {version}")
        self._host = get_worker()
        self._key = str(self._host.get_current_task())
        self._content, self._messages = content, asyncio.Queue[bytes]()
        self._calls, self._called = Semaphore(0), False
        pickle.loads(content)

    def begin(self, order: bytes) -> None:
        """Run a chain in a thread."""
        Thread(target=self._run, args=(order,), daemon=True).start()

    async def receive(self) -> bytes:
        """The next report or outcome of the chain; a call says that the one before has arrived."""
        self._calls.release()
        return await self._messages.get()

    def _run(self, order: bytes) -> None:
        with suppress(Unwanted):
            try:
                self._do(order)
            except Exception as error:  # for instance of a result that cannot be sent
                self._send(_refused(error))

    def _do(self, order: bytes) -> None:
        here, (items, results, messages) = pickle.loads(self._content), pickle.loads(order)
        for position, item in enumerate(items[: len(results)]):
            with watched(lambda _: None, self._end_if_unwanted):
                here.step(item, fresh=position == 0)
        if messages and isinstance(here, Recalling):
            here.recall(messages)
        for position, item in enumerate(items[len(results) :], len(results)):
            self._await_call()  # what is done is not lost with this process
            with watched(lambda message: self._send(StepReport(message)), self._end_if_unwanted):
                outcome = outcome_of(here, item, position == 0)
            self._send(outcome)
            if isinstance(outcome, Exception):
                return

    def _send(self, what: object) -> None:
        message = pickle.dumps(what, pickle.HIGHEST_PROTOCOL)
        self._await_call()
        self._called = False
        self._host.loop.add_callback(self._messages.put_nowait, message)

    def _await_call(self) -> None:
        self._end_if_unwanted()
        while not self._called:
            self._called = self._calls.acquire(timeout=LOOK)
            self._end_if_unwanted()

    def _end_if_unwanted(self) -> None:
        """Raise Unwanted when the actor was cancelled or its client is lost."""
        if self._key not in self._host.state.actors:
            raise Unwanted


def _refused(error: Exception) -> SetupError:
    return SetupError(
        f"a worker of the cluster cannot do the work: {error}",
        hint="workers need the same ttt and the same libraries as the client (docs/cluster.md)",
    )


def _lost_scheduler() -> SetupError:
    return SetupError("the scheduler of the cluster does not answer any more")
