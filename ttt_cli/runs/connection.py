"""The database of a run: opened again after it was closed, and prepared for each query."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.runs import database
from ttt_cli.runs.checks import Catalog, check_numbers
from ttt_cli.runs.evidence_points import StoredPoints, basis_of, points_stat, read_points
from ttt_cli.runs.meta import RunMeta
from ttt_cli.runs.schema import RUN
from ttt_cli.support.errors import RunError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttt_cli.config.schema import Period

_SELECT_META: Final = f"FROM {RUN}.meta"
_SELECT_DIGESTS: Final = f"SELECT digest FROM {RUN}.inputs ORDER BY rowid"
_SELECT_POINTS: Final = f"""SELECT point, params, log_evidence, converged, sweeps, remaining_error
FROM {RUN}.evidence ORDER BY rowid"""


class RunReplaced(RunError):
    """Another run replaced one that was read."""


class RunConnection:
    """The database of a run, for the queries of several threads.

    A file is opened at once, and by the next query after `close`; it must be the same run then. A run in memory is
    `opened` already and lost when it is closed. Every method raises RunError when the file cannot be read.

    | name | |
    |---|---|
    | path | of the file; None for a run in memory |
    | meta | what the run says of itself |
    """

    def __init__(
        self,
        path: Path | None,
        opened: database.Opened | None = None,
        may_write: Path | None = None,
    ) -> None:
        """`may_write`: the only file that SQL may write."""
        self.path = path
        self._may_write = may_write
        self._lock = threading.RLock()
        self._views = database.Views()
        # of the file with evidence points, when the view `evidence` last read it
        self._points_status: tuple[int, ...] | None = None
        self._opened = opened if path is None else database.connect(path, may_write)
        rows = self.opened().connection.execute(_SELECT_META).fetchall()
        self.meta: RunMeta = RunMeta.from_rows(rows, str(path) if path else None)

    @property
    def name(self) -> str:
        """File name, or "memory"."""
        return self.path.name if self.path else "memory"

    def opened(self) -> database.Opened:
        """The open database. Raises RunReplaced if the file, opened again, has another run."""
        with self._lock:
            if self._opened is None:
                self._opened = self._open_again()
            return self._opened

    def _open_again(self) -> database.Opened:
        if self.path is None:
            raise RunError("the run in memory was closed", where=self.name)
        opened = database.connect(self.path, self._may_write)
        meta = dict(opened.connection.execute(_SELECT_META).fetchall())
        if meta.get("created") != self.meta.created:
            opened.connection.close()
            raise self._replaced()
        return opened

    @property
    def catalog(self) -> Catalog:
        """The tables and chains of the run."""
        return self.opened().catalog

    def close(self) -> None:
        """Close the file; a run in memory is lost."""
        with self._lock:
            if self._opened is not None:
                self._opened.connection.close()
            self._opened = None
            self._views = database.Views()
            self._points_status = None

    def refuse_replaced(self) -> None:
        """Raise RunReplaced if another run replaced this one."""
        if self.path is None:
            return
        if self._opened is not None and self._opened.signature == database.signature(self.path):
            return
        current = RunConnection(self.path)
        current.close()
        if current.meta.created != self.meta.created:
            raise self._replaced()

    def _replaced(self) -> RunReplaced:
        return RunReplaced(
            "the run was replaced meanwhile", where=str(self.path), hint="open it again"
        )

    @contextmanager
    def cursor(
        self, sql: str, shown: database.Shown, *, every_view: bool = False
    ) -> Iterator[DuckDBPyConnection]:
        """A cursor for a query, where views show what `shown` says. Raises RunError for impossible numbers.

        `every_view`: also those views exist that the query does not name, for `SHOW TABLES`.
        """
        with self._lock:
            opened = self.opened()
            with database.translated(self.path):
                self._check_before_first_query(opened)
                self._prepare_views(opened, sql, shown, every_view=every_view)
            cursor = opened.connection.cursor()
        with database.translated(self.path), closing(cursor):
            yield cursor

    def _check_before_first_query(self, opened: database.Opened) -> None:
        """Check the numbers in a file; those of a run in memory are known to be right."""
        if self.path is not None and not self._views.used:
            check_numbers(opened.connection, self.path, self.meta, opened.catalog, opened.signature)

    def _prepare_views(
        self, opened: database.Opened, sql: str, shown: database.Shown, *, every_view: bool
    ) -> None:
        """Create the views that a query reads, or all. Only `evidence` needs the file of points beside the run."""
        period: Period = self.meta.period  # type: ignore[assignment]
        if self._views.show(shown, opened.catalog, period):
            self._points_status = None
        self._views.create(opened.connection, sql, every_view=every_view)
        if self.path is not None and "evidence" in sql.lower():
            self._show_points(opened.connection, self.path)

    def _show_points(self, connection: DuckDBPyConnection, path: Path) -> None:
        """Have the view `evidence` include the points beside the run as they are now."""
        status = points_stat(path)
        if status != self._points_status:
            rows = self.evidence_rows(connection)
            connection.execute(f"CREATE OR REPLACE TABLE all_points AS FROM {RUN}.evidence LIMIT 0")
            database.insert_rows(connection, "all_points", rows)
            connection.execute("CREATE OR REPLACE VIEW evidence AS FROM all_points")
            self._points_status = status

    # Evidence points

    def points_beside(self) -> StoredPoints:
        """The evidence points beside the run."""
        return read_points(self.path, self.basis) if self.path else StoredPoints()

    def evidence_rows(self, connection: DuckDBPyConnection) -> list[tuple[Any, ...]]:
        """Rows of the run's own table of evidence and of points beside it; the last of equal keys counts."""
        own_rows = connection.execute(_SELECT_POINTS).fetchall()
        return list({row[0]: row for row in (*own_rows, *self.points_beside().rows)}.values())

    @cached_property
    def basis(self) -> str:
        """The digest of games and settings with which points beside the run begin."""
        rows = self.opened().connection.execute(_SELECT_DIGESTS).fetchall()
        return basis_of(self.meta, [digest for (digest,) in rows])
