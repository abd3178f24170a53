"""One source of games, a file or an archive of files, read into records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.progress import SILENT, Bar
from ttt_cli.reading.archives import Member, members
from ttt_cli.reading.batches import Batch
from ttt_cli.reading.detect import Kind, form_of, is_parquet, recognise, refuse_foreign
from ttt_cli.reading.file_records import FileRecords
from ttt_cli.reading.reports import Problem
from ttt_cli.reading.sources import NO_GAMES, Source, skipped_file
from ttt_cli.reading.streams import DamagedInputError, Input
from ttt_cli.reading.text import HEAD, LARGE, marked_encoding, peek, plain_blocks
from ttt_cli.reading.values.results import ResultKind

_LOADED: Final = 1 << 16  # bytes from which compiled code is quicker once it is loaded


class FileRead(NamedTuple):
    """The records of one file; `digest` and `size` are of its bytes as stored."""

    records: FileRecords
    kind: Kind
    digest: str
    size: int


class SourceReader:
    """Reads sources one after the other; compiled code is used when they are `much`, or turn out to be."""

    def __init__(self, data: DataConfig, *, much: bool = False) -> None:
        self._data = data
        self._scanned = LARGE if much else 0  # bytes of PGN, of large files only the first

    def read(self, source: Source, bar: Bar) -> Iterator[FileRead | Problem]:
        """The files of a source, and those passed over in it.

        Raises DataError when a file cannot be read, is damaged or holds no games by its content (when it was found
        in a folder or an archive, it is passed over for that), ConfigError when configured columns or an encoding do
        not exist.
        """
        one = Input(source.what)
        with closing(one.blocks(bar)) as content:
            head, blocks = peek(content, HEAD)
            form = form_of(head)
            if form is None:
                yield self._read_file(one, head, blocks, found=source.found)
            else:
                yield from self._read_members(members(form, one, blocks, bar))

    def _read_members(self, found: Iterator[Member]) -> Iterator[FileRead | Problem]:
        with SILENT.task("members") as quiet:
            for member in found:
                if isinstance(member, Problem):
                    yield member
                else:
                    head, blocks = peek(member.blocks(quiet), HEAD)
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
        kind, blocks = self._recognised(head, unpacked, one.name)
        result_kind, batches = self._opened(kind, blocks, one.name)
        records = FileRecords(one.name, result_kind)
        try:
            for batch in batches:
                records.add(batch)
        except DamagedInputError as error:
            message = f"{error.message}; {records.rows:,} records came before that"
            raise DataError(message, where=error.where or one.name, hint=error.hint) from error
        except DataError as error:
            if error.where:
                raise
            raise DataError(error.message, where=one.name, hint=error.hint) from error
        return FileRead(records, kind, one.digest, one.count)

    def _recognised(self, head: bytes, unpacked: Iterator[bytes], name: str) -> tuple[Kind, Iterator[bytes]]:
        """What the content is, and its blocks as the reader of that kind wants them."""
        data = self._data
        if data.format == "parquet" or (data.format == "auto" and is_parquet(head)):
            return "parquet", unpacked
        head, blocks = peek(plain_blocks(unpacked, data.encoding, name), HEAD)
        if data.format == "auto":
            return recognise(head[:HEAD], name), blocks
        return "csv" if data.format == "tsv" else data.format, blocks

    def _opened(self, kind: Kind, blocks: Iterator[bytes], name: str) -> tuple[ResultKind, Iterator[Batch]]:
        data = self._data
        if kind == "csv":
            from ttt_cli.reading.formats.tabular.delimited import read_delimited

            return read_delimited(blocks, data, name)
        if kind == "jsonl":
            from ttt_cli.reading.formats.tabular.jsonl import read_jsonl

            return read_jsonl(blocks, data, name)
        if kind == "parquet":
            from ttt_cli.reading.formats.tabular.parquet import read_parquet

            return read_parquet(blocks, data, name)
        if data.reader == "chess":
            from ttt_cli.reading.formats.pgn.python_chess import read_pgn_chess

            return "text", read_pgn_chess(blocks)
        return "text", self._scan(blocks)

    def _scan(self, blocks: Iterator[bytes]) -> Iterator[Batch]:
        """PGN by the compiled scanner if it, or what came before it, is large."""
        from ttt_cli.reading.formats.pgn.scanner import scan_large_pgn

        large = max(_LOADED, LARGE - self._scanned)
        head, blocks = peek(blocks, large)
        self._scanned += len(head)
        return scan_large_pgn(blocks, large)
