"""The columns of one file's records after those of another, in little memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.records import narrow
from ttt_cli.games.validate import Judged
from ttt_cli.reading.batches import FAULT, Note

Column = NDArray[Any]
_EMPTY: Final = np.uint8(0)  # the number of the empty text
_USUAL: Final = {"weight": np.float64(1.0), "offset": np.float64(0.0), "moves": np.int64(0)}


class FileColumns:
    """Gathers the columns of files as `Judged` has them; `further` are the names of those that may be left out."""

    def __init__(self, further: Iterable[str]) -> None:
        self._further = tuple(further)
        self._parts: dict[str, list[Column | None]] = {}  # None: the usual value throughout
        self._sizes: list[int] = []

    @property
    def starts(self) -> NDArray[np.int64]:
        """The number of the first record of each file, and of all records, shape (files + 1,)."""
        return np.cumsum([0, *self._sizes], dtype=np.int64)

    def add(self, judged: Judged, rejects: Sequence[Note]) -> NDArray[np.int8]:
        """Take in a file; what could not be split into columns are records too, and stand where their lines do.

        Returns the faults of all its records.
        """
        columns: dict[str, Column | None] = {
            **dict.fromkeys(self._further),
            **judged.columns,
            "line": judged.line,
            "moves": judged.moves if judged.moves.any() else None,
            "weight": judged.weight,
            "offset": judged.offset,
            "fault": judged.fault,
        }
        if rejects:
            columns = _with_rejects(columns, judged.line, rejects)
        fault = columns["fault"]
        assert fault is not None
        for name, column in columns.items():
            self._parts.setdefault(name, []).append(column)
        self._sizes.append(len(fault))
        return fault

    def joined(self) -> dict[str, Column]:
        """All columns, shape (records,); those that hold the usual value throughout have stride 0."""
        sizes = self._sizes
        return {name: _joined(name, self._parts.pop(name), sizes) for name in list(self._parts)}


def _with_rejects(
    columns: dict[str, Column | None], lines: Column, rejects: Sequence[Note]
) -> dict[str, Column | None]:
    places = np.array([note.line for note in rejects], np.int64)
    order = np.argsort(np.concatenate([lines, places]), kind="stable")
    faults = np.array([FAULT[note.reason] for note in rejects], np.int8)
    added: dict[str, Any] = {"line": narrow(places), "fault": faults, "weight": 1.0}

    def extended(name: str, column: Column) -> Column:
        more = np.broadcast_to(np.asarray(added.get(name, 0)), len(rejects))
        return np.concatenate([column, more.astype(more.dtype if name == "line" else column.dtype)])[order]

    return {name: None if column is None else extended(name, column) for name, column in columns.items()}


def _joined(name: str, parts: list[Column | None], sizes: list[int]) -> Column:
    if all(part is None for part in parts):
        return np.broadcast_to(_USUAL.get(name, _EMPTY), sum(sizes))
    if len(parts) == 1:
        return np.asarray(parts[0])
    filled = [
        np.broadcast_to(_USUAL.get(name, _EMPTY), size) if part is None else part
        for part, size in zip(parts, sizes, strict=True)
    ]
    return np.concatenate(filled)
