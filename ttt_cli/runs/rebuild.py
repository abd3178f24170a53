"""The Games of a run as they were when it was fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ttt_cli.games.table import FileReport, Games, Problem, ReadReport
from ttt_cli.runs.scale import own_database

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_GAMES: Final = """
WITH name AS (SELECT player, row_number() OVER (ORDER BY rowid) - 1 AS id FROM {database}.main.players)
SELECT date_days AS date, date_precision, w.id AS white, b.id AS black, weight, "offset",
       CASE result WHEN '0-1' THEN 0 WHEN '1-0' THEN 2 ELSE 1 END AS outcome,
       file_number AS source_file, line AS source_line
FROM games JOIN name w ON w.player = white JOIN name b ON b.player = black ORDER BY games.rowid
"""


def rebuild_games(connection: DuckDBPyConnection) -> Games:
    """Games equal in every column to those that were written, with their report."""
    own = own_database(connection)
    columns: dict[str, Any] = connection.execute(_GAMES.format(database=own)).fetchnumpy()
    players = connection.execute(f"SELECT player FROM {own}.main.players ORDER BY rowid").fetchall()
    return Games(
        **{name: np.ma.getdata(column) for name, column in columns.items()},
        players=tuple(player for (player,) in players),
        report=_report(connection),
    )


def _report(connection: DuckDBPyConnection) -> ReadReport:
    dropped, noticed = _counts(connection, "dropped", "reason"), _counts(connection, "noticed", "what")
    inputs = connection.execute("SELECT path, kind, digest, size, rows, used FROM inputs ORDER BY rowid")
    files = [
        FileReport(path, kind, digest, size, rows, used, dropped.get(number, {}), noticed.get(number, {}))
        for number, (path, kind, digest, size, rows, used) in enumerate(inputs.fetchall())
    ]
    problems = connection.execute("SELECT file, line, reason, detail, action FROM problems ORDER BY rowid")
    return ReadReport(files=tuple(files), problems=tuple(Problem(*row) for row in problems.fetchall()))


def _counts(connection: DuckDBPyConnection, table: str, key: str) -> dict[int, dict[str, int]]:
    """Rows by what is said of them, for each file that has some."""
    counts: dict[int, dict[str, int]] = {}
    for number, what, rows in connection.execute(
        f"SELECT file_number, {key}, rows FROM {table} ORDER BY rowid"
    ).fetchall():
        counts.setdefault(number, {})[what] = rows
    return counts
