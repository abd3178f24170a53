"""Distinct byte strings numbered in the order in which they are met: a hash table in arrays.

`slots` holds numbers of words, -1 where free, its size a power of two; word k is `letters` from `starts[k]`
to `starts[k + 1]`, with `hashes[k]`. Who calls makes sure that there is room.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import inner, kernel

_OFFSET: Final = -3750763034362895579  # 64-bit FNV-1a
_PRIME: Final = 1099511628211


@inner
def _hash(data, start, stop):
    code = _OFFSET
    for i in range(start, stop):
        code = (code ^ np.int64(data[i])) * _PRIME
    return code ^ (code >> 29)


@inner
def same_bytes(data, start, stop, other, first, last):
    """Whether `data[start:stop]` and `other[first:last]` are equal."""
    length = stop - start
    if last - first != length:
        return False
    i = 0
    while i < length and data[start + i] == other[first + i]:
        i += 1
    return i == length


@inner
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
