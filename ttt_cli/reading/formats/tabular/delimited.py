"""Tables of games (CSV, TSV and their like): pyarrow cuts plain rows, the reader of text all others, to exact lines."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Places
from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.reading.batches import Batch, Note, Table
from ttt_cli.reading.column import ByteStrings, Column
from ttt_cli.reading.formats.tabular.arrow import MARK, Assembly, cut, lines_in, one_ahead
from ttt_cli.reading.formats.tabular.layout import Layout, find_layout
from ttt_cli.reading.formats.tabular.lines import LineBlock, Lines, long_line
from ttt_cli.reading.reasons import BAD_ROW, DROPPED
from ttt_cli.reading.text import HEAD, LARGE, peek

DELIMITERS: Final = (",", "\t", ";", "|")
_LONGEST: Final = 1 << 16  # bytes of a line; the reader of text has a limit of its own for fields
_LF, _QUOTE = b'\n"'

Mask = NDArray[np.bool_]
ROW_LINES: Final = 50  # lines that one row may take; more means a quote that is never closed
_END: Final = "\0end\0"  # NULs never reach us, so no row looks like this

Row = list[str]


def read_delimited(blocks: Iterator[bytes], data: DataConfig, name: str, large: int = LARGE) -> Table:
    """Open a table given as blocks with LF line ends; the first block holds the sample that tells its layout.

    Columns of tables of an eighth of `large` bytes or more are kept in compiled dictionaries.
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
    return layout.table(read_rows(blocks, delimiter, layout, large=len(head) >= least))


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


def read_rows(
    blocks: Iterable[bytes], delimiter: str, layout: Layout, *, large: bool = False
) -> Iterator[Batch]:
    """The records of a table given as blocks; where they are cut makes no difference."""
    reader = TableReader(delimiter, layout, large=large)
    return one_ahead(reader.feed, lines_in(blocks))


class TableReader:
    """Reads a table block by block; `slow` counts the rows that were left to the reader of text."""

    def __init__(self, delimiter: str, layout: Layout, *, large: bool = False) -> None:
        self.slow = 0
        self._delimiter = delimiter
        self._layout = layout
        self._reader = RowReader(delimiter, layout.width)
        self._assembly = Assembly(layout, large=large)
        self._line = 1  # of the next row
        self._header = layout.header
        self._open = b""  # a row that is not complete
        self._beside_quotes = np.zeros(256, np.bool_)
        self._one_byte = delimiter.isascii() and delimiter not in '"\n'
        self._beside_quotes[[_LF, _QUOTE, *delimiter.encode()]] = True

    def feed(self, given: Lines) -> Iterator[Batch]:
        """The rows in whole lines; one that is not complete is kept back until there are more.

        Batches are made as they are asked for, perhaps in another thread.
        """
        data, final = self._open + given.data, given.final
        if given.long:
            self._reader.reject(long_line(self._line + self._open.count(b"\n")))
        block = LineBlock(data + b"\n" if final and data and not data.endswith(b"\n") else data)
        plain, quotes = self._plain(block)
        plain &= self._one_byte
        args = (self._delimiter, self._layout.width, self._layout.used, self._assembly.form)
        columns = cut(block, plain, *args, quotes=True)
        if columns is None:  # some rows are too short or too long
            plain &= self._widths(block, quotes) == self._layout.width
            columns = cut(block, plain, *args, quotes=True)
        if columns is None:
            plain[:] = False
            columns = cut(block, plain, *args, quotes=True) or []
        lines, left = np.flatnonzero(plain), plain.copy()
        slow, stop = self._read_slowly(block, left, final=final)
        lines, kept = self._line + lines, left[lines]  # others belong to rows of several lines
        header = self._header and bool(kept.any() or slow)
        self._header = self._header and not header
        self._line += stop
        self._open = block.data[block.starts[stop] :] if stop < len(block) else b""
        return self._numbered(lines, columns, kept, slow, self._reader.take_rejects(), header=header)

    def _numbered(
        self,
        lines: Places,
        columns: Sequence[Column[bytes] | ByteStrings],
        kept: Mask,
        slow: Sequence[tuple[int, Sequence[str]]],
        rejects: Sequence[Note],
        *,
        header: bool,
    ) -> Iterator[Batch]:
        """The rows of a block: the `kept` ones of what was cut, and those that were read slowly, with their lines."""
        codes = np.array([self._assembly.codes(column) for column in columns])
        if not kept.all():
            lines, codes = lines[kept], codes[:, kept]
        numbers = np.array([line for line, _ in slow], np.int64)
        parts = [(lines, codes), (numbers, self._assembly.fields([row for _, row in slow]))]
        yield from self._assembly.batch(parts, rejects, header=header)

    def _plain(self, block: LineBlock) -> tuple[Mask, Places]:
        """Which lines hold a row as pyarrow and Python read it alike, and where the quotes of such lines stand.

        Fields in quotes begin and end with theirs, quotes in them are doubled, and no other field holds any.
        """
        plain = (block.lengths > 0) & (block.lengths <= _LONGEST) & (block.bytes[block.starts] != MARK)
        quotes = block.places(_QUOTE)
        counts = block.counts(quotes)
        uneven = counts % 2 > 0
        if uneven.any():
            quotes = quotes[np.repeat(~uneven, counts)]
        opening, closing = quotes[::2], quotes[1::2]
        apart = self._beside_quotes[block.bytes[opening - 1]] & self._beside_quotes[block.bytes[closing + 1]]
        plain[uneven] = False
        plain[block.lines_of(opening[~apart])] = False
        return plain, quotes

    def _widths(self, block: LineBlock, quotes: Places) -> Places:
        """How many fields plain lines have, shape (lines,)."""
        delimiters = block.places(ord(self._delimiter))
        return 1 + block.counts(delimiters[np.searchsorted(quotes, delimiters) % 2 == 0])

    def _read_slowly(
        self, block: LineBlock, left: Mask, *, final: bool
    ) -> tuple[list[tuple[int, list[str]]], int]:
        """Read what is not `left` to pyarrow, however it is written, and take from there what belongs to it.

        Returns the used fields of these rows with their lines, and the line before which all are complete.
        """
        rows: list[tuple[int, list[str]]] = []
        reached, stop = 0, len(block)
        slow = np.flatnonzero(~left & (block.lengths > 0))
        for line, text in zip(slow.tolist(), block.texts(slow), strict=True):
            if line < reached:
                continue
            taken, row = self._reader.read([text], 0, self._line + line, final=False)
            if not taken:
                lines = list(block.texts(np.arange(line, min(line + ROW_LINES, len(block)))))
                taken, row = self._reader.read(lines, 0, self._line + line, final=final)
            if not taken:
                stop = line
                left[line:] = False
                break
            self.slow += 1
            if row is not None:
                rows.append((self._line + line, [row[index] for index in self._layout.used]))
            reached = line + taken
            left[line:reached] = False
        return rows, stop


class RowReader:
    """Cuts lines into rows of `width` fields; a row may take several lines when a quoted field does."""

    def __init__(self, delimiter: str, width: int) -> None:
        self.delimiter = delimiter
        self.width = width
        self._rejects: list[Note] = []

    def take_rejects(self) -> list[Note]:
        """The rows that did not have `width` fields, since last asked."""
        taken, self._rejects = self._rejects, []
        return taken

    def reject(self, note: Note) -> None:
        """Take in the account of what is no row."""
        self._rejects.append(note)

    def read(self, lines: Sequence[str], at: int, number: int, *, final: bool) -> tuple[int, Row | None]:
        """Read the row that begins in `lines[at]`, which is line `number` of the file.

        Returns how many lines it takes and its fields, None when it is blank or rejected. No lines are taken when
        more than those there are may belong to it, unless they are `final`.
        """
        taken, row = self._parse_one(lines, at)
        if row is None and not final and len(lines) - at < ROW_LINES:
            return 0, None
        if row is None or (taken > 1 and len(row) != self.width):
            self._reject(number, lines[at], "a quote is not closed, or closed within a field")
            return 1, None
        return taken, row if self._fits(number, row) else None

    def _parse_one(self, lines: Sequence[str], at: int) -> tuple[int, Row | None]:
        """How many lines the row beginning at line `at` takes, and its fields; None when it does not end."""
        if '"' not in lines[at] and len(lines[at]) <= csv.field_size_limit():
            return 1, lines[at].split(self.delimiter)
        taken = chain((line + "\n" for line in islice(lines, at, at + ROW_LINES)), [_END])
        reader = csv.reader(taken, delimiter=self.delimiter, strict=True)
        try:
            row = next(reader)
        except csv.Error:
            return 1, None
        return reader.line_num, row

    def _fits(self, number: int, row: Row) -> bool:
        """Whether a row has all its fields; empty ones beyond are cut off, and a blank row is no row."""
        if len(row) > self.width and not any(row[self.width :]):
            del row[self.width :]
        if len(row) == self.width:
            return True
        if any(cell.strip() for cell in row):
            self._reject(number, self.delimiter.join(row), f"{len(row)} fields instead of {self.width}")
        return False

    def _reject(self, number: int, text: str, why: str) -> None:
        self._rejects.append(Note(number, BAD_ROW, f"{why}: {text[:80]}", DROPPED))
