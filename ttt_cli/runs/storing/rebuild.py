"""The Games of a run as they were when it was fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ttt_cli.games.table import Games
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.column import Column
from ttt_cli.reading.reports import FileReport, InputFile, Problem, ReadReport
from ttt_cli.runs.schema import ALIASES, DATABASE, HELD, TEXTS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_GAMES: Final = f"""
SELECT date_days AS date, date_precision, white_id AS white, black_id AS black, outcome, weight, "offset",
       file_number AS source_file, line AS source_line
FROM {DATABASE}.main.game_rows
"""
_GAME_TEXTS: Final = f"SELECT {', '.join(TEXT_COLUMNS)} FROM {DATABASE}.main.game_texts"
_INPUTS: Final = f"SELECT path, kind, digest, size, rows, used FROM {DATABASE}.main.inputs ORDER BY rowid"
_NEUTRAL: Final = f'SELECT "row" FROM {DATABASE}.main.neutral_games'
_SPELLINGS: Final = f"SELECT player, spelling FROM {DATABASE}.main.spellings ORDER BY rowid"
_WRITTEN: Final = f"SELECT text FROM {DATABASE}.main.texts ORDER BY id"
_PROBLEMS: Final = f"SELECT file, line, reason, detail, action FROM {DATABASE}.main.problems ORDER BY rowid"


def rebuild_games(connection: DuckDBPyConnection) -> Games:
    """Games equal in every column to those that were written, with their report. Raises ValueError."""
    columns: dict[str, Any] = connection.execute(_GAMES).fetchnumpy()
    held = {name for (name,) in connection.execute(HELD).fetchall()}
    players = connection.execute(f"SELECT player FROM {DATABASE}.main.names ORDER BY id").fetchall()
    for name, most in {
        "white": len(players) - 1,
        "black": len(players) - 1,
        "outcome": 2,
        "date_precision": 2,
    }.items():
        if len(columns[name]) and not 0 <= columns[name].min() <= columns[name].max() <= most:
            raise ValueError(name)
    further = _texts(connection) if held >= TEXTS else {}
    if "neutral_games" in held:
        further["neutral"] = np.zeros(len(columns["date"]), np.bool_)
        further["neutral"][connection.execute(_NEUTRAL).fetchnumpy()["row"]] = True
    return Games(
        **({name: np.ma.getdata(column) for name, column in columns.items()} | further),
        players=tuple(player for (player,) in players),
        report=_report(connection),
    )


def _texts(connection: DuckDBPyConnection) -> dict[str, Any]:
    """Spellings of names, and the columns of texts, as far as there are any."""
    found: dict[str, Any] = {"spellings": tuple(connection.execute(_SPELLINGS).fetchall())}
    values = [text for (text,) in connection.execute(_WRITTEN).fetchall()]
    if values:
        columns: dict[str, Any] = connection.execute(_GAME_TEXTS).fetchnumpy()
        found |= {name: Column(np.ma.getdata(codes), values) for name, codes in columns.items()}
    return found


def _report(connection: DuckDBPyConnection) -> ReadReport:
    dropped, noticed = _counts(connection, "dropped", "reason"), _counts(connection, "noticed", "what")
    found = connection.execute(_INPUTS).fetchall()
    files = [
        FileReport(path, kind, digest, size, rows, used, dropped.get(number, {}), noticed.get(number, {}))
        for number, (path, kind, digest, size, rows, used) in enumerate(found)
        if kind != ALIASES
    ]
    aliases = [InputFile(path, digest, size) for path, kind, digest, size, _, _ in found if kind == ALIASES]
    problems = connection.execute(_PROBLEMS)
    return ReadReport(
        files=tuple(files),
        problems=tuple(Problem(*row) for row in problems.fetchall()),
        aliases=aliases[0] if aliases else None,
    )


def _counts(connection: DuckDBPyConnection, table: str, key: str) -> dict[int, dict[str, int]]:
    """Rows by what is said of them, for each file that has some."""
    counts: dict[int, dict[str, int]] = {}
    for number, what, rows in connection.execute(
        f"SELECT file_number, {key}, rows FROM {DATABASE}.main.{table} ORDER BY rowid"
    ).fetchall():
        counts.setdefault(number, {})[what] = rows
    return counts
