"""Columns in few bytes: the dictionary-encoded one, whole numbers that grow, and what numbers values."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids, Places

Codes = NDArray[np.integer[Any]]
V = TypeVar("V", bound=Hashable)
V_co = TypeVar("V_co", bound=Hashable, covariant=True)
Value = TypeVar("Value", bound=np.generic)
_PIECE: Final = 1 << 20  # numbers looked at at a time


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
    """`values[codes]`, shape (n,); in the memory of one where the codes are."""
    if alike(codes) and len(codes):
        return np.broadcast_to(values[codes[0]], len(codes))
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


def alike(column: NDArray[Any]) -> bool:
    """Whether all entries of a column lie in the memory of one."""
    return column.strides == (0,)


def chosen(column: NDArray[Value], rows: NDArray[Any]) -> NDArray[Value]:
    """Some rows of a column, by their places; one of which all are alike stays in the memory of one."""
    return np.broadcast_to(column[:1], len(rows)) if alike(column) and len(column) else column[rows]


def concatenated(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Columns after one another; in the memory of one entry where all are alike."""
    parts = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    if all(alike(part) and part[0] == parts[0][0] for part in parts):
        return np.broadcast_to(parts[0][0], sum(map(len, parts)))
    return np.concatenate(parts)


def counts_of(codes: Codes, kinds: int) -> list[int]:
    """How often each of the numbers from 0 up to `kinds` occurs."""
    counts = np.zeros(kinds, np.int64)
    for start in range(0, len(codes), _PIECE):  # numpy would make all of them larger at once
        counts += np.bincount(codes[start : start + _PIECE], minlength=kinds)
    found: list[int] = counts.tolist()
    return found
