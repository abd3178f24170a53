"""Sources of games: files, folders, patterns and archives, read one after another or in several processes."""

import glob
import os
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path, PurePath
from typing import BinaryIO, Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.formats import Format
from ttt_cli.parallel.processes import StepReport, available_cores, report, work_in_processes
from ttt_cli.reading.archives import OTHER_FILE, members_of, skipped, why_not_games
from ttt_cli.reading.batches import FileRecords, Table
from ttt_cli.reading.input import Input
from ttt_cli.reading.recognition import (
    ARCHIVE_SUFFIXES,
    GAMES_SUFFIXES,
    format_by_name,
    format_by_start,
    recognise,
    refuse_foreign,
    suffix_of,
)
from ttt_cli.reading.reports import Problem
from ttt_cli.reading.text import HEAD, marked_encoding, plain_blocks
from ttt_cli.reading.unpacking import peek
from ttt_cli.support.errors import DataError
from ttt_cli.support.progress import SILENT, Bar

Named = str | os.PathLike[str] | BinaryIO

NO_GAMES: Final = "holds no games"
# Bytes of plain PGN besides the largest source from which other processes read, too
APART: Final = 1 << 28
_SLOW: Final = {  # time per byte of packed files, relative to plain ones
    **dict.fromkeys((".gz", ".tgz", ".zst", ".tzst", ".zip"), 5),
    **dict.fromkeys((".xz", ".txz"), 20),
    **dict.fromkeys((".bz2", ".tbz", ".tbz2"), 50),
}
# For files that nobody named
_LEAVE_OUT: Final = "or leave the file out: name the others, or a pattern as 'games/*.pgn'"
_MOST_MEMBERS: Final = 500_000


class Source(NamedTuple):
    """One file or stream to read."""

    what: Named
    origin: int  # index of the user's argument
    unnamed: bool = False  # in a folder or matching a pattern, instead of named by the user


def find_sources(named: Sequence[Named]) -> tuple[list[Source], list[Problem]]:
    """The files for the given names, in order, and the skipped files.

    A folder is replaced by its files of games and archives, recursively. A pattern (`games/*.pgn`) is replaced by the
    matching files, or by the matching folders if no file matches. Both are sorted. Raises DataError when a folder or
    pattern has no file.
    """
    sources: list[Source] = []
    problems: list[Problem] = []
    for origin, name in enumerate(named):
        path = Path(name) if isinstance(name, str | os.PathLike) else None
        if path is None or not (path.is_dir() or _is_pattern(path)):
            sources.append(Source(name, origin))
            continue
        for match in [path] if path.is_dir() else _matches(path):
            files, skipped_files = _files_at(match)
            sources += [Source(str(file), origin, unnamed=True) for file in files]
            problems += skipped_files
    return sources, problems


def _is_pattern(path: Path) -> bool:
    return glob.has_magic(str(path)) and not path.exists()


def _matches(pattern: Path) -> list[Path]:
    """Files that match a pattern, or else folders, sorted. Raises DataError when there are none."""
    matches = [Path(match) for match in sorted(glob.glob(str(pattern), recursive=True))]  # noqa: PTH207
    if not matches:
        hint = "patterns may have *, ? and [...]; ** matches folders"
        raise DataError("no file matches", where=str(pattern), hint=hint)
    return [match for match in matches if match.is_file()] or matches


def _files_at(path: Path) -> tuple[list[Path], list[Problem]]:
    """The file itself, or the files of games in a folder and the skipped ones. Raises DataError when there are none."""
    if not path.is_dir():
        return [path], []
    files: list[Path] = []
    problems: list[Problem] = []
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        is_archive = suffix_of(file.name) in ARCHIVE_SUFFIXES
        why = None if is_archive else why_not_games(str(file.relative_to(path)))
        if why is None:
            files.append(file)
        else:
            problems.append(skipped(str(file), OTHER_FILE, why))
    if not files:
        hint = f"in folders these are read: {', '.join(GAMES_SUFFIXES)}, archives"
        raise DataError("contains no file of games", where=str(path), hint=hint)
    return files, problems


class FileRead(NamedTuple):
    """The records of one file; `digest` and `size` are of its bytes as stored."""

    records: FileRecords
    kind: str
    digest: str
    size: int


class SourcePart(NamedTuple):
    """A file of a source, or why it was skipped."""

    source: Source
    file: FileRead | Problem


def read_source(
    source: Source, data: DataConfig, bar: Bar
) -> Generator[FileRead | Problem, None, None]:
    """The files of a source, and the skipped ones.

    Raises DataError when a file cannot be read, is damaged or, unless it was found in a folder or an archive, is not a
    file of games by its content; ConfigError when configured columns or an encoding do not exist.
    """
    file = Input(source.what)
    with closing(file.blocks(bar)) as content:
        head, blocks = peek(content, HEAD)
        members = members_of(file, head, blocks, bar)
        if members is None:
            yield _read_file(file, head, blocks, data, unnamed=source.unnamed)
            return
        count = 0
        with closing(members):
            for member in members:
                count += 1
                if count > _MOST_MEMBERS:
                    message = f"holds more than {_MOST_MEMBERS:,} files"
                    raise DataError(message, where=file.name, hint="unpack it first")
                if isinstance(member, Problem):
                    yield member
                    continue
                with closing(member.blocks(SILENT)) as unpacked:
                    yield _read_file(member, *peek(unpacked, HEAD), data, unnamed=True)
        if not count:
            yield skipped(file.name, NO_GAMES, "is empty")


def _read_file(
    file: Input, head: bytes, blocks: Iterator[bytes], data: DataConfig, *, unnamed: bool
) -> FileRead | Problem:
    try:
        refuse_foreign(head, file.name, encoding=data.encoding or marked_encoding(head))
    except DataError as error:
        if unnamed:
            return skipped(file.name, NO_GAMES, error.message)
        raise
    form = format_by_name(data.format) or format_by_start(head, binary=True)
    if form is None or not form.binary:
        head, blocks = peek(plain_blocks(blocks, data.encoding, file.name), HEAD)
        form = form or recognise(head[:HEAD], file.name)
    try:
        table = _read_table(form, blocks, data, file.name)
    except DataError as error:
        if not unnamed:
            raise
        hint = f"{error.hint}; {_LEAVE_OUT}" if error.hint else _LEAVE_OUT
        raise DataError(error.message, where=error.where, hint=hint) from error
    return FileRead(FileRecords(file.name, table), form.kind or form.name, file.digest, file.count)


def _read_table(form: Format, blocks: Iterator[bytes], data: DataConfig, name: str) -> Table:
    """The table that the format's own function reads; its module is imported now."""
    module, _, function = form.read.partition(":")
    read = vars(import_module(module))[function]
    table: Table = read(blocks, data, name)
    return table


def read_sources(
    sources: Sequence[Source], data: DataConfig, bar: Bar, *, jobs: int | None = None
) -> Generator[SourcePart, None, None]:
    """The files of every source, in order, by `jobs` processes (None: `jobs_for`); raises as `read_source`."""
    inputs = [Input(source.what) for source in sources]
    jobs = min(jobs_for(inputs) if jobs is None else jobs, len(sources))
    if jobs < 2:
        for source in sources:
            with closing(read_source(source, data, bar)) as parts:
                for part in parts:
                    yield SourcePart(source, part)
        return
    yield from _read_apart(sources, data, bar, jobs)


class _BytesRead(NamedTuple):
    """Progress of another process: bytes read, and the name of their file."""

    amount: float
    note: str


class _SourceEnd(NamedTuple):
    """The end of a source that another process reads."""


def _read_apart(
    sources: Sequence[Source], data: DataConfig, bar: Bar, jobs: int
) -> Generator[SourcePart, None, None]:
    """The files of every source, read by other processes, in order."""
    waiting: list[deque[FileRead | Problem | Exception | _SourceEnd]] = [deque() for _ in sources]
    current = 0
    chains = [[(number, source)] for number, source in enumerate(sources)]
    with closing(work_in_processes(_SourceWorker(data), chains, jobs)) as events:
        for (number, _), outcome in events:
            match outcome:
                case StepReport(message=_BytesRead() as progress):
                    bar.advance(progress.amount, progress.note)
                case StepReport():
                    waiting[number].append(outcome.message)
                case Exception():
                    waiting[number].append(outcome)
                case _:
                    waiting[number].append(_SourceEnd())
            while current < len(sources) and waiting[current]:
                part = waiting[current].popleft()
                if isinstance(part, Exception):
                    raise part
                if isinstance(part, _SourceEnd):
                    current += 1
                else:
                    yield SourcePart(sources[current], part)


def jobs_for(inputs: Sequence[Input]) -> int:
    """The number of processes to read these: one, unless the work beside the largest input exceeds APART."""
    work: list[float] = []
    for file in inputs:
        if file.size is None:
            return 1
        work.append(file.size * _SLOW.get(PurePath(file.name).suffix.lower(), 1))
    if not sys.executable or sum(work) - max(work, default=0) < APART:
        return 1
    return min(available_cores(), len(work))


class _ReportedBar:
    """Reports the number of bytes read to the process that waits for them."""

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Report bytes."""
        report(_BytesRead(amount, note))


class _SourceWorker:
    """Reads sources in another process and reports their files and the number of bytes read."""

    def __init__(self, data: DataConfig) -> None:
        self._data = data

    def step(self, item: tuple[int, Source], *, fresh: bool) -> None:  # noqa: ARG002
        """Read one source."""
        _, source = item
        with closing(read_source(source, self._data, _ReportedBar())) as parts:
            for part in parts:
                report(part)
