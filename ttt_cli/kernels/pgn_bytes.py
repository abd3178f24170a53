"""Bytes of PGN: tags that are read, letters that are hashed, marks that are searched."""

from typing import Final

import numpy as np

from ttt_cli.kernels.arrays import Codes, FixedCodes
from ttt_cli.kernels.compile import flat, kernel

# Tags that are read; their values are the columns of records.
NAMES: Final = (
    *(b"Date", b"White", b"Black", b"Result", b"Event", b"Site", b"Round"),
    *(b"WhiteFideId", b"BlackFideId", b"Variant", b"TimeControl", b"SetUp", b"FEN", b"UTCDate"),
)
COLUMNS: Final = len(NAMES)
WHITE, BLACK, RESULT = 1, 2, 3
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
_NEWLINE, _UNBRACE, _MINUS, _COLON, _EQUAL, _AT, _X, _QUOTE, _BACKSLASH, _UNDERSCORE = b'\n}-:=@x"\\_'
_OPEN, _BRACE, _SEMICOLON, _PERCENT, _SLASH, _STAR, _LEFT, _RIGHT = b"[{;%/*()"
_A_LOWER, _H_LOWER, _Z_LOWER, _A, _N, _Q, _Z, _ZERO, _ONE, _EIGHT, _NINE = b"ahzANQZ0189"


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
def _is_letter(before, here, behind):
    goes_on = _is_file(behind) | _is_rank(behind) | _is_link(behind) | (behind == _MINUS)
    rank = _is_rank(here) & (_is_file(before) | _is_piece(before))
    piece = _is_piece(here) & (goes_on | _is_rank(before) | _is_link(before))
    return (_is_file(here) & goes_on) | rank | piece


@flat
def _is_special(byte):
    bracket = (byte == _OPEN) | (byte == _BRACE) | (byte == _LEFT) | (byte == _RIGHT)
    return (
        bracket
        | (byte == _MINUS)
        | (byte == _SLASH)
        | (byte == _STAR)
        | (byte == _SEMICOLON)
        | (byte == _PERCENT)
    )


@flat
def _is_name(byte):
    lower, upper = (byte >= _A_LOWER) & (byte <= _Z_LOWER), (byte >= _A) & (byte <= _Z)
    return lower | upper | ((byte >= _ZERO) & (byte <= _NINE)) | (byte == _UNDERSCORE)


@flat
def _bit(true, bit):
    return np.uint8(true) << np.uint8(bit)


@flat
def mark_of(before, here, behind):
    """The mark of a byte between two others."""
    newline = here == _NEWLINE
    return (
        _bit(_is_letter(before, here, behind), LETTER)
        | _bit(_is_special(here), SPECIAL)
        | _bit(newline, NEWLINE)
        | _bit(newline | (here == _UNBRACE), TEXT_END)
        | _bit(newline | (here == _QUOTE) | (here == _BACKSLASH), VALUE_END)
        | _bit(_is_name(here), NAME_END) ^ np.uint8(1 << NAME_END)
    )


@kernel
def mark_bytes(data: FixedCodes, marks: Codes) -> None:
    """Fill `marks` (n,) for `data` (n,); the first and the last byte, which have one neighbour, are left unmarked."""
    marks[0] = marks[len(data) - 1] = 0
    for i in range(1, len(data) - 1):
        marks[i] = mark_of(data[i - 1], data[i], data[i + 1])


@flat
def eight_at(array, i):
    """Eight bytes from offset `i` on as an integer, by one load."""
    first = np.uint64(i)
    word = np.uint64(array[first])
    word |= np.uint64(array[first + np.uint64(1)]) << np.uint64(8)
    word |= np.uint64(array[first + np.uint64(2)]) << np.uint64(16)
    word |= np.uint64(array[first + np.uint64(3)]) << np.uint64(24)
    word |= np.uint64(array[first + np.uint64(4)]) << np.uint64(32)
    word |= np.uint64(array[first + np.uint64(5)]) << np.uint64(40)
    word |= np.uint64(array[first + np.uint64(6)]) << np.uint64(48)
    word |= np.uint64(array[first + np.uint64(7)]) << np.uint64(56)
    return word


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
