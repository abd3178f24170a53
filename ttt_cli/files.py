"""Files that appear whole or not at all, and stay: also when the disk fills or the power fails."""

import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from ttt_cli.locks import abandoned, locked

_PART: Final = ".ttt-part"  # how the names of our folders for half files end
_LOCKS: Final = ".ttt.lock"  # and those of the locks beside runs
_LOCK: Final = "lock"  # held in such a folder as long as its maker lives
_SHOWN: Final = 40  # letters of a file's name in that of its folder


def real_place(path: Path) -> Path:
    """The file that `path` means: links are followed, so that replacing changes what the link points to."""
    return Path(os.path.realpath(path))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to, in a folder of its own beside `path`; on success it takes the place of `path`.

    The new file is on the disk before it takes the place, with the mode and, as far as the system allows, the owner of
    the old one. Whatever ends the block otherwise (interrupts too) leaves `path` as it was and nothing beside it; what
    a killed process left is removed by the next. Raises OSError when the folder or the disk cannot take it, or nobody
    may write the old file.
    """
    place = real_place(path)
    if is_protected(place):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    with workplace(place) as folder:
        temporary = folder / place.name
        yield temporary
        if temporary.is_file() and not place.is_dir():
            _keep_access(place, temporary)
        for inside in (*temporary.glob("*"), temporary):
            synchronise(inside)
        _take_place(temporary, place, folder)
        synchronise(place.parent)


def _take_place(new: Path, place: Path, folder: Path) -> None:
    """Put a file or a folder where another may be; that one is left in `folder` if it is not simply replaced."""
    if not place.exists() or (new.is_file() and place.is_file()):
        new.replace(place)
        return
    old = folder / f"{place.name}.old"
    place.replace(old)
    try:
        new.replace(place)
    except OSError:
        old.replace(place)
        raise


@contextmanager
def workplace(place: Path, keeps: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
    """A folder of one's own beside `place`, gone when the block ends. Folders of dead processes there are removed.

    One that `keeps` what is wanted stays when the block raises; such a one, or that of a dead process, is taken again.
    Raises OSError when it cannot be made.
    """
    stays = False

    def mark() -> None:
        """A folder that stays is known as ours by the lock that nobody holds."""
        if stays and folder:
            (folder / _LOCK).touch()

    with ExitStack() as stack:
        stack.callback(mark)
        folder = _taken_again(place, keeps, stack)
        sweep(place.parent)
        while folder is None:
            new = place.parent / f".{place.name[:_SHOWN]}.{secrets.token_hex(4)}{_PART}"
            new.mkdir(mode=0o700)
            with suppress(FileNotFoundError, BlockingIOError):  # swept by another process just now
                stack.enter_context(_cleared(new))
                stack.enter_context(locked(new / _LOCK, wait=False))
                folder = new
        try:
            yield folder
        except BaseException:
            stays = keeps(folder)
            raise
        finally:
            if not stays:
                _empty(folder)


def _taken_again(place: Path, keeps: Callable[[Path], bool], stack: ExitStack) -> Path | None:
    """A folder that nobody holds and that keeps what is wanted; held from now on."""
    for folder in sorted(place.parent.glob(f".{place.name[:_SHOWN]}.*{_PART}")):
        with suppress(OSError), ExitStack() as held:
            if _is_ours(folder, stat.S_ISDIR) and keeps(folder):
                held.enter_context(_cleared(folder))
                held.enter_context(locked(folder / _LOCK, wait=False))
                stack.push(held.pop_all())
                return folder
    return None


def sweep(folder: Path) -> None:
    """Remove what processes that were killed left in a folder: known by locks that nobody holds, and as ours."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in [entry for entry in entries if entry.name.startswith(".")]:
            with suppress(OSError):
                if entry.name.endswith(_PART) and _is_ours(entry, stat.S_ISDIR):
                    _sweep_part(Path(entry.path))
                elif entry.name.endswith(_LOCKS) and _is_ours(entry, stat.S_ISREG):
                    with abandoned(Path(entry.path)):
                        pass


def refuse_device(path: str | os.PathLike[str]) -> None:
    """Raise OSError for a device, which may have no end; files, pipes, terminals and the empty device pass."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return  # as opening will say
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not _ends(path)):
        raise OSError(errno.ENOTSUP, "is a device", str(path))


def _ends(path: str | os.PathLike[str]) -> bool:
    with Path(path).open("rb", buffering=0) as device:
        return device.isatty() or Path(path).samefile(os.devnull)


def is_protected(place: Path) -> bool:
    """Whether a file is there that may not be written, as its mode says (to the superuser, too)."""
    try:
        return not place.stat().st_mode & 0o222 or not os.access(place, os.W_OK)
    except FileNotFoundError:
        return False


def synchronise(path: Path) -> None:
    """Wait until a file's bytes, or a folder's names, are on the disk. Raises OSError when they cannot be."""
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
    """Inside the block a database writes the file: what it could not write is an OSError, as of any other writer."""
    import duckdb

    try:
        yield
    except duckdb.IOException as error:
        known = errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES
        number = next((one for one in known if os.strerror(one) in str(error)), errno.EIO)
        raise OSError(number, os.strerror(number), str(path)) from error


def _keep_access(old: Path, new: Path) -> None:
    """Give a file the owner and the mode of another; without its group, the group may do what all may."""
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


@contextmanager
def _cleared(folder: Path) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(OSError):
            folder.rmdir()


def _empty(folder: Path) -> None:
    """Remove everything in a folder but its lock, which tells others to leave it alone meanwhile."""
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.name != _LOCK:
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry, ignore_errors=True)
                else:
                    with suppress(OSError):
                        entry.unlink()


def _sweep_part(folder: Path) -> None:
    with _cleared(folder), abandoned(folder / _LOCK) as dead:
        if dead:
            _empty(folder)


def _is_ours(entry: os.DirEntry[str] | Path, is_kind: Callable[[int], bool]) -> bool:
    found = entry.stat(follow_symlinks=False)
    return is_kind(found.st_mode) and (not hasattr(os, "geteuid") or found.st_uid == os.geteuid())
