"""Distinct byte strings numbered in the order in which they are met: a hash table in arrays, with room enough.

String k is `characters` from `starts[k]` to `starts[k + 1]`. A slot, of which there is a power of two, is -1 where it
is free, else the upper half of the hash of a string and, as the lower half, its number.
"""

from typing import Final

import numpy as np

from ttt_cli.kernels.arrays import Codes, FixedCodes, FixedPlaces, Index, Places
from ttt_cli.kernels.compile import flat, kernel

_MULTIPLIER: Final = -7046029254386353131  # 2^64 over the golden ratio
_WORD: Final = 8  # bytes
_FREE: Final = -1
_LOWER_HALF: Final = (1 << 32) - 1
_AT_ONCE: Final = 256  # strings looked up together


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
def hash_of(data, start, stop):
    """The hash of the string at `data[start:stop]`."""
    code = stop - start
    for first in range(start, stop, _WORD):
        code = (code ^ _word_at(data, first, stop)) * _MULTIPLIER
        code ^= code >> 32
    return code


@flat
def same_bytes(data, start, stop, characters, first, last):
    """Whether `data[start:stop]` and `characters[first:last]` are equal."""
    length = stop - start
    if last - first != length:
        return False
    k = 0
    while k < length and _word_at(data, start + k, stop) == _word_at(characters, first + k, last):
        k += _WORD
    return k >= length


@flat
def number_of(data, start, stop, code, count, slots, starts, characters):
    """The number of the string at `data[start:stop]` with that hash; `count`, how many there were, if it is new."""
    mask = len(slots) - 1
    slot = code & mask
    while slots[slot] != _FREE:
        word = np.int32(slots[slot])
        alike = slots[slot] >> 32 == code >> 32
        if alike and same_bytes(data, start, stop, characters, starts[word], starts[word + 1]):
            return word
        slot = (slot + 1) & mask
    slots[slot] = _entry(code, count)
    first = starts[count]
    for i in range(stop - start):
        characters[first + i] = data[start + i]
    starts[count + 1] = first + stop - start
    return np.int32(count)


@flat
def _entry(code, number):
    return code & ~_LOWER_HALF | number


@flat
def _look_up(data, bounds, hashes, numbers, slots, starts, characters):
    """Fill `hashes` and `numbers` (n,) with those of strings, -1 for what is new; memory is asked for many at once."""
    mask = len(slots) - 1
    for k in range(len(numbers)):
        hashes[k] = hash_of(data, bounds[k], bounds[k + 1])
    for k in range(len(numbers)):
        slot = hashes[k] & mask
        while slots[slot] != _FREE and slots[slot] >> 32 != hashes[k] >> 32:
            slot = (slot + 1) & mask
        numbers[k] = np.int32(slots[slot])
    for k in range(len(numbers)):
        word = numbers[k]
        if word >= 0:
            first = starts[word]
            last = starts[word + 1]
            if not same_bytes(data, bounds[k], bounds[k + 1], characters, first, last):
                numbers[k] = -1


@kernel
def number_strings(
    data: FixedCodes, bounds: FixedPlaces, numbers: Index, count: int, slots: Places, starts: Places,
    characters: Codes,
) -> int:  # fmt: skip
    """Fill `numbers` (n,) with those of `data` from `bounds[k]` to `bounds[k + 1]`; returns how many there are then."""
    hashes = np.empty(_AT_ONCE, np.int64)
    for first in range(0, len(numbers), _AT_ONCE):
        last = min(first + _AT_ONCE, len(numbers))
        at_once = bounds[first : last + 1]
        _look_up(data, at_once, hashes, numbers[first:last], slots, starts, characters)
        for k in range(first, last):
            if numbers[k] < 0:
                code = hashes[k - first]
                numbers[k] = number_of(
                    data, bounds[k], bounds[k + 1], code, count, slots, starts, characters
                )
                count += numbers[k] == count
    return count


@kernel
def fill_slots(count: int, slots: Places, starts: Places, characters: Codes) -> None:
    """Put the first `count` strings into free slots."""
    mask = len(slots) - 1
    for word in range(count):
        code = hash_of(characters, starts[word], starts[word + 1])
        slot = code & mask
        while slots[slot] != _FREE:
            slot = (slot + 1) & mask
        slots[slot] = _entry(code, word)
