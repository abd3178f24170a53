"""Dictionary-encoded columns: codes of distinct values, and dictionaries that number these.

A *code* is an index in the distinct values of a file (`Strings`, `CodedColumn`), a *number* an index in a `Dictionary`,
which is of all files of a reading. Ids of players, as of FIDE, are texts in the files and numbered like others.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Any, Final, Generic, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from ttt_cli.support.arrays import Ids, Places

Codes = NDArray[np.integer[Any]]
V = TypeVar("V", bound=Hashable)
V_co = TypeVar("V_co", bound=Hashable, covariant=True)
Value = TypeVar("Value", bound=np.generic)
_PIECE: Final = 1 << 20  # rows processed at a time
_AT_ONCE: Final = 1 << 12  # strings decoded together
_COUNT: Final = 1 << 14  # the initial capacity in strings
_CHARACTERS: Final = 1 << 18  # the same in bytes


class StringArrays(NamedTuple):
    """The arrays of `Strings` as in `kernels.strings`."""

    slots: Places  # hash table of the numbers of strings, -1 where empty
    starts: Places  # of each string among the characters, and the end of the last
    characters: NDArray[np.uint8]


class Strings:
    """Distinct byte strings of a file, numbered by compiled code in order of first occurrence; number 0 is empty.

    A copy in another process cannot grow.
    """

    def __init__(self) -> None:
        self._starts: Places = np.zeros(_COUNT + 1, np.int64)
        self._characters = np.empty(_CHARACTERS, np.uint8)
        self._slots: Places = np.full(2 * _COUNT, -1, np.int64)
        self.size = 0  # also set after kernels that add strings
        self.numbers_of([b""])

    def __len__(self) -> int:
        return self.size

    def __getstate__(self) -> dict[str, Any]:
        starts = self._starts[: self.size + 1]
        return self.__dict__ | {
            "_starts": starts,
            "_characters": self._characters[: starts[-1]],
            "_slots": self._slots[:0],
        }

    @property
    def arrays(self) -> StringArrays:
        """The arrays that compiled code reads and fills."""
        return StringArrays(self._slots, self._starts, self._characters)

    def texts(self, numbers: Codes) -> list[str]:
        """The strings of these numbers as texts (see `decode`), many at once if they are UTF-8."""
        from ttt_cli.reading.text import decode

        texts: list[str] = []
        characters = self._characters.data
        for first in range(0, len(numbers), _AT_ONCE):
            chosen = numbers[first : first + _AT_ONCE]
            starts = self._starts[chosen].tolist()
            stops = self._starts[chosen + 1].tolist()
            strings = [characters[start:stop] for start, stop in zip(starts, stops, strict=True)]
            try:
                decoded = b"\n".join(strings).decode().split("\n")
            except UnicodeDecodeError:
                decoded = []
            if len(decoded) != len(chosen):  # or one contains LF
                decoded = [decode(bytes(string)) for string in strings]
            texts += decoded
        return texts

    def holds(self, part: bytes) -> bool:
        """Whether any string may contain a part."""
        return part in self._characters[: self._starts[self.size]].tobytes()

    def arrow(self, numbers: Codes) -> Any:
        """The strings of these numbers as a binary Arrow array."""
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self._starts), pa.py_buffer(self._characters)]
        return pa.Array.from_buffers(pa.large_binary(), self.size, buffers).take(pa.array(numbers))

    def numbers_of(self, strings: Any) -> Ids:
        """Numbers of strings, old or new, shape (n,): of a list, or of a binary Arrow array without offset."""
        if isinstance(strings, list):
            starts = np.cumsum([0, *(len(string) for string in strings)], dtype=np.int64)
            characters = np.frombuffer(b"".join(strings), np.uint8)
        else:
            _, bounds, data = strings.buffers()  # to_numpy() would load pandas; nulls are empty
            starts = (
                np.frombuffer(bounds, np.int32, len(strings) + 1)
                if bounds
                else np.zeros(1, np.int32)
            )
            starts = starts.astype(np.int64)
            characters = np.frombuffer(data or b"", np.uint8)
        return self.numbers_between(characters, starts)

    def numbers_between(self, characters: NDArray[np.uint8], starts: Places) -> Ids:
        """Numbers of strings, old or new, shape (n,): string k is from `starts[k]` to `starts[k + 1]`."""
        from ttt_cli.kernels.strings import number_strings

        numbers = np.empty(len(starts) - 1, np.int32)
        needed = int(starts[-1] - starts[0])
        times = 1
        while self.size + len(numbers) >= times * (len(self._starts) - 1) or self._starts[
            self.size
        ] + needed > times * len(self._characters):
            times *= 2
        if times > 1:
            self.grow(times)
        self.size = int(number_strings(characters, starts, numbers, self.size, *self.arrays))
        return numbers

    def number(self, string: bytes) -> int:
        """The number of a string, old or new."""
        return int(self.numbers_of([string])[0])

    def grow(self, times: int = 2) -> None:
        """Make room for so many times as many strings and characters."""
        from ttt_cli.kernels.strings import fill_slots

        capacity = times * (len(self._starts) - 1)
        starts = self._starts
        characters = self._characters
        self._starts = np.empty(capacity + 1, np.int64)
        self._characters = np.empty(times * len(characters), np.uint8)
        self._starts[: len(starts)] = starts
        self._characters[: len(characters)] = characters
        self._slots = np.full(2 * capacity, -1, np.int64)
        fill_slots(self.size, *self.arrays)


class CodedColumn(Sequence[V_co]):
    """A column of values: `codes`, shape (n,), are indices of `values`."""

    def __init__(self, codes: Codes, values: Sequence[V_co]) -> None:
        self.codes = codes
        self.values = values

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> V_co: ...
    @overload
    def __getitem__(self, index: slice) -> "CodedColumn[V_co]": ...
    def __getitem__(self, index: int | slice) -> "V_co | CodedColumn[V_co]":
        if isinstance(index, slice):
            return CodedColumn(self.codes[index], self.values)
        return self.values[int(self.codes[index])]

    def __iter__(self) -> Iterator[V_co]:
        return map(self.values.__getitem__, self.codes.tolist())


class Dictionary(Generic[V]):
    """Numbers distinct values in order of first occurrence; `values` are those so far."""

    def __init__(self, *values: V) -> None:
        self.values: list[V] = []
        self._numbers: dict[V, int] = defaultdict(count().__next__)
        self.numbers_of(values)

    def numbers_of(self, values: Iterable[V]) -> Ids:
        """The numbers of values, new ones after the old."""
        numbers = np.fromiter(map(self._numbers.__getitem__, values), np.int32)
        new = list(islice(reversed(self._numbers), len(self._numbers) - len(self.values)))
        self.values += reversed(new)
        return numbers


def spread(values: NDArray[Value], codes: Codes) -> NDArray[Value]:
    """`values[codes]`, shape (n,), with stride 0 if the codes have it."""
    if has_stride_0(codes) and len(codes):
        return np.broadcast_to(values[codes[0]], len(codes))
    entries = np.empty(len(codes), values.dtype)
    for start in range(0, len(codes), _PIECE):  # numpy would make all codes larger at once
        entries[start : start + _PIECE] = values[codes[start : start + _PIECE]]
    return entries


def narrowest(largest: int) -> np.dtype[np.integer[Any]]:
    """The smallest of four integer types for numbers from 0 to `largest`."""
    if largest < 1 << 16:
        return np.dtype(np.uint8 if largest < 1 << 8 else np.uint16)
    return np.dtype(np.int32 if largest < 1 << 31 else np.int64)


def narrow(codes: Codes, *, copy: bool = False) -> Codes:
    """The same non-negative numbers in the smallest type."""
    return codes.astype(narrowest(int(codes.max(initial=0))), copy=copy)


def has_stride_0(column: NDArray[Any]) -> bool:
    """Whether a column is one entry in memory, repeated by stride 0."""
    return column.strides == (0,)


def rows_of_column(column: NDArray[Value], rows: NDArray[Any]) -> NDArray[Value]:
    """The entries of these rows, indices; stride 0 is kept."""
    if has_stride_0(column) and len(column):
        return np.broadcast_to(column[:1], len(rows))
    selected: NDArray[Value] = column[rows]
    return selected


def concatenated(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Columns concatenated, with stride 0 if all repeat the same entry."""
    parts = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    if all(has_stride_0(part) and part[0] == parts[0][0] for part in parts):
        return np.broadcast_to(parts[0][0], sum(len(part) for part in parts))
    return np.concatenate(parts)


def counts_of(codes: Codes, kinds: int) -> list[int]:
    """Counts of the codes from 0 to `kinds` - 1."""
    return [int(count) for count in count_codes(codes, kinds)]


def count_codes(codes: Codes, kinds: int) -> Places:
    """Counts (kinds,) of the codes from 0 to `kinds` - 1."""
    counts = np.zeros(kinds, np.int64)
    for start in range(0, len(codes), _PIECE):  # numpy would make all of them larger at once
        counts += np.bincount(codes[start : start + _PIECE], minlength=kinds)
    return counts
