"""Rows of a file with a JSON object on each line, straight from bytes; odd lines are left to a careful reader."""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import flat, kernel
from ttt_cli.kernels.scanning.delimited import CAREFUL, END, FULL, LINE, POSITION, ROWS
from ttt_cli.kernels.scanning.strings import same_bytes

_LF, _TAB, _BLANK, _QUOTE, _BACKSLASH, _COMMA, _COLON, _OPEN, _CLOSE = b'\n\t "\\,:{}'
_MINUS, _DOT, _ZERO, _NINE = b"-.09"
_DIGITS: Final = 11  # of the whole part of a number
_FRACTION: Final = 4  # digits; with more, Python writes some numbers otherwise
_TRUE: Final = np.frombuffer(b"true", np.uint8)
_FALSE: Final = np.frombuffer(b"false", np.uint8)
_NULL: Final = np.frombuffer(b"null", np.uint8)
_ODD: Final = -1


@flat
def _behind_blanks(data, i):
    while data[i] == _BLANK or data[i] == _TAB:
        i += 1
    return i


@flat
def _string(data, i):
    """Where the text of the string at `i` begins, and where it ends, before its quote; _ODD with escapes."""
    if data[i] != _QUOTE:
        return i, _ODD
    begin = i + 1
    i = begin
    while data[i] != _QUOTE and data[i] != _BACKSLASH and data[i] != _LF:
        i += 1
    return begin, i if data[i] == _QUOTE else _ODD


@flat
def _is_digit(byte):
    return _ZERO <= byte <= _NINE


@flat
def _number(data, start):
    """What is behind the number at `start`, _ODD if Python might write it otherwise."""
    first = start + 1 if data[start] == _MINUS else start
    i = first
    while _is_digit(data[i]):
        i += 1
    if i == first or i - first > _DIGITS or (data[first] == _ZERO and i - first > 1):
        return _ODD
    if data[i] != _DOT:
        return _ODD if data[first] == _ZERO and first > start else i
    point = i
    i += 1
    while _is_digit(data[i]):
        i += 1
    digits = i - point - 1
    if digits < 1 or digits > _FRACTION or (digits > 1 and data[i - 1] == _ZERO):
        return _ODD
    return i


@flat
def _literal(data, i):
    """What is behind `true`, `false` or `null`, _ODD if none of them is there."""
    for word in (_NULL, _TRUE, _FALSE):
        stop = i + len(word)
        if stop < len(data) and same_bytes(data, i, stop, word, 0, len(word)):
            return stop
    return _ODD


@flat
def _value(data, i):
    """Where the text of the value at `i` begins and ends, and what is behind it, _ODD if it needs care."""
    if data[i] == _QUOTE:
        begin, end = _string(data, i)
        return begin, end, end + 1 if end >= 0 else _ODD
    if data[i] == _MINUS or _is_digit(data[i]):
        stop = _number(data, i)
        return i, stop, stop
    stop = _literal(data, i)
    return i, i if data[i] == _NULL[0] else stop, stop


@flat
def _key(data, i, guess, keys, bounds):
    """Read the key at `i`: which of `keys` it is, `guess` being the likeliest, and what is behind it.

    The first is _ODD for another key, the second for one that needs care. No key holds a quote or a backslash.
    """
    length = bounds[guess + 1] - bounds[guess]
    stop = i + 1 + length
    framed = data[i] == _QUOTE and stop < len(data) and data[stop] == _QUOTE
    if framed and same_bytes(data, i + 1, stop, keys, bounds[guess], bounds[guess + 1]):
        return guess, stop + 1
    begin, stop = _string(data, i)
    if stop < 0:
        return _ODD, _ODD
    for key in range(len(bounds) - 1):
        if same_bytes(data, begin, stop, keys, bounds[key], bounds[key + 1]):
            return key, stop + 1
    return _ODD, stop + 1


@flat
def _object(data, i, keys, bounds, spans):
    """Fill `spans` (keys + 1, 2), _ODD where a key is missing, and of a key given twice with the first value.

    Returns where the LF behind the object is, _ODD if the line needs care. The last of `spans` is for other keys.
    """
    other = len(spans) - 1
    for k in range(other):
        spans[k, 0] = _ODD
    i = _behind_blanks(data, i)
    if data[i] != _OPEN:
        return _ODD
    i = _behind_blanks(data, i + 1)
    guess = 0
    more = data[i] != _CLOSE
    while more:
        found, i = _key(data, i, guess, keys, bounds)
        if i < 0:
            return _ODD
        i = _behind_blanks(data, i)
        if data[i] != _COLON:
            return _ODD
        if found >= 0:
            guess = found + 1 if found + 1 < other else 0
        place = found if found >= 0 and spans[found, 0] < 0 else other
        begin, end, i = _value(data, _behind_blanks(data, i + 1))
        if i < 0:
            return _ODD
        spans[place, 0], spans[place, 1] = begin, end
        i = _behind_blanks(data, i)
        more = data[i] == _COMMA
        if more:
            i = _behind_blanks(data, i + 1)
        elif data[i] != _CLOSE:
            return _ODD
    i = _behind_blanks(data, i + 1)
    return i if data[i] == _LF else _ODD


@kernel(
    "int64(Array(uint8, 1, 'C', True), Array(uint8, 1, 'C', True), int64[::1], int64[::1], int64[::1], int64[::1],"
    " int32[:, ::1], int32[:, ::1])"
)
def split_objects(data, keys, bounds, columns, state, lines, begins, ends):
    """Read objects from `data[state[POSITION]:]`, which ends with LF; the first is in line `state[LINE]`.

    Key k, which holds neither quotes nor backslashes, is `keys` from `bounds[k]` to `bounds[k + 1]`; row `columns[k]`
    of `begins` and `ends` gets its texts, empty ones where it is missing. `lines`, `begins`, `ends`, `state` and what
    is returned are those of `delimited.split_rows`.
    """
    spans = np.empty((len(columns) + 1, 2), np.int64)
    while state[POSITION] < len(data):
        position = state[POSITION]
        if data[position] == _LF:
            state[POSITION] += 1
            state[LINE] += 1
            continue
        row = state[ROWS]
        if row == len(lines):
            return FULL
        stop = _object(data, position, keys, bounds, spans)
        if stop < 0:
            return CAREFUL
        lines[row] = state[LINE]
        for key in range(len(columns)):
            given = spans[key, 0] >= 0
            begins[columns[key], row] = spans[key, 0] if given else 0
            ends[columns[key], row] = spans[key, 1] if given else 0
        state[ROWS] += 1
        state[LINE] += 1
        state[POSITION] = stop + 1
    return END
