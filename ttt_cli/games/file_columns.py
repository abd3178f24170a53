"""The columns of one file's records after those of another, in little memory."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Places
from ttt_cli.games.validate import Validated

Column = NDArray[Any]
_EMPTY: Final = np.uint8(0)  # the number of the empty text
_USUAL: Final = {
    "weight": np.float64(1.0),
    "offset": np.float64(0.0),
    "moves": np.int64(0),
    "neutral": np.False_,
}


class FileColumns:
    """Gathers the columns of files as `Validated` has them; `further` are the names of those that may be left out."""

    def __init__(self, further: Iterable[str]) -> None:
        self._further = tuple(further)
        self._parts: dict[str, list[Column | None]] = {}  # None: the usual value throughout
        self._sizes: list[int] = []

    @property
    def starts(self) -> Places:
        """The number of the first record of each file, and of all records, shape (files + 1,)."""
        return np.cumsum([0, *self._sizes], dtype=np.int64)

    def add(self, validated: Validated, lines: Column, reject_codes: Column) -> NDArray[np.int8]:
        """Take in a file; what could not be split into columns are records too, and stand where their lines do.

        `lines` and `reject_codes`, shape (rejects,), are of these. Returns the reject codes of all records of the file.
        """
        columns: dict[str, Column | None] = {
            **dict.fromkeys(self._further),
            **validated.columns,
            "line": validated.line,
            "moves": validated.moves if validated.moves.any() else None,
            "weight": validated.weight,
            "offset": validated.offset,
            "neutral": validated.neutral,
            "reject_code": validated.reject_code,
        }
        if len(lines):
            columns = _with_rejects(columns, validated.line, lines, reject_codes)
        reject_code = columns["reject_code"]
        assert reject_code is not None
        for name, column in columns.items():
            self._parts.setdefault(name, []).append(column)
        self._sizes.append(len(reject_code))
        return reject_code

    def joined(self) -> dict[str, Column]:
        """All columns, shape (records,); those that hold the usual value throughout have stride 0."""
        sizes = self._sizes
        return {name: _joined(name, self._parts.pop(name), sizes) for name in list(self._parts)}


def _with_rejects(
    columns: dict[str, Column | None], lines: Column, places: Column, reject_codes: Column
) -> dict[str, Column | None]:
    order = np.argsort(places, kind="stable")
    places, reject_codes = places[order], reject_codes[order]
    after = np.searchsorted(lines, places, side="right")
    added: dict[str, Any] = {"line": places, "reject_code": reject_codes, "weight": 1.0}

    def extended(name: str, column: Column) -> Column:
        more = added.get(name, 0)
        kind = np.result_type(column, more) if name == "line" else column.dtype
        return np.insert(column.astype(kind, copy=False), after, more)

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
