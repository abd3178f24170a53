"""Rows of a delimited table as numbers of words, straight from bytes; odd rows are left to a careful reader."""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.pgn_words import number_of

# Why reading stopped: no more rows, one that needs care, no more room.
END: Final = 1
CAREFUL: Final = 2
ROWS_FULL: Final = 3
WORDS_FULL: Final = 4

POSITION, LINE, ROWS, WORDS = range(4)  # of `state`

_READ: Final = 0
_LF, _QUOTE = b'\n"'


@inner
def _field(data, start, delimiter, span):
    """Fill `span` with where the text of the field at `start` lies; returns where it ends, -1 if it needs care.

    Data end with LF. A field in quotes must hold neither quotes nor LF, and end with its second quote.
    """
    if data[start] != _QUOTE:
        i = start
        while data[i] != delimiter and data[i] != _LF:
            i += 1
        span[0], span[1] = start, i
        return i
    i = start + 1
    while data[i] != _QUOTE and data[i] != _LF:
        i += 1
    span[0], span[1] = start + 1, i
    if data[i] == _LF or (data[i + 1] != delimiter and data[i + 1] != _LF):
        return -1
    return i + 1


@inner
def _row(data, start, delimiter, longest, spans):
    """Fill `spans` (width, 2); returns a status and where the row's LF is."""
    width = len(spans)
    i = start
    for column in range(width):
        i = _field(data, i, delimiter, spans[column])
        if i < 0 or spans[column, 1] - spans[column, 0] > longest:
            return CAREFUL, i
        if column + 1 < width:
            if data[i] != delimiter:
                return CAREFUL, i
            i += 1
    return (_READ if data[i] == _LF else CAREFUL), i


@kernel(
    "int64(Array(uint8, 1, 'C', True), uint8, int64, int64[::1], int64[::1], int64[::1], int32[:, ::1],"
    " int32[::1], int64[::1], int64[::1], uint8[::1])"
)
def scan_rows(data, delimiter, longest, columns, state, lines, codes, slots, hashes, starts, letters):
    """Read rows from `data[state[POSITION]:]`, which end with LF; the first is in line `state[LINE]`.

    `columns` (width,) says for each field of a row which column of `codes` gets it, -1 for none. Of each row
    `lines` (n,) gets its line and `codes` (n, k) the numbers of its fields among the words of `slots` to `letters`
    (see `pgn_words`). Blank lines are no rows; fields longer than `longest` bytes need care. `state` is kept up to
    date. Returns why it stopped before `state[POSITION]`: END, CAREFUL, ROWS_FULL or WORDS_FULL.
    """
    width = len(columns)
    spans = np.empty((width, 2), np.int64)
    while state[POSITION] < len(data):
        position = state[POSITION]
        if data[position] == _LF:
            state[POSITION] += 1
            state[LINE] += 1
            continue
        status, stop = _row(data, position, delimiter, longest, spans)
        if status != _READ:
            return status
        row, words = state[ROWS], state[WORDS]
        if row == len(lines):
            return ROWS_FULL
        if words + width > len(hashes) or starts[words] + stop - position > len(letters):
            return WORDS_FULL
        lines[row] = state[LINE]
        for field in range(width):
            column = columns[field]
            if column >= 0:
                code = number_of(
                    data, spans[field, 0], spans[field, 1], words, slots, hashes, starts, letters
                )
                words += code == words
                codes[row, column] = code
        state[WORDS] = words
        state[ROWS] += 1
        state[LINE] += 1
        state[POSITION] = stop + 1
    return END
