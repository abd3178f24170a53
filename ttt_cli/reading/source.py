"""Sources of games, files or archives of files, read into records in order: here, or in several processes."""

import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.formats import FORMATS, Format
from ttt_cli.processes import Report, Reporting, available_cores, report, work_apart
from ttt_cli.progress import SILENT, Bar
from ttt_cli.reading.archives import Member, members
from ttt_cli.reading.batches import Table
from ttt_cli.reading.file_records import FileRecords
from ttt_cli.reading.reports import Problem
from ttt_cli.reading.sources import (
    NO_GAMES,
    Source,
    binary_format,
    form_of,
    recognise,
    refuse_foreign,
    skipped_file,
)
from ttt_cli.reading.streams import DamagedInputError, Input
from ttt_cli.reading.text import HEAD, LARGE, marked_encoding, peek, plain_blocks

_LOADED: Final = 1 << 16  # bytes from which compiled code is quicker once it is loaded
APART: Final = 1 << 28  # bytes of plain PGN, besides the largest source, that are worth other processes
_SLOW: Final = {  # how much longer a byte takes in packed files
    **dict.fromkeys((".gz", ".tgz", ".zst", ".tzst", ".zip"), 5),
    **dict.fromkeys((".xz", ".txz"), 20),
    **dict.fromkeys((".bz2", ".tbz", ".tbz2"), 50),
}
_UNPACKED: Final = 4  # how many times as many bytes are in them, at least


class FileRead(NamedTuple):
    """The records of one file; `digest` and `size` are of its bytes as stored."""

    records: FileRecords
    kind: str
    digest: str
    size: int


Part = tuple[Source, FileRead | Problem]


class SourceReader:
    """Reads sources one after the other; heavy libraries are loaded when they are `much`, or turn out to be."""

    def __init__(self, data: DataConfig, *, much: bool = False) -> None:
        self._data = data
        self._done = LARGE if much else 0  # bytes

    def read(self, source: Source, bar: Bar) -> Generator[FileRead | Problem, None, None]:
        """The files of a source, and those passed over in it.

        Raises DataError when a file cannot be read, is damaged or, unless it was found in a folder or an archive, holds
        no games by its content; ConfigError when configured columns or an encoding do not exist.
        """
        one = Input(source.what)
        with closing(one.blocks(bar)) as content:
            head, blocks = peek(content, HEAD)
            form = form_of(head)
            if form is None:
                yield self._read_file(one, head, blocks, found=source.found)
            else:
                with closing(members(form, one, blocks, bar)) as found:
                    yield from self._read_members(found)

    def _read_members(self, found: Iterator[Member]) -> Iterator[FileRead | Problem]:
        with SILENT.task("members") as quiet:
            for member in found:
                if isinstance(member, Problem):
                    yield member
                else:
                    with closing(member.blocks(quiet)) as content:
                        head, blocks = peek(content, HEAD)
                        yield self._read_file(member, head, blocks, found=True)

    def _read_file(
        self, one: Input, head: bytes, unpacked: Iterator[bytes], *, found: bool
    ) -> FileRead | Problem:
        try:
            refuse_foreign(head, one.name, encoding=self._data.encoding or marked_encoding(head))
        except DataError as error:
            if found:
                return skipped_file(one.name, NO_GAMES, error.message)
            raise
        form, blocks = self._recognised(head, unpacked, one.name)
        module, _, function = form.read.partition(":")
        large = max(_LOADED, LARGE - self._done)
        table: Table = getattr(import_module(module), function)(blocks, self._data, one.name, large)
        records = FileRecords(one.name, table.kind, table.unit, chess=table.chess, winners=table.winners)
        try:
            for batch in table.batches:
                records.add(batch)
        except DamagedInputError as error:
            message = f"{error.message}; {records.rows:,} records came before that"
            raise DataError(message, where=error.where or one.name, hint=error.hint) from error
        except DataError as error:
            if error.where:
                raise
            raise DataError(error.message, where=one.name, hint=error.hint) from error
        self._done += one.count
        return FileRead(records, form.kind, one.digest, one.count)

    def _recognised(
        self, head: bytes, unpacked: Iterator[bytes], name: str
    ) -> tuple[Format, Iterator[bytes]]:
        """What the content is, and its blocks as the reader of that format wants them."""
        data = self._data
        named = next((form for form in FORMATS if form.name == data.format), None)
        if (form := named or binary_format(head)) and form.binary:
            return form, unpacked
        head, blocks = peek(plain_blocks(unpacked, data.encoding, name), HEAD)
        return named or recognise(head[:HEAD], name), blocks


def read_sources(
    sources: Sequence[Source], data: DataConfig, bar: Bar, *, jobs: int | None = None
) -> Generator[Part, None, None]:
    """What every source holds, in order, by so many processes, or as many as pay; raises as `SourceReader.read`."""
    inputs = [Input(source.what) for source in sources]
    if jobs is None:
        jobs = jobs_for(inputs)
    if min(jobs, len(sources)) > 1:
        yield from _read_apart(sources, data, bar, min(jobs, len(sources)))
        return
    sizes = [(one.size or 0) * (_UNPACKED if _suffix(one) in _SLOW else 1) for one in inputs]
    reader = SourceReader(data, much=sum(sizes) >= LARGE)
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


def _suffix(one: Input) -> str:
    return PurePath(one.name).suffix.lower()


class _SourceWorker:
    """Reads one source after the other and reports what it finds, and how many bytes it has read."""

    def __init__(self, data: DataConfig) -> None:
        self._reader = SourceReader(data, much=True)  # nobody would begin a process for less

    def step(self, item: tuple[int, Source], *, fresh: bool) -> None:  # noqa: ARG002
        with closing(self._reader.read(item[1], Reporting())) as parts:
            for part in parts:
                report(part)


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
        if type(what) is tuple:  # how many bytes have been read
            bar.advance(*what)
        else:
            held[number].append(what)
    return held[current].popleft()
