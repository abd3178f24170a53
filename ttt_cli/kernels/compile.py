"""Decorators of kernels: compiled once per signature, cached on disk, recompiled when any kernel changes.

The cache folder is named by a digest of all kernel sources, since numba misses edits in called functions.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Final, TypeVar, cast, get_args, get_origin, get_type_hints

import numba
import numpy as np
from numba.core import event, types

from ttt_cli.kernels.cache import KernelCache, cache_place
from ttt_cli.support.errors import SetupError
from ttt_cli.support.progress import Wait, announce

if getattr(numba.config, "DISABLE_JIT", 0):
    raise SetupError(
        "numba must compile, but NUMBA_DISABLE_JIT is set",
        hint="unset NUMBA_DISABLE_JIT",
    )

_Function = TypeVar("_Function", bound=Callable[..., Any])

_SCALARS: Final = {int: types.int64, float: types.float64, bool: types.boolean, type(None): types.void}
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": False,
    "no_cfunc_wrapper": True,
}


def _digest() -> str:
    """Digest of all kernel sources and of the versions of numba and Python."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


_CACHE = cache_place(f"kernels-{_digest()}")
_HOW_OFTEN = "once, some seconds" if _CACHE.lasts else "every time: see XDG_CACHE_HOME"
WAIT: Final = f"compiling for this computer ({_HOW_OFTEN})"


class _Compilations(event.Listener):
    """Announce compilations of kernels that are not in the cache."""

    def __init__(self) -> None:
        self.under_way = self.done = 0

    def on_start(self, event: object) -> None:  # noqa: ARG002
        self.under_way += 1
        announce(Wait(WAIT, self.done, over=False))

    def on_end(self, event: object) -> None:  # noqa: ARG002
        self.under_way -= 1
        self.done += 1
        announce(Wait(WAIT, self.done, over=not self.under_way))


_WATCH = _Compilations()
# For the hooks of the process: threads meet kernels at the same time.
_ONE_AT_A_TIME: Final = Lock()


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
    except Exception as error:
        if unheard:  # the compiler lacks the callback's result
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = before
    if unheard:
        raise KeyboardInterrupt


def inner(function: _Function) -> _Function:
    """Mark a function that only kernels call."""
    return cast(_Function, numba.njit(**_OPTIONS)(function))


def flat(function: _Function) -> _Function:
    """As `inner`, but always inlined: for hot loops, where passing arrays is expensive."""
    return cast(_Function, numba.njit(forceinline=True, **_OPTIONS)(function))


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
        return self._compiled is not None or bool(
            _CACHE.folder and KernelCache(self._function, _CACHE.folder).is_kept
        )

    def compile(self) -> Callable[..., Any]:
        """Return the compiled function."""
        with _ONE_AT_A_TIME:
            if self._compiled is None:
                self._compiled = _compiled(self._function)
            return self._compiled


kernel = Kernel


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    hints = get_type_hints(function, include_extras=True)
    result = _numba_type(hints.pop("return"))
    dispatcher = numba.njit(**_OPTIONS)(function)
    if _CACHE.folder:
        dispatcher._cache = KernelCache(function, _CACHE.folder)
    with event.install_listener("numba:compile", _WATCH), _interrupts_heard():
        dispatcher.compile(result(*map(_numba_type, hints.values())))
    dispatcher.disable_compile()
    return cast(Callable[..., Any], dispatcher)


def kept_in() -> str:
    """Folder of compiled kernels; empty without a cache."""
    return _CACHE.folder


def _numba_type(hint: Any) -> Any:
    """Type of an annotation: a number, an array (`kernels/arrays.py`), or a tuple or NamedTuple of them."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if get_origin(hint) is Annotated:
        return eval(hint.__metadata__[0], vars(types))
    if get_origin(hint) is tuple:
        return types.BaseTuple.from_types(tuple(map(_numba_type, get_args(hint))))
    fields = get_type_hints(hint, include_extras=True).values()
    return types.BaseTuple.from_types(tuple(map(_numba_type, fields)), hint)


@flat
def at(index):
    """Unsigned index: the check of negative ones takes half of a loop's time."""
    return np.uintp(index)


@flat
def span(begin, end):
    """Unsigned indices from `begin` to before `end`."""
    return range(np.uintp(begin), np.uintp(end))
