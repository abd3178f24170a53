"""Rows of a table, straight from bytes: where their fields lie, and fields as numbers of words.

Odd rows are left to a careful reader.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import flat, kernel
from ttt_cli.kernels.scanning.strings import first_entry, hash_of, number_of, same_bytes, word_of

# Why reading stopped: no more rows, one that needs care, no more room.
END: Final = 1
CAREFUL: Final = 2
FULL: Final = 3

POSITION, LINE, ROWS = range(3)  # of the state of `split_rows`
COLUMN, ROW, WORDS = range(3)  # of the state of `number_fields`

_ODD: Final = -1
_AT_ONCE: Final = 256  # texts looked up together
_LF, _QUOTE = b'\n"'


@flat
def _field(data, start, delimiter):
    """Where the text of the field at `start` begins and ends, and where the field ends, _ODD if it needs care.

    Data end with LF. A field in quotes must hold neither quotes nor LF, and end with its second quote.
    """
    i = start
    if data[start] != _QUOTE:
        while data[i] != delimiter and data[i] != _LF:
            i += 1
        return start, i, i
    i += 1
    while data[i] != _QUOTE and data[i] != _LF:
        i += 1
    if data[i] == _LF or (data[i + 1] != delimiter and data[i + 1] != _LF):
        return start, start, _ODD
    return start + 1, i, i + 1


@flat
def _row(data, start, delimiter, longest, spans):
    """Fill `spans` (width, 2); returns where the row's LF is, _ODD if it needs care."""
    width = len(spans)
    i = start
    for column in range(width):
        begin, end, i = _field(data, i, delimiter)
        if i < 0 or end - begin > longest:
            return _ODD
        spans[column, 0], spans[column, 1] = begin, end
        if column + 1 < width:
            if data[i] != delimiter:
                return _ODD
            i += 1
    return i if data[i] == _LF else _ODD


@kernel(
    "int64(Array(uint8, 1, 'C', True), uint8, int64, int64[::1], int64[::1], int64[::1], int32[:, ::1], int32[:, ::1])"
)
def split_rows(data, delimiter, longest, columns, state, lines, begins, ends):
    """Read rows from `data[state[POSITION]:]`, which end with LF; the first is in line `state[LINE]`.

    `columns` (width,) says for each field of a row which row of `begins` and `ends` gets it, -1 for none. Of each row
    `lines` (n,) gets its line, `begins` and `ends` (k, n) get where the texts of its fields lie in `data`. Blank lines
    are no rows; fields longer than `longest` bytes need care. `state` is kept up to date. Returns why it stopped before
    `state[POSITION]`: END, CAREFUL or FULL.
    """
    width = len(columns)
    spans = np.empty((width, 2), np.int64)
    while state[POSITION] < len(data):
        position = state[POSITION]
        if data[position] == _LF:
            state[POSITION] += 1
            state[LINE] += 1
            continue
        row = state[ROWS]
        if row == len(lines):
            return FULL
        stop = _row(data, position, delimiter, longest, spans)
        if stop < 0:
            return CAREFUL
        lines[row] = state[LINE]
        for field in range(width):
            column = columns[field]
            if column >= 0:
                begins[column, row], ends[column, row] = spans[field, 0], spans[field, 1]
        state[ROWS] += 1
        state[LINE] += 1
        state[POSITION] = stop + 1
    return END


@flat
def _find_words(data, begins, ends, hashes, entries, numbers, slots, starts, letters):
    """Fill `hashes` and `numbers` (n,) with those of the texts of `data` from `begins` to `ends`, -1 for what is new.

    Loops follow each other because slots and words lie far apart: memory is asked for many at once, none is waited for.
    """
    count = len(numbers)
    for k in range(count):
        hashes[k] = hash_of(data, np.int64(begins[k]), np.int64(ends[k]))
    for k in range(count):
        entries[k] = first_entry(hashes[k], slots)
    for k in range(count):
        numbers[k] = word_of(hashes[k], entries[k], slots)
    for k in range(count):
        word = numbers[k]
        if word >= 0:
            begin, end = np.int64(begins[k]), np.int64(ends[k])
            if not same_bytes(data, begin, end, letters, starts[word], starts[word + 1]):
                numbers[k] = -1


@kernel(
    "int64(Array(uint8, 1, 'C', True), int32[:, ::1], int32[:, ::1], int64[::1], int32[:, ::1],"
    " int64[::1], int64[::1], uint8[::1])"
)
def number_fields(data, begins, ends, state, codes, slots, starts, letters):
    """Number the texts of `data` from `begins` to `ends` (k, n) among the words of `slots` to `letters`.

    `codes` (k, rows), rows <= n, gets their numbers (see `pgn_words`). Begins with column `state[COLUMN]` and row
    `state[ROW]`; `state[WORDS]` counts the words. Returns END, or FULL when there is no room for another word.
    """
    rows = codes.shape[1]
    hashes, entries = np.empty((2, _AT_ONCE), np.int64)
    for column in range(state[COLUMN], len(codes)):
        for first in range(state[ROW], rows, _AT_ONCE):
            last = min(first + _AT_ONCE, rows)
            begin, end = begins[column, first:last], ends[column, first:last]
            numbers = codes[column, first:last]
            _find_words(data, begin, end, hashes, entries, numbers, slots, starts, letters)
            for k in range(last - first):
                if numbers[k] < 0:
                    words, start, stop = state[WORDS], np.int64(begin[k]), np.int64(end[k])
                    if words + 1 == len(starts) or starts[words] + stop - start > len(letters):
                        state[COLUMN], state[ROW] = column, first + k
                        return FULL
                    numbers[k] = number_of(data, start, stop, hashes[k], words, slots, starts, letters)
                    state[WORDS] += numbers[k] == words
        state[ROW] = 0
    return END
