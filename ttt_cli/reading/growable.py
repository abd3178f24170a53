"""Columns of whole numbers that grow, in few bytes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ttt_cli.reading.column import Codes

_PIECE: Final = 1 << 20  # numbers looked at at a time


class GrowableCodes:
    """Numbers one after the other, none below 0, in the fewest bytes that hold them; or of the `dtype` given."""

    def __init__(self, dtype: type[np.integer[Any]] | None = None) -> None:
        self._dtype = dtype
        self._parts: list[Codes] = [np.empty(0, dtype or np.uint8)]

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def add(self, values: Codes) -> None:
        """Put these behind the others."""
        self._parts.append(values.astype(self._dtype or narrowest(int(values.max(initial=0)))))

    def whole(self) -> Codes:
        """All numbers, shape (n,)."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]

    def renumber(self, numbers: Codes) -> None:
        """Put `numbers[k]` in the place of each k."""
        numbers, whole = numbers if self._dtype else narrow(numbers), self.whole()
        starts = range(0, max(1, len(whole)), _PIECE)
        self._parts = [numbers[whole[start : start + _PIECE]] for start in starts]


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
