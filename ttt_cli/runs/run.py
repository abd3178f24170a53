"""A stored run: opened, asked, never changed but for the evidence points it collects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from ttt_cli.errors import RunError
from ttt_cli.runs.connection import connect, not_a_run, translated
from ttt_cli.runs.evidence import INSERT, SELECT, EvidencePoint, evidence_table
from ttt_cli.runs.locate import locate_run
from ttt_cli.runs.lookup import Found, find_player
from ttt_cli.runs.meta import RunMeta
from ttt_cli.runs.scale import Scale, find_scale
from ttt_cli.runs.schema import FORMAT, PUBLIC

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray
    from pandas import DataFrame

    from ttt_cli.config.schema import Config
    from ttt_cli.fitted import Fit
    from ttt_cli.games.table import Games
    from ttt_cli.timeline import Timeline

Row = tuple[Any, ...]
Columns = tuple[str, ...]
_BATCH = 10_000


def open_run(path: str | os.PathLike[str] | None = None, scale: Sequence[str] = ()) -> Run:
    """Open the run at `path`, else at `$TTT_RUN`, else the newest `*.ttt` in the current folder.

    `scale`: anchors such as `Lasker, Emanuel @ 1900 = 2720` instead of those in the run's config, also `matched` if
    they give the slope, too; or `points`. Raises RunError when there is no run, or it is none, damaged, too new or
    held by another process.
    """
    run = Run(locate_run(path), scale=scale)
    _ = run.meta
    return run


def memory_run(games: Games, timeline: Timeline, fit: Fit, config: Config) -> Run:
    """A run that lives in memory only, with all that a stored one has."""
    import duckdb

    from ttt_cli.runs.store import fill

    connection = duckdb.connect(":memory:")
    with translated(None):
        fill(connection, games, timeline, fit, config)
    return Run(None, connection)


class Run:
    """One run. Its file is opened for each question and closed again; inside `with run:` it stays open.

    Every method raises RunError when the file cannot be read (any more).
    """

    def __init__(
        self, path: Path | None, connection: DuckDBPyConnection | None = None, scale: Sequence[str] = ()
    ) -> None:
        self.path = path
        self._connection = connection
        self._asked_scale = tuple(scale)
        self._dressed: DuckDBPyConnection | None = None

    def __repr__(self) -> str:
        return f"<Run {self.name}: {self.meta.describe()}>"

    @property
    def name(self) -> str:
        """The file's name, or "memory"."""
        return self.path.name if self.path else "memory"

    @cached_property
    def meta(self) -> RunMeta:
        """What the run says about itself."""
        with self._open(raw=True) as connection:
            return _read_meta(connection, self.path)

    @cached_property
    def scale(self) -> Scale:
        """The scale on which skills are given, from every method and query. Raises ConfigError, LookupFailed."""

        def raw(sql: str, parameters: Sequence[Any]) -> list[Row]:
            with self._open(raw=True) as connection, translated(self.path):
                return connection.execute(sql, list(parameters)).fetchall()

        return find_scale(self.meta, raw, self._asked_scale)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Columns, list[Row]]:
        """Column names and all rows of a SQL query over the run's tables (`ttt_cli.runs.schema`)."""
        with self._open() as connection, translated(self.path):
            result = connection.execute(sql, list(parameters))
            return _names(result), result.fetchall()

    def arrays(self, sql: str, parameters: Sequence[Any] = ()) -> dict[str, NDArray[Any]]:
        """The columns of a SQL query as numpy arrays, for many rows.

        A missing number of type DOUBLE is NaN; nothing else may be missing.
        """
        import numpy as np

        with self._open() as connection, translated(self.path):
            columns: dict[str, Any] = connection.execute(sql, list(parameters)).fetchnumpy()
        return {
            name: np.ma.filled(column, np.nan) if column.dtype == np.float64 else np.ma.getdata(column)
            for name, column in columns.items()
        }

    def stream(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Columns, Iterator[Row]]:
        """As `query`, but the rows come one by one; the file stays open until the last one."""
        columns, _ = self.query(f"SELECT * FROM ({sql}) LIMIT 0", parameters)
        return columns, self._stream(sql, parameters)

    def _stream(self, sql: str, parameters: Sequence[Any]) -> Iterator[Row]:
        with self._open() as connection, translated(self.path), closing(connection.cursor()) as cursor:
            cursor.execute(sql, list(parameters))
            while rows := cursor.fetchmany(_BATCH):
                yield from rows

    def find_player(self, name: str) -> Found:
        """The player whom `name` means (`ttt_cli.runs.lookup`). Raises LookupFailed."""
        return find_player(lambda sql, parameters: self.query(sql, parameters)[1], name)

    def skills(self, player: str | None = None) -> DataFrame:
        """Every player's skill in every period, or one player's (named as people do): a pandas DataFrame."""
        if player is None:
            return self._frame(PUBLIC["skills"])
        return self._frame(
            f"SELECT * FROM ({PUBLIC['skills']}) WHERE player = ?", [self.find_player(player).player]
        )

    def players(self) -> DataFrame:
        """The players with their first and last period, record and peak: a pandas DataFrame."""
        return self._frame(PUBLIC["players"])

    def games(self) -> DataFrame:
        """The games as they were used: a pandas DataFrame."""
        return self._frame(PUBLIC["games"])

    def evidence(self) -> DataFrame:
        """The evidence points stored so far, parameters and results: a pandas DataFrame."""
        from pandas import DataFrame

        columns, rows = evidence_table(self.evidence_points())
        return DataFrame(rows, columns=list(columns))

    def evidence_points(self) -> list[EvidencePoint]:
        """The evidence points stored so far, the run's own first."""
        return [EvidencePoint.from_row(row) for row in self.query(SELECT)[1]]

    def stored_games(self) -> Games:
        """The Games that were fitted, equal in every column: fitting them again gives the same Fit."""
        from ttt_cli.runs.rebuild import rebuild_games

        with self._open() as connection, translated(self.path):
            return rebuild_games(connection)

    def copy_to(
        self,
        path: str | os.PathLike[str],
        format: Literal["parquet", "csv", "json"],  # noqa: A002
        sql: str,
    ) -> None:
        """Write the rows of a SQL query to a file. Raises RunError when it cannot be written."""
        target = str(path).replace("'", "''")
        with self._open() as connection, translated(Path(path)):
            connection.execute(f"COPY ({sql}) TO '{target}' (FORMAT {format})")

    def store_evidence(self, points: Iterable[EvidencePoint]) -> None:
        """Keep evidence points in the run, opening it for writing only meanwhile.

        Raises RunError when another process holds the file, or has replaced the run since it was opened.
        """
        rows = [point.to_row() for point in points]
        expected = self.meta.created
        if not rows:
            return
        with self._writable() as connection, translated(self.path):
            if _read_meta(connection, self.path).created != expected:
                raise RunError("the run was replaced meanwhile", where=str(self.path), hint="open it again")
            connection.executemany(INSERT, rows)

    def _frame(self, sql: str, parameters: Sequence[Any] = ()) -> DataFrame:
        with self._open() as connection, translated(self.path):
            return connection.execute(sql, list(parameters)).df()

    @contextmanager
    def _open(self, *, raw: bool = False) -> Iterator[DuckDBPyConnection]:
        """A connection that gives skills on the run's scale; `raw`: in points, if it was not yet used otherwise."""
        scaled = not raw and bool(self.scale.anchors)
        if self._connection is not None:
            if scaled and self._dressed is not self._connection:
                self.scale.install(self._connection)
                self._dressed = self._connection
            yield self._connection
            return
        assert self.path is not None
        with closing(connect(self.path)) as connection:
            if scaled:
                self.scale.install(connection)
            yield connection

    @contextmanager
    def _writable(self) -> Iterator[DuckDBPyConnection]:
        if self.path is None:
            assert self._connection is not None
            yield self._connection
            return
        held = self._connection is not None
        self.close()
        try:
            with closing(connect(self.path, read_only=False)) as connection:
                yield connection
        finally:
            if held:
                self._connection = connect(self.path)

    def __enter__(self) -> Self:
        if self._connection is None and self.path is not None:
            self._connection = connect(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.path is not None:
            self.close()

    def close(self) -> None:
        """Close the file if it is open; a run in memory is gone then."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _names(result: DuckDBPyConnection) -> Columns:
    return tuple(str(column[0]) for column in result.description or ())


def _read_meta(connection: DuckDBPyConnection, path: Path | None) -> RunMeta:
    import duckdb

    where = str(path) if path else None
    try:
        rows = connection.execute("SELECT key, value FROM meta").fetchall()
    except duckdb.Error as error:
        raise not_a_run(path or Path()) from error
    version = dict(rows).get("format", "")
    if not version.isdigit():
        raise not_a_run(path or Path())
    if int(version) > FORMAT:
        raise RunError("written by a newer ttt", where=where, hint="upgrade ttt, or fit the games again")
    if int(version) < FORMAT:
        raise RunError("written by an older ttt, in another format", where=where, hint="fit the games again")
    return RunMeta.from_rows(rows)
