"""One source of games, a file or an archive of files, read into records."""

from collections.abc import Generator, Iterator
from contextlib import closing
from importlib import import_module
from typing import Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.formats import FORMATS, Format
from ttt_cli.progress import SILENT, Bar
from ttt_cli.reading.archives import Member, members
from ttt_cli.reading.batches import Table
from ttt_cli.reading.detect import binary_format, form_of, recognise, refuse_foreign
from ttt_cli.reading.file_records import FileRecords
from ttt_cli.reading.reports import Problem
from ttt_cli.reading.sources import NO_GAMES, Source, skipped_file
from ttt_cli.reading.streams import DamagedInputError, Input
from ttt_cli.reading.text import HEAD, LARGE, marked_encoding, peek, plain_blocks

_LOADED: Final = 1 << 16  # bytes from which compiled code is quicker once it is loaded


class FileRead(NamedTuple):
    """The records of one file; `digest` and `size` are of its bytes as stored."""

    records: FileRecords
    kind: str
    digest: str
    size: int


class SourceReader:
    """Reads sources one after the other; heavy libraries are loaded when they are `much`, or turn out to be."""

    def __init__(self, data: DataConfig, *, much: bool = False) -> None:
        self._data = data
        self._done = LARGE if much else 0  # bytes

    def read(self, source: Source, bar: Bar) -> Generator[FileRead | Problem, None, None]:
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
