"""Tables of games (CSV, TSV and their like) as records, row by row, with the line each row begins in."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import DROPPED, TOO_LONG, Batch, Note
from ttt_cli.reading.formats.tabular.columns import Table, join_rows, make_batch
from ttt_cli.reading.formats.tabular.layout import Layout, find_layout
from ttt_cli.reading.formats.tabular.table_rows import Row, RowReader
from ttt_cli.reading.text import BLOCK, HEAD, LARGE, peek

DELIMITERS: Final = (",", "\t", ";", "|")
LINE_LIMIT: Final = 1 << 20  # bytes


def read_delimited(blocks: Iterator[bytes], data: DataConfig, name: str, large: int = LARGE // 8) -> Table:
    """Open a table given as blocks with LF line ends; the first block holds the sample that tells its layout.

    Tables of `large` bytes or more are read by compiled code, which says the same.
    Raises ConfigError and DataError when its columns cannot be told (see `find_layout`).
    """
    first = next(blocks, b"")
    sample, complete = _sample(first)
    delimiter = data.delimiter or ("\t" if data.format == "tsv" else find_delimiter(sample))
    rows = [row for row in csv.reader(complete, delimiter=delimiter) if any(row)]
    layout = find_layout(rows or [sample[:1]], data, name)
    head, blocks = peek(chain([first], blocks), large)
    if len(head) < large or not delimiter.isascii() or delimiter in '"\n':
        return Table(layout.kind, read_rows(pieces(blocks), delimiter, layout))
    from ttt_cli.reading.formats.tabular.delimited_compiled import scan_rows

    return Table(layout.kind, scan_rows(pieces(blocks), delimiter, layout))


def pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, no more than BLOCK at a time."""
    return (block[start : start + BLOCK] for block in blocks for start in range(0, len(block), BLOCK))


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


class Lines(NamedTuple):
    """Whole lines; the `final` ones may end otherwise. One that is too long is `long`, and empty."""

    data: bytes
    final: bool = False
    long: bool = False


def whole_lines(blocks: Iterable[bytes]) -> Iterator[Lines]:
    """The same bytes cut behind the ends of lines, without those of more than LINE_LIMIT bytes."""
    rest, long = b"", False
    for block in blocks:
        start = block.find(b"\n") if long else 0
        if start < 0:
            continue
        if long:
            yield Lines(b"\n", long=True)
            start, long = start + 1, False
        data = rest + block[start:] if start else rest + block
        cut = data.rfind(b"\n") + 1
        yield Lines(data[:cut])
        rest = data[cut:]
        if len(rest) > LINE_LIMIT:
            rest, long = b"", True
    if long:
        yield Lines(b"\n", long=True)
    yield Lines(rest, final=True)


def long_line(number: int) -> Note:
    """The account of a line that is too long."""
    return Note(number, TOO_LONG, f"a line of more than {LINE_LIMIT >> 10:,} KB", DROPPED)


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
    return make_batch(layout, numbers, dict(enumerate(columns)), join_rows, rejects)


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
