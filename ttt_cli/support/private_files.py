"""Files that only the user can have written, such as the state of an interrupted fit."""

import errno
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

_BINARY: Final = getattr(os, "O_BINARY", 0)
_READ_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _BINARY
)
_WRITE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY


def open_private(path: Path) -> BinaryIO:
    """Open a file that only the user can have made or changed, and no link. Raises PermissionError, OSError."""
    _check_private(path.parent, path.parent.lstat(), stat.S_ISDIR)
    try:
        file = os.fdopen(os.open(path, _READ_FLAGS), "rb")
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PermissionError(errno.EPERM, "is a link", str(path)) from error
        raise
    try:
        _check_private(path, os.fstat(file.fileno()), stat.S_ISREG)
    except BaseException:
        file.close()
        raise
    return file


def write_private(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file for `open_private`, which replaces whatever has its name. Raises OSError."""
    part = path.with_name(f"{path.stem}-{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(part, _WRITE_FLAGS, 0o600), "wb") as file:
            write(file)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _check_private(path: Path, status: os.stat_result, is_kind: Callable[[int], bool]) -> None:
    if not is_kind(status.st_mode):
        raise PermissionError(errno.EPERM, "is a link, or no ordinary file or folder", str(path))
    if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
        raise PermissionError(errno.EPERM, "others can change it", str(path))
