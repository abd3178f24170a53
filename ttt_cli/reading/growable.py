"""Columns of whole numbers that grow in place, in few bytes, and are given up while they are read."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ttt_cli.reading.column import Codes

_LEAST: Final = 1 << 12  # numbers there is room for at first
_PIECE: Final = 1 << 20  # numbers looked at at a time


class GrowableCodes:
    """Numbers one after the other, none below 0, in the fewest bytes that hold them; or of the `dtype` given."""

    def __init__(self, dtype: type[np.integer[Any]] | None = None) -> None:
        self._fixed = dtype is not None
        self._room: Codes = np.empty(0, dtype or np.uint8)
        self._count = 0
        self._shown = False

    def __len__(self) -> int:
        return self._count

    def __getstate__(self) -> tuple[bool, Codes]:
        return self._fixed, self.whole()

    def __setstate__(self, state: tuple[bool, Codes]) -> None:
        self._fixed, self._room = state
        self._count, self._shown = len(self._room), True

    def add(self, values: Codes) -> None:
        """Put these behind the others."""
        stop = self._count + len(values)
        dtype = self._room.dtype
        if not self._fixed:
            dtype = max(dtype, narrowest(int(values.max(initial=0))), key=lambda one: one.itemsize)
        if self._shown or dtype != self._room.dtype or stop > len(self._room):
            room = np.empty(max(2 * stop, _LEAST), dtype)  # what is not written to takes no memory
            room[: self._count] = self._room[: self._count]
            self._room, self._shown = room, False
        self._room[self._count : stop] = values
        self._count = stop

    def seen(self) -> Codes:
        """All numbers, shape (n,), until the next change."""
        return self._room[: self._count]

    def whole(self) -> Codes:
        """All numbers, shape (n,), to be kept."""
        if not self._shown and self._count < len(self._room):
            self._room.resize(self._count, refcheck=False)  # nobody has seen it
        self._shown = True
        return self._room

    def renumber(self, numbers: Codes) -> None:
        """Put `numbers[k]` in the place of each k, in the memory of those that were there, if they fit."""
        numbers = numbers if self._fixed else narrow(numbers)
        old = self._room
        wider = numbers.dtype.itemsize != old.dtype.itemsize or self._shown
        room = np.empty(self._count, numbers.dtype) if wider else old
        for start in range(0, self._count, _PIECE):
            stop = min(start + _PIECE, self._count)
            room[start:stop] = numbers[old[start:stop]]
        self._room, self._shown = room, False


def narrowest(largest: int) -> np.dtype[np.integer[Any]]:
    """The smallest of four types that holds numbers from 0 up to that one."""
    if largest < 1 << 16:
        return np.dtype(np.uint8 if largest < 1 << 8 else np.uint16)
    return np.dtype(np.int32 if largest < 1 << 31 else np.int64)


def narrow(codes: Codes) -> Codes:
    """The same numbers, none below 0, in the fewest bytes that hold them."""
    return codes.astype(narrowest(int(codes.max(initial=0))), copy=False)


def counts_of(codes: Codes, kinds: int) -> list[int]:
    """How often each of the numbers from 0 up to `kinds` occurs."""
    counts = np.zeros(kinds, np.int64)
    for start in range(0, len(codes), _PIECE):  # numpy would make all of them larger at once
        counts += np.bincount(codes[start : start + _PIECE], minlength=kinds)
    found: list[int] = counts.tolist()
    return found
