"""Tables of games (CSV, TSV and their like) as records, row by row, with the line each row begins in."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.games.layout import Layout, find_layout
from ttt_cli.games.records import BAD_ROW, DROPPED, Batch, Note
from ttt_cli.games.results import ResultKind
from ttt_cli.games.text import HEAD

DELIMITERS: Final = (",", "\t", ";", "|")
ROW_LINES: Final = 50  # lines that one row may take; more means a quote that is never closed
LINE_LIMIT: Final = 1 << 24  # bytes
_END: Final = "\0end\0"  # NULs never reach us, so no row looks like this

_Row = list[str]


class Table(NamedTuple):
    """A table about to be read: what its columns hold, and its records."""

    kind: ResultKind
    batches: Iterator[Batch]


def read_delimited(blocks: Iterator[bytes], data: DataConfig, name: str) -> Table:
    """Open a table given as blocks with LF line ends; the first block holds the sample that tells its layout.

    Raises ConfigError and DataError when its columns cannot be told (see `find_layout`).
    """
    first = next(blocks, b"")
    sample, complete = _sample(first)
    delimiter = data.delimiter or find_delimiter(sample)
    rows = [row for row in csv.reader(complete, delimiter=delimiter) if any(row)]
    layout = find_layout(rows or [sample[:1]], data, name)
    return Table(layout.kind, _batches(chain([first], blocks), delimiter, layout))


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


def _batches(blocks: Iterable[bytes], delimiter: str, layout: Layout) -> Iterator[Batch]:
    splitter = _Splitter(delimiter, layout.width)
    header = layout.header
    rest = b""
    for block in chain(blocks, [None]):
        data = rest + (block or b"")
        if len(rest) > LINE_LIMIT:
            raise DataError(f"a line is longer than {LINE_LIMIT >> 20} MB", hint="is it a table of games?")
        cut = len(data) if block is None else data.rfind(b"\n") + 1
        data, rest = data[:cut], data[cut:]
        lines = data.removesuffix(b"\n").decode("utf-8", "surrogateescape").split("\n") if data else []
        numbers, rows = splitter.split(lines, final=block is None)
        if header and rows:
            numbers, rows, header = numbers[1:], rows[1:], False
        rejects = splitter.take_rejects()
        if rows or rejects:
            yield _columns(numbers, rows, rejects, layout)


def _columns(numbers: Sequence[int], rows: list[_Row], rejects: list[Note], layout: Layout) -> Batch:
    columns = list(zip(*rows, strict=True)) or [()] * layout.width

    def picked(indices: tuple[int, ...]) -> Sequence[str | tuple[str, ...]]:
        parts = [columns[index] for index in indices]
        return parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))

    return Batch(
        lines=numbers,
        dates=picked(layout.date),
        whites=columns[layout.white],
        blacks=columns[layout.black],
        results=picked(layout.result),
        weights=None if layout.weight is None else columns[layout.weight],
        rejects=rejects,
    )


class _Splitter:
    """Cuts lines into rows of `width` fields; a row may take several lines when a quoted field does."""

    def __init__(self, delimiter: str, width: int) -> None:
        self._delimiter = delimiter
        self._width = width
        self._next = 1  # number of the first line not yet read
        self._open: list[str] = []  # lines of a row that is not complete
        self._rejects: list[Note] = []

    def take_rejects(self) -> list[Note]:
        """The rows that did not have `width` fields, since last asked."""
        taken, self._rejects = self._rejects, []
        return taken

    def split(self, lines: list[str], *, final: bool) -> tuple[Sequence[int], list[_Row]]:
        """Line numbers and fields of the rows that are complete; blank lines are no rows."""
        lines = self._open + lines
        rows = self._parse(lines)
        if rows is None or len(rows) != len(lines):  # rows of several lines, or a quote left open
            return self._split_slowly(lines, final=final)
        self._open = []
        first, self._next = self._next, self._next + len(lines)
        if all(len(row) == self._width for row in rows):
            return range(first, self._next), rows
        numbered = [(number, row) for number, row in enumerate(rows, first) if self._fits(number, row)]
        return [number for number, _ in numbered], [row for _, row in numbered]

    def _split_slowly(self, lines: list[str], *, final: bool) -> tuple[Sequence[int], list[_Row]]:
        numbers: list[int] = []
        rows: list[_Row] = []
        at = 0
        while at < len(lines):
            taken, row = self._next_row(lines, at)
            if row is None and not final and len(lines) - at < ROW_LINES:
                break
            if row is None or (taken > 1 and len(row) != self._width):
                self._reject(self._next, lines[at], "a quote is not closed, or closed within a field")
                taken = 1
            elif self._fits(self._next, row):
                numbers.append(self._next)
                rows.append(row)
            at += taken
            self._next += taken
        self._open = lines[at:]
        return numbers, rows

    def _next_row(self, lines: list[str], at: int) -> tuple[int, _Row | None]:
        """How many lines the row beginning at line `at` takes, and its fields; None when it does not end."""
        taken = chain((line + "\n" for line in islice(lines, at, at + ROW_LINES)), [_END])
        reader = csv.reader(taken, delimiter=self._delimiter, strict=True)
        try:
            row = next(reader)
        except csv.Error:
            return 1, None
        return reader.line_num, row

    def _parse(self, lines: list[str]) -> list[_Row] | None:
        """The rows in these lines; None when the last one does not end in them."""
        try:
            rows = list(csv.reader(chain(lines, [_END]), delimiter=self._delimiter, strict=True))
        except csv.Error:
            return None
        return rows[:-1] if rows[-1] == [_END] else None

    def _fits(self, number: int, row: _Row) -> bool:
        """Whether a row has all its fields; empty ones beyond are cut off, and a blank row is no row."""
        if len(row) > self._width and not any(row[self._width :]):
            del row[self._width :]
        if len(row) == self._width:
            return True
        if any(cell.strip() for cell in row):
            self._reject(number, self._delimiter.join(row), f"{len(row)} fields instead of {self._width}")
        return False

    def _reject(self, number: int, text: str, why: str) -> None:
        self._rejects.append(Note(number, BAD_ROW, f"{why}: {text[:80]}", DROPPED))
