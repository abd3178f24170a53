"""What benchmarks share: options, clocks, memory, processes, tables, fuzzing. Standard library only."""

import argparse
import os
import platform
import random
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # some scripts use the references of the tests
MIB: Final = 2**20
_STATUS: Final = Path("/proc/self/status")
_PROCESSOR: Final = Path("/proc/cpuinfo")

Given = ParamSpec("Given")
Found = TypeVar("Found")


def options_of(
    text: str | None, given: Sequence[str] | None = None, **options: Any
) -> argparse.Namespace:
    """Options of a script by name: a default, a list of them, a type, False, or settings as for `add_argument`.

    `file_` is positional.
    """
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, setting in options.items():
        match setting:
            case dict():
                settings = setting
            case type():
                settings = {"type": setting}
            case list():
                settings = {"type": type(setting[0]), "nargs": "+", "default": setting}
            case False:
                settings = {"action": "store_true"}
            case _:
                settings = {"type": type(setting), "default": setting}
        parser.add_argument(
            name[:-1] if name.endswith("_") else f"--{name.replace('_', '-')}", **settings
        )
    return parser.parse_args(given)


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
    return (
        f"{processor()}, {os.cpu_count()} cores{load}; Python {platform.python_version()}{versions}"
    )


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


def fuzz(
    prefix: str,
    options: argparse.Namespace,
    draw: Callable[[random.Random], bytes],
    check: Callable[[bytes, random.Random], Mapping[str, int]],
) -> int:
    """Check drawn inputs for `options.seconds` and print the sums of what the checks count; 1 after an error.

    Equal seeds give equal inputs. What fails a check is written to `PREFIX-SEED-NUMBER`.
    """
    chance, stop, counts = (
        random.Random(options.seed),
        time.monotonic() + options.seconds,
        Counter[str](),
    )
    while time.monotonic() < stop:
        content = draw(chance)
        try:
            counts.update(check(content, chance))
        except Exception:
            path = Path(f"{prefix}-{options.seed}-{counts['inputs']}")
            path.write_bytes(content)
            print(f"{path}: {traceback.format_exc()}", file=sys.stderr)
            return 1
        counts["inputs"] += 1
    print(
        f"{prefix}: {', '.join(f'{n:,} {name}' for name, n in counts.items())}, nothing wrong",
        flush=True,
    )
    return 0


def mutated(content: bytes, chance: random.Random, traps: Sequence[bytes], kept: int = 0) -> bytes:
    """The content with up to a dozen changes, most of them behind its first `kept` bytes."""
    data = bytearray(content)
    for _ in range(chance.choice((0, 1, 2, 4, 12))):
        least = 0 if chance.random() < 0.1 else min(kept, len(data))
        at, other = chance.randint(least, len(data)), chance.randint(least, len(data))
        part = slice(at, at + chance.choice((1, 2, 10, 100, 400)))
        change = chance.randrange(6)
        if change <= 1:
            data[at:at] = chance.choice(traps)
        elif change == 2:
            data[part] = b""
        elif change == 3:
            data[part] = chance.choice(traps)
        elif change == 4:
            data[other:other] = data[part] * chance.choice((1, 2, 10))
        elif at < len(data):
            data[at] = chance.randrange(256)
    return bytes(data)


def cut(content: bytes, chance: random.Random, most: int = 5) -> list[bytes]:
    """The content in blocks, with up to so many cuts anywhere."""
    places = sorted(chance.randrange(len(content) + 1) for _ in range(chance.randrange(most + 1)))
    return [content[a:b] for a, b in pairwise([0, *places, len(content)]) if a < b]
