"""The tag section of a PGN game, as long as it is written as the standard has it, one tag a line."""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import inner
from ttt_cli.kernels.pgn_fields import BLACK, EVENT, NAMES, TAGS, WHITE

# What came of a part of a game: all of it read; it runs on behind the data; only the careful reader can tell.
DONE: Final = 0
INCOMPLETE: Final = 1
CAREFUL: Final = 2

TAGS_LIMIT: Final = 64  # tags in a section

NO_NAME, LETTER, DIGIT = range(3)  # of bytes in names
_BLANK, _TAB, _NEWLINE, _QUOTE, _BACKSLASH, _OPEN, _CLOSE = b' \t\n"\\[]'
_SKIPPED: Final = tuple(b";%\f\v\xef")  # lines and bytes that the careful reader passes over
_PRIME: Final = 1099511628211


def _name_classes():
    classes = np.zeros(256, np.uint8)
    classes[list(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] = LETTER
    classes[list(b"0123456789_")] = DIGIT
    return classes


NAME: Final = _name_classes()


def _key(name):
    """What `_read_name` gives for a name."""
    key = int.from_bytes(name[:8].lower(), "big")
    for letter in name[8:].lower():
        key = key * _PRIME ^ letter
    return (key + (1 << 63)) % (1 << 64) - (1 << 63)


_KEYS: Final = np.array(list(map(_key, NAMES)))
_SLOTS: Final = next(count for count in range(TAGS, 1000) if len(set(_KEYS % count)) == TAGS)
_ROWS: Final = np.full(_SLOTS, -1)  # by the remainder of the key, which differs for all tags
_ROWS[_KEYS % _SLOTS] = np.arange(TAGS)


@inner
def skip_blanks(data, i, end):
    """The first offset from `i` on that holds neither a blank nor a tab."""
    while i < end and (data[i] == _BLANK or data[i] == _TAB):
        i += 1
    return i


@inner
def _read_name(data, i, end):
    """Where a name ends and its key: equal for spellings in either case, distinct up to 8 bytes."""
    start = i
    key = 0
    while i < end and NAME[data[i]] != NO_NAME:
        folded = np.int64(data[i] | 0x20)
        key = key << 8 | folded if i - start < 8 else key * _PRIME ^ folded
        i += 1
    return i, key


@inner
def _wanted(key):
    """The row of `spans` that a tag goes to, -1 for none."""
    row = _ROWS[key % _SLOTS]
    return row if row >= 0 and _KEYS[row] == key else -1


@inner
def _read_tag(data, i, end):
    """The tag at the bracket `i`, alone on its line and without inner quotes.

    Returns status, key of its name, start and end of its value, end of its line.
    """
    i = skip_blanks(data, i + 1, end)
    start = i
    i, key = _read_name(data, i, end)
    named = i > start and NAME[data[start]] == LETTER
    i = skip_blanks(data, i, end)
    if i < end and (not named or data[i] != _QUOTE):
        return CAREFUL, 0, 0, 0, 0
    value = i + 1
    i = value
    while i < end and data[i] != _QUOTE and data[i] != _BACKSLASH and data[i] != _NEWLINE:
        i += 1
    stop = i
    if i < end and data[i] != _QUOTE:
        return CAREFUL, 0, 0, 0, 0
    i = skip_blanks(data, i + 1, end)
    if i < end and data[i] != _CLOSE:
        return CAREFUL, 0, 0, 0, 0
    i = skip_blanks(data, i + 1, end)
    if i >= end:
        return INCOMPLETE, 0, 0, 0, 0
    if data[i] != _NEWLINE:
        return CAREFUL, 0, 0, 0, 0
    return DONE, key, value, stop, i


@inner
def _begins_game(tag, spans, blank):
    """Whether a tag after those in `spans` belongs to the next game, there being no moves between them."""
    if tag == EVENT:
        seen = spans[EVENT, 0] >= 0
        players = spans[WHITE, 0] >= 0 and spans[BLACK, 0] >= 0
        return (players and (blank or seen)) or (blank and seen)
    return blank and tag in (WHITE, BLACK) and spans[tag, 0] >= 0


@inner
def read_tags(data, start, end, spans, keys):
    """Read the tag section whose first bracket is at `start`.

    `spans` (TAGS, 2) gets start and end of the wanted values, -1 where there is no such tag; `keys`
    (TAGS_LIMIT,) is room for the names. Returns status, where the section ends, the lines it takes, and
    whether the next game begins there.
    """
    spans[:] = -1
    i = start
    count = newlines = lines = 0
    while True:
        i = skip_blanks(data, i, end)
        if i >= end:
            return INCOMPLETE, i, lines, False
        first = data[i]
        if first == _NEWLINE:
            i, newlines, lines = i + 1, newlines + 1, lines + 1
            continue
        if first != _OPEN:
            return (CAREFUL if first in _SKIPPED else DONE), i, lines, False
        status, key, value, stop, line_end = _read_tag(data, i, end)
        if status != DONE:
            return status, i, lines, False
        tag = _wanted(key)
        if _begins_game(tag, spans, newlines > 1):
            return DONE, i, lines, True
        if count == TAGS_LIMIT:
            return CAREFUL, i, lines, False
        for other in range(count):
            if keys[other] == key:
                return CAREFUL, i, lines, False
        keys[count] = key
        count += 1
        if tag >= 0:
            spans[tag, 0], spans[tag, 1] = value, stop
        i, newlines = line_end, 0
