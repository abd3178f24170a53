"""Writes files whole or not at all, and durably."""

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from ttt_cli.support.errors import OutputError

_PART: Final = ".ttt-part"  # suffix of our folders for half files
_LOCK: Final = ".ttt.lock"  # and of locks, beside such folders and beside runs
_SWEPT: Final = re.compile(r"(\..+\.[0-9a-f]{8})\.ttt-part|\..+\.ttt\.lock", re.DOTALL)
_POLL: Final = 0.05  # seconds between two tries to take a lock
_SHOWN: Final = 40  # letters of a file's name in that of its folder


def real_place(path: Path) -> Path:
    """The path with links resolved, so that replacing it changes the target of a link."""
    return Path(os.path.realpath(path))


@contextmanager
def locked(path: Path, *, wait: bool = True, on_wait: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Lock the file `path` inside the block; `on_wait` is called before waiting for another process.

    Raises BlockingIOError if another process has the lock and not `wait`, OSError when it cannot be created.
    """
    from filelock import FileLock, Timeout

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
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def temporary_folder(name: str) -> Iterator[Path]:
    """Yield a folder for temporary files; folders of killed processes are removed. Raises OSError."""
    with workplace(Path(tempfile.gettempdir(), f"ttt-{name}")) as folder:
        yield folder


def sweep(folder: Path) -> None:
    """Remove folders and locks of killed processes: unlocked and owned by this user."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in [*entries]:
            found = _SWEPT.fullmatch(entry.name)
            if not found:
                continue
            status = entry.stat(follow_symlinks=False)
            is_kind = stat.S_ISDIR if found[1] else stat.S_ISREG
            ours = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
            if ours and is_kind(status.st_mode):
                lock = folder / f"{found[1]}{_LOCK}" if found[1] else Path(entry.path)
                with suppress(OSError), locked(lock, wait=False):
                    if found[1]:
                        shutil.rmtree(entry.path, ignore_errors=True)


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


def refuse_device(path: str | os.PathLike[str]) -> None:
    """Raise OSError for a device other than a terminal or the null device."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return  # as opening will say
    if stat.S_ISCHR(mode):
        with Path(path).open("rb", buffering=0) as device:
            if device.isatty() or Path(path).samefile(os.devnull):
                return
    if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
        raise OSError(errno.ENOTSUP, "is a device", str(path))


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


_HEAD: Final = 1 << 14  # bytes of a file that show what it holds
_BINARY: Final = (
    (b"PAR1", "table"), (b"\x89PNG", "picture"), (b"%PDF", "picture"), (b"GIF8", "picture"), (b"\xff\xd8", "picture"),
    (b"PK", "other"), (b"\x1f\x8b", "other"), (b"BZh", "other"), (b"\xfd7zXZ", "other"), (b"\x28\xb5\x2f\xfd", "other"),
)  # fmt: skip
_TEXT: Final = (  # the first that is found names the kind
    (r'^\[[A-Za-z]\w* +"', "games"),
    (r"\A\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*|<!doctype svg[^>]*>\s*)*<svg\b", "picture"),
    (r"\A\s*(<!--.*?-->\s*)*<(!doctype )?html\b", "page"),
    (r"\A\s*(\{|\[\s*[\]{])", "table"),
    (r"^(model|data|solver|scale):", "config"),
    (r"\A# (yes|no|years),", "aliases"),
)
_SIDES: Final = ({"white", "black"}, {"winner", "loser"}, {"home", "away"}, {"player1", "player2"})
_NUMBER: Final = re.compile(r"[-+]?\d[\d./:-]*|1/2-1/2|½.*")
_HEADER: Final = re.compile(r"[a-z_][a-z0-9_]*")


def content_kind(path: Path) -> str:
    """Kind of an ordinary file by its content, not its name: one of `_KINDS`, or "" if it is empty."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head[8:12] == b"DUCK":
        return "run"
    if found := next((kind for start, kind in _BINARY if head.startswith(start)), None):
        return found
    if not head or b"\0" in head:
        return "other" if head else ""
    text = head.decode("utf-8-sig", "replace")
    flags = re.MULTILINE | re.IGNORECASE | re.DOTALL
    if found := next((kind for pattern, kind in _TEXT if re.search(pattern, text, flags)), None):
        return found
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    rows = [[cell.strip() for cell in re.split(r"[,;\t|]", line)] for line in lines]
    if not rows or min(map(len, rows[:-1] or rows)) < 2:
        return "text"
    names = {cell.strip('"').casefold() for cell in rows[0]}
    values = any(_NUMBER.fullmatch(cell) for row in rows for cell in row)
    header = len(rows) == 1 and all(map(_HEADER.fullmatch, rows[0]))
    kind = "table" if values or header else "aliases"
    return "games" if any(sides <= names for sides in _SIDES) else kind


def check_output(out: str, kinds: Collection[str], reads: Iterable[str | os.PathLike[str]] = ()) -> bool:
    """Whether an output would replace a file. Raises OutputError for folders, files in `reads` and other kinds."""
    place = Path(out)
    try:
        if place.is_dir():
            raise OutputError(f"{out} cannot be written: is a folder", hint="name a file in it")
        if not place.parent.is_dir():
            raise OutputError(f"{out} cannot be written: no such folder", hint=f"mkdir -p {place.parent}")
        if not place.is_file():
            return False
        if any(Path(other).exists() and place.samefile(other) for other in reads):
            raise OutputError(
                f"{out} cannot be written: this command reads it", hint="name another file with -o"
            )
        found = content_kind(place)
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror or error}") from error
    if found and found not in kinds:
        wanted = " or ".join(_KINDS[kind] for kind in kinds)
        raise OutputError(
            f"{out} stays as it is: it holds {_KINDS[found]}, and {wanted} would replace it",
            hint=f"delete {out} first if it is not needed, or name another file",
        )
    return bool(found)


_KINDS: Final = {
    "run": "a run", "table": "a table", "games": "games", "aliases": "aliases of players", "config": "a config",
    "picture": "a picture", "page": "a web page", "text": "text", "other": "something else",
}  # fmt: skip


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
