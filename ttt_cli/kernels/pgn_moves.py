"""The movetext of a PGN game: where it ends and which result it ends with."""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import inner
from ttt_cli.kernels.pgn_tags import CAREFUL, DONE, INCOMPLETE, LETTER, NAME, NO_NAME, skip_blanks

COMMENT_LIMIT: Final = 1 << 20  # bytes after which a comment counts as never closed
RESULTS: Final = (b"", b"1-0", b"0-1", b"1/2-1/2", b"1/2", b"*")  # by code; 0: none

_NONE, _WIN, _LOSS, _DRAW, _HALF, _STAR = range(6)
_NO_SECTION: Final = -1
_NEWLINE, _QUOTE, _OPEN, _BRACE, _UNBRACE, _SEMICOLON, _PERCENT = b'\n"[{};%'
_ZERO, _ONE, _TWO, _DOT, _MINUS, _SLASH, _ASTERISK = b"012.-/*"
_MARK: Final = 0xEF  # first byte of a byte order mark


def _marked(characters):
    marks = np.zeros(256, np.bool_)
    marks[list(characters)] = True
    return marks


_SPECIAL: Final = _marked(b"\n[{;%-/*")  # results are known by their rarer characters
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
def read_moves(data, start, end):
    """Read movetext from `start` to the next tag section.

    Returns status, where the movetext ends, the lines it takes, and the code of the last result in it.
    """
    i = gap = start
    lines = 0
    result = _NONE
    while True:
        while i < end and not _SPECIAL[data[i]]:
            i += 1
        if i + 6 >= end:  # what follows decides
            return INCOMPLETE, i, lines, result
        character = data[i]
        if character == _NEWLINE:
            if result != _NONE and data[i + 1] == _ONE and data[i + 2] == _DOT:
                return CAREFUL, i, lines, result  # a game without tags
            lines += 1
        elif character == _BRACE:
            status, i, inside = _skip_comment(data, i, end)
            if status != DONE:
                return status, i, lines, result
            lines += inside
            gap = i
            continue
        elif character == _OPEN:
            status = _section_at(data, i, start, end)
            if status != _NO_SECTION:
                return status, i, lines, result
            gap = i + 1
        elif character == _SEMICOLON or (character == _PERCENT and data[i - 1] == _NEWLINE):
            i = _line_end(data, i, end)
            continue
        elif character == _PERCENT:
            gap = i + 1
        else:
            found = _result_at(data, i, gap)
            result = found if found != _NONE else result
        i += 1
