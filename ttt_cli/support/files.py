"""Writes files and folders whole or not at all, and durably."""

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from ttt_cli.support.opening import in_system_folder

_PART: Final = ".ttt-part"  # suffix of our folders for half files
_LOCK: Final = ".ttt.lock"  # and of locks, beside such folders and beside runs
_SWEPT: Final = re.compile(r"(\..+\.[0-9a-f]{8})\.ttt-part|\..+\.ttt\.lock", re.DOTALL)
_POLL: Final = 0.05  # seconds between two tries to take a lock
_SHOWN: Final = 40  # letters of a file's name in that of its folder
_SET_ASIDE: Final = "old"  # within a part: an older folder, under its own name, which is put back if need be
_REPLACED: Final = "replaced"  # and the same once it is not needed any more


def real_place(path: Path) -> Path:
    """The path with links resolved, so that replacing it changes the target of a link."""
    return Path(os.path.realpath(path))


@contextmanager
def locked(path: Path, *, wait: bool = True, on_wait: Callable[[], object] = lambda: None) -> Iterator[None]:
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
            raise FileExistsError(errno.EEXIST, "is not a regular file, as a lock must be", str(path))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to, in a new folder beside `path`; on success the file replaces `path`.

    It is synchronised before, and keeps the mode and if possible the owner of the old file. Otherwise `path` stays as
    it was. Files of killed processes are removed. Raises OSError.
    """
    place = real_place(path)
    if is_protected(place):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    with workplace(place) as folder:
        temporary = folder / place.name
        yield temporary
        _keep_access(place, temporary)
        synchronise(temporary)
        temporary.replace(place)
        synchronise(place.parent)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path`; on success it replaces the folder `path`. Raises OSError.

    At every moment, also after a signal or a failed call, the older or the new folder is complete at `path`, or the
    older one is set aside and put back by the next `sweep` of the folder around it.
    """
    place = real_place(path)
    with workplace(place) as part:
        new = part / "new"
        new.mkdir()
        yield new
        if place.exists():
            set_aside = part / _SET_ASIDE
            set_aside.mkdir()
            place.rename(set_aside / place.name)
        new.rename(place)


@contextmanager
def workplace(place: Path) -> Iterator[Path]:
    """Yield a new folder beside `place`, removed after the block, as are folders of dead processes. Raises OSError.

    Its lock is made before it and removed after it, so that a folder without a locked lock belongs to a dead process.
    """
    sweep(place.parent)
    place.parent.stat()  # FileLock would create it
    name = f".{place.name[:_SHOWN]}.{secrets.token_hex(4)}"
    folder = place.parent / f"{name}{_PART}"
    with locked(place.parent / f"{name}{_LOCK}", wait=False):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            with suppress(OSError):
                _put_back(folder)
                shutil.rmtree(folder, ignore_errors=True)


def _put_back(part: Path) -> list[Path]:
    """Move a folder that was set aside back to its place, if that is empty; return the paths. Raises OSError.

    What is not moved back is not put back later either: it may then be removed in part.
    """
    set_aside = part / _SET_ASIDE
    restored: list[Path] = []
    if not set_aside.is_dir():
        return restored
    with os.scandir(set_aside) as entries:
        folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    for name in folders:
        place = part.parent / name
        if not os.path.lexists(place):
            (set_aside / name).rename(place)
            restored.append(place)
    set_aside.rename(part / _REPLACED)
    return restored


@contextmanager
def temporary_folder(name: str) -> Iterator[Path]:
    """Yield a folder for temporary files; folders of killed processes are removed. Raises OSError."""
    with workplace(Path(tempfile.gettempdir(), f"ttt-{name}")) as folder:
        yield folder


def sweep(folder: Path) -> None:
    """Remove folders and locks of killed processes, unlocked and owned by this user; put back what they set aside."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in [*entries]:
            with suppress(OSError):  # the lock of a folder is gone when the folder is
                _sweep_entry(entry)


def _sweep_entry(entry: os.DirEntry[str]) -> None:
    """Remove a folder or lock if it is one of a killed process. Raises OSError."""
    name = _SWEPT.fullmatch(entry.name)
    if name is None or not _is_ours(entry.stat(follow_symlinks=False), is_folder=bool(name[1])):
        return
    path = Path(entry.path)
    lock = path.with_name(f"{name[1]}{_LOCK}") if name[1] else path
    with locked(lock, wait=False):
        if name[1]:
            _sweep_part(path)


def _is_ours(status: os.stat_result, *, is_folder: bool) -> bool:
    """Whether a folder for half files, or a lock, which is empty, is of this user."""
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        return False
    if is_folder:
        return stat.S_ISDIR(status.st_mode)
    return stat.S_ISREG(status.st_mode) and not status.st_size


def _sweep_part(part: Path) -> None:
    for restored in _put_back(part):
        WRITER.report(f"{restored} restored: the command that was replacing it did not end")
    shutil.rmtree(part, ignore_errors=True)


def open_own(path: Path) -> BinaryIO:
    """Open a file that only the user can have made or changed, and no link. Raises PermissionError, OSError."""
    _check_own(path.parent, path.parent.lstat(), stat.S_ISDIR)
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        file = os.fdopen(os.open(path, flags), "rb")
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PermissionError(errno.EPERM, "is a link", str(path)) from error
        raise
    try:
        _check_own(path, os.fstat(file.fileno()), stat.S_ISREG)
    except BaseException:
        file.close()
        raise
    return file


def write_own(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file for `open_own`, which replaces whatever has its name. Raises OSError."""
    part = path.with_name(f"{path.stem}-{secrets.token_hex(4)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
            write(file)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _check_own(path: Path, found: os.stat_result, is_kind: Callable[[int], bool]) -> None:
    if not is_kind(found.st_mode):
        raise PermissionError(errno.EPERM, "is a link, or no ordinary file or folder", str(path))
    if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o022):
        raise PermissionError(errno.EPERM, "others can change it", str(path))


def is_protected(place: Path) -> bool:
    """Whether an existing file may not be written according to its mode, even by the superuser."""
    try:
        return not place.stat().st_mode & 0o222 or not os.access(place, os.W_OK)
    except FileNotFoundError:
        return False


def synchronise(path: Path) -> None:
    """Write a file's bytes, or a folder's names, to the disk. Raises OSError."""
    # Windows writes out only what may be written.
    flags = os.O_RDWR if sys.platform == "win32" else os.O_RDONLY
    try:
        descriptor = os.open(path, flags)
    except (PermissionError, IsADirectoryError):
        if path.is_dir():  # Windows opens none, others only what may be read
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)


@contextmanager
def database_writing(path: Path) -> Iterator[None]:
    """Turn IO errors of the database inside the block into OSErrors."""
    import duckdb

    try:
        yield
    except duckdb.IOException as error:
        known = errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES
        number = next((one for one in known if os.strerror(one) in str(error)), errno.EIO)
        raise OSError(number, os.strerror(number), str(path)) from error


def _keep_access(old: Path, new: Path) -> None:
    """Copy owner and mode; without the group, its rights are those of others."""
    try:
        before = old.stat()
    except FileNotFoundError:
        return
    mode = stat.S_IMODE(before.st_mode)
    if hasattr(os, "chown") and _owner(before) != _owner(new.stat()):
        try:
            os.chown(new, *_owner(before))
        except OSError:
            try:
                os.chown(new, -1, before.st_gid)
            except OSError:
                mode = mode & 0o707 | (mode & 0o007) << 3
    new.chmod(mode)


def _owner(found: os.stat_result) -> tuple[int, int]:
    return found.st_uid, found.st_gid


class _WriterState(threading.local):
    """State of this thread: runs that it has locked, whether it waits for locks, and where it reports."""

    def __init__(self) -> None:
        self.held: set[Path] = set()
        self.wait = True
        self.report: Callable[[str], object] = lambda _: None


WRITER: Final = _WriterState()


@contextmanager
def waiting(report: Callable[[str], object], *, wait: bool) -> Iterator[None]:
    """Inside the block, wait for other writers, or refuse; `report` receives messages to the user."""
    before = WRITER.wait, WRITER.report
    WRITER.wait = wait
    WRITER.report = report
    try:
        yield
    finally:
        WRITER.wait, WRITER.report = before
