"""Distinct byte strings of a file, numbered by compiled code."""

from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids, Places
from ttt_cli.kernels.scanning.strings import fill_slots, number_strings
from ttt_cli.reading.column import ByteStrings

Number = TypeVar("Number", np.int64, np.uint8)

_COUNT: Final = 1 << 14
_CHARACTERS: Final = 1 << 18  # bytes


class InternedStrings(ByteStrings):
    """Byte strings by the order in which they were first met; the first, 0, is empty.

    `arrays` are what the kernels keep: slots, starts, characters (see `kernels.scanning.strings`).
    """

    def __init__(self) -> None:
        super().__init__(np.zeros(_COUNT + 1, np.int64), np.empty(_CHARACTERS, np.uint8))
        self._count = 0
        self._slots = np.full(2 * _COUNT, -1, np.int64)
        self.number(b"")

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[type[ByteStrings], tuple[Places, NDArray[np.uint8]]]:
        starts = self.starts[: self._count + 1]  # copies can be looked up and not be added to
        return ByteStrings, (starts, self.characters[: starts[-1]])

    @property
    def arrays(self) -> tuple[Places, Places, NDArray[np.uint8]]:
        """Slots, starts and characters."""
        return self._slots, self.starts, self.characters

    def ids(self, strings: ByteStrings) -> Ids:
        """The numbers of strings, old or new."""
        needed = int(strings.starts[-1] - strings.starts[0])
        while self._count + len(strings) >= len(self.starts) or self.starts[self._count] + needed > len(
            self.characters
        ):
            self.grow()
        numbers = np.empty(len(strings), np.int32)
        self._count = int(
            number_strings(strings.characters, strings.starts, numbers, self._count, *self.arrays)
        )
        return numbers

    def number(self, string: bytes) -> int:
        """The number of a string, old or new."""
        return int(self.ids(ByteStrings.of([string]))[0])

    def take(self, count: int) -> None:
        """Learn how many strings there are since the kernels added some."""
        self._count = count

    def grow(self) -> None:
        """Make room for twice as many strings and characters."""
        room = 2 * (len(self.starts) - 1)
        self.characters = _enlarged(self.characters, 2 * len(self.characters))
        self.starts = _enlarged(self.starts, room + 1)
        self._slots = np.full(2 * room, -1, np.int64)
        fill_slots(self._count, *self.arrays)


def _enlarged(values: NDArray[Number], room: int) -> NDArray[Number]:
    """A larger array that begins with these values; the rest takes no memory until it is used."""
    larger = np.empty(room, values.dtype)
    larger[: len(values)] = values
    return larger
