"""Writes a run as one DuckDB file, whole or not at all, and checks before that it can."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from glob import has_magic
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from ttt_cli.config.schema import Config
from ttt_cli.fitted import Fit
from ttt_cli.games.table import Games
from ttt_cli.runs import database
from ttt_cli.runs.columns import fill, report_rows
from ttt_cli.runs.database import DATABASE
from ttt_cli.runs.points import basis_of, drop_stale_points
from ttt_cli.runs.run import ENDING, Run
from ttt_cli.support.errors import RunError
from ttt_cli.support.files import WRITER, is_protected, locked, real_place, replacing, workplace
from ttt_cli.timeline import Timeline

# The oldest format that every version of DuckDB we allow can write, and the first in which a log knows its database: a
# log left beside another one is refused there, and applied to it in older ones.
STORAGE: Final = "v1.4.0"
_LIMITS: Final = {"memory_limit": "400MB", "threads": 1}  # two threads take more memory and hardly less time
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
    database.check_name(Path(path))
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
    """Description of the run that would be replaced, or None. Raises RunError where no run can be written."""
    place = Path(path)
    where = str(path)
    _check_place(place)
    standing = None
    try:
        with workplace(real_place(place)):
            if place.exists() and place.stat().st_size:
                hint = "name another file with -o, or remove it"
                foreign = RunError("exists and is not a run of ttt", where=where, hint=hint)
                if not database.looks_like_database(place):
                    raise foreign
                try:
                    with Run(place) as run:
                        standing = run.meta.describe()
                except RunError as error:  # foreign, held, damaged, of another version
                    if isinstance(error, database.NotARun) or place.suffix != ENDING:
                        raise foreign from error
                    standing = "a run that cannot be read"
    except OSError as error:
        raise _not_written(place, error) from error
    if place.suffix.lower() in _OTHERS.split():
        raise RunError(
            f"a run is a database, not what {place.suffix} says: name it {place.stem}.ttt",
            where=where,
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
            query = f"SELECT path FROM {DATABASE}.main.inputs WHERE kind <> ? ORDER BY rowid LIMIT 1000"
            files = [file for (file,) in run.select(query, [database.ALIASES])[1]]
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
    path: str | os.PathLike[str], games: Games, timeline: Timeline, fit: Fit, config: Config
) -> None:
    """Write a run, whole or not at all. Raises RunError when it cannot be written, or replaces what is no run."""
    import duckdb

    target = Path(path)
    place = real_place(target)
    with writing(target):
        check_destination(target)
        try:
            if place.exists() and (names := place.stat().st_nlink) > 1:
                WRITER.report(f"{path} has {names:,} hard links: the other names keep the old run")
            with replacing(target) as temporary:
                limits: dict[str, Any] = {**_LIMITS, "temp_directory": f"{temporary}.tmp"}
                with closing(duckdb.connect(config=limits)) as connection:
                    attached = f"{database.quoted(temporary)} AS {DATABASE} (STORAGE_VERSION '{STORAGE}')"
                    connection.execute(f"ATTACH {attached}; USE {DATABASE}; BEGIN")
                    meta = fill(connection, games, timeline, fit, config)
                    catalog = database.check_catalog(connection, target)
                    connection.execute(f"COMMIT; CHECKPOINT {DATABASE}; USE memory; DETACH {DATABASE}")
                if database.log_of(temporary).exists():  # DuckDB does not report this
                    raise OSError("the database was not written out")
            database.log_of(place).unlink(missing_ok=True)  # of a process that died here
        except OSError as error:
            raise _not_written(path, error) from error
        except duckdb.Error as error:
            reason = (
                database.first_line(str(error)).rpartition("rror: ")[2].replace(str(temporary), place.name)
            )
            raise RunError(f"cannot be written: {reason}", where=str(path)) from error
        database.CHECKED[database.signature(target)] = catalog, True
        digests = [*map(itemgetter(2), report_rows(games.report)["inputs"])]
        if gone := drop_stale_points(target, basis_of(meta, digests)):
            WRITER.report(f"{path}: {gone:,} evidence points of other games or settings are dropped")


def memory_run(games: Games, timeline: Timeline, fit: Fit, config: Config, scale: Sequence[str] = ()) -> Run:
    """A run in memory, with all tables."""
    import duckdb

    connection = duckdb.connect(":memory:")
    with database.translated(None):
        connection.execute(f"ATTACH ':memory:' AS {DATABASE}; USE {DATABASE}; BEGIN")
        fill(connection, games, timeline, fit, config)
        connection.execute("COMMIT; USE memory")
        catalog = database.check_catalog(connection, Path("memory"))
    return Run(None, scale, (connection, catalog))


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


def _not_written(path: str | os.PathLike[str], error: OSError) -> RunError:
    return RunError(f"cannot be written: {error.strerror or error}", where=str(path))
