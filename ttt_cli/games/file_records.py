"""The records of one file as numbers of distinct values: names and dates recur, so each is read only once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.records import Batch, Note
from ttt_cli.games.results import ResultKind

Ids = NDArray[np.int32]
_COLUMNS: Final = ("dates", "whites", "blacks", "results", "weights")


class Interner(dict[Hashable, int]):
    """Numbers distinct values in the order in which they are first asked for."""

    def __missing__(self, value: Hashable) -> int:
        number = self[value] = len(self)
        return number

    def ids(self, values: Sequence[Hashable]) -> Ids:
        """The numbers of values, shape (n,)."""
        return np.fromiter(map(self.__getitem__, values), np.int32, len(values))


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
        return np.concatenate([np.zeros(0, np.int32), *self._ids[column]])

    def lines(self) -> NDArray[np.int64]:
        """First line of each record, shape (records,)."""
        return np.concatenate([np.zeros(0, np.int64), *self._lines])
