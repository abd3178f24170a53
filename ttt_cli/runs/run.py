"""Find, open and query runs. A run never changes; new evidence points are stored beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from ttt_cli.runs import database
from ttt_cli.runs.categories import category_names, category_number
from ttt_cli.runs.checks import NotARun
from ttt_cli.runs.connection import RunConnection
from ttt_cli.runs.curves import CURVES, CurveName, Row, YearTable, career_rows, on_scale
from ttt_cli.runs.evidence_points import INSERT, EvidencePoint, evidence_table, store_points
from ttt_cli.runs.lookup import Found, Scale, find_period, find_player, find_scale
from ttt_cli.runs.schema import PUBLIC, RUN
from ttt_cli.support.errors import LookupFailed, RunError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray
    from pandas import DataFrame

    from ttt_cli.games.table import Games
    from ttt_cli.runs.joint import JointSkills

Columns = tuple[str, ...]
ENDING: Final = ".ttt"  # of the runs that are found unless one is named
_CLOCK: Final = 5.0  # seconds between the clocks of a file system and of the process
_BATCH: Final = 10_000


def open_run(
    path: str | os.PathLike[str] | None = None,
    scale: Sequence[str] = (),
    category: str | None = None,
) -> Run:
    """Open the run at `path`, else at `$TTT_RUN`, else the run in the current folder (`*.ttt`) that was fitted last.

    `scale`: anchors such as `Lasker, Emanuel @ 1900 = 2720` in place of those in the config, with `matched` if they
    determine the slope; or `points`. `category`: with the skills, games and players of a category of games alone.
    Raises RunError when there is none, it is damaged, too new or not a run, another process writes it, or it was not
    named and belongs to another user; LookupFailed for a category that it does not have.
    """
    if named := path or os.environ.get("TTT_RUN"):
        return Run(run_path(named), scale, category=category)
    here = [
        file
        for file in Path().glob(f"*{ENDING}")
        if file.is_file() and not file.name.startswith(".")
    ]
    best: Run | None = None
    error = RunError(
        "there is no run (*.ttt) here",
        hint="make one with `ttt fit FILE`, or name one with -r RUN or in $TTT_RUN",
    )
    for written, _, file in sorted(
        ((file.stat().st_mtime, file.name, file) for file in here), reverse=True
    ):
        if best and datetime.fromisoformat(best.meta.created).timestamp() > written + _CLOCK:
            break  # no run is created after its file was written
        if hasattr(os, "geteuid") and {file.stat().st_uid, file.lstat().st_uid} != {os.geteuid()}:
            raise RunError(
                "belongs to another user and is opened only if it is named",
                where=str(file),
                hint=f"name a run with -r RUN; -r {file} if you trust it",
            )
        try:
            run = Run(file, scale)
        except NotARun as foreign:  # other programs use the ending, too
            error = foreign
            continue
        if best is None or run.meta.created > best.meta.created:
            best = run
    if best is None:
        raise error
    return best if category is None else Run(best.path, scale, category=category)


def run_path(name: str | os.PathLike[str]) -> Path:
    """Path of a named run: `a` is `a.ttt`, unless `a` exists."""
    path = Path(name)
    return (
        path if path.suffix or not path.name or os.path.lexists(path) else path.with_suffix(ENDING)
    )


class Run:
    """One run: its tables, players, skills and evidence points.

    It stays as it was when opened, even if its file is replaced. The file is open until `close` or the end of a
    `with` block; the next query opens it again. Every method raises RunError when the file cannot be read.
    """

    def __init__(
        self,
        path: Path | None,
        scale: Sequence[str] = (),
        connection: RunConnection | None = None,
        category: str | None = None,
    ) -> None:
        """`connection`: of a run that is open already, which is needed for one in memory."""
        self.path = path
        self.category = category
        self._anchors = tuple(scale)
        self._depth = 0  # of `with` blocks
        self._connection = connection or RunConnection(path)
        self.meta = self._connection.meta
        self._category_number = None
        if category is not None:
            self._category_number = category_number(
                self._connection.opened().connection,
                category,
                among=self.categories,
                where=self.name,
            )

    def __repr__(self) -> str:
        return f"<Run {self.name}: {self.meta.describe()}>"

    def __reduce__(self) -> tuple[type[Run], tuple[Any, ...]]:
        """Another process opens the file again. Raises RunError for a run in memory."""
        if self.path is None:
            raise RunError("a run in memory cannot be opened by another process", where=self.name)
        return Run, (self.path, self._anchors, None, self.category)

    def _repr_html_(self) -> str:
        from pandas import Series

        return str(Series(dict(self.meta.to_rows()), name=self.name).to_frame().to_html())

    def __enter__(self) -> Self:
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth and self.path is not None:
            self.close()

    def close(self) -> None:
        """Close the file; a run in memory is lost."""
        self._connection.close()

    @property
    def name(self) -> str:
        """File name, or "memory"."""
        return self._connection.name

    @cached_property
    def scale(self) -> Scale:
        """The scale of all skills that methods and queries return. Raises ConfigError, LookupFailed."""
        return find_scale(self.meta, self._fetch_in_points, self._anchors)

    @property
    def chains(self) -> tuple[str, ...]:
        """Names of the quantities that the run has of every player in every period: `skill`, perhaps `draw_margin`."""
        return self._connection.catalog.chains

    # Queries

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> DataFrame:
        """Result of a SQL query over the run's tables (docs/runs.md), a pandas DataFrame."""
        with self._cursor(sql, every_view=True) as cursor:
            return cursor.execute(sql, list(parameters)).df()

    def select(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Columns, list[Row]]:
        """As `query`, but column names and rows as tuples."""
        with self._cursor(sql) as cursor:
            result = cursor.execute(sql, list(parameters))
            return tuple(str(column[0]) for column in result.description or ()), result.fetchall()

    def rows(self, sql: str) -> list[Row]:
        """As `select`, rows only."""
        return self.select(sql)[1]

    def arrays(self, sql: str, parameters: Sequence[Any] = ()) -> dict[str, NDArray[Any]]:
        """As `query`, but numpy arrays by column; NULL of type DOUBLE is NaN."""
        import numpy as np

        with self._cursor(sql) as cursor:
            columns: dict[str, Any] = cursor.execute(sql, list(parameters)).fetchnumpy()
        return {
            name: np.ma.filled(column, np.nan)
            if column.dtype == np.float64
            else np.ma.getdata(column)
            for name, column in columns.items()
        }

    def stream(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Columns, Iterator[Row]]:
        """As `select`, but rows are fetched in batches."""

        def rows() -> Iterator[Row]:
            with self._cursor(sql) as cursor:
                cursor.execute(sql, list(parameters))
                while batch := cursor.fetchmany(_BATCH):
                    yield from batch

        return self.select(f"SELECT * FROM ({sql}) LIMIT 0", parameters)[0], rows()

    def write_parquet(self, path: Path, sql: str) -> None:
        """Write the rows of a SQL query to a Parquet file. Raises RunError."""
        run = self
        if self.path is not None:
            connection = RunConnection(self.path, may_write=path)
            run = Run(self.path, self._anchors, connection, self.category)
        with (
            run,
            run._cursor(sql) as cursor,
            database.translated(self.path, path),
        ):
            cursor.execute(
                f"COPY ({sql}) TO {database.quoted(path)} (FORMAT parquet, USE_TMP_FILE false)"
            )

    @contextmanager
    def _cursor(
        self, sql: str, *, every_view: bool = False, in_points: bool = False
    ) -> Iterator[DuckDBPyConnection]:
        """A cursor for a query. Its views show skills on the scale of the run, and the games of its category.

        `in_points`: in model points, and the games of all categories, as long as the scale is not found yet.
        `every_view`: as in `RunConnection.cursor`.
        """
        scale = Scale() if in_points else self.scale
        category = None if in_points else self._category_number
        shown = database.Shown(scale.slope, scale.shift, category)
        with self._connection.cursor(sql, shown, every_view=every_view) as cursor:
            yield cursor

    def refuse_replaced(self) -> None:
        """Raise RunReplaced if another run replaced this one."""
        self._connection.refuse_replaced()

    # Tables

    def find_player(self, name: str | int) -> Found:
        """The player selected by `name` (`ttt_cli.runs.lookup`). Raises LookupFailed."""
        try:
            return find_player(self._fetch, name)
        except LookupFailed as error:
            where = self.name if self.category is None else f"{self.name}, category {self.category}"
            raise LookupFailed(
                error.message, where=where, hint=error.hint, player=error.player
            ) from None

    def player_ids(self, *players: str | None) -> list[int]:
        """Ids of players by exact name, -1 for names that the run does not have.

        Queries that choose games by ids take a quarter of the time of those that choose them by names.
        """
        names = ", ".join("?" * len(players))
        rows = self.select(f"SELECT player, id FROM names WHERE player IN ({names})", players)[1]
        ids: dict[str | None, int] = dict(rows)
        return [ids.get(player, -1) for player in players]

    def find_period(self, at: str | int | None, player: str | None = None) -> tuple[str, int]:
        """Label and number of a period, of the run or a player's history. Raises LookupFailed."""
        return find_period(self._fetch, self.meta, at, player)

    def _fetch(self, sql: str, parameters: Sequence[Any]) -> list[Row]:
        with self._cursor(sql) as cursor:
            return cursor.execute(sql, list(parameters)).fetchall()

    def _fetch_in_points(self, sql: str, parameters: Sequence[Any]) -> list[Row]:
        with self._cursor(sql, in_points=True) as cursor:
            return cursor.execute(sql, list(parameters)).fetchall()

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Categories of games with skills of their own, by name."""
        opened = self._connection.opened()
        if "category_spans" not in opened.catalog.tables:
            return ()
        return category_names(opened.connection)

    def in_category(self, category: str) -> Run:
        """The run with the skills, games and players of a category of games alone. Raises LookupFailed."""
        if self.path is not None:
            return Run(self.path, self._anchors, category=category)
        return Run(None, self._anchors, self._connection, category)

    def skills(self, player: str | int | None = None) -> DataFrame:
        """Skills in every period, of all players or one (`find_player`): a pandas DataFrame."""
        where = ""
        values = []
        if player is not None:
            where = " WHERE player = ?"
            values = [self.find_player(player).player]
        return self.query(f"SELECT * FROM ({PUBLIC['skills']}){where}", values)

    def players(self) -> DataFrame:
        """Players with first and last period, record and peak: a pandas DataFrame."""
        return self.query(PUBLIC["players"])

    def people(self) -> DataFrame:
        """Players of whom anything is known, with all fields of `data.people` as texts: a pandas DataFrame."""
        from pandas import DataFrame

        from ttt_cli.runs.people import people_in

        people = people_in(self.rows)
        rows = [(player, *texts) for player, texts in people.values.items()]
        return DataFrame(rows, columns=["player", *people.fields])

    def games(self) -> DataFrame:
        """Games as used, with event, site and round: a pandas DataFrame."""
        return self.query(PUBLIC["games"])

    @property
    def has_joint(self) -> bool:
        """Whether the run has a joint posterior."""
        return self.has_rows("steps")

    @cached_property
    def has_sums(self) -> bool:
        """Whether the strength of any side is a sum of skills: that of a team, or of a side in an order of finish."""
        return self.has_rows("game_sides")

    def has_rows(self, table: str) -> bool:
        """Whether a table has rows."""
        return bool(self.select(f"SELECT 1 FROM {table} LIMIT 1")[1])

    def stored_games(self) -> Games:
        """The Games that were fitted, equal in every column."""
        from ttt_cli.runs.rebuilt_games import TABLES_OF_GAMES, rebuild_games

        with self._cursor(TABLES_OF_GAMES) as cursor:
            try:
                return rebuild_games(cursor)
            except (ValueError, TypeError, OverflowError) as error:
                where = str(self.path) if self.path else None
                raise RunError(
                    "its games cannot be read", where=where, hint="fit it again"
                ) from error

    # Curves over years

    def draws(self) -> DataFrame:
        """Draw margins by calendar year (`year`, `margin`, `sd`, `level`): a pandas DataFrame; empty if constant.

        Margins of players of the year's level; of newcomers where players have their own.
        """
        return self._curve_frame("draws")

    def newcomers(self) -> DataFrame:
        """Newcomers' mean above `prior_mean` (`year`, `mean`, `sd`): a pandas DataFrame; empty if constant."""
        return self._curve_frame("newcomers")

    def career(self) -> DataFrame:
        """Change of skill since careers begin (`years`, `mean`, `sd`): a pandas DataFrame, empty without one."""
        return self._curve_frame("career")

    def curve(self, name: CurveName) -> list[tuple[float, ...]]:
        """Rows of a curve on the shown scale; none if the run has no such curve."""
        rows = career_rows(self.meta) if name == "career" else self.by_year(name)
        return on_scale(name, rows, self.scale)

    def draws_in(self, year: int) -> dict[str, float] | None:
        """Parameters of draws in a year, points: of the last year with games up to it; None if they are constant."""
        if not self.has_moving_draws:
            return None
        _, margin, _, level = max(
            (row for row in self._draws if row[0] <= year), default=self._draws[0]
        )
        return {"draw_margin": margin, "draw_margin_level": level}

    @property
    def has_moving_draws(self) -> bool:
        """Whether the draw margin changes from year to year."""
        return bool(self._draws)

    @cached_property
    def _draws(self) -> list[Row]:
        return self.by_year("draws")

    def _curve_frame(self, name: CurveName) -> DataFrame:
        from pandas import DataFrame

        return DataFrame(self.curve(name), columns=list(CURVES[name]))

    def by_year(self, table: YearTable) -> list[Row]:
        """Rows of the table of a curve by calendar year, in model points."""
        columns = ", ".join(f'"{name}"' for name in CURVES[table])
        return self.select(f'SELECT {columns} FROM {table} ORDER BY "year"')[1]

    # The joint posterior

    @cached_property
    def joint(self) -> JointSkills:
        """The joint Gaussian of the skills, in points. Raises RunError if the run has none."""
        from ttt_cli.runs.joint import JointSkills

        if not self.has_joint:
            raise RunError(
                "has no joint posterior, so covariances of skills are unknown",
                where=self.name,
                hint="fit with -s solver.posterior=joint (ttt, ttt-d)",
            )
        return JointSkills(
            self.arrays, self.meta, self.name, self.scale.slope, self._category_number
        )

    def _resolved(
        self, skills: Sequence[tuple[str | int, str | int]]
    ) -> tuple[list[tuple[str, str]], list[tuple[str, int]]]:
        """Pairs of player and period by the run's names and labels, and by numbers. Raises LookupFailed."""
        named = []
        numbered = []
        find_player = cache(self.find_player)
        try:
            pairs = [(name, at) for name, at in skills]
        except (TypeError, ValueError):
            hint = "for instance [('Morphy, Paul', 1858), ('Anderssen, Adolf', 1858)]"
            raise LookupFailed("skills are pairs of a player and a period", hint=hint) from None
        for name, at in pairs:
            player = find_player(name).player
            label, number = self.find_period(at, player)
            named.append((player, label))
            numbered.append((player, number))
        return named, numbered

    def covariance(self, skills: Sequence[tuple[str | int, str | int]]) -> DataFrame:
        """Covariance matrix of skills, given as (player, period) pairs, across periods and players: a pandas
        DataFrame.

        Raises LookupFailed, and RunError if the run has no joint posterior.
        """
        from pandas import DataFrame, MultiIndex

        with self:
            named, numbered = self._resolved(skills)
            covariance = self.joint.covariance(numbered) * self.scale.slope**2
        index = MultiIndex.from_tuples(named, names=["player", "period"])
        return DataFrame(covariance, index=index, columns=index)

    def samples(
        self, n: int, seed: int, skills: Sequence[tuple[str | int, str | int]] | None = None
    ) -> DataFrame:
        """`n` samples of skills from their joint posterior, a column for each (player, period) pair: a pandas
        DataFrame.

        None: all players in all their periods with games. Equal seeds give equal samples. Raises as `covariance`, and
        ConfigError for more than 1,000 skills of a run with too large a factor.
        """
        from pandas import DataFrame, MultiIndex

        with self:
            if skills is None:
                rows = self.select(
                    "SELECT player, period, period_number FROM nodes ORDER BY player, period_number"
                )[1]
                named = [(player, label) for player, label, _ in rows]
                numbered = [(player, number) for player, _, number in rows]
            else:
                named, numbered = self._resolved(skills)
            samples = self.joint.samples(numbered, n, seed) * self.scale.slope + self.scale.shift
        return DataFrame(samples, columns=MultiIndex.from_tuples(named, names=["player", "period"]))

    # Evidence points

    def evidence(self) -> DataFrame:
        """Evidence points with parameters and results: a pandas DataFrame."""
        from pandas import DataFrame

        columns, rows = evidence_table(self.evidence_points())
        return DataFrame(rows, columns=list(columns))

    def evidence_points(self) -> list[EvidencePoint]:
        """All evidence points, the run's own first."""
        with self._cursor("", in_points=True) as cursor:
            rows = self._connection.evidence_rows(cursor)
        try:
            return [EvidencePoint.from_row(row) for row in rows]
        except (ValueError, TypeError, RecursionError) as error:
            where = str(self.path) if self.path else None
            raise RunError(
                "its evidence points cannot be read", where=where, hint="fit it again"
            ) from error

    def store_evidence(self, points: Iterable[EvidencePoint]) -> None:
        """Store points beside the run; the later of equal parameters counts. Raises RunError, RunReplaced."""
        rows = [point.to_row() for point in points]
        if not rows:
            return
        if self.path is None:
            self._connection.opened().connection.executemany(
                INSERT.format(table=f"{RUN}.evidence"), rows
            )
            return
        self.refuse_replaced()
        store_points(self.path, self._connection.basis, rows)

    def points_remarks(self) -> list[str]:
        """What of the points beside the run was not used, in sentences."""
        return self._connection.points_beside().remarks(self.path) if self.path else []
