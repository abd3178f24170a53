"""The one decorator of the kernels: compiled once per signature, kept on disk, renewed when any kernel changes.

numba's own cache looks only at the file of the compiled function and misses edits in functions it calls;
so the cache folder is named by a digest of all kernel sources.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar, cast, get_args, get_origin, get_type_hints

import numba
from numba.core import event, types

from ttt_cli.errors import SetupError
from ttt_cli.kernels.cache import cache_place, keep
from ttt_cli.progress import Wait, announce

_SETTINGS: Any = numba.config
if _SETTINGS.DISABLE_JIT:
    raise SetupError(
        "nothing can be computed while numba compiles nothing (NUMBA_DISABLE_JIT)",
        hint="unset NUMBA_DISABLE_JIT",
    )

_Function = TypeVar("_Function", bound=Callable[..., Any])

_SCALARS: Final = {int: types.int64, float: types.float64, bool: types.boolean, type(None): types.void}
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False}


def _digest() -> str:
    """A name for these kernels: of all their sources and of numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


_CACHE = cache_place(f"kernels-{_digest()}")
_HOW_OFTEN = "the first time only, 10 to 30 s" if _CACHE.lasts else "every time: see XDG_CACHE_HOME"
WAIT: Final = f"compiling kernels ({_HOW_OFTEN})"


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
    """Compile a function for exactly one signature, from the cache on disk when it is there.

    That of its annotations (`kernels/arrays.py`), or one given as numba writes it.
    """

    def compiled(function: _Function, signature: Any) -> _Function:
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
        return cast(_Function, dispatcher)

    if isinstance(signature, str):
        return lambda function: compiled(function, signature)
    return compiled(signature, signature_of(signature))


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
