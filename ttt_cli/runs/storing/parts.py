"""The rows of large tables in parts: made here, or by workers that find the same files and write them as Parquet.

A part of spans is some players with all of their periods, whatever slices of time these were fitted in: so the rows of
a run and their order are the same, whoever writes them.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids
from ttt_cli.fitted import Fit, by_player, parts_by_player, spans
from ttt_cli.games.table import Games
from ttt_cli.periods import period_of
from ttt_cli.processes import Engine, run_chains
from ttt_cli.reading.column import Codes, spread
from ttt_cli.room import FileRoom, Shared
from ttt_cli.runs.storing.columns import Marks, game_columns, span_columns
from ttt_cli.runs.storing.large import LIMITS, StoredRows, Tables
from ttt_cli.timeline import Timeline


class Part(NamedTuple):
    """Some rows of the tables of games, or of the spans of players with these `names`."""

    rows: slice
    names: NDArray[np.generic] | None = None


class Written(NamedTuple):
    """The part of a number: files with its rows, and the marks of its players."""

    number: int
    files: list[StoredRows]
    marks: Marks | None


class Rows:
    """All rows of large tables; `written` as `written_texts` has it."""

    def __init__(
        self, games: Games, timeline: Timeline, fit: Fit, written: dict[str, tuple[Ids, Codes]]
    ) -> None:
        self._games, self._date, self._written, self._fit = game_columns(games), games.date, written, fit
        self._timeline, self.room = replace(timeline, players=(), joined=None), timeline.room
        self._nodes = timeline.room.empty("by player", (timeline.n_nodes,), np.int64)
        self._nodes[:] = by_player(timeline)

    def parts(self, names: NDArray[np.generic]) -> list[Part]:
        """All of them, in order; `names` are those of all players."""
        player = self._timeline.node_player
        found = [Part(rows) for rows in self.room.parts(self._timeline.n_games)]
        for rows in parts_by_player(self._timeline):
            first, last = player[self._nodes[[rows.start, rows.stop - 1]]]
            found.append(Part(rows, names[first : last + 1]))
        return found

    def insert(self, tables: Tables, part: Part) -> Marks | None:
        """Insert a part; the marks of its players."""
        timeline, rows = self._timeline, part.rows
        if part.names is None:
            number = period_of(self._date[rows], timeline.period)
            games = {name: column[rows] for name, column in self._games.items()}
            tables.insert("game_rows", {"period_number": number, **games})
            if self._written:
                columns = self._written.items()
                tables.insert("game_texts", {name: spread(of, codes[rows]) for name, (of, codes) in columns})
            return None
        found = spans(timeline, self._fit, self._nodes[rows])
        tables.insert("spans", span_columns(part.names, found))
        return Marks.of(found)


class Writer:
    """Writes parts as Parquet into a folder; `definitions` are those of the tables."""

    def __init__(self, rows: Rows, definitions: str, folder: Path) -> None:
        self._rows, self._definitions, self._folder = Shared(rows), definitions, folder

    def step(self, item: tuple[int, Part], *, fresh: bool) -> Written:  # noqa: ARG002
        """Write a part, which comes with its number."""
        import duckdb

        number, part = item
        with closing(duckdb.connect(config={**LIMITS, "threads": 1})) as connection:
            connection.execute(self._definitions)
            tables = Tables(connection, self._folder, part.rows.start)
            marks = self._rows.what.insert(tables, part)
        return Written(number, tables.stored, marks)


def insert_parts(tables: Tables, rows: Rows, parts: list[Part], workers: Engine | None) -> list[Marks]:
    """Insert all rows; the marks of all players. `workers` write them first, in files that are found here, too."""
    found: list[Marks | None] = []
    if workers is None or not isinstance(rows.room, FileRoom):
        for part in parts:
            found.append(rows.insert(tables, part))
            rows.room.let_go()
    else:
        waiting: dict[int, Written] = {}
        with TemporaryDirectory(dir=rows.room.folder, ignore_cleanup_errors=True) as folder:
            writer, chains = Writer(rows, tables.defined, Path(folder)), [[one] for one in enumerate(parts)]
            for written in run_chains(writer, chains, workers):
                waiting[written.number] = written
                while (following := waiting.pop(len(found), None)) is not None:
                    for some in following.files:
                        tables.take(some)
                    found.append(following.marks)
    return [marks for marks in found if marks]
