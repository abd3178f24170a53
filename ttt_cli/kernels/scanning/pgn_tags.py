"""The tag section of a PGN game, as long as it is written as the standard has it, one tag a line."""

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import flat, inner
from ttt_cli.kernels.scanning.pgn_fields import BLACK, NAMES, TAG_LIMIT, TAGS, WHITE
from ttt_cli.kernels.scanning.pgn_marks import GROUP, NAME_END, VALUE_END, eight_at, next_marked

# What came of a part of a game: all of it read; it runs on behind the data; only the slow path can tell.
DONE: Final = 0
INCOMPLETE: Final = 1
SLOW_PATH: Final = 2

TAGS_LIMIT: Final = 64  # tags in a section besides those that are wanted

NO_NAME, INITIAL, DIGIT = range(3)  # of bytes in names
_BLANK, _TAB, _NEWLINE, _QUOTE, _BACKSLASH, _OPEN, _CLOSE = b' \t\n"\\[]'
_SKIPPED: Final = tuple(b";%\f\v\xef")  # lines and bytes that the slow path passes over
_PRIME: Final = 1099511628211
_LOWER: Final = np.uint64(0x2020202020202020)


def _name_classes():
    classes = np.zeros(256, np.uint8)
    classes[list(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] = INITIAL
    classes[list(b"0123456789_")] = DIGIT
    return classes


NAME: Final = _name_classes()


def _key(name):
    """What `_read_name` gives for a name."""
    key = int.from_bytes(name[:8].lower(), "little")
    for letter in name[8:].lower():
        key = key * _PRIME ^ letter
    return (key + (1 << 63)) % (1 << 64) - (1 << 63)


_KEYS: Final = np.array(list(map(_key, NAMES)))
_SLOTS: Final = next(count for count in range(TAGS, 1000) if len(set(_KEYS % count)) == TAGS)
_ROWS: Final = np.full(_SLOTS, -1)  # by the remainder of the key, which differs for all tags
_ROWS[_KEYS % _SLOTS] = np.arange(TAGS)


@flat
def skip_blanks(data, i, end):
    """The first offset from `i` on that holds neither a blank nor a tab."""
    while i < end and (data[i] == _BLANK or data[i] == _TAB):
        i += 1
    return i


@flat
def _read_name(data, marks, start, end):
    """Where a name ends and its key: alike in either case, distinct up to 8 bytes, of which there must be as many."""
    stop = next_marked(marks, start, end, NAME_END)
    folded = eight_at(data, start) | _LOWER
    if stop - start < GROUP:
        folded &= (np.uint64(1) << np.uint64(8 * (stop - start))) - np.uint64(1)
    key = np.int64(folded)
    for i in range(start + GROUP, stop):
        key = key * _PRIME ^ np.int64(data[i] | 0x20)
    return stop, key


@flat
def _wanted(key):
    """The row of `spans` that a tag goes to, -1 for none."""
    row = _ROWS[key % _SLOTS]
    return row if row >= 0 and _KEYS[row] == key else -1


@flat
def _read_tag(data, marks, i, end):
    """The tag alone on its line at the bracket `i`: status, key of its name, its value from and to, end of its line."""
    start = skip_blanks(data, i + 1, end)
    if start + GROUP > end:
        return INCOMPLETE, 0, 0, 0, 0
    i, key = _read_name(data, marks, start, end)
    named = i > start and NAME[data[start]] == INITIAL
    i = skip_blanks(data, i, end)
    amiss = i < end and (not named or data[i] != _QUOTE)
    value = i + 1
    stop = next_marked(marks, value, end, VALUE_END)
    amiss |= stop < end and data[stop] != _QUOTE
    i = skip_blanks(data, stop + 1, end)
    amiss |= i < end and data[i] != _CLOSE
    i = skip_blanks(data, i + 1, end)
    if amiss or (i < end and data[i] != _NEWLINE):
        return SLOW_PATH, 0, 0, 0, 0
    if i >= end:
        return INCOMPLETE, 0, 0, 0, 0
    return DONE, key, value, stop, i


@flat
def names_players(spans):
    """Whether there are a White and a Black tag."""
    return spans[WHITE, 0] >= 0 and spans[BLACK, 0] >= 0


@flat
def _takes(keys, count, key):
    """Whether the key is not among the first `count`, and there is room for it."""
    for other in range(count):
        if keys[other] == key:
            return False
    return count < TAGS_LIMIT


@inner
def read_tags(data, marks, start, end, spans, keys):
    """Read tags, the first at bracket `start`, up to a blank line behind which there are more, or to their end.

    `marks` are those of `pgn_marks`. `spans` (TAGS, 2) gets start and end of the wanted values, -1 where there is no
    such tag; `keys` (TAGS_LIMIT,) is room for the other names. Returns status, where the tags end, the lines they take,
    and whether another tag stands there.
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
            return (SLOW_PATH if first in _SKIPPED else DONE), i, lines, False
        if newlines > 1:
            return DONE, i, lines, True
        status, key, value, stop, line_end = _read_tag(data, marks, i, end)
        if status != DONE:
            return status, i, lines, False
        tag = _wanted(key)
        taken = tag >= 0 and spans[tag, 0] >= 0
        if taken or (tag < 0 and not _takes(keys, count, key)) or line_end - i > TAG_LIMIT:
            return SLOW_PATH, i, lines, False
        if tag >= 0:
            spans[tag, 0], spans[tag, 1] = value, stop
        else:
            keys[count] = key
            count += 1
        i, newlines = line_end, 0
