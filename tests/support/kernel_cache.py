"""All kernels compiled into their cache before the workers start: in a fresh clone each worker would compile all.

What only kernels call is compiled into them; where a test calls it, it is compiled by itself, and kept as well.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

PACKAGE = "ttt_cli.kernels"
FOLDER = Path(__file__).parents[2].joinpath(*PACKAGE.split("."))


def imported_kernels() -> dict[str, set[str]]:
    """The modules of kernels, and the others that each imports."""
    files = (file for file in FOLDER.rglob("*.py") if file.stem != "__init__")
    return {".".join(file.relative_to(FOLDER).with_suffix("").parts): set(_imports(file)) for file in files}


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
            yield str(node.module).removeprefix(f"{PACKAGE}.")


def compile_kernels(processes: int) -> None:
    """Import every module of kernels in one of some processes, after those that it imports."""
    order = TopologicalSorter(imported_kernels())
    order.prepare()
    running: dict[Future[object], str] = {}
    with ProcessPoolExecutor(processes) as pool:
        while order.is_active():
            for name in sorted(order.get_ready(), key=_size, reverse=True):
                running[pool.submit(_load, name)] = name
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:  # what does not compile, the tests will tell
                order.done(running.pop(future))


def _size(name: str) -> int:
    return (FOLDER / f"{name.replace('.', '/')}.py").stat().st_size


def _load(name: str) -> None:
    import_module(f"{PACKAGE}.{name}")


def keep_inner() -> None:
    """Have what is compiled of inner functions that are loaded kept from now on."""
    import numba
    from numba.core.dispatcher import Dispatcher

    from ttt_cli.kernels.cache import keep
    from ttt_cli.kernels.compile import _CACHE

    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, _CACHE.folder
    for name, module in [*sys.modules.items()]:
        if _CACHE.folder and name.startswith(f"{PACKAGE}."):
            for value in vars(module).values():
                if isinstance(value, Dispatcher) and value._can_compile:
                    keep(value)
    numba.config.CACHE_DIR = before
