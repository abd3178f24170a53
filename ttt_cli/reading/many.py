"""Many sources read in order: here, or in several processes when that is quicker."""

import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.processes import Report, available_cores, report, work_apart
from ttt_cli.progress import Bar
from ttt_cli.reading.reports import Problem
from ttt_cli.reading.source import FileRead, SourceReader
from ttt_cli.reading.sources import Source
from ttt_cli.reading.streams import Input
from ttt_cli.reading.text import LARGE

APART: Final = 1 << 28  # bytes of plain PGN, besides the largest source, that are worth other processes
_SLOW: Final = {  # how much longer a byte takes in packed files
    **dict.fromkeys((".gz", ".tgz", ".zst", ".tzst", ".zip"), 5),
    **dict.fromkeys((".xz", ".txz"), 20),
    **dict.fromkeys((".bz2", ".tbz", ".tbz2"), 50),
}
_UNPACKED: Final = 4  # how many times as many bytes are in them, at least

Part = tuple[Source, FileRead | Problem]


def read_sources(
    sources: Sequence[Source], data: DataConfig, bar: Bar, *, jobs: int | None = None
) -> Generator[Part, None, None]:
    """What every source holds, in order; see `SourceReader.read` for what is raised.

    `jobs` is the number of processes; None leaves it to the sizes and the processors there are. The result does not
    depend on it.
    """
    inputs = [Input(source.what) for source in sources]
    if jobs is None:
        jobs = jobs_for(inputs)
    if min(jobs, len(sources)) > 1:
        yield from _read_apart(sources, data, bar, min(jobs, len(sources)))
        return
    reader = SourceReader(data, much=sum(map(_unpacked_size, inputs)) >= LARGE)
    for source in sources:
        with closing(reader.read(source, bar)) as parts:
            for part in parts:
                yield source, part


def jobs_for(inputs: Sequence[Input]) -> int:
    """How many processes read these soonest; the largest takes its time whatever others do meanwhile."""
    work = [one.size * _SLOW.get(_suffix(one), 1) for one in inputs if one.size is not None]
    if not sys.executable or len(work) < len(inputs) or sum(work) - max(work, default=0) < APART:
        return 1
    return min(available_cores(), len(work))


def _unpacked_size(one: Input) -> int:
    """Bytes of content, more or less; 0 when that is not known."""
    return (one.size or 0) * (_UNPACKED if _suffix(one) in _SLOW else 1)


def _suffix(one: Input) -> str:
    return PurePath(one.name).suffix.lower()


class _Advance(NamedTuple):
    amount: float
    note: str


class _SourceWorker:
    """Reads one source after the other and reports what it finds, and how many bytes it has read."""

    def __init__(self, data: DataConfig) -> None:
        self._reader = SourceReader(data, much=True)  # nobody would begin a process for less

    def step(self, item: tuple[int, Source], *, fresh: bool) -> None:  # noqa: ARG002
        with closing(self._reader.read(item[1], self)) as parts:
            for part in parts:
                report(part)

    def advance(self, amount: float = 1, note: str = "") -> None:
        report(_Advance(amount, note))


def _read_apart(sources: Sequence[Source], data: DataConfig, bar: Bar, jobs: int) -> Iterator[Part]:
    """What processes find in each source, held back until all before it has been handed on."""
    held: list[deque[FileRead | Problem | Exception | None]] = [deque() for _ in sources]  # None: the end
    with closing(work_apart(_SourceWorker(data), [[one] for one in enumerate(sources)], jobs)) as found:
        for current, source in enumerate(sources):
            while (part := _next_part(held, current, found, bar)) is not None:
                if isinstance(part, Exception):
                    raise part
                yield source, part


def _next_part(
    held: Sequence[deque[FileRead | Problem | Exception | None]], current: int, found: Iterator[Any], bar: Bar
) -> FileRead | Problem | Exception | None:
    while not held[current]:
        (number, _), outcome = next(found)
        what = outcome.message if isinstance(outcome, Report) else outcome
        if isinstance(what, _Advance):
            bar.advance(*what)
        else:
            held[number].append(what)
    return held[current].popleft()
