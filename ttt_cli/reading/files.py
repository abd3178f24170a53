"""Read sources into records, one after another or in several processes."""

import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import PurePath
from typing import Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.formats import FORMATS
from ttt_cli.reading import sources
from ttt_cli.reading.batches import FileRecords
from ttt_cli.reading.input import Input, peek
from ttt_cli.reading.reports import Problem
from ttt_cli.reading.sources import Source
from ttt_cli.reading.text import HEAD, marked_encoding, plain_blocks
from ttt_cli.support.errors import DataError
from ttt_cli.support.progress import SILENT, Bar
from ttt_cli.work import Reporting, StepReport, available_cores, report, work_apart

APART: Final = (
    1 << 28
)  # bytes of plain PGN, besides the largest source, for which other processes are started
_SLOW: Final = {  # time per byte of packed files, relative to plain ones
    **dict.fromkeys((".gz", ".tgz", ".zst", ".tzst", ".zip"), 5),
    **dict.fromkeys((".xz", ".txz"), 20),
    **dict.fromkeys((".bz2", ".tbz", ".tbz2"), 50),
}


class FileRead(NamedTuple):
    """The records of one file; `digest` and `size` are of its bytes as stored."""

    records: FileRecords
    kind: str
    digest: str
    size: int


SourcePart = tuple[Source, FileRead | Problem]


def read_source(source: Source, data: DataConfig, bar: Bar) -> Generator[FileRead | Problem, None, None]:
    """The files of a source, and the skipped ones.

    Raises DataError when a file cannot be read, is damaged or, unless it was found in a folder or an archive, is not a
    file of games by its content; ConfigError when configured columns or an encoding do not exist.
    """
    one = Input(source.what)
    with closing(one.blocks(bar)) as content:
        head, blocks = peek(content, HEAD)
        form = sources.form_of(head)
        if form is None:
            yield _read_file(one, head, blocks, data, found=source.found)
            return
        with closing(sources.members(form, one, blocks, bar)) as found:
            for member in found:
                if isinstance(member, Problem):
                    yield member
                else:
                    with closing(member.blocks(SILENT)) as unpacked:
                        yield _read_file(member, *peek(unpacked, HEAD), data, found=True)


def _read_file(
    one: Input, head: bytes, blocks: Iterator[bytes], data: DataConfig, *, found: bool
) -> FileRead | Problem:
    try:
        sources.refuse_foreign(head, one.name, encoding=data.encoding or marked_encoding(head))
    except DataError as error:
        if found:
            return sources.skipped_file(one.name, sources.NO_GAMES, error.message)
        raise
    form = next((form for form in FORMATS if form.name == data.format), None) or sources.binary_format(head)
    if form is None or not form.binary:
        head, blocks = peek(plain_blocks(blocks, data.encoding, one.name), HEAD)
        form = form or sources.recognise(head[:HEAD], one.name)
    module, _, function = form.read.partition(":")
    table = getattr(import_module(module), function)(blocks, data, one.name)
    try:
        records = FileRecords(one.name, table)
    except DataError as error:
        if error.where:
            raise
        raise DataError(error.message, where=one.name, hint=error.hint) from error
    return FileRead(records, form.kind, one.digest, one.count)


def read_sources(
    sources: Sequence[Source], data: DataConfig, bar: Bar, *, jobs: int | None = None
) -> Generator[SourcePart, None, None]:
    """The files of every source, in order, by `jobs` processes (None: `jobs_for`); raises as `read_source`."""
    inputs = [Input(source.what) for source in sources]
    jobs = min(jobs_for(inputs) if jobs is None else jobs, len(sources))
    if jobs > 1:
        yield from _read_apart(sources, data, bar, jobs)
        return
    for source in sources:
        with closing(read_source(source, data, bar)) as parts:
            for part in parts:
                yield source, part


def jobs_for(inputs: Sequence[Input]) -> int:
    """The number of processes that reads these fastest, limited by the time for the largest."""
    work = [
        one.size * _SLOW.get(PurePath(one.name).suffix.lower(), 1) for one in inputs if one.size is not None
    ]
    if not sys.executable or len(work) < len(inputs) or sum(work) - max(work, default=0) < APART:
        return 1
    return min(available_cores(), len(work))


class _SourceWorker:
    """Reads sources in another process and reports their files and the number of bytes read."""

    def __init__(self, data: DataConfig) -> None:
        self._data = data

    def step(self, item: tuple[int, Source], *, fresh: bool) -> None:  # noqa: ARG002
        with closing(read_source(item[1], self._data, Reporting())) as parts:
            for part in parts:
                report(part)


def _read_apart(sources: Sequence[Source], data: DataConfig, bar: Bar, jobs: int) -> Iterator[SourcePart]:
    """The files found by other processes, in the order of their sources."""
    waiting: list[deque[FileRead | Problem | Exception | None]] = [deque() for _ in sources]  # None: the end
    current = 0
    with closing(work_apart(_SourceWorker(data), [[one] for one in enumerate(sources)], jobs)) as events:
        for (number, _), outcome in events:
            what = outcome.message if isinstance(outcome, StepReport) else outcome
            if type(what) is tuple:  # bytes read
                bar.advance(*what)
            else:
                waiting[number].append(what)
            while current < len(sources) and waiting[current]:
                part = waiting[current].popleft()
                if isinstance(part, Exception):
                    raise part
                if part is None:
                    current += 1
                else:
                    yield sources[current], part
