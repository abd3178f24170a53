"""A Dask cluster on this machine, in a session of its own, that ends with the process that began it."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children
from tempfile import TemporaryFile, mkdtemp
from threading import Event, Thread
from typing import Final

from ttt_cli.errors import SetupError

AGAIN: Final = 3.0  # seconds between two looks at whether all workers are there
_START: Final = "import sys; sys.path[:] = {}; from ttt_cli.cluster.local import serve; serve({})"
_SETTINGS: Final = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",  # it looks at every thread a hundred times a second
    # of glibc; Dask's own, 64 kB, gives the memory of every fit back and asks for it again, which takes as long
    "DASK_DISTRIBUTED__NANNY__PRE_SPAWN_ENVIRON__MALLOC_TRIM_THRESHOLD_": str(1 << 27),
}


@contextmanager
def local_scheduler(workers: int) -> Iterator[str]:
    """The address of a scheduler with so many workers, each a process that does one thing at a time.

    They import what their work is made of and no script of the user. Raises SetupError when they do not come up.
    """
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
            if not (address := process.stdout.readline().decode().strip()):
                errors.seek(0)
                *_, last = errors.read().decode(errors="replace").splitlines() or ["it says nothing"]
                raise SetupError("the local cluster did not start", hint=last)
            yield address
        finally:
            process.stdin.close()  # it sees this, and ends


def serve(workers: int) -> None:
    """Run a scheduler and workers until the pipe is closed: the whole life of such a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    os.dup2(2, 1)  # nothing else may be written there
    scratch = mkdtemp(prefix="ttt-cluster-")
    os.environ["DASK_TEMPORARY_DIRECTORY"] = scratch
    from distributed import LocalCluster

    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        memory_limit=0,
        dashboard_address=None,
    )
    os.write(answers, f"{cluster.scheduler_address}\n".encode())
    os.close(answers)
    ended = Event()

    def listen() -> None:
        sys.stdin.buffer.read()
        ended.set()

    Thread(target=listen, daemon=True).start()
    while not ended.wait(AGAIN):
        cluster.scale(workers)  # where one died while it began, which is the end of what would begin it again
    for child in active_children():  # at once, whatever they do
        child.kill()
        child.join()
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(0)
