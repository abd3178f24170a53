"""The dictionary-encoded column: values as numbers of distinct ones, and what numbers them."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids, Places

Codes = NDArray[np.integer[Any]]
V = TypeVar("V", bound=Hashable)
V_co = TypeVar("V_co", bound=Hashable, covariant=True)


class ByteStrings(Sequence[bytes]):
    """Byte strings without an object for each; the k-th is `characters` from `starts[k]` to `starts[k + 1]`."""

    def __init__(self, starts: Places, characters: NDArray[np.uint8]) -> None:
        self.starts = starts
        self.characters = characters

    @classmethod
    def of(cls, strings: Sequence[bytes]) -> "ByteStrings":
        """The same strings."""
        starts = np.cumsum([0, *map(len, strings)], dtype=np.int64)
        return ByteStrings(starts, np.frombuffer(b"".join(strings), np.uint8))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return self.pick(np.arange(*index.indices(len(self))))
        if not 0 <= index < len(self):
            raise IndexError(f"no string has number {index}, there are {len(self)}")
        return self.characters[self.starts[index] : self.starts[index + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.pick(np.arange(len(self))))

    def pick(self, numbers: Codes) -> list[bytes]:
        """The strings of these numbers."""
        bounds = zip(self.starts[:-1][numbers].tolist(), self.starts[1:][numbers].tolist(), strict=True)
        characters = self.characters.data
        return [bytes(characters[start:stop]) for start, stop in bounds]


class Column(Sequence[V_co]):
    """A column of values: `codes`, shape (n,), number those of `values`, which may grow afterwards."""

    def __init__(self, codes: Codes, values: Sequence[V_co]) -> None:
        self.codes = codes
        self.values = values

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> V_co: ...
    @overload
    def __getitem__(self, index: slice) -> "Column[V_co]": ...
    def __getitem__(self, index: int | slice) -> "V_co | Column[V_co]":
        if isinstance(index, slice):
            return Column(self.codes[index], self.values)
        return self.values[int(self.codes[index])]

    def __iter__(self) -> Iterator[V_co]:
        pick: Any = getattr(self.values, "pick", None)
        if pick is not None:  # at once
            return iter(pick(self.codes))
        return map(self.values.__getitem__, self.codes.tolist())


class _Numbers(dict[V, int]):
    """The number of each value; a new one gets the next number."""

    def __missing__(self, value: V) -> int:
        number = self[value] = len(self)
        return number


class Dictionary(Generic[V]):
    """Numbers distinct values in the order in which they first come; `values` are those so far."""

    def __init__(self, *values: V) -> None:
        self.values: list[V] = []
        self._numbers = _Numbers[V]()
        self.ids(values)

    def ids(self, values: Iterable[V]) -> Ids:
        """The numbers of values, new ones after the old."""
        known, before = self._numbers, len(self.values)
        numbers = np.fromiter(map(known.__getitem__, values), np.int32)
        new = list(islice(reversed(known), len(known) - before))
        new.reverse()
        self.values += new
        self._take(new)
        return numbers

    def _take(self, values: Sequence[V]) -> None:
        """Called with new values, each once."""
