"""Writes a run: games, players, skills, the ingest report and all settings, as one DuckDB file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from glob import has_magic
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import Config
from ttt_cli.fitted import Fit, by_player, parts_by_player, spans
from ttt_cli.games.table import Games
from ttt_cli.periods import period_of
from ttt_cli.reading.columns import Codes, spread
from ttt_cli.reading.reports import ReadReport
from ttt_cli.room import FileRoom, Shared
from ttt_cli.runs.attach import (
    NotARun,
    check_name,
    first_line,
    log_of,
    looks_like_database,
    quoted,
    remember,
    signature,
    translated,
)
from ttt_cli.runs.columns import (
    Columns,
    Labels,
    Marks,
    game_columns,
    link_columns,
    player_columns,
    span_columns,
    texts,
    written_texts,
)
from ttt_cli.runs.meta import INSERT, WHERE, EvidencePoint, RunMeta, basis_of, drop_stale_points
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import ALIASES, DATABASE, FORMAT, definitions
from ttt_cli.support.arrays import Ids
from ttt_cli.support.errors import RunError
from ttt_cli.support.files import WRITER, is_protected, locked, real_place, replacing, workplace
from ttt_cli.support.version import VERSION
from ttt_cli.timeline import Timeline
from ttt_cli.work import Engine, run_chains

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The oldest format that every version of DuckDB we allow can write, and the first in which a log knows its database: a
# log left beside another one is refused there, and applied to it in older ones.
STORAGE: Final = "v1.4.0"
_LIMITS: Final = {"memory_limit": "400MB"}  # of rows that are not yet on the disk
_OTHERS: Final = (  # endings of files that are no databases
    ".csv .tsv .txt .json .jsonl .ndjson .parquet .pgn .xlsx .ods .html .yaml "
    ".yml .svg .png .pdf .gz .bz2 .xz .zst .zip"
)
_EMPTY: Final = 2_000_000  # bytes of a run without games, as measured
_GAME: Final = 10  # and of each row of a game, and of each node
_NODE: Final = 35


@contextmanager
def writing(path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Lock the run at `path` for writing, from reading it to replacing it; readers need no lock. None: in memory.

    Raises RunError when another process has the lock and `waiting` forbids to wait, and where no run can be written.
    """
    if path is None:
        yield
        return
    check_name(Path(path))
    place = real_place(Path(path))
    if place in WRITER.held:
        yield
        return
    _check_place(Path(path))
    with ExitStack() as stack:
        try:
            lock = place.with_name(f".{place.name}.lock")
            sentence = f"{path}: waiting for another process that writes this run (--no-wait refuses)"
            stack.enter_context(locked(lock, wait=WRITER.wait, on_wait=lambda: WRITER.report(sentence)))
        except BlockingIOError:
            hint = "leave --no-wait out to wait until it ends"
            raise RunError("another process writes this run", where=str(path), hint=hint) from None
        except OSError as error:
            raise _not_written(path, error) from error
        WRITER.held.add(place)
        stack.callback(WRITER.held.discard, place)
        yield


def check_destination(path: str | os.PathLike[str]) -> str | None:
    """Description of the run at `path` that would be replaced, or None.

    Raises RunError when nothing can be written there, or the file is not a run.
    """
    place = Path(path)
    _check_place(place)
    try:
        with workplace(real_place(place)):
            standing = _standing(place) if place.exists() and place.stat().st_size else None
    except OSError as error:
        raise _not_written(place, error) from error
    if place.suffix.lower() in _OTHERS.split():
        raise RunError(
            f"a run is a database, not what {place.suffix} says: name it {place.stem}.ttt",
            where=str(place),
            hint=f"`ttt export skills -o {place.stem}.csv` writes the skills of a run (also .tsv .json .parquet)",
        )
    return standing


def check_sources(path: str | os.PathLike[str], sources: Sequence[str]) -> None:
    """Raise RunError when the run at `path` was made from none of these files."""
    place = Path(path)
    if not place.is_file() or "-" in sources:
        return
    try:
        with Run(place, ["points"]) as run:
            query = (
                f"SELECT path FROM {DATABASE}.main.inputs WHERE kind <> '{ALIASES}' ORDER BY rowid LIMIT 1000"
            )
            files = [file for (file,) in run.select(query)[1]]
    except RunError:
        return  # as `check_destination` describes
    if not any(
        real_place(Path(file)).is_relative_to(real_place(Path(source)))
        or (has_magic(source) and Path(file).match(source))
        for file in files
        for source in sources
    ):
        raise RunError(
            f"is a run of other games ({files[0] if files else 'from memory'})",
            where=str(place),
            hint=f"name another run with -o, or replace this one with -o {place}",
        )


def check_space(path: str | os.PathLike[str], timeline: Timeline) -> None:
    """Raise RunError when the disk has not enough room for a run beside the one that it replaces."""
    needed = space_needed(timeline)
    if (free := shutil.disk_usage(real_place(Path(path)).parent).free) < needed:
        raise RunError(
            f"the run needs about {needed / 1e6:,.0f} MB, and the disk has {free / 1e6:,.1f} MB left",
            where=str(path),
            hint="make room, or write it to another disk with -o",
        )


def space_needed(timeline: Timeline) -> int:
    """Lower bound of the bytes of a run."""
    return _EMPTY + _GAME * timeline.n_games + _NODE * timeline.n_nodes


def write_run(
    path: str | os.PathLike[str],
    games: Games,
    timeline: Timeline,
    fit: Fit,
    config: Config,
    workers: Engine | None = None,
) -> None:
    """Write a run, whole or not at all; `workers` find the files of the games' room.

    Raises RunError when the disk fails, nothing can be written there, or a file there is not a run.
    """
    place = Path(path)
    with writing(place):
        check_destination(place)
        with _new_database(place) as connection:
            meta = fill(connection, games, timeline, fit, config, workers)
        remember(signature(place), tuple(fit.chains), sound=True)
        if gone := drop_stale_points(place, basis_of(meta, [file.digest for file in _inputs(games.report)])):
            WRITER.report(f"{path}: {gone:,} evidence points of other games or settings are dropped")


def memory_run(games: Games, timeline: Timeline, fit: Fit, config: Config, scale: Sequence[str] = ()) -> Run:
    """A run in memory, with all tables."""
    import duckdb

    connection = duckdb.connect(":memory:")
    with translated(None):
        connection.execute(f"ATTACH ':memory:' AS {DATABASE}; USE {DATABASE}")
        fill(connection, games, timeline, fit, config)
        connection.execute("USE memory")
    return Run(None, scale, (connection, tuple(fit.chains)))


@contextmanager
def _new_database(path: Path) -> Iterator[DuckDBPyConnection]:
    """Connection to an empty database, named `schema.DATABASE`, that replaces `path` after the block. Raises
    RunError.
    """
    import duckdb

    place = real_place(path)
    try:
        if place.exists() and (names := place.stat().st_nlink) > 1:
            WRITER.report(f"{path} has {names:,} hard links: the other names keep the old run")
        with replacing(path) as temporary:
            limits: dict[str, Any] = {**_LIMITS, "temp_directory": f"{temporary}.tmp"}
            with closing(duckdb.connect(config=limits)) as connection:
                connection.execute(
                    f"ATTACH {quoted(temporary)} AS {DATABASE} (STORAGE_VERSION '{STORAGE}'); USE {DATABASE}; BEGIN"
                )
                yield connection
                connection.execute(f"COMMIT; CHECKPOINT {DATABASE}; USE memory; DETACH {DATABASE}")
            if log_of(temporary).exists():  # DuckDB does not report this
                raise OSError("the database was not written out")
        log_of(place).unlink(missing_ok=True)  # of a process that died here
    except OSError as error:
        raise _not_written(path, error) from error
    except duckdb.Error as error:
        reason = first_line(str(error)).rpartition("rror: ")[2].replace(str(temporary), place.name)
        raise RunError(f"cannot be written: {reason}", where=str(path)) from error


def _check_place(place: Path) -> None:
    """Raise RunError for a path where no run can be written."""
    where = str(place)
    if real_place(place).is_symlink():
        raise RunError("is a link to itself", where=where)
    if place.is_dir():
        raise RunError("is a folder", where=where, hint="name a file to write the run to, NAME.ttt")
    if place.exists() and not place.is_file():
        raise RunError("is not a regular file: a run cannot be written there", where=where)
    if not place.parent.is_dir():
        raise RunError("its folder does not exist", where=where, hint=f"mkdir -p {place.parent}")
    if is_protected(place):
        hint = f"chmod u+w {place}, or write to another file"
        raise RunError("is write-protected and was not changed", where=where, hint=hint)


def _standing(place: Path) -> str:
    foreign = RunError(
        "exists and is not a run of ttt", where=str(place), hint="name another file with -o, or remove it"
    )
    if not looks_like_database(place):
        raise foreign
    try:
        with Run(place) as run:
            return run.meta.describe()
    except NotARun:
        raise foreign from None
    except RunError as error:  # held, damaged, of another version
        if place.suffix != ".ttt":
            raise foreign from error
        return "a run that cannot be read"


def _not_written(path: str | os.PathLike[str], error: OSError) -> RunError:
    return RunError(f"cannot be written: {error.strerror or error}", where=str(path))


def fill(
    connection: DuckDBPyConnection,
    games: Games,
    timeline: Timeline,
    fit: Fit,
    config: Config,
    workers: Engine | None = None,
) -> RunMeta:
    """Create and fill all tables in an empty database; `workers` compute the rows of large ones."""
    weight = games.weight if games.weight.strides[0] else games.weight[:1]
    sql = definitions(list(fit.chains), timeline.period, whole=bool((weight % 1 == 0).all()))
    connection.execute(sql)
    labels, names = Labels(timeline), texts(games.players)
    ids = np.arange(len(games.players), dtype=np.int32)
    tables: dict[str, Columns] = {
        "names": {"id": ids, "player": names},
        "periods": {"period_number": labels.numbers, "period": labels.texts},
        "neutral_games": {"row": np.flatnonzero(games.neutral)},
    }
    written, numbers = written_texts(games)
    if written:
        tables["texts"] = written
    if games.spellings:
        pairs = zip(("player", "spelling"), zip(*games.spellings, strict=True), strict=True)
        tables["spellings"] = {name: texts(values) for name, values in pairs}
    tables |= _report_columns(games.report)
    rows = _LargeTables(games, timeline, fit, numbers)
    marks = _insert_rows(connection, rows, rows.parts(names), sql, workers)
    tables["players"] = player_columns(games, marks, labels)
    if fit.links is not None:
        tables |= link_columns(fit.links, by_player(timeline))
    for table, curve in (("draws", fit.draws), ("newcomers", fit.newcomers)):
        if curve is not None:
            tables[table] = vars(curve)
    for table, columns in tables.items():
        _insert(connection, table, columns)
    meta = describe(games, timeline, fit, config)
    connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.to_rows())
    connection.execute(INSERT.format(table="evidence"), EvidencePoint.of(fit, config.model.params).to_row())
    return meta


def _insert(connection: DuckDBPyConnection, table: str, incoming: Columns) -> None:
    """Insert columns in the order of the table; NaN becomes NULL. SQL finds `incoming` by its name."""
    lacking = {
        name for name, column in incoming.items() if column.dtype == np.float64 and np.isnan(column).any()
    }
    values = [f'if(isnan("{name}"), NULL, "{name}")' if name in lacking else f'"{name}"' for name in incoming]
    connection.execute(f"INSERT INTO {table} SELECT {', '.join(values)} FROM incoming")


def describe(games: Games, timeline: Timeline, fit: Fit, config: Config) -> RunMeta:
    """The facts that the run stores about itself."""
    return RunMeta(
        format=FORMAT,
        version=VERSION,
        created=datetime.now(UTC).isoformat(timespec="microseconds"),
        model=fit.model,
        kind=fit.kind,
        period=timeline.period,
        config=config.model_dump(mode="json", exclude={"solver": set(WHERE)}),
        params=fit.params,
        log_evidence=float(fit.log_evidence),
        leave_one_out=float(fit.leave_one_out),
        elo_unit=float(fit.elo_unit),
        converged=bool(fit.status.converged),
        sweeps=int(fit.status.sweeps),
        remaining_error=float(fit.status.remaining_error),
        posterior=fit.posterior,
        skipped_sites=int(fit.status.skipped_sites),
        trace=tuple((float(change), float(error)) for change, error in fit.trace),
        games=len(games),
        weight=float(games.weight.sum()),
        draw_share=games.draw_share,
        nodes=timeline.n_nodes,
        players=len(games.players),
        first=timeline.label(int(timeline.periods[0])) if len(games) else "",
        last=timeline.label(int(timeline.periods[-1])) if len(games) else "",
        notes=fit.notes,
    )


def _inputs(report: ReadReport) -> list[Any]:
    return [*report.files, *([] if report.aliases is None else [report.aliases])]


def _report_columns(report: ReadReport) -> dict[str, Columns]:
    """Tables of the ingest report that have rows."""
    files = list(enumerate(report.files))
    aliases = [] if report.aliases is None else [report.aliases]
    rows: dict[str, list[tuple[Any, ...]]] = {
        "inputs": [
            *((f.path, f.kind, f.digest, f.size, f.rows, f.used) for f in report.files),
            *((f.path, ALIASES, f.digest, f.size, 0, 0) for f in aliases),
        ],
        "dropped": [(f.path, why, n, number) for number, f in files for why, n in f.dropped.items()],
        "noticed": [(f.path, what, n, number) for number, f in files for what, n in f.noticed.items()],
        "problems": [(p.file, p.line, p.reason, p.detail, p.action) for p in report.problems],
    }
    return {
        table: {
            f"c{i}": texts(column) if isinstance(column[0], str) else np.array(column, np.int64)
            for i, column in enumerate(zip(*values, strict=True))
        }
        for table, values in rows.items()
        if values
    }


class _TablePart(NamedTuple):
    """Some rows of games, or of the spans of players with these `names`."""

    rows: slice
    names: NDArray[np.generic] | None = None


class _LargeTables:
    """Rows of the large tables in parts; `written` as returned by `written_texts`.

    A part of spans has some players with all their periods, so the rows do not depend on slices or workers.
    """

    def __init__(
        self, games: Games, timeline: Timeline, fit: Fit, written: dict[str, tuple[Ids, Codes]]
    ) -> None:
        self._games, self._date, self._written, self._fit = game_columns(games), games.date, written, fit
        self._timeline, self.room = replace(timeline, players=(), joined=None), timeline.room
        self._nodes = timeline.room.empty("by player", (timeline.n_nodes,), np.int64)
        self._nodes[:] = by_player(timeline)

    def parts(self, names: NDArray[np.generic]) -> list[_TablePart]:
        """All parts, in order, with the `names` of all players."""
        player = self._timeline.node_player
        found = [_TablePart(rows) for rows in self.room.parts(self._timeline.n_games)]
        for rows in parts_by_player(self._timeline):
            first, last = player[self._nodes[[rows.start, rows.stop - 1]]]
            found.append(_TablePart(rows, names[first : last + 1]))
        return found

    def insert(self, connection: DuckDBPyConnection, part: _TablePart) -> Marks | None:
        """Insert a part; return the marks of its players."""
        timeline, rows = self._timeline, part.rows
        if part.names is None:
            number = period_of(self._date[rows], timeline.period)
            games = {name: column[rows] for name, column in self._games.items()}
            _insert(connection, "game_rows", {"period_number": number, **games})
            if self._written:
                columns = self._written.items()
                _insert(
                    connection, "game_texts", {name: spread(of, codes[rows]) for name, (of, codes) in columns}
                )
            return None
        found = spans(timeline, self._fit, self._nodes[rows])
        _insert(connection, "spans", span_columns(part.names, found))
        return Marks.of(found)


# Number of a part, its files by table, and the marks of its players
_Written = tuple[int, dict[str, Path], Marks | None]


class _Writer:
    """Writes parts as Parquet files in another process; `definitions` create the tables."""

    def __init__(self, rows: _LargeTables, definitions: str, folder: Path) -> None:
        self._rows, self._definitions, self._folder = Shared(rows), definitions, folder

    def step(self, item: tuple[int, _TablePart], *, fresh: bool) -> _Written:  # noqa: ARG002
        """Write a numbered part."""
        import duckdb

        number, part = item
        files = {}
        with closing(duckdb.connect(config={**_LIMITS, "threads": 1})) as connection:
            connection.execute(self._definitions)
            marks = self._rows.what.insert(connection, part)
            for table in ("spans",) if part.names is not None else ("game_rows", "game_texts"):
                # a part may be made twice at once, if a worker is given up but lives
                files[table] = self._folder / f"{table}-{number}-{os.getpid()}.parquet"
                connection.execute(f"COPY {table} TO {quoted(files[table])} (FORMAT parquet)")
        return number, files, marks


def _insert_rows(
    connection: DuckDBPyConnection,
    rows: _LargeTables,
    parts: list[_TablePart],
    definitions: str,
    workers: Engine | None,
) -> list[Marks]:
    """Insert all rows and return the marks of all players; `workers` compute them as files."""
    found: list[Marks | None] = []
    if workers is None or not isinstance(rows.room, FileRoom):
        for part in parts:
            found.append(rows.insert(connection, part))
            rows.room.let_go()
    else:
        ready: dict[int, _Written] = {}
        with TemporaryDirectory(dir=rows.room.folder, ignore_cleanup_errors=True) as folder:
            writer, chains = _Writer(rows, definitions, Path(folder)), [[one] for one in enumerate(parts)]
            for written in run_chains(writer, chains, workers):
                ready[written[0]] = written
                while (following := ready.pop(len(found), None)) is not None:
                    _, files, marks = following
                    for table, file in files.items():
                        connection.execute(f"INSERT INTO {table} SELECT * FROM read_parquet({quoted(file)})")
                        file.unlink()
                    found.append(marks)
    return [marks for marks in found if marks]
