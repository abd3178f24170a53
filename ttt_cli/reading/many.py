"""Many sources read in order: here, or in several processes when that is quicker."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from pathlib import PurePath
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Final

from ttt_cli.config.schema import DataConfig
from ttt_cli.progress import Bar
from ttt_cli.reading.reader_process import Advance, Done, ReaderProcess, Said
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
        for part in reader.read(source, bar):
            yield source, part


def jobs_for(inputs: Sequence[Input]) -> int:
    """How many processes read these soonest; the largest takes its time whatever others do meanwhile."""
    work = [one.size * _SLOW.get(_suffix(one), 1) for one in inputs if one.size is not None]
    if not sys.executable or len(work) < len(inputs) or sum(work) - max(work, default=0) < APART:
        return 1
    return min(_available_cores(), len(work))


def _unpacked_size(one: Input) -> int:
    """Bytes of content, more or less; 0 when that is not known."""
    return (one.size or 0) * (_UNPACKED if _suffix(one) in _SLOW else 1)


def _suffix(one: Input) -> str:
    return PurePath(one.name).suffix.lower()


def _available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_apart(sources: Sequence[Source], data: DataConfig, bar: Bar, crew: int) -> Iterator[Part]:
    with ExitStack() as stack:
        said: SimpleQueue[tuple[int, Said]] = SimpleQueue()
        waiting = _Waiting(sources)
        for _ in range(crew):
            process = ReaderProcess(data)
            stack.callback(process.end)
            Thread(target=_attend, args=(process, waiting, said), daemon=True).start()
        yield from _in_order(sources, said, bar)


def _in_order(sources: Sequence[Source], said: SimpleQueue[tuple[int, Said]], bar: Bar) -> Iterator[Part]:
    """What the processes say of each source, held back until all before it has been said."""
    held: list[deque[FileRead | Problem | Done | Exception]] = [deque() for _ in sources]
    for current, source in enumerate(sources):
        while True:
            while not held[current]:
                number, news = said.get()
                if isinstance(news, Advance):
                    bar.advance(*news)
                else:
                    held[number].append(news)
            what = held[current].popleft()
            if isinstance(what, Exception):
                raise what
            if isinstance(what, Done):
                break
            yield source, what


class _Waiting:
    """Sources not yet begun, with their numbers; several threads may take from them."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._numbered = enumerate(sources)
        self._lock = Lock()

    def next(self) -> tuple[int, Source] | None:
        with self._lock:
            return next(self._numbered, None)


def _attend(process: ReaderProcess, waiting: _Waiting, said: SimpleQueue[tuple[int, Said]]) -> None:
    """Have a process read one source after the other and pass on what it says."""
    while (task := waiting.next()) is not None:
        number, source = task
        process.read(source)
        while True:
            what = process.hear()
            said.put((number, what))
            if isinstance(what, Exception):
                return
            if isinstance(what, Done):
                break
