"""Games of several files as one table, with the account of what became of every record."""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.detect import Kind
from ttt_cli.games.file_records import FileRecords, Ids, Interner
from ttt_cli.games.judge import Judged
from ttt_cli.games.table import FileReport, Games, Problem, ReadReport

_DTYPES: Final = {
    "day": np.int32,
    "precision": np.int8,
    "white": np.int32,
    "black": np.int32,
    "outcome": np.int8,
    "weight": np.float64,
    "line": np.int64,
    "file": np.int32,
}
_Columns = dict[str, NDArray[np.generic]]


class Collector:
    """Takes the records of one file after the other and makes Games of them."""

    def __init__(self) -> None:
        self._players = Interner()
        self._columns: list[_Columns] = [{name: np.zeros(0, dtype) for name, dtype in _DTYPES.items()}]
        self._files: list[FileReport] = []
        self._problems: list[Problem] = []

    def add(self, records: FileRecords, kind: Kind, *, digest: str, size: int) -> FileReport:
        """Judge the records of a file that has been read to its end, keep the games, report on the rest."""
        judged = Judged(records, self._players)
        used = judged.fault == 0
        columns: _Columns = {name: getattr(judged, name)[used] for name in _DTYPES if name != "file"}
        columns["file"] = np.full(int(used.sum()), len(self._files), np.int32)
        self._columns.append(columns)
        notes = sorted([*records.rejects, *judged.notes, *records.notes], key=attrgetter("line"))
        self._problems += [Problem(records.path, *note) for note in notes]
        dropped = Counter(note.reason for note in notes if note.action == "dropped")
        report = FileReport(
            records.path, kind, digest, size, records.rows, int(used.sum()), dict(dropped.most_common())
        )
        self._files.append(report)
        return report

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that was odd, file by file, by line."""
        return tuple(self._problems)

    def games(self) -> Games:
        """All games in the order of their dates, then as read; players sorted by name. To be asked for once."""
        days = np.concatenate([part["day"] for part in self._columns])
        order = np.argsort(days, kind="stable")
        parts, self._columns = self._columns, []
        column = {name: np.concatenate([part.pop(name) for part in parts])[order] for name in _DTYPES}
        players, number = self._sorted_players(column["white"], column["black"])
        return Games(
            date=column["day"],
            date_precision=column["precision"],
            white=number[column["white"]],
            black=number[column["black"]],
            outcome=column["outcome"],
            weight=column["weight"],
            offset=np.zeros(len(days)),
            source_file=column["file"],
            source_line=column["line"],
            players=players,
            report=ReadReport(tuple(self._files), self.problems),
        )

    def _sorted_players(self, white: Ids, black: Ids) -> tuple[tuple[str, ...], Ids]:
        """The players who have games, sorted, and the new number of each old one."""
        names = np.array(list(self._players), object)
        present = np.unique(np.concatenate([white, black]))
        ranked = present[np.argsort(names[present], kind="stable")] if len(present) else present
        number = np.zeros(len(names), np.int32)
        number[ranked] = np.arange(len(ranked), dtype=np.int32)
        return tuple(map(str, names[ranked])), number
