"""Runs that are folders: a database in which the large tables are empty, and these as files of Parquet beside it.

Each of these files holds some rows of a table, with their places in it as `rowid`. Parquet knows of no damage, so the
database says in `meta` what each file is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zlib import crc32

from ttt_cli.errors import RunError
from ttt_cli.runs.schema import DATABASE

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAIN: Final = "run.duckdb"
LARGE: Final = "spans", "game_rows", "game_texts"
FILES: Final = "files"  # the key of what `described` says
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


def described(path: Path) -> str:
    """The files beside a database, in JSON: name, bytes and CRC-32 of each."""
    files = [file for files in parts_of(path).values() for file in files]
    return json.dumps([(file.name, file.stat().st_size, _crc(file)) for file in files])


def check_parts(connection: DuckDBPyConnection, database: str, path: Path, *, whole: bool = False) -> None:
    """Raise RunError unless the files beside a database, attached as that, are those that it was written with.

    By name and size, and if `whole` by all of their bytes. Runs that were made before know nothing of them.
    """
    query = f"SELECT value FROM {database}.main.meta WHERE key = '{FILES}'"
    there = {file.name: file for files in parts_of(path).values() for file in files}
    for (text,) in connection.execute(query).fetchall():
        try:
            wanted = {str(name): (size, crc) for name, size, crc in json.loads(text)}
        except (ValueError, TypeError, RecursionError):
            wanted = {}
        for name in sorted(wanted.keys() | there.keys()):
            file, (size, crc) = there.get(name), wanted.get(name, (None, None))
            if file is None or size is None:
                wrong = f"its file {name} is missing" if file is None else f"{name} is no file of this run"
            elif file.stat().st_size != size or (whole and _crc(file) != crc):
                wrong = f"its file {name} is damaged"
            else:
                continue
            hint = "copy or move such a folder as a whole, or fit the games again"
            raise RunError(wrong, where=str(path), hint=hint)


def _crc(file: Path) -> int:
    found = 0
    with file.open("rb") as opened:
        while block := opened.read(1 << 20):
            found = crc32(block, found)
    return found


def spread_out(connection: DuckDBPyConnection, path: Path) -> None:
    """Take the database that is attached to a session for that of the folder: its tables, and those beside it, as one.

    Raises RunError where a file has other columns than its table, or is missing or cut short.
    """
    import duckdb

    connection.execute(
        f"DETACH {DATABASE}; ATTACH {quoted(path / MAIN)} AS {STORED} (READ_ONLY, TYPE duckdb)"
    )
    connection.execute(f"ATTACH ':memory:' AS {DATABASE}")
    check_parts(connection, STORED, path)
    tables = f"SELECT table_name FROM duckdb_tables() WHERE database_name = '{STORED}'"
    parts = parts_of(path)
    for (table,) in connection.execute(tables).fetchall():
        found = f"SELECT rowid, * FROM {STORED}.main.{table}"
        if files := parts.get(table):
            stored = f"SELECT * FROM read_parquet([{', '.join(map(quoted, files))}])"
            try:
                columns = [connection.execute(f"DESCRIBE {sql}").fetchall() for sql in (found, stored)]
            except duckdb.Error:
                check_parts(connection, STORED, path, whole=True)
                raise
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
