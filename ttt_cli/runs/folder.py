"""Runs that are folders: a database in which the large tables are empty, and these as files of Parquet beside it.

Each of these files holds some rows of a table, with their places in it as `rowid`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from ttt_cli.errors import RunError
from ttt_cli.runs.schema import DATABASE

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAIN: Final = "run.duckdb"
LARGE: Final = "spans", "game_rows", "game_texts"
STORED: Final = "stored"  # what a session calls the database in the folder


def database_of(path: Path) -> Path:
    """The database of a run: the file itself, or the one in its folder."""
    return path / MAIN if path.is_dir() else path


def is_folder(path: Path) -> bool:
    """Whether a run that is a folder stands there."""
    return (path / MAIN).is_file()


def parts_of(path: Path) -> dict[str, list[Path]]:
    """The files of each large table of such a run, in order."""
    return {table: sorted(path.glob(f"{table}-*.parquet")) for table in LARGE}


def part_name(table: str, begin: int) -> str:
    """The name of a file with rows of a large table, from that row on."""
    return f"{table}-{begin:012d}.parquet"


def spread_out(connection: DuckDBPyConnection, path: Path) -> None:
    """Take the database that is attached to a session for that of the folder: its tables, and those beside it, as one.

    Raises RunError where a file has other columns than its table.
    """
    connection.execute(
        f"DETACH {DATABASE}; ATTACH {quoted(path / MAIN)} AS {STORED} (READ_ONLY, TYPE duckdb)"
    )
    connection.execute(f"ATTACH ':memory:' AS {DATABASE}")
    tables = f"SELECT table_name FROM duckdb_tables() WHERE database_name = '{STORED}'"
    parts = parts_of(path)
    for (table,) in connection.execute(tables).fetchall():
        found = f"SELECT rowid, * FROM {STORED}.main.{table}"
        if files := parts.get(table):
            stored = f"SELECT * FROM read_parquet([{', '.join(map(quoted, files))}])"
            columns = [connection.execute(f"DESCRIBE {sql}").fetchall() for sql in (found, stored)]
            if {row[:2] for row in columns[0]} != {row[:2] for row in columns[1]}:
                raise RunError(
                    f"its files of {table} are not those that ttt makes",
                    where=str(path),
                    hint="fit the games again",
                )
            found = stored
        connection.execute(f"CREATE VIEW {DATABASE}.main.{table} AS {found}")


def put_together(connection: DuckDBPyConnection) -> None:
    """Let such a run go."""
    connection.execute(f"DETACH {DATABASE}; DETACH {STORED}")


def quoted(path: Path) -> str:
    """A path in SQL."""
    return "'" + str(path).replace("'", "''") + "'"
