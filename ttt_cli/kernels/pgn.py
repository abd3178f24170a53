"""PGN games as rows of numbers, straight from bytes: the common layouts; others are left to a careful reader."""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.pgn_moves import RESULTS, read_moves
from ttt_cli.kernels.pgn_tags import DATE, DONE, RESULT, TAGS_LIMIT, read_tags
from ttt_cli.kernels.pgn_words import number_of, same_bytes

# Why scanning stopped, besides INCOMPLETE and CAREFUL.
ROWS_FULL: Final = 3
WORDS_FULL: Final = 4

POSITION, LINE, ROWS, UNSETTLED, WORDS = range(5)  # of `state`
NO_TAG: Final = 8  # added to the code of a result when there was no Result tag

_RESULT_LETTERS: Final = np.frombuffer(b"".join(RESULTS), np.uint8)
_RESULT_STARTS: Final = np.cumsum([0, *map(len, RESULTS)])
_COLUMNS: Final = 4


@inner
def _agrees(data, start, stop, code):
    """Whether the Result tag at `data[start:stop]` is the result of that code."""
    first, last = _RESULT_STARTS[code], _RESULT_STARTS[code + 1]
    return start >= 0 and same_bytes(data, start, stop, _RESULT_LETTERS, first, last)


@inner
def _letters_in(spans):
    """How many bytes the values of a game take."""
    count = 0
    for tag in range(DATE, RESULT + 1):
        count += spans[tag, 1] - spans[tag, 0]
    return count


@kernel(
    "int64(Array(uint8, 1, 'C', True), int64[::1], int64[::1], int32[:, ::1], int64[:, ::1],"
    " int32[::1], int64[::1], int64[::1], uint8[::1])"
)
def scan_games(data, state, lines, codes, unsettled, slots, hashes, starts, letters):
    """Read games from `data[state[POSITION]:]`, where a tag begins in line `state[LINE]`.

    Of each game row `state[ROWS]` of `lines` (n,) gets its first line and of `codes` (n, 4) the numbers of
    date, white, black and result tag among the words of `slots` to `letters` (see `pgn_words`), 0 being the
    empty word. Rows of `unsettled` (n, 2) tell the games whose moves end with another result than the tag
    says: (row, code in RESULTS, plus NO_TAG without a tag). `state` is kept up to date.
    Returns why it stopped before the game at `state[POSITION]`: INCOMPLETE, CAREFUL, ROWS_FULL or WORDS_FULL.
    """
    end = len(data)
    spans = np.empty((RESULT + 1, 2), np.int64)
    keys = np.empty(TAGS_LIMIT, np.int64)
    while True:
        position = state[POSITION]
        status, stop, tag_lines, next_game = read_tags(data, position, end, spans, keys)
        if status != DONE:
            return status
        move_lines = result = 0
        if not next_game:
            status, stop, move_lines, result = read_moves(data, stop, end)
            if status != DONE:
                return status
        row, words = state[ROWS], state[WORDS]
        if row == len(lines):
            return ROWS_FULL
        if words + _COLUMNS > len(hashes) or starts[words] + _letters_in(spans) > len(letters):
            return WORDS_FULL
        lines[row] = state[LINE]
        for column in range(_COLUMNS):
            start = spans[DATE + column, 0]
            codes[row, column] = 0
            if start >= 0:
                code = number_of(
                    data, start, spans[DATE + column, 1], state[WORDS], slots, hashes, starts, letters
                )
                state[WORDS] += code == state[WORDS]
                codes[row, column] = code
        if result > 0 and not _agrees(data, spans[RESULT, 0], spans[RESULT, 1], result):
            unsettled[state[UNSETTLED], 0] = row
            unsettled[state[UNSETTLED], 1] = result if spans[RESULT, 0] >= 0 else result + NO_TAG
            state[UNSETTLED] += 1
        state[ROWS] += 1
        state[POSITION] = stop
        state[LINE] += tag_lines + move_lines
