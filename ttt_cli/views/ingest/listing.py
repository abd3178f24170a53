"""The records of a reading, one row each, as the program took them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.records import Records
from ttt_cli.games.selection.duplicates import find_duplicates
from ttt_cli.reading.reasons import DROP_REASONS, DROPPED
from ttt_cli.reading.reports import LINES
from ttt_cli.views.rows import Rows

COLUMNS: Final = (
    "file", "line", "date", "white", "black", "result", "event", "site", "round", "problem",
)  # fmt: skip
_PIECE: Final = 8192


def record_rows(records: Records, *, everything: bool = False) -> Rows:
    """The records that are used, or all of them, in the order in which they were read.

    `white` and `black` are the players that the names were taken for, where there are such, else what stands there;
    `date`, `result` and the other texts are as written. `problem` is the reason why a record is not used; of one that
    is used, what is odd about it with what was done (`bad date (repaired)`). Rows are made as they are asked for.
    """
    listing = _Listing(records, everything)
    return Rows(COLUMNS, listing.rows(), parquet=listing.write_parquet)


class _Listing:
    def __init__(self, records: Records, everything: bool) -> None:
        self._records = records
        self._chosen = np.arange(len(records)) if everything else np.flatnonzero(records.used)
        self._file = records.file
        self._paths = tuple(file.path for file in records.files)
        self._odd = _odd(records)
        self._duplicates = find_duplicates(records)
        self._names = (*records.players, *records.white_written.values)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(self._chosen), _PIECE):
            yield from zip(*self._columns(self._chosen[start : start + _PIECE]), strict=True)

    def write_parquet(self, path: Path) -> None:
        """Write all rows, piece by piece."""
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        schema = pa.schema([(name, pa.int64() if name == "line" else pa.string()) for name in COLUMNS])
        with ParquetWriter(path, schema) as writer:
            for start in range(0, len(self._chosen), 16 * _PIECE):
                columns = self._columns(self._chosen[start : start + 16 * _PIECE])
                writer.write(pa.table(dict(zip(COLUMNS, columns, strict=True)), schema))

    def _columns(self, rows: NDArray[np.int64]) -> list[list[Any]]:
        records = self._records
        texts = (records.result, records.event, records.site, records.round)
        return [
            _picked(self._paths, self._file[rows]),
            (records.line[rows].astype(np.int64) % LINES).tolist(),
            _picked(records.date.values, records.date.codes[rows]),
            *(self._named(rows, side) for side in ("white", "black")),
            *(_picked(column.values, column.codes[rows]) for column in texts),
            self._problems(rows),
        ]

    def _named(self, rows: NDArray[np.int64], side: str) -> list[str]:
        player: NDArray[np.signedinteger] = getattr(self._records, side)[rows]
        written = getattr(self._records, f"{side}_written").codes[rows].astype(np.int64)
        return _picked(self._names, np.where(player >= 0, player, written + len(self._records.players)))

    def _problems(self, rows: NDArray[np.int64]) -> list[str | None]:
        found: list[str | None] = _picked((None, *DROP_REASONS), self._records.reject_code[rows])
        if self._odd:
            found = [why or self._odd.get(row) for row, why in zip(rows.tolist(), found, strict=True)]
        repeated, original = self._duplicates.row, self._duplicates.original
        if len(repeated):
            number = np.minimum(np.searchsorted(repeated, rows), len(repeated) - 1)
            again = np.flatnonzero(repeated[number] == rows)
            for i, row in zip(again.tolist(), original[number[again]].tolist(), strict=True):
                repeats = f"duplicate of {self._records.place(row)} (kept)"
                found[i] = f"{found[i]}; {repeats}" if found[i] else repeats
        return found


def _picked(values: Sequence[Any], codes: NDArray[Any]) -> list[Any]:
    return list(map(values.__getitem__, codes.tolist()))


def _odd(records: Records) -> dict[int, str]:
    """What is odd about records that are used."""
    found: dict[int, list[str]] = {}
    numbers = {file.path: number for number, file in reversed(list(enumerate(records.files)))}
    for problem in records.problems:
        number = numbers.get(problem.file)
        if problem.action != DROPPED and number is not None:
            first, after = records.starts[number : number + 2].tolist()
            row = first + int(np.searchsorted(records.line[first:after], problem.line, side="right")) - 1
            if row >= first:
                found.setdefault(row, []).append(f"{problem.reason} ({problem.action})")
    return {row: "; ".join(dict.fromkeys(oddities)) for row, oddities in found.items()}
