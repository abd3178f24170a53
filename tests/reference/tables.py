"""Tables read row by row by the standard library alone: what `formats.tabular.delimited` has to say too."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from unittest.mock import patch

from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.formats.tabular import delimited, object_lines
from ttt_cli.reading.formats.tabular.columns import make_batch
from ttt_cli.reading.formats.tabular.delimited import Row, RowReader
from ttt_cli.reading.formats.tabular.json_objects import one_per_line
from ttt_cli.reading.formats.tabular.jsonl import as_batch
from ttt_cli.reading.formats.tabular.layout import Layout
from ttt_cli.reading.formats.tabular.lines import long_line, whole_lines

END = "\0end\0"  # NULs never reach us, so no row looks like this


def read_row_by_row(
    blocks: Iterable[bytes], delimiter: str, layout: Layout, *, large: bool = False
) -> Iterator[Batch]:
    """The records of a table given as blocks; where they are cut makes no difference."""
    splitter = _Splitter(RowReader(delimiter, layout.width))
    header = layout.header
    for data, final, long in whole_lines(blocks):
        if long:
            splitter.reader.reject(long_line(splitter.following))
        lines = data.removesuffix(b"\n").decode("utf-8", "surrogateescape").split("\n") if data else []
        numbers, rows = splitter.split(lines, final=final)
        if header and rows:
            numbers, rows, header = numbers[1:], rows[1:], False
        rejects = splitter.reader.take_rejects()
        if rows or rejects:
            yield _batch(layout, numbers, rows, rejects)


def _batch(layout: Layout, numbers: Sequence[int], rows: list[Row], rejects: list[Note]) -> Batch:
    columns = list(zip(*rows, strict=True)) or [()] * layout.width
    return make_batch(layout, numbers, dict(enumerate(columns)), rejects)


class _Splitter:
    """Cuts blocks of lines into rows; a row may go on in the next block."""

    def __init__(self, reader: RowReader) -> None:
        self.reader = reader
        self._next = 1  # number of the first line not yet read
        self._open: list[str] = []  # lines of a row that is not complete

    @property
    def following(self) -> int:
        """The number of the line behind those that were given."""
        return self._next + len(self._open)

    def split(self, lines: list[str], *, final: bool) -> tuple[Sequence[int], list[Row]]:
        """Line numbers and fields of the rows that are complete; blank lines are no rows."""
        lines = self._open + lines
        read = _read_all(self.reader, lines, self._next)
        if read is None:
            return self._split_slowly(lines, final=final)
        self._open = []
        self._next += len(lines)
        return read

    def _split_slowly(self, lines: list[str], *, final: bool) -> tuple[Sequence[int], list[Row]]:
        numbers: list[int] = []
        rows: list[Row] = []
        at = 0
        while at < len(lines):
            taken, row = self.reader.read(lines, at, self._next, final=final)
            if not taken:
                break
            if row is not None:
                numbers.append(self._next)
                rows.append(row)
            at += taken
            self._next += taken
        self._open = lines[at:]
        return numbers, rows


def _read_all(reader: RowReader, lines: Sequence[str], number: int) -> tuple[Sequence[int], list[Row]] | None:
    """Line numbers and fields of rows of one line each; None when there are others among the lines."""
    try:
        rows = list(csv.reader(chain(lines, [END]), delimiter=reader.delimiter, strict=True))
    except csv.Error:
        return None
    if rows.pop() != [END] or len(rows) != len(lines):
        return None
    if all(len(row) == reader.width for row in rows):
        return range(number, number + len(lines)), rows
    numbered = [(line, row) for line, row in enumerate(rows, number) if reader._fits(line, row)]
    return [line for line, _ in numbered], [row for _, row in numbered]


def read_line_by_line(
    blocks: Iterable[bytes], keys: list[str], layout: Layout, *, large: bool = False
) -> Iterator[Batch]:
    """The records of JSON objects, one on each line."""
    number = 1
    for data, _, long in whole_lines(blocks):
        lines = data.removesuffix(b"\n").split(b"\n") if data else []
        objects = one_per_line(lines, number)
        objects.rejects.extend([long_line(number)] * long)
        yield as_batch(objects, keys, layout)
        number += len(lines)


@contextmanager
def by_the_standard_library() -> Iterator[None]:
    """Has tables and lines of JSON read without pyarrow."""
    with (
        patch.object(delimited, "read_rows", read_row_by_row),
        patch.object(object_lines, "read_object_lines", read_line_by_line),
    ):
        yield
