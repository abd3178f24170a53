"""Write a site's folder: complete beside its place, then exchanged with the older site in one step."""

import ctypes
import errno
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from ttt_cli.support.errors import RunError
from ttt_cli.support.files import real_place, workplace

MARK: Final = "made-by-ttt.txt"
_MARK_TEXT: Final = "This folder was written by `ttt report`, which replaces it as a whole.\n"
_OURS: Final = frozenset({MARK, "players", "years", "events", "data"})
_ENDINGS: Final = (".html", ".css", ".js")
_OLD: Final = ".ttt-old"  # suffix of an older site set aside where two folders cannot be exchanged
_HERE: Final = -100  # AT_FDCWD
_SWAP: Final = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_UNSUPPORTED: Final = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)
Write = Callable[[str, str], None]


@contextmanager
def new_folder(place: Path) -> Iterator[Write]:
    """Yield a function that writes a text to a path within a new site.

    When the block ends, the folder replaces an older site or an empty folder. At every moment, also after a signal or
    a failed call, a complete site is at `place`, or beside it and put back by the next call. Raises RunError when the
    folder cannot be written or `place` contains anything but a site; `place` is unchanged then.
    """
    place = real_place(place)
    try:
        _put_back(place)
        _refuse_others(place)
        with workplace(place) as room:
            new = room / "new"
            folders: set[str] = set()

            def write(path: str, text: str) -> None:
                folder = path.rpartition("/")[0]
                if folder not in folders:
                    (new / folder).mkdir(parents=True, exist_ok=True)
                    folders.add(folder)
                with (new / path).open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                    file.write(text)

            write(MARK, _MARK_TEXT)
            yield write
            _refuse_others(place)
            _take_place(new, place)
        for old in _set_aside(place):
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror or error}", where=str(place)) from error


def exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system or the file system cannot. Raises OSError."""
    libc: Any = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        failed = libc.renamex_np(*names, _SWAP)
    elif sys.platform == "linux" and hasattr(libc, "renameat2"):
        failed = libc.renameat2(_HERE, names[0], _HERE, names[1], _SWAP)
    else:
        return False
    if failed and ctypes.get_errno() not in _UNSUPPORTED:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(other))
    return not failed


def _take_place(new: Path, place: Path) -> None:
    """Put `new` at `place`. An older folder is at `new` afterwards, or set aside under a name that is never swept."""
    if place.exists() and exchange(new, place):
        return
    if place.exists():
        place.rename(place.with_name(f".{place.name}.{secrets.token_hex(4)}{_OLD}"))
    try:
        new.rename(place)
    finally:
        _put_back(place)


def _set_aside(place: Path) -> list[Path]:
    """Older sites set aside by `_take_place`, sorted by name."""
    return sorted(place.parent.glob(f".{place.name}.*{_OLD}"))


def _put_back(place: Path) -> None:
    """Move an older site back to a place that is empty."""
    if not os.path.lexists(place):
        for old in _set_aside(place)[:1]:
            with suppress(FileNotFoundError):  # put back by another process
                old.rename(place)


def _refuse_others(place: Path) -> None:
    """Raise RunError unless `place` is free, empty or a site."""
    where = str(place)
    if not place.parent.is_dir():
        raise RunError("its folder does not exist", where=where, hint=f"mkdir -p {place.parent}")
    if not place.exists():
        return
    if not place.is_dir():
        raise RunError("is a file, not a folder", where=where, hint="name a folder, or a page NAME.html")
    names = {entry.name for entry in place.iterdir()}
    others = sorted(name for name in names if name not in _OURS and not name.endswith(_ENDINGS))
    if names and (MARK not in names or others):
        what = f" ({others[0]})" if others else ""
        hint = "name a new folder, or empty this one"
        raise RunError(f"contains files that `ttt report` did not write{what}", where=where, hint=hint)
