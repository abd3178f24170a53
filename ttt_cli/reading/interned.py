"""Distinct byte strings of a file, numbered by compiled code."""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.scanning.strings import fill_slots, number_word
from ttt_cli.reading.coded import Texts

Number = TypeVar("Number", np.int64, np.uint8)

_COUNT: Final = 1 << 14
_LETTERS: Final = 1 << 18  # bytes


class Words(Texts):
    """Texts by the order in which they were first met; the first, 0, is empty.

    `arrays` are what the kernels keep: slots, starts, letters (see `kernels.pgn_words`).
    """

    def __init__(self) -> None:
        super().__init__(np.zeros(_COUNT + 1, np.int64), np.empty(_LETTERS, np.uint8))
        self._count = 0
        self._slots = np.full(2 * _COUNT, -1, np.int64)
        self.number(b"")

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[type[Texts], tuple[NDArray[np.int64], NDArray[np.uint8]]]:
        starts = self._starts[: self._count + 1]  # copies can be looked up and not be added to
        return Texts, (starts, self._letters[: starts[-1]])

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
        """Slots, starts and letters."""
        return self._slots, self._starts, self._letters

    def number(self, word: bytes) -> int:
        """The number of a word, old or new."""
        while not self._has_room(len(word)):
            self.grow()
        number = int(number_word(np.frombuffer(word, np.uint8), self._count, *self.arrays))
        self._count += number == self._count
        return number

    def _has_room(self, letters: int) -> bool:
        """Whether there is room for another word of so many letters."""
        return self._count + 1 < len(self._starts) and self._starts[self._count] + letters <= len(
            self._letters
        )

    def take(self, count: int) -> None:
        """Learn how many words there are since the kernels added some."""
        self._count = count

    def grow(self) -> None:
        """Make room for twice as many words and letters."""
        room = 2 * (len(self._starts) - 1)
        self._letters = _enlarged(self._letters, 2 * len(self._letters))
        self._starts = _enlarged(self._starts, room + 1)
        self._slots = np.full(2 * room, -1, np.int64)
        fill_slots(self._count, *self.arrays)


def _enlarged(values: NDArray[Number], room: int) -> NDArray[Number]:
    """A larger array that begins with these values; the rest takes no memory until it is used."""
    larger = np.empty(room, values.dtype)
    larger[: len(values)] = values
    return larger
