"""A Dask cluster on this machine, in sessions of its own, that ends with the process that began it."""

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Thread
from typing import Any, Final

from ttt_cli.errors import SetupError
from ttt_cli.processes import BESIDE_OTHERS

HERE: Final = "127.0.0.1"
_START: Final = "import sys; sys.path[:] = {}; from ttt_cli.cluster.local import serve; serve({})"
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
    """The address of a scheduler that so many workers come to, of one thread each. Raises SetupError."""
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
    """Raises SetupError where it is not installed."""
    try:
        import_module("distributed")
    except ImportError as error:
        raise SetupError(
            "a cluster needs Dask, which is not installed", hint="pip install 'ttt-ratings[cluster]'"
        ) from error


def serve(workers: int) -> None:
    """Keep a scheduler and so many workers until the pipe is closed: the whole life of such a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    os.dup2(2, 1)  # nothing else may be written there
    with TemporaryDirectory(prefix="ttt-cluster-", ignore_cleanup_errors=True) as scratch:
        os.environ["DASK_TEMPORARY_DIRECTORY"] = scratch
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
    """The whole life of a process that ends with the one that began it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        os.setsid()  # systems that share processors among sessions would have workers share one part

    def follow() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
        os._exit(1)

    Thread(target=follow, daemon=True).start()
    asyncio.run(run(argument))


async def _schedule(found: Connection) -> None:
    from distributed import Scheduler

    async with Scheduler(host=HERE, port=0, dashboard=False) as scheduler:
        found.send(scheduler.address)
        found.close()
        await scheduler.finished()


async def _work(address: str) -> None:
    from distributed import Worker

    async with Worker(address, host=HERE, nthreads=1, memory_limit=0) as worker:
        await worker.finished()
