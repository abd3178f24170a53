"""Large tables: compiled code reads the common rows, the reader of text the others.

It says exactly what `read_rows` says. Loading it takes longer than reading a small file. Rows are cut here, while other
threads number the fields of those that have been cut (see `numbering`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from ttt_cli.kernels.scanning import delimited as kernel
from ttt_cli.reading.batches import Batch
from ttt_cli.reading.formats.tabular.cutting import ROWS_AT_ONCE, Cut, Piece, large_lines
from ttt_cli.reading.formats.tabular.delimited import Lines, long_line
from ttt_cli.reading.formats.tabular.layout import Layout
from ttt_cli.reading.formats.tabular.numbering import fields_of, numbered
from ttt_cli.reading.formats.tabular.table_rows import ROW_LINES, RowReader

_LONGEST: Final = 1 << 16  # bytes of a field; the reader of text has a limit of its own


def scan_rows(blocks: Iterable[bytes], delimiter: str, layout: Layout) -> Iterator[Batch]:
    """As `delimited.read_rows`, for a delimiter of one byte."""
    scanner = Scanner(delimiter, layout)
    return numbered(_fed(scanner, large_lines(blocks)), layout)


def _fed(scanner: Scanner, lines: Iterable[Lines]) -> Iterator[Piece]:
    for data, final, long in lines:
        if long:
            scanner.reject_long()
        yield from scanner.feed(data, final=final)


class Scanner:
    """Cuts a table into rows block by block; `careful` counts the rows that the compiled code did not read."""

    def __init__(self, delimiter: str, layout: Layout) -> None:
        self.careful = 0
        self._delimiter = np.uint8(ord(delimiter))
        self._reader = RowReader(delimiter, layout.width)
        self._used = fields_of(layout)
        self._fields = np.full(layout.width, -1, np.int64)
        self._fields[list(self._used)] = range(len(self._used))
        self._line = 1  # of the next row
        self._header = layout.header
        self._open = b""  # a row that is not complete

    def reject_long(self) -> None:
        """The line that comes next was too long."""
        self._reader.reject(long_line(self._line + self._open.count(b"\n")))

    def feed(self, data: bytes, *, final: bool) -> Iterator[Piece]:
        """The rows in whole lines; one that is not complete is kept back until there are more."""
        data = self._open + data
        if final and data and not data.endswith(b"\n"):
            data += b"\n"
        cut = Cut(data, len(self._used))
        position = 0
        while position < len(data):
            status, position = self._run(cut, position)
            if status == kernel.FULL:
                yield from self._finished(cut)
                cut = Cut(data, len(self._used))
            elif status == kernel.CAREFUL:
                taken = self._read_carefully(cut, data, position, final=final)
                if not taken:
                    break
                position += taken
                if self._reader.rejects >= ROWS_AT_ONCE:
                    yield from self._finished(cut)
                    cut = Cut(data, len(self._used))
        self._open = data[position:]
        yield from self._finished(cut)

    def _run(self, cut: Cut, position: int) -> tuple[int, int]:
        """Let the compiled code read on from a row; returns why and before which it stopped."""
        state = np.array([position, self._line, cut.rows], np.int64)
        place = (state, cut.lines, cut.begins, cut.ends)
        status = kernel.split_rows(cut.data, self._delimiter, _LONGEST, self._fields, *place)
        self._line, cut.rows = int(state[kernel.LINE]), int(state[kernel.ROWS])
        return status, int(state[kernel.POSITION])

    def _read_carefully(self, cut: Cut, data: bytes, position: int, *, final: bool) -> int:
        """Read one row, however it is written; returns how many bytes it takes, 0 if it is incomplete."""
        self.careful += 1
        lines = list(_lines(data, position, 1))
        taken, row = self._reader.read(lines, 0, self._line, final=False)
        if not taken:
            lines = list(_lines(data, position, ROW_LINES))
            taken, row = self._reader.read(lines, 0, self._line, final=final)
        if row is not None:
            cut.add(self._line, [row[index] for index in self._used])
        self._line += taken
        return sum(1 + len(line.encode("utf-8", "surrogateescape")) for line in lines[:taken])

    def _finished(self, cut: Cut) -> Iterator[Piece]:
        """What has been cut, without the header, if there is anything."""
        first = int(self._header and cut.rows > 0)
        self._header = self._header and not first
        rejects = self._reader.take_rejects()
        if cut.rows > first or rejects:
            yield cut.piece(first, rejects)


def _lines(data: bytes, position: int, count: int) -> Iterator[str]:
    """The next lines of data that end with LF."""
    for _ in range(count):
        if position == len(data):
            return
        stop = data.index(b"\n", position)
        yield data[position:stop].decode("utf-8", "surrogateescape")
        position = stop + 1
