"""The movetext of a PGN game: where it ends, which result it ends with, and a hash of its main line."""

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import flat, inner
from ttt_cli.kernels.scanning.pgn_letters import MIX, MOVES_LIMIT, WEIGHTS, WEIGHTS_MASK
from ttt_cli.kernels.scanning.pgn_marks import (
    GROUP,
    LETTER,
    NEWLINE,
    SPECIAL,
    TEXT_END,
    before_first,
    count_marked,
    eight_at,
    how_many,
    next_marked,
    one_bit,
)
from ttt_cli.kernels.scanning.pgn_tags import DONE, INCOMPLETE, INITIAL, NAME, NO_NAME, SLOW_PATH, skip_blanks

COMMENT_LIMIT: Final = 1 << 20  # bytes after which a comment counts as never closed
RESULTS: Final = (b"", b"1-0", b"0-1", b"1/2-1/2", b"1/2", b"*")  # by code; 0: none

_NONE, _WIN, _LOSS, _DRAW, _HALF, _STAR = range(6)
_NO_SECTION: Final = -1
_NEWLINE, _QUOTE, _OPEN, _BRACE, _UNBRACE, _SEMICOLON, _PERCENT, _LEFT, _RIGHT = b'\n"[{};%()'
_ZERO, _ONE, _TWO, _DOT, _MINUS, _SLASH, _ASTERISK = b"012.-/*"
_HALF_WORD: Final = np.uint64(32)
_MARK: Final = 0xEF  # first byte of a byte order mark


def _marked(characters):
    marks = np.zeros(256, np.bool_)
    marks[list(characters)] = True
    return marks


_SPACE: Final = _marked(b" \t\n\v\f\r")
_ROUND: Final = _marked(b"Oo0")  # of castling
_ENDS_RESULT: Final = _marked(b" \t\n\v\f\r{;[%")  # comments and stray brackets count as blanks


@inner
def opens_tag(data, bracket, end):
    """Whether the `[` there begins a tag by its name and quote: 1, 0, or -1 when the data end too early."""
    i = skip_blanks(data, bracket + 1, end)
    if i < end and NAME[data[i]] != INITIAL:
        return 0
    while i < end and NAME[data[i]] != NO_NAME:
        i += 1
    i = skip_blanks(data, i, end)
    if i >= end:
        return -1
    return 1 if data[i] == _QUOTE else 0


@inner
def _starts_line(data, i, start):
    """Whether nothing but blanks stands between the line's beginning and offset `i`."""
    i -= 1
    while i >= start and (data[i] == 32 or data[i] == 9):
        i -= 1
    return i < start or data[i] == _NEWLINE


@inner
def _begins_again(data, start, stop):
    """Whether move 1 stands at the start of a line between two offsets."""
    while start < stop:
        if data[start] == _NEWLINE and data[start + 1] == _ONE and data[start + 2] == _DOT:
            return True
        start += 1
    return False


@inner
def _section_at(data, bracket, start, decided, end):
    """How movetext from `start` on, its first result at `decided`, ends at a bracket; _NO_SECTION when it goes on."""
    opened = opens_tag(data, bracket, end)
    if opened == 0:
        return _NO_SECTION
    if opened < 0:
        return INCOMPLETE
    if bracket - start > MOVES_LIMIT or _begins_again(data, decided, bracket):
        return SLOW_PATH
    return DONE if _starts_line(data, bracket, start) else SLOW_PATH


@inner
def _skip_comment(data, marks, brace, end):
    """Status and the end of the comment; a tag at the start of a line needs care."""
    limit = min(brace + COMMENT_LIMIT, end)
    i = brace + 1
    while True:
        i = next_marked(marks, i, limit, TEXT_END)
        if i >= limit:
            return (SLOW_PATH if limit == brace + COMMENT_LIMIT else INCOMPLETE), i
        if data[i] == _UNBRACE:
            return DONE, i + 1
        i += 1
        first = skip_blanks(data, i, end)
        if first >= end:
            return INCOMPLETE, i
        if data[first] == _MARK or (data[first] == _OPEN and opens_tag(data, first, end) != 0):
            return SLOW_PATH, i


@inner
def _result_at(data, i, gap):
    """The code of the result whose first special character is at `i`, if a word of its own; else 0.

    `gap` is where the text behind the last comment or stray bracket begins; eight bytes behind `i` must exist.
    """
    character = data[i]
    if character == _ASTERISK:
        start, stop, code = i, i + 1, _STAR
    elif i == gap:
        return _NONE
    elif character == _SLASH and data[i - 1] == _ONE and data[i + 1] == _TWO:
        start, stop, code = i - 1, i + 2, _HALF
        if data[i + 2] == _MINUS and data[i + 3] == _ONE and data[i + 4] == _SLASH and data[i + 5] == _TWO:
            stop, code = i + 6, _DRAW
    elif character == _MINUS and data[i - 1] == _ONE and data[i + 1] == _ZERO:
        start, stop, code = i - 1, i + 2, _WIN
    elif character == _MINUS and data[i - 1] == _ZERO and data[i + 1] == _ONE:
        start, stop, code = i - 1, i + 2, _LOSS
    else:
        return _NONE
    alone = _ENDS_RESULT[data[stop]] and (start == gap or _SPACE[data[start - 1]])
    return code if alone else _NONE


@flat
def _take(data, i, which, letters, count):
    """Put the bytes of a group that have their bit in `which` behind the letters; returns how many there are then."""
    for k in range(GROUP):
        letters[np.uint64(count)] = data[np.uint64(i) + np.uint64(k)]
        count += np.int64(which >> np.uint64(8 * k) & np.uint64(1))
    return count


@flat
def _take_plain(data, marks, i, last, letters, count):
    """Put the letters before the next special character, or about `last`, behind the others; where and how many."""
    while i < last:
        group = eight_at(marks, i)
        special = one_bit(group, SPECIAL)
        if special == np.uint64(0):
            count = _take(data, i, one_bit(group, LETTER), letters, count)
            i += GROUP
        else:
            before = before_first(special)
            count = _take(data, i, one_bit(group, LETTER) & before, letters, count)
            return i + how_many(before), count
    return i, count


@inner
def _castles(data, i, gap):
    """Whether there is a hyphen of castling at `i`."""
    return data[i] == _MINUS and i > gap and _ROUND[data[i - 1]] and _ROUND[data[i + 1]]


@flat
def _hash(letters, count):
    """The hash of so many letters (see `pgn_letters`), behind which there is room."""
    for k in range(GROUP):
        letters[count + k] = 0
    code = np.int64(0)
    for k in range((count + GROUP - 1) // GROUP):
        word = eight_at(letters, GROUP * k) * MIX
        word ^= word >> _HALF_WORD
        code += np.int64(word) * WEIGHTS[np.uint64(k & WEIGHTS_MASK)]
    return code


@inner
def read_moves(data, marks, start, end, letters):
    """Read movetext from `start` to the next tag section.

    `marks` are those of `pgn_marks`; `letters` is room for as many bytes as `data` has and 8 more. Returns status,
    where the movetext ends, the lines it takes, the code of the last result in it, and the hash of its main line.
    """
    i = gap = start
    depth = count = 0
    result = _NONE
    decided = end  # where the first result stands
    last = end - GROUP  # what follows decides
    while True:
        if depth == 0:
            i, count = _take_plain(data, marks, i, last, letters, count)
        else:
            i = next_marked(marks, i, last, SPECIAL)
        if i >= last:
            return INCOMPLETE, i, 0, result, 0
        character = data[i]
        if character == _BRACE:
            status, i = _skip_comment(data, marks, i, end)
            if status != DONE:
                return status, i, 0, result, 0
            gap = i
            continue
        if character == _OPEN:
            status = _section_at(data, i, start, decided, end)
            if status != _NO_SECTION:
                return status, i, count_marked(marks, start, i, NEWLINE), result, _hash(letters, count)
            gap = i + 1
        elif character == _SEMICOLON or (character == _PERCENT and data[i - 1] == _NEWLINE):
            i = next_marked(marks, i, end, NEWLINE)
            continue
        else:
            if depth == 0 and _castles(data, i, gap):
                letters[count] = character
                count += 1
            found = _result_at(data, i, gap)
            if found != _NONE:
                result, decided = found, min(decided, i)
            depth = max(0, depth + (character == _LEFT) - (character == _RIGHT))
            gap = i + 1 if character == _PERCENT else gap
        i += 1
