"""Writes files and folders whole or not at all, and durably."""

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ttt_cli.support.locks import WRITER, locked

_PART: Final = ".ttt-part"  # suffix of our folders for half files
_LOCK: Final = ".ttt.lock"  # and of locks, beside such folders and beside runs
_SWEPT: Final = re.compile(r"(\..+\.[0-9a-f]{8})\.ttt-part|\..+\.ttt\.lock", re.DOTALL)
_SHOWN: Final = 40  # letters of a file's name in that of its folder
# Within a part: an older folder, under its own name, which is put back if need be
_SET_ASIDE: Final = "old"
_REPLACED: Final = "replaced"  # and the same once it is not needed any more


def real_path(path: Path) -> Path:
    """The path with links resolved, so that replacing it changes the target of a link."""
    return Path(os.path.realpath(path))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to, in a new folder beside `path`; on success the file replaces `path`.

    It is synchronised before, and keeps the mode and if possible the owner of the old file. Otherwise `path` stays as
    it was. Files of killed processes are removed. Raises OSError.
    """
    target = real_path(path)
    if is_protected(target):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    with working_folder(target) as folder:
        temporary = folder / target.name
        yield temporary
        _keep_access(target, temporary)
        synchronise(temporary)
        temporary.replace(target)
        synchronise(target.parent)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path`; on success it replaces the folder `path`. Raises OSError.

    At every moment, also after a signal or a failed call, the older or the new folder is complete at `path`, or the
    older one is set aside and put back by the next `sweep` of the folder around it.
    """
    target = real_path(path)
    with working_folder(target) as part:
        new = part / "new"
        new.mkdir()
        yield new
        if target.exists():
            set_aside = part / _SET_ASIDE
            set_aside.mkdir()
            target.rename(set_aside / target.name)
        new.rename(target)


@contextmanager
def working_folder(target: Path) -> Iterator[Path]:
    """Yield a new folder beside `target`, removed after the block, as are folders of dead processes. Raises OSError.

    Its lock is made before it and removed after it, so that a folder without a locked lock belongs to a dead process.
    """
    sweep(target.parent)
    target.parent.stat()  # FileLock would create it
    name = f".{target.name[:_SHOWN]}.{secrets.token_hex(4)}"
    folder = target.parent / f"{name}{_PART}"
    with locked(target.parent / f"{name}{_LOCK}", wait=False):
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
        target = part.parent / name
        if not os.path.lexists(target):
            (set_aside / name).rename(target)
            restored.append(target)
    set_aside.rename(part / _REPLACED)
    return restored


@contextmanager
def temporary_folder(name: str) -> Iterator[Path]:
    """Yield a folder for temporary files; folders of killed processes are removed. Raises OSError."""
    with working_folder(Path(tempfile.gettempdir(), f"ttt-{name}")) as folder:
        yield folder


def sweep(folder: Path) -> None:
    """Remove folders and locks of killed processes, unlocked and owned by this user; put back what they set aside."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in [*entries]:
            with suppress(OSError):  # the lock of a folder is gone when the folder is
                _sweep_entry(entry)


def _sweep_entry(entry: os.DirEntry[str]) -> None:
    """Remove a folder or lock if it is one of a killed process. Raises OSError."""
    match = _SWEPT.fullmatch(entry.name)
    if match is None:
        return
    part_name = match[1]  # None for a lock
    if not _is_ours(entry.stat(follow_symlinks=False), is_folder=part_name is not None):
        return
    path = Path(entry.path)
    lock = path if part_name is None else path.with_name(f"{part_name}{_LOCK}")
    with locked(lock, wait=False):
        if part_name is not None:
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


def is_protected(path: Path) -> bool:
    """Whether an existing file may not be written according to its mode, even by the superuser."""
    try:
        return not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK)
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


def _owner(status: os.stat_result) -> tuple[int, int]:
    return status.st_uid, status.st_gid
