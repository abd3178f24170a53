"""Rows of tables on their way into a run: into its database, or into files of Parquet beside it (`runs/folder.py`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ttt_cli.runs.folder import LARGE, part_name, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttt_cli.runs.storing.columns import Columns


class Tables:
    """The tables of a new run, which are filled row by row; the large ones in `folder`, if there is one.

    `rows` says how many there are of each table in the folder.
    """

    def __init__(self, connection: DuckDBPyConnection, folder: Path | None = None) -> None:
        self.connection, self._folder = connection, folder
        self._files = 0
        self.rows: dict[str, int] = {}

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
        begin, count = self.rows.get(table, 0), len(next(iter(incoming.values())))
        incoming = {**incoming, "rowid": np.arange(begin, begin + count)}
        place = quoted(self._folder / part_name(table, self._files))
        self.connection.execute(
            f"COPY (SELECT rowid, {', '.join(columns)} FROM incoming) TO {place} (FORMAT parquet)"
        )
        self.rows[table], self._files = begin + count, self._files + 1
