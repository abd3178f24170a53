"""The PGN scanner for large files: compiled code reads the common games, the slow path the others.

It says exactly what `Scanner` says. Loading it takes longer than reading a small file.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Places
from ttt_cli.kernels.scanning.pgn import (
    LINE,
    NO_TAG,
    POSITION,
    ROWS,
    ROWS_FULL,
    STRINGS,
    STRINGS_FULL,
    UNSETTLED,
    scan_games,
)
from ttt_cli.kernels.scanning.pgn_fields import COLUMNS, RESULT, SET_UP
from ttt_cli.kernels.scanning.pgn_marks import GROUP, mark_bytes
from ttt_cli.kernels.scanning.pgn_moves import RESULTS
from ttt_cli.kernels.scanning.pgn_tags import SLOW_PATH
from ttt_cli.reading.batches import Batch
from ttt_cli.reading.column import ByteStrings, Column
from ttt_cli.reading.file_records import Ids
from ttt_cli.reading.formats.pgn.moves import hash_moves
from ttt_cli.reading.formats.pgn.scanner import Scanner
from ttt_cli.reading.formats.pgn.tags import tag_batch
from ttt_cli.reading.interned import InternedStrings

_ROWS_AT_ONCE: Final = 1 << 13
_NOTES_AT_ONCE: Final = 1 << 13  # that are held back


class _Rows(NamedTuple):
    """What the kernel fills."""

    lines: Places
    moves: Places
    codes: Ids  # (rows, columns)

    @classmethod
    def empty(cls, rows: int) -> "_Rows":
        return cls(np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty((rows, COLUMNS), np.int32))

    def first(self, rows: int) -> "_Rows":
        """A copy of so many rows."""
        return _Rows(self.lines[:rows].copy(), self.moves[:rows].copy(), self.codes[:rows].copy())


_Marked = tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]


def _marked(data: bytes) -> _Marked:
    """Data, what the kernel knows about each byte, and room for their letters."""
    view, marks = np.frombuffer(data, np.uint8), np.empty(len(data), np.uint8)
    if len(data):
        mark_bytes(view, marks)
    return view, marks, np.empty(len(data) + GROUP, np.uint8)


class CompiledScanner(Scanner):
    """As Scanner; `slow` counts the games that the compiled code did not read."""

    def __init__(self) -> None:
        super().__init__()
        self.slow = 0
        self._strings = InternedStrings()
        self._strings.number(SET_UP)
        self._state = np.zeros(5, np.int64)
        self._room = _Rows.empty(_ROWS_AT_ONCE)
        self._unsettled = np.empty((_ROWS_AT_ONCE, 2), np.int64)
        self._full: list[_Rows] = []

    def _read_games(self, data: bytes, position: int, *, final: bool) -> int:
        self._take_slow_rows()
        view = _marked(data)
        while position < len(data):
            status, position = (SLOW_PATH, position) if self._doubtful else self._run(view, position)
            if status == STRINGS_FULL:
                self._strings.grow()
            elif status == ROWS_FULL:
                self._set_aside()
            elif status == SLOW_PATH or final:
                following = self._read_slowly(data, position, final=final)
                if following is None:
                    break
                position = following
                self.slow += 1
                self._take_slow_rows()
            else:
                break
        return position

    def _run(self, view: _Marked, position: int) -> tuple[int, int]:
        """Let the compiled code read on from a game; returns why and before which it stopped."""
        state, strings, codes = self._state, self._strings, self._room.codes
        state[POSITION], state[LINE], state[UNSETTLED], state[STRINGS] = position, self._line, 0, len(strings)
        status = scan_games(*view, state, *self._room, self._unsettled, *strings.arrays)
        strings.take(int(state[STRINGS]))
        self._counted, self._line = int(state[POSITION]), int(state[LINE])
        for row, code in self._unsettled[: state[UNSETTLED]].tolist():
            tag = None if code >= NO_TAG else strings[codes[row, RESULT]]
            result = self._settled(int(self._room.lines[row]), tag, RESULTS[code % NO_TAG])
            codes[row, RESULT] = strings.number(result)
        return status, self._counted

    def _take_slow_rows(self) -> None:
        """Put the rows that the slow path found behind the others."""
        if not self._rows:
            return
        hashes = hash_moves([row.moves for row in self._rows])
        for found, code in zip(self._rows, hashes, strict=True):
            if self._state[ROWS] == _ROWS_AT_ONCE:
                self._set_aside()
            row = self._state[ROWS]
            self._room.lines[row], self._room.moves[row] = found.line, code
            self._room.codes[row] = self._strings.ids(ByteStrings.of(found.values))
            self._state[ROWS] += 1
        self._rows.clear()

    def _set_aside(self) -> None:
        """Make room for further rows."""
        self._full.append(self._room.first(int(self._state[ROWS])))
        self._state[ROWS] = 0

    def _batches(self, *, final: bool) -> Iterator[Batch]:
        self._take_slow_rows()
        if final or len(self._notes) + len(self._rejects) > _NOTES_AT_ONCE:
            self._set_aside()
        elif not self._full:
            return
        parts, self._full = self._full, []
        (notes, rejects), self._notes, self._rejects = (self._notes, self._rejects), [], []
        for lines, moves, codes in parts:
            if len(lines) or notes or rejects:
                columns = [Column(column, self._strings) for column in np.ascontiguousarray(codes.T)]
                yield tag_batch(lines, columns, notes, moves, rejects)
                notes, rejects = [], []
