"""PGN games as rows of numbers, straight from bytes: the common layouts; others are left to a slow path."""

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import flat, kernel
from ttt_cli.kernels.scanning.pgn_fields import (
    COLUMNS,
    DATE,
    FEN,
    RESULT,
    SET_UP_NUMBER,
    SETUP,
    TAGS,
    USUAL,
    UTC_DATE,
    VARIANT,
)
from ttt_cli.kernels.scanning.pgn_moves import RESULTS, read_moves
from ttt_cli.kernels.scanning.pgn_tags import DONE, SLOW_PATH, TAGS_LIMIT, names_players, read_tags
from ttt_cli.kernels.scanning.strings import hash_of, number_of, same_bytes

# Why scanning stopped, besides INCOMPLETE and SLOW_PATH.
ROWS_FULL: Final = 3
STRINGS_FULL: Final = 4

POSITION, LINE, ROWS, UNSETTLED, STRINGS = range(5)  # of `state`
NO_TAG: Final = 8  # added to the code of a result when there was no Result tag

_RESULT_BYTES: Final = np.frombuffer(b"".join(RESULTS), np.uint8)
_RESULT_STARTS: Final = np.cumsum([0, *map(len, RESULTS)])
_USUAL: Final = np.frombuffer(USUAL, np.uint8)
_ONE, _UNKNOWN = b"1?"


@flat
def _agrees(data, start, stop, code):
    """Whether the Result tag at `data[start:stop]` is the result of that code."""
    first, last = _RESULT_STARTS[code], _RESULT_STARTS[code + 1]
    return start >= 0 and same_bytes(data, start, stop, _RESULT_BYTES, first, last)


@flat
def _bytes_in(spans):
    """How many bytes the values of a game take."""
    count = 0
    for tag in range(COLUMNS):
        count += spans[tag, 1] - spans[tag, 0]
    return count


@flat
def _set_up(data, spans):
    """Whether the tags SetUp or FEN tell of a position other than the usual one at the start."""
    start, stop = spans[SETUP, 0], spans[SETUP, 1]
    if start >= 0 and stop - start == 1 and data[start] == _ONE:
        return True
    start, stop = spans[FEN, 0], spans[FEN, 1]
    if start < 0 or stop == start or (stop - start == 1 and data[start] == _UNKNOWN):
        return False
    usual = start + len(_USUAL)
    return stop < usual or not same_bytes(data, start, usual, _USUAL, 0, len(_USUAL))


@flat
def _settle_date(data, spans):
    """Let UTCDate stand for a Date that is missing or without a year."""
    start, stop = spans[DATE, 0], spans[DATE, 1]
    if spans[UTC_DATE, 0] >= 0 and (start == stop or data[start] == _UNKNOWN):
        spans[DATE, 0], spans[DATE, 1] = spans[UTC_DATE, 0], spans[UTC_DATE, 1]


@flat
def _number_values(data, spans, known, codes, row, count, slots, starts, characters):
    """Fill row `row` of `codes` with the numbers of a game's values; returns how many strings there are then.

    `known` (COLUMNS, 3) are start, end and number of the last value of each column, which is often the next one too.
    """
    for column in range(COLUMNS):
        start, stop = spans[column, 0], spans[column, 1]
        code = np.int32(0)
        if start < stop:
            if same_bytes(data, start, stop, data, known[column, 0], known[column, 1]):
                code = np.int32(known[column, 2])
            else:
                word = hash_of(data, start, stop)
                code = number_of(data, start, stop, word, count, slots, starts, characters)
                count += code == count
                known[column, 0], known[column, 1], known[column, 2] = start, stop, code
        codes[row, column] = code
    if codes[row, VARIANT] == 0 and _set_up(data, spans):
        codes[row, VARIANT] = SET_UP_NUMBER
    return count


@kernel(
    "int64(Array(uint8, 1, 'C', True), uint8[::1], uint8[::1], int64[::1], int64[::1], int64[::1], int32[:, ::1],"
    " int64[:, ::1], int64[::1], int64[::1], uint8[::1])"
)
def scan_games(data, marks, room, state, lines, moves, codes, unsettled, slots, starts, characters):
    """Read games from `data[state[POSITION]:]`, where a tag begins in line `state[LINE]`.

    `marks` (n,) are those of `data` (see `pgn_marks`), `room` (n + 8,) is for the letters of moves. Of each game row
    `state[ROWS]` of `lines` (n,) gets its first line, of `moves` (n,) the hash of its moves, and of `codes` (n,
    COLUMNS) the numbers of its tags' values among the strings of `slots` to `characters` (see `strings`), 0 being the
    empty string and SET_UP_NUMBER that of games set up. Rows of `unsettled` (n, 2) tell the games whose moves end with
    another result than the tag says: (row, code in RESULTS, plus NO_TAG without a tag). `state` is kept up to date.
    Returns why it stopped before the game at `state[POSITION]`: INCOMPLETE, SLOW_PATH, ROWS_FULL or STRINGS_FULL.
    """
    end = len(data)
    spans, ahead = np.empty((TAGS, 2), np.int64), np.empty((TAGS, 2), np.int64)
    known = np.zeros((COLUMNS, 3), np.int64)
    keys = np.empty(TAGS_LIMIT, np.int64)
    stop = tag_lines = next_stop = next_lines = 0
    more = next_more = known_tags = False
    while True:
        if not known_tags:
            status, stop, tag_lines, more = read_tags(data, marks, state[POSITION], end, spans, keys)
            if status != DONE:
                return status
        move_lines = result = code = 0
        next_game = more
        if next_game:  # which is certain where both name their players without a blank line between
            status, next_stop, next_lines, next_more = read_tags(data, marks, stop, end, ahead, keys)
            if not names_players(spans) or (status == DONE and not names_players(ahead)):
                return SLOW_PATH
        else:
            status, stop, move_lines, result, code = read_moves(data, marks, stop, end, room)
        if status != DONE:
            return status
        _settle_date(data, spans)
        row, count = state[ROWS], state[STRINGS]
        if row == len(lines):
            return ROWS_FULL
        if count + COLUMNS >= len(starts) or starts[count] + _bytes_in(spans) > len(characters):
            return STRINGS_FULL
        lines[row], moves[row] = state[LINE], code
        state[STRINGS] = _number_values(data, spans, known, codes, row, count, slots, starts, characters)
        if result > 0 and not _agrees(data, spans[RESULT, 0], spans[RESULT, 1], result):
            unsettled[state[UNSETTLED], 0] = row
            unsettled[state[UNSETTLED], 1] = result if spans[RESULT, 0] >= 0 else result + NO_TAG
            state[UNSETTLED] += 1
        state[ROWS] += 1
        state[POSITION] = stop
        state[LINE] += tag_lines + move_lines
        known_tags = next_game
        if next_game:
            spans, ahead = ahead, spans
            stop, tag_lines, more = next_stop, next_lines, next_more
