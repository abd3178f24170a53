"""Locks between processes that write the same file, and what a thread does while another process has one."""

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ttt_cli.support.opening import in_system_folder

_POLL: Final = 0.05  # seconds between two tries to take a lock


@contextmanager
def locked(
    path: Path, *, wait: bool = True, on_wait: Callable[[], object] = lambda: None
) -> Iterator[None]:
    """Lock the file `path` inside the block; `on_wait` is called before waiting for another process.

    Raises BlockingIOError if another process has the lock and not `wait`, OSError when it cannot be created.
    """
    from filelock import FileLock, Timeout

    _check_lock(path)
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        if not wait:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path)) from None
        on_wait()
        lock.acquire(poll_interval=_POLL)
    try:
        yield
    finally:
        with suppress(OSError):  # before the release: filelock sees that the file it locked is gone
            path.unlink()
        lock.release()


def _check_lock(path: Path) -> None:
    """Raise OSError where waiting for a lock would never end."""
    if in_system_folder(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    with suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise FileExistsError(
                errno.EEXIST, "is not a regular file, as a lock must be", str(path)
            )


class _WriterState(threading.local):
    """State of this thread: runs that it has locked, whether it waits for locks, and where it reports."""

    def __init__(self) -> None:
        self.locked_runs: set[Path] = set()
        self.wait = True
        self.report: Callable[[str], object] = lambda _: None


WRITER: Final = _WriterState()


@contextmanager
def waiting(report: Callable[[str], object], *, wait: bool) -> Iterator[None]:
    """Inside the block, wait for other writers, or refuse; `report` receives messages to the user."""
    earlier_wait = WRITER.wait
    earlier_report = WRITER.report
    WRITER.wait = wait
    WRITER.report = report
    try:
        yield
    finally:
        WRITER.wait = earlier_wait
        WRITER.report = earlier_report
