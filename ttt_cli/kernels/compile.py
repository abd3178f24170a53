"""The one decorator of the kernels: compiled once per signature, kept on disk, renewed when any kernel changes.

numba's own cache looks only at the file of the compiled function and misses edits in functions it calls;
so the cache folder is named by a digest of all kernel sources.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
from numba.core import event

from ttt_cli.progress import announce

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False}


def _cache_folder() -> str:
    here = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(here.glob("*.py")):
        digest.update(source.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    for root in (
        here / "__pycache__",
        Path(base) / "ttt",
        Path(tempfile.gettempdir()) / f"ttt-{os.getuid()}",
    ):
        folder = root / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return str(folder)
    return ""


_CACHE = _cache_folder()
WAIT: Final = (
    "compiling kernels, the first time only: ten to thirty seconds"
    if _CACHE
    else "compiling kernels, every time: there is no folder to keep them in (see XDG_CACHE_HOME)"
)


class _FirstCompilation(event.Listener):
    """Announces, once in a process, that kernels are compiled which the cache does not hold."""

    announced = False

    def on_start(self, event: object) -> None:  # noqa: ARG002
        if not self.announced:
            self.announced = True
            announce(WAIT)

    def on_end(self, event: object) -> None:
        pass


_WATCH = _FirstCompilation()


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


def kernel(signature: str) -> Callable[[_Function], _Function]:
    """Compile a function for exactly one signature, from the cache on disk when it is there."""

    def compiled(function: _Function) -> _Function:
        settings: Any = numba.config
        before, settings.CACHE_DIR = settings.CACHE_DIR, _CACHE
        try:
            with event.install_listener("numba:compile", _WATCH), _interrupts_heard():
                return cast(_Function, numba.njit(signature, cache=bool(_CACHE), **_OPTIONS)(function))
        finally:
            settings.CACHE_DIR = before

    return compiled
