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
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import Config
from ttt_cli.fitted import Fit, by_player, parts_by_player, periods_of_histories, spans
from ttt_cli.games.table import Games
from ttt_cli.periods import period_of
from ttt_cli.reading.columns import Codes, spread
from ttt_cli.reading.reports import ReadReport
from ttt_cli.room import FileRoom, Shared
from ttt_cli.runs.attach import (
    CHECKED,
    NotARun,
    check_name,
    first_line,
    log_of,
    looks_like_database,
    quoted,
    signature,
    translated,
)
from ttt_cli.runs.columns import Columns, link_columns, player_columns, texts, written_texts
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
    needed = _EMPTY + _GAME * timeline.n_games + _NODE * timeline.n_nodes  # at least
    if (free := shutil.disk_usage(real_place(Path(path)).parent).free) < needed:
        raise RunError(
            f"the run needs about {needed / 1e6:,.0f} MB, and the disk has {free / 1e6:,.1f} MB left",
            where=str(path),
            hint="make room, or write it to another disk with -o",
        )


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
        CHECKED[signature(place)] = tuple(fit.chains), True
        digests = [digest for _, _, digest, *_ in _report_rows(games.report)["inputs"]]
        if gone := drop_stale_points(place, basis_of(meta, digests)):
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
    written, numbers = written_texts(games)
    _insert_large(connection, _LargeTables(games, timeline, fit, numbers), texts(games.players), sql, workers)
    players, periods = player_columns(games), periods_of_histories(timeline)
    tables: dict[str, Columns] = {
        "names": {name: players[name] for name in ("id", "player")},
        "periods": {"number": periods, "label": texts([timeline.label(n) for n in periods.tolist()])},
        "neutral_games": {"row": np.flatnonzero(games.neutral)},
    }
    if written:
        tables["texts"] = written
    if fit.links is not None:
        tables |= link_columns(fit.links, by_player(timeline))
    for table, curve in (("draws", fit.draws), ("newcomers", fit.newcomers)):
        if curve is not None:
            tables[table] = vars(curve)
    for table, rows in {**_report_rows(games.report), "spellings": list(games.spellings)}.items():
        if rows:
            tables[table] = {f"c{i}": texts(column) for i, column in enumerate(zip(*rows, strict=True))}
    for table, columns in tables.items():
        _insert(connection, table, columns)
    _insert(connection, "players", players, _PLAYERS)
    meta = describe(games, timeline, fit, config)
    connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.to_rows())
    connection.execute(INSERT.format(table="evidence"), EvidencePoint.of(fit, config.model.params).to_row())
    return meta


# Of equal highest means the first
_PLAYERS: Final = """
SELECT named.player, folded, surname, begun.period, ended.period, games, wins, draws, losses,
       best.period, peak.mean, peak.sd, opponents
FROM incoming AS named LEFT JOIN (
    SELECT player, min(period_number) AS first, max(period_number) AS last,
           max({'mean': mean, 'period': -period_number, 'sd': sd}) FILTER (games > 0 AND mean IS NOT NULL) AS peak
    FROM spans GROUP BY player) AS marks USING (player)
LEFT JOIN periods AS begun ON begun.period_number = marks.first
LEFT JOIN periods AS ended ON ended.period_number = marks.last
LEFT JOIN periods AS best ON best.period_number = -peak.period
ORDER BY named.id"""


def _insert(connection: DuckDBPyConnection, table: str, incoming: Columns, sql: str = "") -> None:
    """Insert columns in the order of the table, or rows that SQL makes of `incoming`; NaN becomes NULL."""
    values = [
        f"nullif(\"{name}\", 'nan')" if column.dtype == np.float64 else f'"{name}"'
        for name, column in incoming.items()
    ]
    rows = sql or f"SELECT {', '.join(values)} FROM incoming"
    connection.execute(f"INSERT INTO {table} {rows}")


def describe(games: Games, timeline: Timeline, fit: Fit, config: Config) -> RunMeta:
    """The facts that the run stores about itself."""
    alike = (
        "model",
        "kind",
        "params",
        "log_evidence",
        "leave_one_out",
        "elo_unit",
        "posterior",
        "trace",
        "notes",
    )
    return RunMeta(
        format=FORMAT,
        version=VERSION,
        created=datetime.now(UTC).isoformat(timespec="microseconds"),
        period=timeline.period,
        config=config.model_dump(mode="json", exclude={"solver": set(WHERE)}),
        games=len(games),
        weight=float(games.weight.sum()),
        draw_share=games.draw_share,
        nodes=timeline.n_nodes,
        players=len(games.players),
        first=timeline.label(int(timeline.periods[0])) if len(games) else "",
        last=timeline.label(int(timeline.periods[-1])) if len(games) else "",
        **{name: getattr(fit, name) for name in alike},
        **vars(fit.status),
    )


def _report_rows(report: ReadReport) -> dict[str, list[tuple[Any, ...]]]:
    """Rows of the tables of the ingest report."""
    files = list(enumerate(report.files))
    alias = report.aliases
    return {
        "inputs": [
            *((f.path, f.kind, f.digest, f.size, f.rows, f.used) for f in report.files),
            *([(alias.path, ALIASES, alias.digest, alias.size, 0, 0)] if alias else []),
        ],
        "dropped": [(f.path, why, n, number) for number, f in files for why, n in f.dropped.items()],
        "noticed": [(f.path, what, n, number) for number, f in files for what, n in f.noticed.items()],
        "problems": [(p.file, p.line, p.reason, p.detail, p.action) for p in report.problems],
    }


_Part = tuple[
    slice, NDArray[np.generic] | None
]  # rows of games; or of spans, with the names of their players


class _LargeTables:
    """Rows of the large tables in parts; `written` as returned by `written_texts`.

    A part of spans has some players with all their periods, so the rows do not depend on slices or workers.
    """

    def __init__(
        self, games: Games, timeline: Timeline, fit: Fit, written: dict[str, tuple[Ids, Codes]]
    ) -> None:
        self._games: dict[str, Any] = {
            "date_days": games.date,
            "date_precision": games.date_precision,
            "white_id": games.white,
            "black_id": games.black,
            "outcome": games.outcome,
            "weight": games.weight,
            "offset": games.offset,
            "line": games.source_line,
            "file_number": games.source_file,
        }
        self._written, self._fit, self.room = written, fit, timeline.room
        self._timeline = replace(timeline, players=(), joined=None)
        self._nodes = timeline.room.empty("by player", (timeline.n_nodes,), np.int64)
        self._nodes[:] = by_player(timeline)

    def parts(self, names: NDArray[np.generic]) -> Iterator[_Part]:
        """All parts, in order, with the `names` of all players."""
        player = self._timeline.node_player
        yield from ((rows, None) for rows in self.room.parts(self._timeline.n_games))
        for rows in parts_by_player(self._timeline):
            first, last = player[self._nodes[[rows.start, rows.stop - 1]]]
            yield rows, names[first : last + 1]

    def insert(self, connection: DuckDBPyConnection, part: _Part) -> list[str]:
        """Insert a part; return its tables."""
        rows, names = part
        if names is not None:
            found = spans(self._timeline, self._fit, self._nodes[rows])
            player = found["player"]
            _insert(connection, "spans", {**found, "player": names[player - player[:1]]})
            return ["spans"]
        games = {name: column[rows] for name, column in self._games.items()}
        number = period_of(games["date_days"], self._timeline.period)
        _insert(connection, "game_rows", {"period_number": number, **games})
        if self._written:
            texts_of: Columns = {name: spread(of, codes[rows]) for name, (of, codes) in self._written.items()}
            _insert(connection, "game_texts", texts_of)
        return ["game_rows", "game_texts"]


class _Writer:
    """Writes parts as Parquet files in another process; `definitions` create the tables."""

    def __init__(self, rows: _LargeTables, definitions: str, folder: Path) -> None:
        self._rows, self._definitions, self._folder = Shared(rows), definitions, folder

    def step(self, item: tuple[int, _Part], *, fresh: bool) -> tuple[int, dict[str, Path]]:  # noqa: ARG002
        """Write a numbered part; return its number and its files by table."""
        import duckdb

        number, part = item
        files = {}
        with closing(duckdb.connect(config={**_LIMITS, "threads": 1})) as connection:
            connection.execute(self._definitions)
            for table in self._rows.what.insert(connection, part):
                # a part may be made twice at once, if a worker is given up but lives
                files[table] = self._folder / f"{table}-{number}-{os.getpid()}.parquet"
                connection.execute(f"COPY {table} TO {quoted(files[table])} (FORMAT parquet)")
        return number, files


def _insert_large(
    connection: DuckDBPyConnection,
    rows: _LargeTables,
    names: NDArray[np.generic],
    definitions: str,
    workers: Engine | None,
) -> None:
    """Insert all rows of the large tables; `workers` compute them as files, which are inserted in order."""
    if workers is None or not isinstance(rows.room, FileRoom):
        for part in rows.parts(names):
            rows.insert(connection, part)
            rows.room.let_go()
        return
    ready: dict[int, dict[str, Path]] = {}
    inserted = 0
    with TemporaryDirectory(dir=rows.room.folder, ignore_cleanup_errors=True) as folder:
        writer, chains = (
            _Writer(rows, definitions, Path(folder)),
            [[one] for one in enumerate(rows.parts(names))],
        )
        for number, files in run_chains(writer, chains, workers):
            ready[number] = files
            while inserted in ready:
                for table, file in ready.pop(inserted).items():
                    connection.execute(f"INSERT INTO {table} FROM read_parquet({quoted(file)})")
                    file.unlink()
                inserted += 1
