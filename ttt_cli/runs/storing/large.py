"""Rows of tables on their way into a run: into its database, or into files of Parquet beside it (`runs/folder.py`)."""

from __future__ import annotations

import shutil
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ttt_cli.runs.folder import LARGE, part_name, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttt_cli.runs.storing.columns import Columns

# What rows may take before they are on the disk
LIMITS: Final[MappingProxyType[str, Any]] = MappingProxyType({"memory_limit": "400MB"})


class StoredRows(NamedTuple):
    """A file with rows of a table, up to that before `end`."""

    table: str
    place: Path
    end: int


class Tables:
    """The tables of a new run, which are filled row by row; the large ones in `folder`, if there is one.

    Those there begin with the row `begin`; `stored` are their files, and `defined` is the SQL that made all tables.
    """

    def __init__(self, connection: DuckDBPyConnection, folder: Path | None = None, begin: int = 0) -> None:
        self.connection, self._folder, self._begin = connection, folder, begin
        self.stored: list[StoredRows] = []
        self.defined = ""

    @property
    def rows(self) -> dict[str, int]:
        """How many there are of each table in the folder, and before."""
        return {some.table: some.end for some in self.stored}

    def define(self, sql: str) -> None:
        """Create the tables, and the views over them."""
        self.connection.execute(sql)
        self.defined = sql

    def insert(self, table: str, incoming: Columns) -> None:
        """Further rows from columns in the order of the table; NaN becomes NULL.

        SQL finds `incoming` by its name; what is registered would be kept to the end of the transaction.
        """
        import numpy as np

        lacking = {
            name for name, column in incoming.items() if column.dtype == np.float64 and np.isnan(column).any()
        }
        values = {name: f'if(isnan("{name}"), NULL, "{name}")' for name in lacking}
        found = [values.get(name, f'"{name}"') for name in incoming]
        if self._folder is None or table not in LARGE:
            self.connection.execute(f"INSERT INTO {table} SELECT {', '.join(found)} FROM incoming")
            return
        kinds = self.connection.execute(f"DESCRIBE {table}").fetchall()
        columns = [
            f'CAST({value} AS {kind}) AS "{name}"'
            for value, (name, kind, *_) in zip(found, kinds, strict=True)
        ]
        begin = self.rows.get(table, self._begin)
        end = begin + len(next(iter(incoming.values())))
        incoming = {**incoming, "rowid": np.arange(begin, end)}
        place = self._folder / part_name(table, begin)
        part = place.with_name(
            f".{place.name}.{token_hex(4)}"
        )  # two may be at it, if one is given up but lives
        self.connection.execute(
            f"COPY (SELECT rowid, {', '.join(columns)} FROM incoming) TO {quoted(part)} (FORMAT parquet)"
        )
        part.replace(place)
        self.stored.append(StoredRows(table, place, end))

    def take(self, some: StoredRows) -> None:
        """Further rows from a file that was made for a folder; it is gone from its place then."""
        if self._folder is None:
            found = f"SELECT * EXCLUDE (rowid) FROM read_parquet({quoted(some.place)})"
            self.connection.execute(f"INSERT INTO {some.table} {found}")
            some.place.unlink()
        else:
            place = self._folder / some.place.name
            shutil.move(some.place, place)
            self.stored.append(some._replace(place=place))
