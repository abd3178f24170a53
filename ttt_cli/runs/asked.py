"""A run as something to ask: its file is held for each question and let go again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from ttt_cli.errors import RunError
from ttt_cli.files import replacing
from ttt_cli.notebook import facts_table
from ttt_cli.runs.connection import translated
from ttt_cli.runs.meta import RunMeta, read_meta
from ttt_cli.runs.scale import Scale, find_scale
from ttt_cli.runs.session import Session

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray
    from pandas import DataFrame

Row = tuple[Any, ...]
Columns = tuple[str, ...]
_BATCH = 10_000


class RunReplaced(RunError):
    """Another run stands where one was."""


class AskedRun:
    """What every question to a run goes through; inside `with run:` its file stays open.

    Every method raises RunError when the file cannot be read (any more), or another run stands there meanwhile.
    """

    def __init__(self, path: Path | None, session: Session, scale: Sequence[str] = ()) -> None:
        self.path = path
        self._session = session
        self._asked_scale = tuple(scale)
        self._meta: RunMeta | None = None
        self._held: list[AbstractContextManager[DuckDBPyConnection]] = []

    def __repr__(self) -> str:
        return f"<Run {self.name}: {self.meta.describe()}>"

    def _repr_html_(self) -> str:
        return facts_table(self.name, self.meta.facts())

    @property
    def name(self) -> str:
        """The file's name, or "memory"."""
        return self.path.name if self.path else "memory"

    @property
    def _where(self) -> str | None:
        return str(self.path) if self.path else None

    @property
    def meta(self) -> RunMeta:
        """What the run says about itself."""
        if self._meta is None:
            with self._session.asked() as connection:
                self._meta = read_meta(connection, self.path)
        return self._meta

    @cached_property
    def scale(self) -> Scale:
        """The scale on which skills are given, from every method and query. Raises ConfigError, LookupFailed."""

        def raw(sql: str, parameters: Sequence[Any]) -> list[Row]:
            with self._open(Scale()) as connection:
                return connection.execute(sql, list(parameters)).fetchall()

        return find_scale(self.meta, raw, self._asked_scale)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Columns, list[Row]]:
        """Column names and all rows of a SQL query over the run's tables (`ttt_cli.runs.schema`)."""
        with self._open() as connection:
            result = connection.execute(sql, list(parameters))
            names = tuple(str(column[0]) for column in result.description or ())
            return names, result.fetchall()

    def arrays(self, sql: str, parameters: Sequence[Any] = ()) -> dict[str, NDArray[Any]]:
        """The columns of a SQL query as numpy arrays, for many rows.

        A missing number of type DOUBLE is NaN; nothing else may be missing.
        """
        import numpy as np

        with self._open() as connection:
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
        with self._open() as connection:
            connection.execute(sql, list(parameters))
            while rows := connection.fetchmany(_BATCH):
                yield from rows

    def copy_to(
        self,
        path: str | os.PathLike[str],
        format: Literal["parquet", "csv", "json"],  # noqa: A002
        sql: str,
    ) -> None:
        """Write the rows of a SQL query to a file. Raises RunError when it cannot be written."""
        place = Path(path)
        try:
            with replacing(place) as temporary, self._copying(temporary) as connection:
                target = str(temporary).replace("'", "''")
                with translated(self.path, place):
                    connection.execute(f"COPY ({sql}) TO '{target}' (FORMAT {format}, USE_TMP_FILE false)")
        except OSError as error:
            raise RunError(f"cannot be written: {error.strerror or error}", where=str(place)) from error

    @contextmanager
    def _copying(self, target: Path) -> Iterator[DuckDBPyConnection]:
        """A connection like those of this run that may write this file, too."""
        if self.path is None:
            with self._open() as connection:
                yield connection
            return
        session = Session(self.path, also=(target,))
        with closing(session), AskedRun(self.path, session, self._asked_scale)._open() as connection:
            yield connection

    def refuse_replaced(self) -> None:
        """Raise RunReplaced when another run stands where this one was read."""
        meta = self.meta
        with self._session.asked() as connection:
            self._refuse_replaced(meta, connection)

    def _frame(self, sql: str, parameters: Sequence[Any] = ()) -> DataFrame:
        with self._open() as connection:
            return connection.execute(sql, list(parameters)).df()

    @contextmanager
    def _open(self, scale: Scale | None = None) -> Iterator[DuckDBPyConnection]:
        """A connection whose queries find the tables and views of the run, on its scale unless another is asked for."""
        meta, shown = self.meta, scale or self.scale
        with self._session.asked() as connection:
            if not self._session.shown:
                self._refuse_replaced(meta, connection)
            self._session.show(meta, slope=shown.slope, shift=shown.shift)
            yield connection

    def _refuse_replaced(self, expected: RunMeta, connection: DuckDBPyConnection) -> None:
        if read_meta(connection, self.path).created != expected.created:
            raise RunReplaced("the run was replaced meanwhile", where=str(self.path), hint="open it again")

    def __enter__(self) -> Self:
        held = self._session.asked()
        held.__enter__()
        self._held.append(held)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.pop().__exit__(None, None, None)

    def close(self) -> None:
        """Let the file go if it is held; a run in memory is gone then."""
        while self._held:
            self.__exit__(None, None, None)
        self._session.close()
