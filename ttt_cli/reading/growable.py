"""Columns of whole numbers that grow, in few bytes."""

from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.reading.column import Codes

Value = TypeVar("Value", bound=np.generic)
_PIECE: Final = 1 << 20  # numbers looked at at a time


class GrowableCodes:
    """Numbers one after the other, none below 0, in the fewest bytes that hold them; or of the `dtype` given."""

    def __init__(self, dtype: type[np.integer[Any]] | None = None) -> None:
        self._dtype = dtype
        self._count = 0
        self._room: Codes = np.empty(0, dtype or np.uint8)  # what is not used of it takes no memory

    def __len__(self) -> int:
        return self._count

    def add(self, values: Codes) -> None:
        """Put these behind the others."""
        kind = self._dtype or narrowest(int(values.max(initial=0)))
        count, size = self._count + len(values), len(self._room)
        if count > size or not np.can_cast(kind, self._room.dtype):
            room = np.empty(
                max(count, 2 * size) if count > size else size, np.promote_types(kind, self._room.dtype)
            )
            room[: self._count] = self._room[: self._count]
            self._room = room
        self._room[self._count : count] = values
        self._count = count

    def whole(self) -> Codes:
        """All numbers, shape (n,)."""
        if len(self._room) > self._count:
            self._room = self._room[: self._count].copy()
        return self._room

    def renumber(self, numbers: Codes) -> None:
        """Put `numbers[k]` in the place of each k."""
        self._room = spread(numbers if self._dtype else narrow(numbers), self.whole())


def spread(values: NDArray[Value], codes: Codes) -> NDArray[Value]:
    """`values[codes]`, shape (n,)."""
    found = np.empty(len(codes), values.dtype)
    for start in range(0, len(codes), _PIECE):  # numpy would make all codes larger at once
        found[start : start + _PIECE] = values[codes[start : start + _PIECE]]
    return found


def narrowest(largest: int) -> np.dtype[np.integer[Any]]:
    """The smallest of four types that holds numbers from 0 up to that one."""
    if largest < 1 << 16:
        return np.dtype(np.uint8 if largest < 1 << 8 else np.uint16)
    return np.dtype(np.int32 if largest < 1 << 31 else np.int64)


def narrow(codes: Codes) -> Codes:
    """The same numbers, none below 0, in the fewest bytes that hold them."""
    return codes.astype(narrowest(int(codes.max(initial=0))), copy=False)


def spread_some(values: NDArray[Value], codes: Codes) -> NDArray[Value]:
    """As `spread`, in the memory of one where all are 0."""
    return spread(values, codes) if values.any() else np.broadcast_to(values.dtype.type(0), len(codes))


def counts_of(codes: Codes, kinds: int) -> list[int]:
    """How often each of the numbers from 0 up to `kinds` occurs."""
    counts = np.zeros(kinds, np.int64)
    for start in range(0, len(codes), _PIECE):  # numpy would make all of them larger at once
        counts += np.bincount(codes[start : start + _PIECE], minlength=kinds)
    found: list[int] = counts.tolist()
    return found
