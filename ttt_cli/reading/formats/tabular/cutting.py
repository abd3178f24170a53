"""Large tables in blocks, and the rows that have been cut from one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.reading.batches import Note
from ttt_cli.reading.formats.tabular.delimited import Lines, whole_lines
from ttt_cli.reading.streams import DamagedInputError

BLOCK: Final = 1 << 19  # bytes whose rows are cut at once
ROWS_AT_ONCE: Final = 1 << 14

Spans = NDArray[np.int32]


class Piece(NamedTuple):
    """Rows of a table: `data` holds the text of column i in row j from `begins[i, j]` to `ends[i, j]`.

    `lines`, shape (rows,), are where rows begin; those before `first` are not wanted. `further` are rows whose texts
    stand nowhere in the data, with their numbers; `rejects` what was no row.
    """

    data: NDArray[np.uint8]
    lines: NDArray[np.int64]
    begins: Spans
    ends: Spans
    first: int
    further: Sequence[tuple[int, Sequence[str]]]
    rejects: Sequence[Note]


class Cut:
    """Room for the rows of a block of data, and how many there are."""

    def __init__(self, data: bytes, fields: int) -> None:
        self.data = np.frombuffer(data, np.uint8)
        self.rows = 0
        room = min(ROWS_AT_ONCE, len(data))
        self.lines = np.empty(room, np.int64)
        self.begins, self.ends = np.empty((2, fields, room), np.int32)
        self._further: list[tuple[int, Sequence[str]]] = []

    def add(self, line: int, fields: Sequence[str]) -> None:
        """A row whose texts do not stand in the data."""
        self.lines[self.rows] = line
        self.begins[:, self.rows] = self.ends[:, self.rows] = 0
        self._further.append((self.rows, fields))
        self.rows += 1

    def piece(self, first: int, rejects: Sequence[Note]) -> Piece:
        """The rows from `first` on."""
        return Piece(
            self.data, self.lines[: self.rows], self.begins, self.ends, first, self._further, rejects
        )


def large_lines(blocks: Iterable[bytes]) -> Iterator[Lines]:
    """As `delimited.whole_lines`, BLOCK bytes or a little more at a time."""
    return whole_lines(_gathered(blocks))


def _gathered(blocks: Iterable[bytes]) -> Iterator[bytes]:
    waiting: list[bytes] = []
    size = 0
    try:
        for block in blocks:
            waiting.append(block)
            size += len(block)
            if size >= BLOCK:
                yield b"".join(waiting)
                waiting, size = [], 0
    except DamagedInputError:  # what came before the damage is read too
        yield b"".join(waiting)
        raise
    yield b"".join(waiting)
