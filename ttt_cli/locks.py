"""Locks that end with the process that holds them: a file beside what is locked, gone when nobody holds it."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

_NO_LOCKS: Final = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL}
_HELD: Final = {errno.EACCES, errno.EDEADLK, getattr(errno, "EDEADLOCK", errno.EDEADLK)}  # on Windows
_FLAGS: Final = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def locked(path: Path, *, wait: bool = True, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock file `path` inside the block; `on_wait` is called before waiting for another holder.

    A file left by a process that was killed locks nothing. Where the file system knows no locks there are none.
    Raises BlockingIOError when another holds it and not `wait`, OSError when the file cannot be made.
    """
    descriptor = _taken(path, _FLAGS | os.O_CREAT, wait, on_wait)
    try:
        yield
    finally:
        _given_back(path, descriptor)


@contextmanager
def abandoned(path: Path) -> Iterator[bool]:
    """Whether a lock file is there and its holder dead; if so it is held inside the block, and gone after it."""
    try:
        descriptor = _taken(path, _FLAGS, False, lambda: None)
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        _given_back(path, descriptor)


def _taken(path: Path, flags: int, wait: bool, on_wait: Callable[[], None]) -> int:
    """A descriptor of the locked file that is at `path` now: the last holder may have removed the one we opened."""
    while True:
        descriptor = os.open(path, flags, 0o666)
        try:
            if not _lock(descriptor, wait=False):
                if not wait:
                    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path))
                on_wait()
                _lock(descriptor, wait=True)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.lstat()):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _given_back(path: Path, descriptor: int) -> None:
    with ExitStack() as closing:
        closing.callback(os.close, descriptor)
        if sys.platform == "win32":  # which removes no open file, be it ours or the next holder's
            closing.close()
        with suppress(OSError):  # what is left locks nothing
            path.unlink()


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file; False when another holds it. Only with `wait` can it take time."""
    if sys.platform == "win32":
        return _lock_byte(descriptor, wait=wait)
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _lock_byte(descriptor: int, *, wait: bool) -> bool:
    """`_lock` on Windows, which locks bytes, also behind the end of a file, and waits for ten seconds at a time."""
    msvcrt: Any = import_module("msvcrt")
    while True:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno not in _HELD:
                raise
            if not wait:
                return False
        else:
            return True
