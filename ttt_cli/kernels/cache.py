"""Private on-disk cache of compiled kernels, safe against foreign code (numba unpickles) and damaged files."""

import atexit
import hashlib
import os
import pickle
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

_HERE = Path(__file__).parent
_SHARED: Final = "TTT_KERNELS"  # in the environment of processes that share a fresh folder
_ENDING: Final = ".kernel"
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class CacheFolder(NamedTuple):
    """Folder of compiled kernels, empty if there is none, and whether it outlasts the process."""

    folder: str
    lasts: bool


def cache_place(name: str) -> CacheFolder:
    """Folder of this name in the first private root, else in a temporary one shared with child processes."""
    for root in _roots():
        with suppress(OSError):
            return CacheFolder(str(_made(root, name)), os.environ.get(_SHARED) != str(root))
    with suppress(OSError):
        fresh = tempfile.mkdtemp(prefix="ttt-")
        os.environ[_SHARED] = fresh
        atexit.register(shutil.rmtree, fresh, ignore_errors=True)
        return CacheFolder(str(_made(Path(fresh), name)), lasts=False)
    return CacheFolder("", lasts=False)


def _roots() -> Iterator[Path]:
    if _SHARED in os.environ:
        yield Path(os.environ[_SHARED])
    yield _HERE / "__pycache__"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - a user may have no home
    if Path(base).is_absolute():
        yield Path(base, "ttt")
    with suppress(OSError):  # where there is none
        yield Path(tempfile.gettempdir(), f"ttt-{_user()}")


def _made(root: Path, name: str) -> Path:
    """Create the folder in a root. Raises OSError unless it is writable, by the user only."""
    beside_code = root.parent == _HERE
    root.parent.mkdir(parents=True, exist_ok=True)
    root.mkdir(mode=0o777 if beside_code else 0o700, exist_ok=True)
    if not (beside_code or root.lstat().st_uid == _user()):
        raise PermissionError
    (root / name).mkdir(mode=0o700, exist_ok=True)
    folder = (root / name).resolve()
    if not os.access(folder, os.W_OK) or not (beside_code or _is_private(folder)):
        raise PermissionError
    return folder


def _is_private(folder: Path) -> bool:
    """Whether only the user can write to or replace a resolved folder; on Windows modes do not show it."""
    if sys.platform == "win32":
        return True
    found = folder.lstat()
    own = found.st_uid == _user() and not found.st_mode & _OTHERS_WRITE
    return own and all(map(_stays, folder.parents))


def _stays(folder: Path) -> bool:
    """Whether only their owner, the user and root can replace files in a folder."""
    found = folder.stat()
    open_to_all = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
    return found.st_uid in (0, _user()) and not open_to_all


def _user() -> int:
    """Owner of new files; 0 on Windows."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


class KernelCache:
    """Cache of a numba dispatcher: one file per signature, with a checksum.

    Files are in `folder`, named by the function's module and name, so that copies of the package share them. A
    damaged file counts as missing; a full disk is no error.
    """

    def __init__(self, function: Callable[..., Any], folder: str) -> None:
        self._function, self._folder = function, Path(folder, function.__module__)

    @property
    def is_kept(self) -> bool:
        """Whether the folder has a compiled version of the function."""
        return any(self._folder.glob(f"{self._name}.*{_ENDING}"))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Compiled function of a signature, or None."""
        with suppress(Exception):  # unpickling damaged text raises anything
            content = self._file(sig, target_context).read_bytes()
            if content[:4] == _checksum(content[4:]):
                rtsys.initialize(target_context)
                return CompileResult._rebuild(target_context, *pickle.loads(content[4:]))
        return None

    def save_overload(self, sig: Any, compiled: Any) -> None:
        """Save a compiled function if possible."""
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            content = dumps(compiled._reduce())
            handle, name = tempfile.mkstemp(dir=self._folder)
            os.close(handle)
            Path(name).write_bytes(_checksum(content) + content)
            Path(name).replace(self._file(sig, compiled.target_context))

    @property
    def _name(self) -> str:
        return f"{self._function.__qualname__}-{self._function.__code__.co_firstlineno}".replace(
            "<", ""
        ).replace(">", "")

    def _file(self, sig: Any, target_context: Any) -> Path:
        kind = hashlib.sha256(repr((str(sig), target_context.codegen().magic_tuple())).encode()).hexdigest()[
            :16
        ]
        return self._folder / f"{self._name}.{kind}{_ENDING}"


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "big")
