"""Tables of games (CSV, TSV and their like) as records, row by row, with the line each row begins in."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.reading.batches import Batch, Note, Table
from ttt_cli.reading.formats.tabular.columns import make_batch
from ttt_cli.reading.formats.tabular.layout import Layout, find_layout
from ttt_cli.reading.formats.tabular.lines import long_line, pieces, whole_lines
from ttt_cli.reading.formats.tabular.table_rows import Row, RowReader
from ttt_cli.reading.text import HEAD, LARGE, peek

DELIMITERS: Final = (",", "\t", ";", "|")


def read_delimited(blocks: Iterator[bytes], data: DataConfig, name: str, large: int = LARGE) -> Table:
    """Open a table given as blocks with LF line ends; the first block holds the sample that tells its layout.

    Tables of an eighth of `large` bytes or more are read with pyarrow, to the same records.
    Raises ConfigError and DataError when its columns cannot be told (see `find_layout`).
    """
    first = next(blocks, b"")
    sample, complete = _sample(first)
    if not sample:  # blanks that only Unicode knows
        raise DataError("is empty", where=name)
    delimiter = data.delimiter or ("\t" if data.format == "tsv" else find_delimiter(sample))
    rows = [row for row in csv.reader(complete, delimiter=delimiter) if any(row)]
    layout = find_layout(rows or [sample[:1]], data, name)
    least = max(1, large // 8)
    head, blocks = peek(chain([first], blocks), least)
    if len(head) < least or not delimiter.isascii() or delimiter in '"\n':
        return Table(layout.kind, read_rows(pieces(blocks), delimiter, layout))
    from ttt_cli.reading.formats.tabular.delimited_arrow import read_large_rows

    return Table(layout.kind, read_large_rows(pieces(blocks), delimiter, layout))


def _sample(first: bytes) -> tuple[list[str], list[str]]:
    """The first lines of text, and those of them that are surely complete."""
    head = first[:HEAD].decode("utf-8", "surrogateescape")
    lines = [line for line in head.split("\n") if line.strip()]
    whole = lines if len(first) <= HEAD else lines[:-1]
    return lines, whole or lines


def find_delimiter(lines: Sequence[str]) -> str:
    """The delimiter that cuts the first line, and most others into as many fields; of equals, into the most."""

    def merit(delimiter: str) -> tuple[bool, float, int]:
        first, *others = (len(row) for row in csv.reader(lines, delimiter=delimiter))
        return first > 1, round((1 + others.count(first)) / (1 + len(others)), 1), first

    return max(DELIMITERS, key=merit)


def read_rows(blocks: Iterable[bytes], delimiter: str, layout: Layout) -> Iterator[Batch]:
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
        read = self.reader.read_all(lines, self._next)
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
