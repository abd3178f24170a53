"""Large tables: compiled code reads the common rows, the reader of text the others.

It says exactly what `read_rows` says. Loading it takes longer than reading a small file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.coded import Coded
from ttt_cli.games.records import Batch
from ttt_cli.games.streams import DamagedInputError
from ttt_cli.games.tabular.coded_join import CodedJoin
from ttt_cli.games.tabular.columns import make_batch
from ttt_cli.games.tabular.delimited import whole_lines
from ttt_cli.games.tabular.layout import Layout
from ttt_cli.games.tabular.table_rows import ROW_LINES, Row, RowReader
from ttt_cli.games.words import Words
from ttt_cli.kernels import delimited as kernel

_ROWS_AT_ONCE: Final = 1 << 16
_LONGEST: Final = 1 << 16  # bytes of a field; the reader of text has a limit of its own


def scan_rows(blocks: Iterable[bytes], delimiter: str, layout: Layout) -> Iterator[Batch]:
    """As `delimited.read_rows`, for a delimiter of one byte."""
    scanner = Scanner(delimiter, layout)
    try:
        for data, final in whole_lines(blocks):
            yield from scanner.feed(data, final=final)
    except DamagedInputError:  # what came before the damage is read too
        yield from scanner.rest()
        raise
    yield from scanner.rest()


class Scanner:
    """Reads a table block by block; `careful` counts the rows that the compiled code did not read."""

    def __init__(self, delimiter: str, layout: Layout) -> None:
        self.careful = 0
        self._layout = layout
        self._delimiter = np.uint8(ord(delimiter))
        self._reader = RowReader(delimiter, layout.width)
        self._fields = np.full(layout.width, -1, np.int64)
        self._fields[list(layout.used)] = range(len(layout.used))
        self._words = Words()
        self._join = CodedJoin()
        self._state = np.zeros(4, np.int64)
        self._state[kernel.LINE] = 1
        self._lines = np.empty(_ROWS_AT_ONCE, np.int64)
        self._codes = np.empty((_ROWS_AT_ONCE, len(layout.used)), np.int32)
        self._header = layout.header
        self._open = b""  # a row that is not complete

    def feed(self, data: bytes, *, final: bool) -> Iterator[Batch]:
        """The records of whole lines; some are kept back until there are more."""
        data = self._open + data
        if final and data and not data.endswith(b"\n"):
            data += b"\n"
        view = np.frombuffer(data, np.uint8)
        position = 0
        while position < len(data):
            status, position = self._run(view, position)
            if status == kernel.WORDS_FULL:
                self._words.grow()
            elif status == kernel.ROWS_FULL or self._state[kernel.ROWS] == _ROWS_AT_ONCE:
                yield from self.rest()
            elif status == kernel.CAREFUL:
                taken = self._read_carefully(data, position, final=final)
                if not taken:
                    break
                position += taken
        self._open = data[position:]

    def rest(self) -> Iterator[Batch]:
        """The records kept back, and the rejected rows, if there are any."""
        rows, self._state[kernel.ROWS] = int(self._state[kernel.ROWS]), 0
        first = int(self._header and rows > 0)
        self._header = self._header and not first
        rejects = self._reader.take_rejects()
        if rows > first or rejects:
            codes = self._codes[first:rows].T.copy()
            used = zip(self._layout.used, codes, strict=True)
            columns = {index: Coded(self._words, column) for index, column in used}
            lines = self._lines[first:rows].copy()
            yield make_batch(self._layout, lines, columns, self._join, rejects)

    def _run(self, view: NDArray[np.uint8], position: int) -> tuple[int, int]:
        """Let the compiled code read on from a row; returns why and before which it stopped."""
        state, words = self._state, self._words
        state[kernel.POSITION], state[kernel.WORDS] = position, len(words)
        status = kernel.scan_rows(
            *(view, self._delimiter, _LONGEST, self._fields, state, self._lines, self._codes), *words.arrays
        )
        words.take(int(state[kernel.WORDS]))
        return status, int(state[kernel.POSITION])

    def _read_carefully(self, data: bytes, position: int, *, final: bool) -> int:
        """Read one row, however it is written; returns how many bytes it takes, 0 if it is incomplete."""
        self.careful += 1
        number = int(self._state[kernel.LINE])
        lines = list(_lines(data, position, 1))
        taken, row = self._reader.read(lines, 0, number, final=False)
        if not taken:
            lines = list(_lines(data, position, ROW_LINES))
            taken, row = self._reader.read(lines, 0, number, final=final)
        if row is not None:
            self._add(number, row)
        self._state[kernel.LINE] += taken
        return sum(1 + len(line.encode("utf-8", "surrogateescape")) for line in lines[:taken])

    def _add(self, number: int, row: Row) -> None:
        at = int(self._state[kernel.ROWS])
        self._lines[at] = number
        for column, index in enumerate(self._layout.used):
            self._codes[at, column] = self._words.number(row[index].encode("utf-8", "surrogateescape"))
        self._state[kernel.ROWS] += 1


def _lines(data: bytes, position: int, count: int) -> Iterator[str]:
    """The next lines of data that end with LF."""
    for _ in range(count):
        if position == len(data):
            return
        stop = data.index(b"\n", position)
        yield data[position:stop].decode("utf-8", "surrogateescape")
        position = stop + 1
