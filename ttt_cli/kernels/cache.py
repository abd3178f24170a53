"""Where compiled kernels are kept: where nobody else can put code that numba would unpickle, nor damage stop it."""

import atexit
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

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
)
from numba.core.runtime.nrt import rtsys

_HERE = Path(__file__).parent
_SHARED: Final = "TTT_KERNELS"  # in the environment of processes that share a fresh folder
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class Place(NamedTuple):
    """A folder for compiled kernels, empty where there is none, and whether it outlasts the process."""

    folder: str
    lasts: bool


def cache_place(name: str) -> Place:
    """Where compiled kernels can be kept, in a folder of this name: in the first root that is the user's own.

    Else in a fresh one that this process shares with those it begins.
    """
    for root in _roots():
        with suppress(OSError):
            return Place(str(_made(root, name)), os.environ.get(_SHARED) != str(root))
    with suppress(OSError):
        fresh = tempfile.mkdtemp(prefix="ttt-")
        os.environ[_SHARED] = fresh
        atexit.register(shutil.rmtree, fresh, ignore_errors=True)
        return Place(str(_made(Path(fresh), name)), lasts=False)
    return Place("", lasts=False)


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
    """The folder in a root, made if need be. Raises OSError where it cannot be written to, or by others too."""
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
    """Whether only the user can write to a resolved folder, or replace it; modes do not say so on Windows."""
    if sys.platform == "win32":
        return True
    found = folder.lstat()
    own = found.st_uid == _user() and not found.st_mode & _OTHERS_WRITE
    return own and all(map(_stays, folder.parents))


def _stays(folder: Path) -> bool:
    """Whether what lies in a folder can be replaced by nobody but its owner, the user and root."""
    found = folder.stat()
    open_to_all = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
    return found.st_uid in (0, _user()) and not open_to_all


def _user() -> int:
    """Whom files of this process belong to; on Windows those of everybody belong to 0."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def keep(dispatcher: Any) -> None:
    """Have numba keep what it compiles of a function in the folder that `numba.config` names, if it can."""
    with suppress(RuntimeError):
        dispatcher._cache = _KernelCache(dispatcher.py_func)


def is_kept(folder: str, function: Callable[..., Any]) -> bool:
    """Whether a folder holds what was compiled of a function."""
    name = f"*.{function.__qualname__}-{function.__code__.co_firstlineno}.*.nbi"
    return any(Path(folder, function.__module__).glob(name))


class _Files(IndexDataCacheFile):
    """numba's files with a checksum; one that is damaged counts as missing."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # unpickling damaged text raises anything
            return {}

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        checksum, data = content[:4], content[4:]
        return pickle.loads(data) if data and checksum == _checksum(data) else None

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(_checksum(content) + content)


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "big")


class _ByModule(UserProvidedCacheLocator):
    """By module, where numba goes by a file's path and time: a copy of the package finds what is compiled."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        self._cache_path = str(Path(self._cache_path).with_name(function.__module__))

    def get_source_stamp(self) -> int:
        """The same at all times."""
        return 0


class _Place(CompileResultCacheImpl):
    _locator_classes = [_ByModule]  # noqa: RUF012


class _KernelCache(FunctionCache):
    """numba's cache of one function, which a full disk does not stop."""

    _impl_class = _Place

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is kept of a function; numba would load all that it compiles by first, which takes as long as it all."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function where there is room for it."""
        with suppress(OSError):
            super().save_overload(sig, data)
