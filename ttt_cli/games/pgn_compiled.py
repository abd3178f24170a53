"""The PGN scanner for large files: compiled code reads the common games, the careful reader the others.

It says exactly what `scan_pgn` says. Loading it takes longer than reading a small file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.file_records import Coded, Ids
from ttt_cli.games.pgn import Scanner
from ttt_cli.games.records import Batch
from ttt_cli.games.words import Words
from ttt_cli.kernels.pgn import (
    LINE,
    NO_TAG,
    POSITION,
    ROWS,
    ROWS_FULL,
    UNSETTLED,
    WORDS,
    WORDS_FULL,
    scan_games,
)
from ttt_cli.kernels.pgn_moves import RESULTS
from ttt_cli.kernels.pgn_tags import CAREFUL

_ROWS_AT_ONCE: Final = 1 << 13
_RESULT: Final = 3  # column of the codes


class CompiledScanner(Scanner):
    """As Scanner; `careful` counts the games that the compiled code did not read."""

    def __init__(self) -> None:
        super().__init__()
        self.careful = 0
        self._words = Words()
        self._state = np.zeros(5, np.int64)
        self._lines = np.empty(_ROWS_AT_ONCE, np.int64)
        self._codes = np.empty((_ROWS_AT_ONCE, 4), np.int32)
        self._unsettled = np.empty((_ROWS_AT_ONCE, 2), np.int64)
        self._full: list[tuple[NDArray[np.int64], Ids]] = []

    def _read_games(self, data: bytes, position: int, *, final: bool) -> int:
        self._take_careful_rows()
        view = np.frombuffer(data, np.uint8)
        while position < len(data):
            status, position = self._run(view, position)
            if status == WORDS_FULL:
                self._words.grow()
            elif status == ROWS_FULL:
                self._set_aside()
            elif status == CAREFUL or final:
                following = self._read_carefully(data, position, final=final)
                if following is None:
                    break
                position = following
                self.careful += 1
                self._take_careful_rows()
            else:
                break
        return position

    def _run(self, view: NDArray[np.uint8], position: int) -> tuple[int, int]:
        """Let the compiled code read on from a game; returns why and before which it stopped."""
        state, words = self._state, self._words
        state[POSITION], state[LINE], state[UNSETTLED], state[WORDS] = position, self._line, 0, len(words)
        status = scan_games(view, state, self._lines, self._codes, self._unsettled, *words.arrays)
        words.take(int(state[WORDS]))
        self._counted, self._line = int(state[POSITION]), int(state[LINE])
        for row, code in self._unsettled[: state[UNSETTLED]].tolist():
            tag = None if code >= NO_TAG else words.values[self._codes[row, _RESULT]]
            result = self._settled(int(self._lines[row]), tag, RESULTS[code % NO_TAG])
            self._codes[row, _RESULT] = words.number(result)
        return status, self._counted

    def _take_careful_rows(self) -> None:
        """Put the rows that the careful reader found behind the others."""
        for line, *values in self._rows:
            if self._state[ROWS] == _ROWS_AT_ONCE:
                self._set_aside()
            row = self._state[ROWS]
            self._lines[row] = line
            self._codes[row] = [self._words.number(value) for value in values]
            self._state[ROWS] += 1
        self._rows.clear()

    def _set_aside(self) -> None:
        """Make room for further rows."""
        rows = self._state[ROWS]
        self._full.append((self._lines[:rows].copy(), self._codes[:rows].T.copy()))
        self._state[ROWS] = 0

    def _batches(self) -> Iterator[Batch]:
        self._take_careful_rows()
        self._set_aside()
        parts, self._full = self._full, []
        notes, self._notes = self._notes, []
        for lines, codes in parts:
            if len(lines) or notes:
                dates, whites, blacks, results = (Coded(self._words.values, column) for column in codes)
                yield Batch(lines, dates, whites, blacks, results, notes=notes)
                notes = []
