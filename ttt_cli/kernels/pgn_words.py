"""Distinct byte strings numbered in the order in which they are met: a hash table in arrays.

`slots` holds numbers of words, -1 where free, its size a power of two; word k is `letters` from `starts[k]`
to `starts[k + 1]`, with `hashes[k]`. Who calls makes sure that there is room.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import flat, kernel
from ttt_cli.kernels.pgn_marks import eight_at

_MULTIPLIER: Final = -7046029254386353131  # 2^64 over the golden ratio
_WORD: Final = 8  # bytes


@flat
def _word_at(data, start, stop):
    """The first 8 of the bytes `data[start:stop]`, which are not none, as an integer; by one load if possible."""
    count = stop - start
    first = np.uint64(start)
    if count < _WORD and start + _WORD > len(data):
        word = np.uint64(0)
        for k in range(count):
            word |= np.uint64(data[first + np.uint64(k)]) << np.uint64(8 * k)
        return np.int64(word)
    word = eight_at(data, start)
    if count < _WORD:
        word &= (np.uint64(1) << np.uint64(8 * count)) - np.uint64(1)
    return np.int64(word)


@flat
def _hash(data, start, stop):
    code = stop - start
    for first in range(start, stop, _WORD):
        code = (code ^ _word_at(data, first, stop)) * _MULTIPLIER
        code ^= code >> 32
    return code


@flat
def same_bytes(data, start, stop, other, first, last):
    """Whether `data[start:stop]` and `other[first:last]` are equal."""
    length = stop - start
    if last - first != length:
        return False
    k = 0
    while k < length and _word_at(data, start + k, stop) == _word_at(other, first + k, last):
        k += _WORD
    return k >= length


@flat
def number_of(data, start, stop, count, slots, hashes, starts, letters):
    """The number of the word at `data[start:stop]`; `count`, how many there were, if it is a new one."""
    code = _hash(data, start, stop)
    mask = len(slots) - 1
    slot = code & mask
    while slots[slot] >= 0:
        word = slots[slot]
        if hashes[word] == code and same_bytes(data, start, stop, letters, starts[word], starts[word + 1]):
            return word
        slot = (slot + 1) & mask
    slots[slot] = count
    hashes[count] = code
    first = starts[count]
    for i in range(stop - start):
        letters[first + i] = data[start + i]
    starts[count + 1] = first + stop - start
    return np.int32(count)


@kernel("int32(Array(uint8, 1, 'C', True), int64, int32[::1], int64[::1], int64[::1], uint8[::1])")
def number_word(word, count, slots, hashes, starts, letters):
    """The number of one word; `count`, how many there were, if it is a new one."""
    return number_of(word, 0, len(word), count, slots, hashes, starts, letters)


@kernel("void(int64, int32[::1], int64[::1])")
def fill_slots(count, slots, hashes):
    """Put the first `count` words into free slots."""
    mask = len(slots) - 1
    for word in range(count):
        slot = hashes[word] & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word
