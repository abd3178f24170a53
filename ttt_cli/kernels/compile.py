"""The one decorator of the kernels: compiled once per signature, kept on disk, renewed when any kernel changes.

The cache folder is named by a digest of all kernel sources: numba itself misses edits in functions that are called.
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

from ttt_cli.errors import SetupError
from ttt_cli.kernels.cache import cache_place, is_kept, keep
from ttt_cli.progress import Wait, announce

_SETTINGS: Any = numba.config
if _SETTINGS.DISABLE_JIT:
    raise SetupError(
        "nothing can be computed while numba compiles nothing (NUMBA_DISABLE_JIT)",
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
    """A name for these kernels: of all their sources and of numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


_CACHE = cache_place(f"kernels-{_digest()}")
_HOW_OFTEN = "once, some seconds" if _CACHE.lasts else "every time: see XDG_CACHE_HOME"
WAIT: Final = f"compiling for this computer ({_HOW_OFTEN})"


class _Compilations(event.Listener):
    """Announces that kernels are compiled which the cache does not hold; each compiles what it calls inside."""

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
# For the settings and hooks of the process: threads meet kernels at the same time.
_ONE_AT_A_TIME: Final = Lock()


@contextmanager
def _interrupts_heard() -> Iterator[None]:
    """Raise an interrupt that came while the compiler was calling back, from where Python lets nothing out."""
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
        if unheard:  # the compiler misses what the callback did not do
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = before
    if unheard:
        raise KeyboardInterrupt


def inner(function: _Function) -> _Function:
    """Mark a function that only kernels call: compiled as a part of them."""
    return cast(_Function, numba.njit(**_OPTIONS)(function))


def flat(function: _Function) -> _Function:
    """As `inner`, and always compiled into its caller: for the body of a hot loop, where handing over arrays costs."""
    return cast(_Function, numba.njit(forceinline=True, **_OPTIONS)(function))


def kernel(signature: str | _Function) -> Any:
    """Compile a function that Python alone calls for one signature: the given one, or that of its annotations."""
    if isinstance(signature, str):
        return lambda function: Kernel(function, signature)
    return Kernel(signature, None)


class Kernel:
    """A function that is compiled, or loaded, when it is first called."""

    def __init__(self, function: Callable[..., Any], signature: str | None) -> None:
        self._function, self._signature = function, signature
        self._compiled: Callable[..., Any] | None = None
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """What the function gives."""
        return (self._compiled or self.compile())(*arguments)

    @property
    def is_kept(self) -> bool:
        """Whether it is there already: compiled in this process or, as its file says, by another."""
        return self._compiled is not None or bool(_CACHE.folder and is_kept(_CACHE.folder, self._function))

    def compile(self) -> Callable[..., Any]:
        """The compiled function."""
        with _ONE_AT_A_TIME:
            if self._compiled is None:
                self._compiled = _compiled(self._function, self._signature or signature_of(self._function))
            return self._compiled


def _compiled(function: Callable[..., Any], signature: Any) -> Callable[..., Any]:
    before, _SETTINGS.CACHE_DIR = _SETTINGS.CACHE_DIR, _CACHE.folder
    try:
        dispatcher = numba.njit(**_OPTIONS)(function)
        if _CACHE.folder:
            keep(dispatcher)
        with event.install_listener("numba:compile", _WATCH), _interrupts_heard():
            dispatcher.compile(signature)
    finally:
        _SETTINGS.CACHE_DIR = before
    dispatcher.disable_compile()
    return cast(Callable[..., Any], dispatcher)


def kept_in() -> str:
    """The folder of what is compiled; empty where nothing can be kept."""
    return _CACHE.folder


def signature_of(function: Callable[..., Any]) -> Any:
    """The signature that a function's annotations stand for."""
    hints = get_type_hints(function, include_extras=True)
    result = _numba_type(hints.pop("return"))
    return result(*map(_numba_type, hints.values()))


def _numba_type(hint: Any) -> Any:
    """The type of an annotation: a number, an array (`kernels/arrays.py`), or a tuple or NamedTuple of them."""
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
    """An index of 0 or more, unsigned: whether a signed one counts from the end takes loops half of their time."""
    return np.uintp(index)


@flat
def span(begin, end):
    """The indices from `begin`, 0 or more, to before `end`."""
    return range(np.uintp(begin), np.uintp(end))
