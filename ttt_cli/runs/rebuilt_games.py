"""The games of a run with their report, from its tables (`columns`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ttt_cli.games.covariates import CovariateTexts
from ttt_cli.games.table import Games, no_texts
from ttt_cli.games.teams import NO_TEAMS, Teams
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.reading.reports import (
    FileReport,
    InputFile,
    PeopleReport,
    Problem,
    ReadReport,
)
from ttt_cli.reading.text_columns import TEXT_COLUMNS
from ttt_cli.runs.people import people_in
from ttt_cli.runs.schema import (
    ALIASES,
    CORRECTIONS,
    COVARIATES_WITH_SIDES,
    PEOPLE,
    TABLES,
)
from ttt_cli.support.arrays import Array

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Names of all tables but those of results that are views of several tables, or have points beside the run
TABLES_OF_GAMES: Final = " ".join(TABLES.keys() - {"players", "evidence"})


@dataclass(frozen=True)
class _Reader:
    """Reads the tables of a run back."""

    connection: DuckDBPyConnection

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    def arrays(self, sql: str) -> dict[str, Any]:
        columns = self.connection.execute(sql).fetchnumpy()
        return {name: np.ma.getdata(column) for name, column in columns.items()}

    def counts(self, table: str, key: str) -> dict[int, dict[str, int]]:
        """Numbers of rows by file and by what the column `key` says."""
        counts: dict[int, dict[str, int]] = {}
        for file_number, value, count in self.rows(f"SELECT file_number, {key}, rows FROM {table}"):
            counts.setdefault(file_number, {})[value] = count
        return counts


def rebuild_games(connection: DuckDBPyConnection) -> Games:
    """The Games of a run, equal in every column, with their report. Raises ValueError."""
    run = _Reader(connection)
    columns = run.arrays(
        'SELECT date_days AS date, date_precision, white_id AS white, black_id AS black, outcome, weight, "offset",'
        " file_number AS source_file, line AS source_line FROM game_rows"
    )
    if texts := [text for (text,) in run.rows("SELECT text FROM texts ORDER BY id")]:
        codes = run.arrays(f"SELECT {', '.join(TEXT_COLUMNS)} FROM game_texts")
        columns |= {name: CodedColumn(codes[name], texts) for name in TEXT_COLUMNS}
    neutral = np.zeros(len(columns["date"]), np.bool_)
    neutral[run.arrays('SELECT "row" FROM neutral_games')["row"]] = True
    sides: dict[str, Any] = {}
    if run.rows("SELECT 1 FROM game_sides LIMIT 1"):
        sides = run.arrays("SELECT white_team, black_team, race FROM game_sides")
    return Games(
        **columns,
        **sides,
        teams=_rebuild_teams(run),
        neutral=neutral,
        victory_margin=_column_of_some(run, "victory_margins", "margin", len(neutral), 0.0),
        p_true=_column_of_some(run, "doubtful_games", "p_true", len(neutral), 1.0),
        category=_rebuild_texts(run, len(neutral), "categories", "category"),
        source=_rebuild_texts(run, len(neutral), "sources", "source"),
        covariates=rebuild_covariates(run, len(neutral)),
        people=people_in(run.rows),
        players=tuple(player for (player,) in run.rows("SELECT player FROM names ORDER BY id")),
        spellings=tuple(run.rows("SELECT player, spelling FROM spellings")),
        report=_rebuild_report(run),
    )


def _column_of_some(run: _Reader, table: str, column: str, games: int, elsewhere: float) -> Array:
    """A column of so many games, of which a table has the rows that are not `elsewhere`; empty without any."""
    stored = run.arrays(f'SELECT "row", {column} FROM {table}')
    if not len(stored["row"]):
        return np.empty(0)
    values = np.full(games, elsewhere)
    values[stored["row"]] = stored[column]
    return values


def _rebuild_teams(run: _Reader) -> Teams:
    """The teams."""
    members = run.arrays("SELECT team, player_id, share FROM team_members")
    if not len(members["team"]):
        return NO_TEAMS
    size = np.bincount(members["team"])  # nobody is in team 0
    return Teams(
        np.append(0, np.cumsum(size)).astype(np.int64), members["player_id"], members["share"]
    )


def _rebuild_texts(run: _Reader, games: int, table: str, column: str) -> CodedColumn[str]:
    """The categories or sources of so many games: a table of names, and `game_` before it of their ids."""
    names = tuple(name for (name,) in run.rows(f"SELECT name FROM {table} ORDER BY id"))
    if not names:
        return no_texts(games)
    return CodedColumn(run.arrays(f"SELECT {column} FROM game_{table}")[column], names)


def rebuild_covariates(run: _Reader, games: int) -> tuple[CovariateTexts, ...]:
    """The covariates of so many games."""
    names = run.rows("SELECT name, category FROM covariates ORDER BY id")
    if not names:
        return ()
    texts = tuple(text for (text,) in run.rows("SELECT text FROM covariate_texts ORDER BY id"))
    with_sides = [number for (number,) in run.rows(COVARIATES_WITH_SIDES)]
    codes = run.arrays("SELECT single, white, black FROM game_covariates")
    values = run.arrays("SELECT value FROM game_values")["value"]
    without_sides = 0
    covariates = []
    for number, (name, is_category) in enumerate(names):
        if number in with_sides:
            index = with_sides.index(number)
            rows = slice(index * games, (index + 1) * games)
            columns = {side: CodedColumn(column[rows], texts) for side, column in codes.items()}
        else:
            rows = slice(without_sides * games, (without_sides + 1) * games)
            single = CodedColumn(values[rows], texts)
            columns = {"single": single, "white": no_texts(games), "black": no_texts(games)}
            without_sides += 1
        covariates.append(CovariateTexts(name, is_category, **columns))
    return tuple(covariates)


def _rebuild_report(run: _Reader) -> ReadReport:
    dropped = run.counts("dropped", "reason")
    noticed = run.counts("noticed", "what")
    files: list[FileReport] = []
    aliases: InputFile | None = None
    people: PeopleReport | None = None
    corrections: InputFile | None = None
    traits = {
        file_number: (chess, home, winner_first)
        for file_number, chess, home, winner_first in run.rows(
            "SELECT file_number, chess, home, winner_first FROM file_traits"
        )
    }
    inputs = run.rows("SELECT path, kind, digest, size, rows, used FROM inputs")
    for number, (path, kind, digest, size, rows, used) in enumerate(inputs):
        if kind == ALIASES:
            aliases = aliases or InputFile(path, digest, size)
            continue
        if kind == CORRECTIONS:
            corrections = InputFile(path, digest, size)
            continue
        if kind == PEOPLE:
            people = PeopleReport(path, digest, size, rows, used)
            continue
        file = FileReport(
            path=path,
            kind=kind,
            digest=digest,
            size=size,
            rows=rows,
            used=used,
            dropped=dropped.get(number, {}),
            noticed=noticed.get(number, {}),
        )
        if number in traits:  # not in runs of earlier versions
            chess, home, winner_first = traits[number]
            file = replace(file, chess=chess, home=home, winner_first=winner_first)
        files.append(file)
    problems = tuple(Problem(*row) for row in run.rows("FROM problems"))
    return ReadReport(
        tuple(files), problems, aliases=aliases, people=people, corrections=corrections
    )
