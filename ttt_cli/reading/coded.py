"""Columns as numbers of words, and words in two arrays: no object for each value, little to hand over."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer[Any]]


class Texts(Sequence[bytes]):
    """Byte strings; the k-th is `letters` from `starts[k]` to `starts[k + 1]`."""

    def __init__(self, starts: NDArray[np.int64], letters: NDArray[np.uint8]) -> None:
        self._starts = starts
        self._letters = letters

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(f"no text has number {index}, there are {len(self)}")
        return self._letters[self._starts[index] : self._starts[index + 1]].tobytes()

    def pick(self, numbers: Codes) -> list[bytes]:
        """The texts of these numbers."""
        bounds = zip(self._starts[:-1][numbers].tolist(), self._starts[1:][numbers].tolist(), strict=True)
        letters = self._letters.data
        return [bytes(letters[start:stop]) for start, stop in bounds]


class Coded(Sequence[Hashable]):
    """A column of values as numbers, shape (n,), of words in a sequence, which may grow afterwards."""

    def __init__(self, words: Sequence[Hashable], codes: Codes) -> None:
        self.words = words
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Hashable: ...
    @overload
    def __getitem__(self, index: slice) -> Coded: ...
    def __getitem__(self, index: int | slice) -> Hashable | Coded:
        if isinstance(index, slice):
            return Coded(self.words, self.codes[index])
        return self.words[int(self.codes[index])]

    def __iter__(self) -> Iterator[Hashable]:
        if isinstance(self.words, Texts):
            return iter(self.words.pick(self.codes))
        return map(self.words.__getitem__, self.codes.tolist())
