"""Decorators of kernels: compiled once per signature, cached on disk, recompiled when any kernel changes.

The cache folder is named by a digest of all kernel sources, since numba misses edits in called functions. Only a folder
that nobody else can write to is used, since numba unpickles what it loads.
"""

import hashlib
import os
import pickle
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import update_wrapper
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Final, TypeVar, cast, get_args, get_origin, get_type_hints

import numba
import numpy as np
from numba.core import types
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from ttt_cli.kernels.compiler import KernelCompiler, LinkedCompiler, RareCompiler
from ttt_cli.support.errors import SetupError
from ttt_cli.support.progress import Wait, announce

if getattr(numba.config, "DISABLE_JIT", 0):
    raise SetupError(
        "numba must compile, but NUMBA_DISABLE_JIT is set",
        hint="unset NUMBA_DISABLE_JIT",
    )

_HERE = Path(__file__).parent
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def cache_folder(name: str) -> str:
    """Create the folder of this name in the first private root; empty if there is none."""
    for root in _roots():
        with suppress(OSError):
            return str(_create(root, name))
    return ""


def _roots() -> Iterator[Path]:
    if configured := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(configured)
    yield _HERE / "__pycache__"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - a user may have no home
    if Path(base).is_absolute():
        yield Path(base, "ttt")
    with suppress(OSError):  # where there is none
        yield Path(tempfile.gettempdir(), f"ttt-{_user()}")


def _create(root: Path, name: str) -> Path:
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
    """Whether only the user can write to a resolved folder, and only owners, the user and root can replace it.

    On Windows modes do not show it.
    """
    if sys.platform == "win32":
        return True
    status = folder.lstat()
    above = [parent.stat() for parent in folder.parents]
    if status.st_uid != _user() or status.st_mode & _OTHERS_WRITE:
        return False
    open_to_all = any(of.st_mode & stat.S_IWOTH and not of.st_mode & stat.S_ISVTX for of in above)
    return not open_to_all and {of.st_uid for of in above} <= {0, _user()}


def _user() -> int:
    """Owner of new files; 0 on Windows."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _digest() -> str:
    """Digest of all kernel sources and of the versions of numba and Python."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sorted(_HERE.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


FOLDER: Final = cache_folder(f"kernels-{_digest()}")
_HOW_OFTEN = "once" if FOLDER else "every time: see XDG_CACHE_HOME"
WAIT: Final = f"compiling for this computer ({_HOW_OFTEN})"


class KernelCache:
    """Cache of a numba dispatcher: one file per signature, with a checksum; compilations are announced.

    Files are in `FOLDER`, named by the function's module and name, so that copies of the package share them. A damaged
    file counts as missing; a full disk is no error.
    """

    _compiled = 0  # kernels of this process

    def __init__(self, function: Callable[..., Any]) -> None:
        name = f"{function.__qualname__}-{function.__code__.co_firstlineno}"
        self._name = name.replace("<", "").replace(">", "")
        self._folder = Path(FOLDER or os.devnull, function.__module__)

    @property
    def is_kept(self) -> bool:
        """Whether the folder has a compiled version of the function."""
        return any(self._folder.glob(f"{self._name}.*.kernel"))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Compiled function of a signature, or None."""
        with suppress(Exception):  # unpickling damaged text raises anything
            content = self._file(sig, target_context).read_bytes()
            if content[:4] == _checksum(content[4:]):
                rtsys.initialize(target_context)
                return CompileResult._rebuild(target_context, *pickle.loads(content[4:]))
        announce(Wait(WAIT, KernelCache._compiled, over=False))
        return None

    def save_overload(self, sig: Any, compiled: Any) -> None:
        """Save a compiled function if possible."""
        KernelCache._compiled += 1
        announce(Wait(WAIT, KernelCache._compiled, over=True))
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            content = dumps(compiled._reduce())
            handle, name = tempfile.mkstemp(dir=self._folder)
            os.close(handle)
            Path(name).write_bytes(_checksum(content) + content)
            Path(name).replace(self._file(sig, compiled.target_context))

    def _file(self, sig: Any, target_context: Any) -> Path:
        kind = repr((str(sig), target_context.codegen().magic_tuple()))
        digest = hashlib.sha256(kind.encode()).hexdigest()[:16]
        return self._folder / f"{self._name}.{digest}.kernel"


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "big")


@contextmanager
def _interrupts_heard() -> Iterator[None]:
    """Raise an interrupt that arrived in a callback of the compiler, where Python drops exceptions."""
    unheard: list[object] = []
    before = sys.unraisablehook

    def hook(dropped: Any) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            unheard.append(dropped.object)
        else:
            before(dropped)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before
        if unheard:  # also where the compiler fails, as it lacks the callback's result
            raise KeyboardInterrupt


_Function = TypeVar("_Function", bound=Callable[..., Any])
_SCALARS: Final = {
    int: types.int64,
    float: types.float64,
    bool: types.boolean,
    type(None): types.void,
}
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": False,
    "no_cfunc_wrapper": True,
}
# For the hooks of the process: threads meet kernels at the same time.
_ONE_AT_A_TIME: Final = Lock()


def inner(function: _Function) -> _Function:
    """Mark a function that only kernels call; from Python, as in tests, it is compiled apart."""
    return cast(_Function, _linked(function, {**_OPTIONS, "forceinline": False}))


def flat(function: _Function) -> _Function:
    """As `inner`, but always inlined: for hot loops, where passing arrays is expensive."""
    return cast(_Function, _linked(function, {**_OPTIONS, "forceinline": True}))


def rare(function: _Function) -> _Function:
    """As `inner`, but never inlined: for what few games need, so that hot loops are short, fast and soon compiled."""
    return cast(_Function, _linked(function, {**_OPTIONS, "forceinline": False}, RareCompiler))


def _linked(
    function: Callable[..., Any],
    options: dict[str, Any],
    compiler: type[KernelCompiler] = LinkedCompiler,
) -> Dispatcher:
    """Dispatcher of a function that kernels link, whose code has no address (`LinkedCompiler`).

    So that Python cannot jump there, calls from Python go to a dispatcher of their own, which keeps compiled code.
    """
    linked = numba.njit(pipeline_class=compiler, **options)(function)
    called = numba.njit(pipeline_class=KernelCompiler, **options)(function)
    called._cache = KernelCache(function)
    linked._insert = _insert_nothing
    linked._compile_for_args = called._compile_for_args
    return linked


def _insert_nothing(*_: Any, **__: Any) -> None:
    """In the place of a table of addresses by types."""


class Kernel:
    """Function that Python calls, compiled or loaded on its first call for the types of its annotations."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._compiled: Callable[..., Any] | None = None
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return (self._compiled or self.compile())(*arguments)

    @property
    def is_kept(self) -> bool:
        """Whether it is compiled already, in this process or on disk."""
        return self._compiled is not None or KernelCache(self._function).is_kept

    def compile(self) -> Callable[..., Any]:
        """Return the compiled function."""
        with _ONE_AT_A_TIME:
            if self._compiled is None:
                hints = get_type_hints(self._function, include_extras=True)
                result = _numba_type(hints.pop("return"))
                dispatcher = numba.njit(pipeline_class=KernelCompiler, **_OPTIONS)(self._function)
                dispatcher._cache = KernelCache(self._function)
                with _interrupts_heard():
                    dispatcher.compile(result(*[_numba_type(hint) for hint in hints.values()]))
                dispatcher.disable_compile()
                self._compiled = dispatcher
            return self._compiled


kernel = Kernel


def _numba_type(hint: Any) -> Any:
    """Type of an annotation: a number, an array (`kernels/arrays.py`), or a tuple or NamedTuple of them."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if get_origin(hint) is Annotated:
        return eval(hint.__metadata__[0], vars(types))
    if get_origin(hint) is tuple:
        return types.BaseTuple.from_types(tuple(_numba_type(item) for item in get_args(hint)))
    fields = get_type_hints(hint, include_extras=True).values()
    return types.BaseTuple.from_types(tuple(_numba_type(field) for field in fields), hint)


@flat
def at(index):
    """Unsigned index: the check of negative ones takes half of a loop's time."""
    return np.uintp(index)


@flat
def span(begin, end):
    """Unsigned indices from `begin` to before `end`."""
    return range(np.uintp(begin), np.uintp(end))
