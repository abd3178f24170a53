"""The records of one file as numbers of distinct values: names and dates recur, so each is read only once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.records import Batch, Note
from ttt_cli.games.results import ResultKind

Ids = NDArray[np.int32]
_COLUMNS: Final = ("dates", "whites", "blacks", "results", "weights")


class Coded(Sequence[bytes]):
    """A column of values as numbers, shape (n,), of words in a list, which may grow afterwards."""

    def __init__(self, words: list[bytes], codes: Ids) -> None:
        self.words = words
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Coded: ...
    def __getitem__(self, index: int | slice) -> bytes | Coded:
        if isinstance(index, slice):
            return Coded(self.words, self.codes[index])
        return self.words[int(self.codes[index])]


class Interner(dict[Hashable, int]):
    """Numbers distinct values in the order in which they are first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._words: list[bytes] = []  # of the Coded columns seen last
        self._numbers: Ids = np.zeros(0, np.int32)  # of these words, -1 where not asked for

    def __missing__(self, value: Hashable) -> int:
        number = self[value] = len(self)
        return number

    def ids(self, values: Sequence[Hashable]) -> Ids:
        """The numbers of values, shape (n,)."""
        if isinstance(values, Coded):
            return self._recoded(values)
        return np.fromiter(map(self.__getitem__, values), np.int32, len(values))

    def _recoded(self, column: Coded) -> Ids:
        """Our numbers instead of those of the column, without an object for each value."""
        if column.words is not self._words:
            self._words, self._numbers = column.words, np.zeros(0, np.int32)
        if len(self._numbers) < len(self._words):
            room = np.full(2 * len(self._words), -1, np.int32)
            room[: len(self._numbers)] = self._numbers
            self._numbers = room
        numbers = self._numbers[column.codes]
        unknown = np.unique(column.codes[numbers < 0])
        if len(unknown):
            self._numbers[unknown] = [self[self._words[code]] for code in unknown.tolist()]
            numbers = self._numbers[column.codes]
        return numbers


class FileRecords:
    """Gathers batches of one file; nothing is judged before the whole file is seen.

    `dates`, `names` (both players'), `results` and `weights` hold the distinct values; `rejects` are the
    records that the reader could not split into columns, `notes` the oddities it met.
    """

    def __init__(self, path: str, kind: ResultKind = "text") -> None:
        self.path = path
        self.kind = kind
        self.dates, self.names, self.results, self.weights = (Interner() for _ in range(4))
        self.rejects: list[Note] = []
        self.notes: list[Note] = []
        self._lines: list[NDArray[np.int64]] = []
        self._ids: dict[str, list[Ids]] = {name: [] for name in _COLUMNS}

    @property
    def rows(self) -> int:
        """Records seen, those rejected by the reader included."""
        return sum(map(len, self._lines)) + len(self.rejects)

    def add(self, batch: Batch) -> None:
        """Take in the next records."""
        self.rejects += batch.rejects
        self.notes += batch.notes
        self._lines.append(np.asarray(batch.lines, np.int64))
        self._ids["dates"].append(self.dates.ids(batch.dates))
        self._ids["whites"].append(self.names.ids(batch.whites))
        self._ids["blacks"].append(self.names.ids(batch.blacks))
        self._ids["results"].append(self.results.ids(batch.results))
        if batch.weights is not None:
            self._ids["weights"].append(self.weights.ids(batch.weights))

    def ids(self, column: str) -> Ids:
        """Which distinct value each record has in a column of the batches, shape (records,)."""
        self._ids[column] = [np.concatenate([np.zeros(0, np.int32), *self._ids[column]])]
        return self._ids[column][0]

    def lines(self) -> NDArray[np.int64]:
        """First line of each record, shape (records,)."""
        self._lines = [np.concatenate([np.zeros(0, np.int64), *self._lines])]
        return self._lines[0]
