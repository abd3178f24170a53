"""PGN games as rows of numbers, straight from bytes: the common layouts; others are left to a slow path."""

from typing import Final

import numpy as np

from ttt_cli.kernels.arrays import Codes, FixedCodes, IndexRows, PlaceRows, Places
from ttt_cli.kernels.compile import flat, inner, kernel
from ttt_cli.kernels.strings import eight_at, hash_of, number_of, same_bytes

# Tags that are read; their values are the columns of records.
NAMES: Final = (
    *(b"Date", b"White", b"Black", b"Result", b"Event", b"Site", b"Round"),
    *(b"WhiteFideId", b"BlackFideId", b"Variant", b"TimeControl", b"SetUp", b"FEN", b"UTCDate"),
    *(b"Termination", b"PlyCount", b"WhiteType", b"BlackType", b"WhiteTitle", b"BlackTitle"),
)
COLUMNS: Final = len(NAMES)
WHITE = 1
BLACK = 2
RESULT = 3
TAG_LIMIT: Final = 1 << 16  # bytes that a tag may take


MOVES_LIMIT: Final = 1 << 20  # bytes of movetext; what stands behind them is not hashed
WEIGHTS_MASK: Final = (1 << 12) - 1


def _weights():
    """Random weights by splitmix64 (Steele, Lea and Flood 2014), the state starting at 0."""
    state = np.arange(1, WEIGHTS_MASK + 2, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (state ^ (state >> np.uint64(31))).view(np.int64)


WEIGHTS: Final = _weights()
MIX: Final = np.uint64(0x9E3779B97F4A7C15)


LETTER, SPECIAL, NEWLINE, TEXT_END, VALUE_END, NAME_END = range(6)  # bits
GROUP: Final = 8  # bytes looked at together

_EACH: Final = np.uint64(0x0101010101010101)
_LAST_BYTE: Final = np.uint64(56)
_BLANK, _TAB, _NEWLINE, _QUOTE, _BACKSLASH, _OPEN, _CLOSE = b' \t\n"\\[]'
_BRACE, _UNBRACE, _SEMICOLON, _PERCENT, _LEFT, _RIGHT = b"{};%()"
_ZERO, _ONE, _TWO, _EIGHT, _NINE, _DOT, _MINUS, _SLASH, _ASTERISK = b"01289.-/*"
_COLON, _EQUAL, _AT, _UNDERSCORE, _X = b":=@_x"
_A_LOWER, _H_LOWER, _Z_LOWER, _A, _N, _Q, _Z = b"ahzANQZ"


@flat
def _is_file(byte):
    return (byte >= _A_LOWER) & (byte <= _H_LOWER)


@flat
def _is_rank(byte):
    return (byte >= _ONE) & (byte <= _EIGHT)


@flat
def _is_piece(byte):
    return ((byte >= _A) & (byte <= _N)) | ((byte >= _Q) & (byte <= _Z))


@flat
def _is_link(byte):
    return (byte == _X) | (byte == _COLON) | (byte == _AT) | (byte == _EQUAL)


@flat
def _is_initial(byte):
    return ((byte >= _A_LOWER) & (byte <= _Z_LOWER)) | ((byte >= _A) & (byte <= _Z))


@flat
def _is_name(byte):
    return _is_initial(byte) | ((byte >= _ZERO) & (byte <= _NINE)) | (byte == _UNDERSCORE)


@flat
def _bit(true, bit):
    return np.uint8(true) << np.uint8(bit)


@kernel
def mark_bytes(data: FixedCodes, marks: Codes) -> None:
    """Fill `marks` (n,) for `data` (n,); the first and the last byte, which have one neighbour, are left unmarked."""
    marks[0] = marks[len(data) - 1] = 0
    for i in range(1, len(data) - 1):
        before = data[i - 1]
        here = data[i]
        behind = data[i + 1]
        goes_on = _is_file(behind) | _is_rank(behind) | _is_link(behind) | (behind == _MINUS)
        rank = _is_rank(here) & (_is_file(before) | _is_piece(before))
        piece = _is_piece(here) & (goes_on | _is_rank(before) | _is_link(before))
        bracket = (here == _OPEN) | (here == _BRACE) | (here == _LEFT) | (here == _RIGHT)
        of_result = (here == _MINUS) | (here == _SLASH) | (here == _ASTERISK)
        newline = here == _NEWLINE
        marks[i] = (
            _bit((_is_file(here) & goes_on) | rank | piece, LETTER)
            | _bit(bracket | of_result | (here == _SEMICOLON) | (here == _PERCENT), SPECIAL)
            | _bit(newline, NEWLINE)
            | _bit(newline | (here == _UNBRACE), TEXT_END)
            | _bit(newline | (here == _QUOTE) | (here == _BACKSLASH), VALUE_END)
            | _bit(_is_name(here), NAME_END) ^ np.uint8(1 << NAME_END)
        )


@flat
def one_bit(group, bit):
    """That bit of each of eight marks, as the lowest of its byte."""
    return group >> np.uint64(bit) & _EACH


@flat
def before_first(bits):
    """As `one_bit`, but set on all bytes before the first that has it."""
    return ((bits & (~bits + np.uint64(1))) - np.uint64(1)) & _EACH


@flat
def how_many(bits):
    """The number of bytes that have the bit, from what `one_bit` gave."""
    return np.int64(bits * _EACH >> _LAST_BYTE)


@flat
def next_marked(marks, i, end, bit):
    """The first offset from `i` on that has a mark; `end` where there is none."""
    while i + GROUP <= end:
        bits = one_bit(eight_at(marks, i), bit)
        if bits != np.uint64(0):
            return i + how_many(before_first(bits))
        i += GROUP
    while i < end and marks[i] >> bit & 1 == 0:
        i += 1
    return i


@flat
def count_marked(marks, start, stop, bit):
    """How many offsets from `start` on and before `stop` have a mark."""
    count = 0
    while start + GROUP <= stop:
        count += how_many(one_bit(eight_at(marks, start), bit))
        start += GROUP
    while start < stop:
        count += np.int64(marks[start] >> bit & 1)
        start += 1
    return count


# What came of a part of a game: all of it read; it runs on behind the data; only the slow path can tell.
DONE: Final = 0
INCOMPLETE: Final = 1
SLOW_PATH: Final = 2

_SKIPPED: Final = tuple(b";%\f\v\xef")  # lines and bytes that the slow path passes over
_PRIME: Final = 1099511628211
_LOWER: Final = np.uint64(0x2020202020202020)


def _key(name):
    """What `_read_name` gives for a name."""
    key = int.from_bytes(name[:8].lower(), "little")
    for letter in name[8:].lower():
        key = key * _PRIME ^ letter
    return (key + (1 << 63)) % (1 << 64) - (1 << 63)


_KEYS: Final = np.array([_key(name) for name in NAMES])
_SLOTS: Final = next(count for count in range(COLUMNS, 1000) if len(set(_KEYS % count)) == COLUMNS)
_ROWS: Final = np.full(_SLOTS, -1)  # by the remainder of the key, which differs for all tags
_ROWS[_KEYS % _SLOTS] = np.arange(COLUMNS)


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
def _read_tag(data, marks, i, end):
    """The tag alone on its line at the bracket `i`: status, key of its name, its value from and to, end of its line."""
    start = skip_blanks(data, i + 1, end)
    if start + GROUP > end:
        return INCOMPLETE, 0, 0, 0, 0
    i, key = _read_name(data, marks, start, end)
    named = i > start and _is_initial(data[start])
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


@inner
def read_tags(data, marks, start, end, spans):
    """Read tags, the first at bracket `start`, up to a blank line behind which there are more, or to their end.

    `marks` are those of `mark_bytes`. `spans` (COLUMNS, 2) gets start and end of the wanted values, -1 where there is
    no such tag. Returns status, where the tags end, the lines they take, and whether another tag stands there.
    """
    spans[:] = -1
    i = start
    newlines = lines = 0
    while True:
        i = skip_blanks(data, i, end)
        if i >= end:
            return INCOMPLETE, i, lines, False
        first = data[i]
        if first == _NEWLINE:
            i = i + 1
            newlines = newlines + 1
            lines = lines + 1
            continue
        if first != _OPEN:
            return (SLOW_PATH if first in _SKIPPED else DONE), i, lines, False
        if newlines > 1:
            return DONE, i, lines, True
        status, key, value, stop, line_end = _read_tag(data, marks, i, end)
        if status != DONE:
            return status, i, lines, False
        tag = _ROWS[key % _SLOTS]  # -1 for a tag that is not read
        if tag >= 0 and _KEYS[tag] != key:
            tag = -1
        if line_end - i > TAG_LIMIT or (tag >= 0 and spans[tag, 0] >= 0):
            return SLOW_PATH, i, lines, False
        if tag >= 0:
            spans[tag, 0] = value
            spans[tag, 1] = stop
        i = line_end
        newlines = 0


COMMENT_LIMIT: Final = 1 << 20  # bytes after which a comment counts as never closed
RESULTS: Final = (b"", b"1-0", b"0-1", b"1/2-1/2", b"1/2", b"*")  # by code; 0: none

_NONE, _WIN, _LOSS, _DRAW, _HALF, _STAR = range(6)
_NO_SECTION: Final = -1
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
    if i < end and not _is_initial(data[i]):
        return 0
    while i < end and _is_name(data[i]):
        i += 1
    i = skip_blanks(data, i, end)
    if i >= end:
        return -1
    return 1 if data[i] == _QUOTE else 0


@inner
def _section_at(data, bracket, start, decided, end):
    """How movetext from `start` on, its first result at `decided`, ends at a bracket; _NO_SECTION when it goes on."""
    opened = opens_tag(data, bracket, end)
    if opened == 0:
        return _NO_SECTION
    if opened < 0:
        return INCOMPLETE
    if bracket - start > MOVES_LIMIT:
        return SLOW_PATH
    for i in range(decided, bracket):
        if (
            data[i] == _NEWLINE and data[i + 1] == _ONE and data[i + 2] == _DOT
        ):  # move 1 of another game
            return SLOW_PATH
    i = bracket - 1
    while i >= start and (data[i] == _BLANK or data[i] == _TAB):
        i -= 1
    return DONE if i < start or data[i] == _NEWLINE else SLOW_PATH


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
        start = i
        stop = i + 1
        code = _STAR
    elif i == gap:
        return _NONE
    elif character == _SLASH and data[i - 1] == _ONE and data[i + 1] == _TWO:
        start = i - 1
        stop = i + 2
        code = _HALF
        if (
            data[i + 2] == _MINUS
            and data[i + 3] == _ONE
            and data[i + 4] == _SLASH
            and data[i + 5] == _TWO
        ):
            stop = i + 6
            code = _DRAW
    elif character == _MINUS and data[i - 1] == _ONE and data[i + 1] == _ZERO:
        start = i - 1
        stop = i + 2
        code = _WIN
    elif character == _MINUS and data[i - 1] == _ZERO and data[i + 1] == _ONE:
        start = i - 1
        stop = i + 2
        code = _LOSS
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
    """The hash of so many letters (see `hash_main_line`), behind which there is room."""
    for k in range(GROUP):
        letters[count + k] = 0
    code = np.int64(0)
    for k in range((count + GROUP - 1) // GROUP):
        word = eight_at(letters, GROUP * k) * MIX
        word ^= word >> _HALF_WORD
        code += np.int64(word) * WEIGHTS[np.uint64(k & WEIGHTS_MASK)]
    return code


@kernel
def hash_main_line(data: FixedCodes, marks: Codes, letters: Codes) -> int:
    """The hash of a main line without comments and variations, `data` (n,) with a blank before and behind it.

    Its letters, in room for n + 8, are those that name squares, pieces and castling. Words of eight letters (the first
    lowest, the last filled up with zeros) are multiplied by `MIX`, and the upper half is added to the lower one without
    carry. The hash is the sum of the k-th word times the k-th of 4096 random weights, which repeat, modulo 2^64:
    multilinear hashing, by which two games agree with a probability of about 2^-60.
    """
    count = 0
    for i in range(1, len(data) - 1):
        if marks[i] >> LETTER & 1 or _castles(data, i, 0):
            letters[count] = data[i]
            count += 1
    return _hash(letters, count)


@inner
def read_moves(data, marks, start, end, letters):
    """Read movetext from `start` to the next tag section.

    `marks` are those of `mark_bytes`; `letters` is room for as many bytes as `data` has and 8 more. Returns status,
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
                return (
                    status,
                    i,
                    count_marked(marks, start, i, NEWLINE),
                    result,
                    _hash(letters, count),
                )
            gap = i + 1
        elif character == _SEMICOLON or (character == _PERCENT and data[i - 1] == _NEWLINE):
            i = next_marked(marks, i, end, NEWLINE)
            continue
        else:
            if depth == 0 and _castles(data, i, gap):
                letters[count] = character
                count += 1
            code = _result_at(data, i, gap)
            if code != _NONE:
                result = code
                decided = min(decided, i)
            depth = max(0, depth + (character == _LEFT) - (character == _RIGHT))
            gap = i + 1 if character == _PERCENT else gap
        i += 1


# Why scanning stopped, besides INCOMPLETE and SLOW_PATH.
ROWS_FULL: Final = 3
STRINGS_FULL: Final = 4

POSITION, LINE, ROWS, UNSETTLED, STRINGS = range(5)  # of `state`
NO_TAG: Final = 8  # added to the code of a result when there was no Result tag

_RESULT_BYTES: Final = np.frombuffer(b"".join(RESULTS), np.uint8)
_RESULT_STARTS: Final = np.cumsum([0, *(len(result) for result in RESULTS)])


@flat
def _number_values(data, spans, last_values, codes, row, count, slots, starts, characters):
    """Fill row `row` of `codes` with the numbers of a game's values; returns how many strings there are then.

    `last_values` (COLUMNS, 3) are start, end and number of each column's last value, which is often the next one too.
    """
    for column in range(COLUMNS):
        start = spans[column, 0]
        stop = spans[column, 1]
        code = np.int32(0)
        if start < stop:
            if same_bytes(data, start, stop, data, last_values[column, 0], last_values[column, 1]):
                code = np.int32(last_values[column, 2])
            else:
                word = hash_of(data, start, stop)
                code = number_of(data, start, stop, word, count, slots, starts, characters)
                count += code == count
                last_values[column, 0] = start
                last_values[column, 1] = stop
                last_values[column, 2] = code
        codes[row, column] = code
    return count


@kernel
def scan_games(
    data: FixedCodes, marks: Codes, room: Codes, state: Places, lines: Places, moves: Places, codes: IndexRows,
    unsettled: PlaceRows, slots: Places, starts: Places, characters: Codes,
) -> int:  # fmt: skip
    """Read games from `data[state[POSITION]:]`, where a tag begins in line `state[LINE]`.

    `marks` (n,) are those of `data` (see `mark_bytes`), `room` (n + 8,) is for the letters of moves. Of each game row
    `state[ROWS]` of `lines` (n,) gets its first line, of `moves` (n,) the hash of its moves, and of `codes` (n,
    COLUMNS) the numbers of its tags' values among the strings of `slots` to `characters` (see `strings`), 0 being the
    empty string. Rows of `unsettled` (n, 2) tell the games whose moves end with
    another result than the tag says: (row, code in RESULTS, plus NO_TAG without a tag). `state` is kept up to date.
    Returns why it stopped before the game at `state[POSITION]`: INCOMPLETE, SLOW_PATH, ROWS_FULL or STRINGS_FULL.
    """
    end = len(data)
    spans = np.empty((COLUMNS, 2), np.int64)
    ahead = np.empty((COLUMNS, 2), np.int64)
    last_values = np.zeros((COLUMNS, 3), np.int64)
    stop = tag_lines = next_stop = next_lines = 0
    more = next_more = known_tags = False
    while True:
        if not known_tags:
            status, stop, tag_lines, more = read_tags(data, marks, state[POSITION], end, spans)
            if status != DONE:
                return status
        move_lines = result = code = 0
        next_game = more
        if next_game:  # which is certain where both name their players without a blank line between
            status, next_stop, next_lines, next_more = read_tags(data, marks, stop, end, ahead)
            if not names_players(spans) or (status == DONE and not names_players(ahead)):
                return SLOW_PATH
        else:
            status, stop, move_lines, result, code = read_moves(data, marks, stop, end, room)
        if status != DONE:
            return status
        row = state[ROWS]
        count = state[STRINGS]
        if row == len(lines):
            return ROWS_FULL
        if count + COLUMNS >= len(starts) or starts[count] + stop - state[POSITION] > len(
            characters
        ):
            return STRINGS_FULL
        lines[row] = state[LINE]
        moves[row] = code
        state[STRINGS] = _number_values(
            data, spans, last_values, codes, row, count, slots, starts, characters
        )
        start = spans[RESULT, 0]
        first = _RESULT_STARTS[result]
        last = _RESULT_STARTS[result + 1]
        agrees = start >= 0 and same_bytes(
            data, start, spans[RESULT, 1], _RESULT_BYTES, first, last
        )
        if result > 0 and not agrees:
            unsettled[state[UNSETTLED], 0] = row
            unsettled[state[UNSETTLED], 1] = result if start >= 0 else result + NO_TAG
            state[UNSETTLED] += 1
        state[ROWS] += 1
        state[POSITION] = stop
        state[LINE] += tag_lines + move_lines
        known_tags = next_game
        if next_game:
            spans, ahead = ahead, spans
            stop = next_stop
            tag_lines = next_lines
            more = next_more
