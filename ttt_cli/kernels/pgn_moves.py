"""The movetext of a PGN game: where it ends, which result it ends with, and a hash of its main line."""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import inner
from ttt_cli.kernels.pgn_letters import (
    CONTEXT_MASK,
    HYPHEN,
    KEPT,
    KIND_BITS,
    KINDS,
    MOVES_LIMIT,
    WEIGHTS,
    WEIGHTS_MASK,
)
from ttt_cli.kernels.pgn_tags import CAREFUL, DONE, INCOMPLETE, LETTER, NAME, NO_NAME, skip_blanks

COMMENT_LIMIT: Final = 1 << 20  # bytes after which a comment counts as never closed
RESULTS: Final = (b"", b"1-0", b"0-1", b"1/2-1/2", b"1/2", b"*")  # by code; 0: none

_NONE, _WIN, _LOSS, _DRAW, _HALF, _STAR = range(6)
_NO_SECTION: Final = -1
_NEWLINE, _QUOTE, _OPEN, _BRACE, _UNBRACE, _SEMICOLON, _PERCENT, _LEFT, _RIGHT = b'\n"[{};%()'
_ZERO, _ONE, _TWO, _DOT, _MINUS, _SLASH, _ASTERISK = b"012.-/*"
_KIND: Final = (1 << KIND_BITS) - 1
_MARK: Final = 0xEF  # first byte of a byte order mark


def _marked(characters):
    marks = np.zeros(256, np.bool_)
    marks[list(characters)] = True
    return marks


_IN_COMMENT: Final = _marked(b"\n}")
_SPACE: Final = _marked(b" \t\n\v\f\r")
_ENDS_RESULT: Final = _marked(b" \t\n\v\f\r{;[%")  # comments and stray brackets count as blanks


@inner
def opens_tag(data, bracket, end):
    """Whether the `[` there begins a tag by its name and quote: 1, 0, or -1 when the data end too early."""
    i = skip_blanks(data, bracket + 1, end)
    if i < end and NAME[data[i]] != LETTER:
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
def _section_at(data, bracket, start, end):
    """The status with which movetext from `start` on ends at a bracket; _NO_SECTION when it goes on."""
    opened = opens_tag(data, bracket, end)
    if opened == 0:
        return _NO_SECTION
    if opened < 0:
        return INCOMPLETE
    if bracket - start > MOVES_LIMIT:
        return CAREFUL
    return DONE if _starts_line(data, bracket, start) else CAREFUL


@inner
def _line_end(data, i, end):
    while i < end and data[i] != _NEWLINE:
        i += 1
    return i


@inner
def _skip_comment(data, brace, end):
    """Status, the end of the comment and the lines in it; a tag at the start of a line needs care."""
    limit = min(brace + COMMENT_LIMIT, end)
    lines = 0
    i = brace + 1
    while True:
        while i < limit and not _IN_COMMENT[data[i]]:
            i += 1
        if i >= limit:
            return (CAREFUL if limit == brace + COMMENT_LIMIT else INCOMPLETE), i, lines
        if data[i] == _UNBRACE:
            return DONE, i + 1, lines
        lines += 1
        i += 1
        first = skip_blanks(data, i, end)
        if first >= end:
            return INCOMPLETE, i, lines
        if data[first] == _MARK or (data[first] == _OPEN and opens_tag(data, first, end) != 0):
            return CAREFUL, i, lines


@inner
def _result_at(data, i, gap):
    """The code of the result whose first special character is at `i`, if a word of its own; else 0.

    `gap` is where the text behind the last comment or stray bracket begins; six bytes behind `i` must exist.
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


@inner
def _skip_plain(data, i, last):
    """The first offset from `i` on that holds a special character, or `last`."""
    while i < last and KINDS[data[np.uint64(i)]] < HYPHEN:
        i += 1
    return i


@inner
def _hash_plain(data, i, last, letters, code):
    """As `_skip_plain`, and adds the letters on the way to a hash; returns the offset, their number, the hash.

    Indices are unsigned, since signed ones would be looked at for counting from the end of an array.
    """
    if i >= last:
        return i, letters, code
    letter = np.int64(data[np.uint64(i)])
    context = np.int64(KINDS[letter])
    while i < last and context & _KIND < HYPHEN:
        behind = np.int64(data[np.uint64(i + 1)])
        context = (context << KIND_BITS | KINDS[np.uint64(behind)]) & CONTEXT_MASK
        kept = np.int64(KEPT[np.uint64(context)])
        code += (letter & kept) * WEIGHTS[np.uint64(letters & WEIGHTS_MASK)]
        letters -= kept
        letter = behind
        i += 1
    return i, letters, code


@inner
def _castles(data, i, gap):
    """1 if there is a hyphen of castling at `i`, else 0."""
    if data[i] != _MINUS or i == gap:
        return 0
    return -KEPT[(np.int64(KINDS[data[i - 1]]) << KIND_BITS | HYPHEN) << KIND_BITS | KINDS[data[i + 1]]]


@inner
def read_moves(data, start, end):
    """Read movetext from `start` to the next tag section.

    Returns status, where the movetext ends, the lines it takes, the code of the last result in it, and the hash of
    its main line (see `pgn_letters`).
    """
    i = gap = start
    lines = depth = letters = code = 0
    result = _NONE
    last = end - 6  # what follows decides
    while True:
        if depth == 0:
            i, letters, code = _hash_plain(data, i, last, letters, code)
        else:
            i = _skip_plain(data, i, last)
        if i >= last:
            return INCOMPLETE, i, lines, result, code
        character = data[i]
        if character == _NEWLINE:
            if result != _NONE and data[i + 1] == _ONE and data[i + 2] == _DOT:
                return CAREFUL, i, lines, result, code  # a game without tags
            lines += 1
        elif character == _BRACE:
            status, i, inside = _skip_comment(data, i, end)
            if status != DONE:
                return status, i, lines, result, code
            lines += inside
            gap = i
            continue
        elif character == _OPEN:
            status = _section_at(data, i, start, end)
            if status != _NO_SECTION:
                return status, i, lines, result, code
            gap = i + 1
        elif character == _SEMICOLON or (character == _PERCENT and data[i - 1] == _NEWLINE):
            i = _line_end(data, i, end)
            continue
        else:
            castles = _castles(data, i, gap) if depth == 0 else 0
            code += castles * _MINUS * WEIGHTS[letters & WEIGHTS_MASK]
            letters += castles
            found = _result_at(data, i, gap)
            result = found if found != _NONE else result
            depth = max(0, depth + (character == _LEFT) - (character == _RIGHT))
            gap = i + 1 if character == _PERCENT else gap
        i += 1
