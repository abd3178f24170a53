"""Distinct byte strings of a file, numbered by compiled code; each becomes an object once."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.pgn_words import fill_slots, number_word

_COUNT: Final = 1 << 14
_LETTERS: Final = 1 << 18  # bytes


class Words:
    """`values` are the distinct words in the order of their numbers; the first, 0, is empty.

    `arrays` are what the kernels keep: slots, hashes, starts, letters (see `kernels.pgn_words`).
    """

    def __init__(self) -> None:
        self.values: list[bytes] = []
        self._hashes = np.empty(_COUNT, np.int64)
        self._starts = np.zeros(_COUNT + 1, np.int64)
        self._letters = np.empty(_LETTERS, np.uint8)
        self._slots = np.full(2 * _COUNT, -1, np.int32)
        self.number(b"")

    def __len__(self) -> int:
        return len(self.values)

    @property
    def arrays(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
        """Slots, hashes, starts and letters."""
        return self._slots, self._hashes, self._starts, self._letters

    def number(self, word: bytes) -> int:
        """The number of a word, old or new."""
        count = len(self)
        while count == len(self._hashes) or self._starts[count] + len(word) > len(self._letters):
            self.grow()
        number = number_word(np.frombuffer(word, np.uint8), count, *self.arrays)
        if number == count:
            self.values.append(word)
        return int(number)

    def take(self, count: int) -> None:
        """Learn the words that the kernels added, up to `count` in all."""
        for number in range(len(self), count):
            first, last = self._starts[number : number + 2]
            self.values.append(self._letters[first:last].tobytes())

    def grow(self) -> None:
        """Make room for twice as many words and letters."""
        room = 2 * len(self._hashes)
        self._hashes = np.resize(self._hashes, room)
        self._starts = np.resize(self._starts, room + 1)
        self._letters = np.resize(self._letters, 2 * len(self._letters))
        self._slots = np.full(2 * room, -1, np.int32)
        fill_slots(len(self), self._slots, self._hashes)
