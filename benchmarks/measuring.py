"""What benchmarks share: clocks, peak memory, processes of their own, the machine, tables. Standard library only."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

MIB: Final = 2**20
_STATUS: Final = Path("/proc/self/status")
_PROCESSOR: Final = Path("/proc/cpuinfo")

Given = ParamSpec("Given")
Found = TypeVar("Found")


class Clock:
    """Seconds on the clock and of the processor, summed over all blocks under `running`."""

    def __init__(self) -> None:
        self.wall = 0.0
        self.cpu = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the seconds of a block."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu


def peak_memory() -> float:
    """The most memory that this process has held so far, MiB."""
    for line in _STATUS.read_text().splitlines() if _STATUS.exists() else ():
        if line.startswith("VmHWM:"):  # ru_maxrss of a child begins with that of its parent
            return int(line.split()[1]) * 1024 / MIB
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MIB


def alone(function: Callable[Given, Found], *args: Given.args, **kwargs: Given.kwargs) -> Found:
    """The result of a function that runs in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()


def machine(*packages: str) -> str:
    """Processor, cores, their load, Python and the versions of packages, in one line."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    versions = "".join(f", {name} {_version(name)}" for name in packages)
    return f"{processor()}, {os.cpu_count()} cores{load}; Python {platform.python_version()}{versions}"


def processor() -> str:
    """The processor's name, where the system tells."""
    lines = _PROCESSOR.read_text().splitlines() if _PROCESSOR.exists() else []
    found = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return found[0] if found else platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
