"""Writes a run as one DuckDB file, whole or not at all, and checks before that it can."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import lru_cache
from glob import has_magic
from pathlib import Path
from typing import Any, Final, NamedTuple

from ttt_cli.config.schema import Config
from ttt_cli.fitted import Fit
from ttt_cli.games.table import Games
from ttt_cli.runs import database
from ttt_cli.runs.checks import CHECKED, Catalog, NotARun, Signature
from ttt_cli.runs.columns import fill
from ttt_cli.runs.connection import RunConnection
from ttt_cli.runs.evidence_points import basis_of, drop_stale_points
from ttt_cli.runs.meta import RunMeta
from ttt_cli.runs.run import ENDING, Run
from ttt_cli.runs.schema import DATABASE, NOT_OF_GAMES, RUN, TABLES
from ttt_cli.support.errors import RunError
from ttt_cli.support.locks import WRITER, locked
from ttt_cli.support.replacing import is_protected, real_path, replacing, working_folder
from ttt_cli.timeline import Timeline

# The oldest format that every version of DuckDB we allow can write, and the first in which a log knows its database: a
# log left beside another one is refused there, and applied to it in older ones.
STORAGE: Final = "v1.4.0"
# One thread: two take more memory and hardly less time
_LIMITS: Final = {
    "memory_limit": "400MB",
    "threads": 1,
}
_OTHER_ENDINGS: Final = (  # of files that are no databases
    ".csv .tsv .txt .json .jsonl .ndjson .parquet .pgn .xlsx .ods .html .yaml "
    ".yml .svg .png .pdf .gz .bz2 .xz .zst .zip"
)
_BYTES_WITHOUT_GAMES: Final = 2_000_000  # as measured
_BYTES_PER_GAME: Final = 10
_BYTES_PER_NODE: Final = 35


@contextmanager
def write_lock(path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Lock the run at `path` for writing, from reading it to replacing it; readers need no lock. None: in memory.

    Raises RunError when another process has the lock and `waiting` forbids to wait, and where no run can be written.
    """
    if path is None:
        yield
        return
    database.check_name(Path(path))
    file = real_path(Path(path))
    if file in WRITER.locked_runs:
        yield
        return
    _check_writable(Path(path))
    with ExitStack() as stack:
        try:
            lock = file.with_name(f".{file.name}.lock")
            sentence = (
                f"{path}: waiting for another process that writes this run (--no-wait refuses)"
            )
            stack.enter_context(
                locked(lock, wait=WRITER.wait, on_wait=lambda: WRITER.report(sentence))
            )
        except BlockingIOError:
            hint = "leave --no-wait out to wait until it ends"
            raise RunError("another process writes this run", where=str(path), hint=hint) from None
        except OSError as error:
            raise _not_written(path, error) from error
        WRITER.locked_runs.add(file)
        stack.callback(WRITER.locked_runs.discard, file)
        yield


def check_destination(path: str | os.PathLike[str]) -> str | None:
    """Description of the run that would be replaced, or None. Raises RunError where no run can be written."""
    file = Path(path)
    _check_writable(file)
    description = None
    try:
        with working_folder(real_path(file)):
            if file.exists() and file.stat().st_size:
                description = _describe_run(file)
    except OSError as error:
        raise _not_written(file, error) from error
    if file.suffix.lower() in _OTHER_ENDINGS.split():
        raise RunError(
            f"a run is a database, not what {file.suffix} says: name it {file.stem}.ttt",
            where=str(path),
            hint=f"`ttt export skills -o {file.stem}.csv` writes the skills of a run (also .tsv .json .parquet)",
        )
    return description


def _describe_run(file: Path) -> str:
    """A run in a line, also one that cannot be read. Raises RunError for other files, OSError."""
    hint = "name another file with -o, or remove it"
    foreign = RunError("exists and is not a run of ttt", where=str(file), hint=hint)
    if not database.looks_like_database(file):
        raise foreign
    try:
        return _describe_stored(file, database.signature(file))
    except RunError as error:  # foreign, locked, damaged, of another version
        if isinstance(error, NotARun) or file.suffix != ENDING:
            raise foreign from error
        return "a run that cannot be read"


@lru_cache(maxsize=8)
def _describe_stored(file: Path, signature: Signature) -> str:  # noqa: ARG001
    """The run in a file that has a `signature`. Raises RunError."""
    with Run(file) as run:
        return run.meta.describe()


def check_sources(path: str | os.PathLike[str], sources: Sequence[str]) -> None:
    """Raise RunError when the run at `path` was made from none of these files."""
    file = Path(path)
    if not file.is_file() or "-" in sources:
        return
    try:
        with Run(file, ["points"]) as run:
            query = f"SELECT path FROM {RUN}.inputs WHERE NOT list_contains(?, kind) ORDER BY rowid LIMIT 1000"
            inputs = [name for (name,) in run.select(query, [list(NOT_OF_GAMES)])[1]]
    except RunError:
        return  # as `check_destination` describes
    if not any(_is_from(name, source) for name in inputs for source in sources):
        raise RunError(
            f"is a run of other games ({inputs[0] if inputs else 'from memory'})",
            where=str(file),
            hint=f"name another run with -o, or replace this one with -o {file}",
        )


def _is_from(name: str, source: str) -> bool:
    """Whether an input is a source, in its folder, or matches its pattern."""
    if has_magic(source) and Path(name).match(source):
        return True
    return real_path(Path(name)).is_relative_to(real_path(Path(source)))


def check_space(path: str | os.PathLike[str], timeline: Timeline) -> None:
    """Raise RunError when the disk has not enough room for a run beside the one that it replaces."""
    needed = (
        _BYTES_WITHOUT_GAMES
        + _BYTES_PER_GAME * timeline.n_games
        + _BYTES_PER_NODE * timeline.n_nodes
    )
    if (free := shutil.disk_usage(real_path(Path(path)).parent).free) < needed:
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
    file = real_path(target)
    with write_lock(target):
        check_destination(target)
        try:
            if file.exists() and (names := file.stat().st_nlink) > 1:
                WRITER.report(f"{path} has {names:,} hard links: the other names keep the old run")
            with replacing(target) as temporary:
                written = _write_database(temporary, games, timeline, fit, config)
            database.log_of(file).unlink(missing_ok=True)  # of a process that died here
        except OSError as error:
            raise _not_written(path, error) from error
        except duckdb.Error as error:
            sentence = database.first_line(str(error)).rpartition("rror: ")[2]
            reason = sentence.replace(str(temporary), file.name)
            raise RunError(f"cannot be written: {reason}", where=str(path)) from error
        CHECKED[database.signature(target)] = written.catalog, True
        digests = [file.digest for file in games.report.files]
        if games.report.aliases is not None:
            digests.append(games.report.aliases.digest)
        if games.report.people is not None:
            digests.append(games.report.people.digest)
        if games.report.corrections is not None:
            digests.append(games.report.corrections.digest)
        if dropped := drop_stale_points(target, basis_of(written.meta, digests)):
            WRITER.report(
                f"{path}: {dropped:,} evidence points of other games or settings are dropped"
            )


class _StoredRun(NamedTuple):
    """What a new database stores."""

    meta: RunMeta
    catalog: Catalog


def _write_database(
    file: Path, games: Games, timeline: Timeline, fit: Fit, config: Config
) -> _StoredRun:
    """Write a new database. Raises OSError, duckdb.Error."""
    import duckdb

    limits: dict[str, Any] = {**_LIMITS, "temp_directory": f"{file}.tmp"}
    with closing(duckdb.connect(config=limits)) as connection:
        attached = f"{database.quoted(file)} AS {DATABASE} (STORAGE_VERSION '{STORAGE}')"
        connection.execute(f"ATTACH {attached}; USE {DATABASE}; BEGIN")
        meta = fill(connection, games, timeline, fit, config, for_clients=True)
        connection.execute(f"COMMIT; CHECKPOINT {DATABASE}; USE memory; DETACH {DATABASE}")
    if database.log_of(file).exists():  # DuckDB does not report this
        raise OSError("the database was not written out")
    return _StoredRun(meta, _catalog_of(fit))


def memory_run(
    games: Games, timeline: Timeline, fit: Fit, config: Config, scale: Sequence[str] = ()
) -> Run:
    """A run in memory, with all tables."""
    import duckdb

    connection = duckdb.connect(":memory:")
    with database.translated(None):
        connection.execute(f"ATTACH ':memory:' AS {DATABASE}; USE {DATABASE}; BEGIN")
        fill(connection, games, timeline, fit, config, for_clients=False)
        connection.execute("COMMIT; USE memory")
    opened = database.Opened(connection, _catalog_of(fit), signature=())
    return Run(None, scale, RunConnection(None, opened))


def _catalog_of(fit: Fit) -> Catalog:
    """What a run that was just written stores: all tables."""
    return Catalog(tuple(fit.chains), frozenset(TABLES))


def _check_writable(path: Path) -> None:
    """Raise RunError for a path where no run can be written."""
    where = str(path)
    if path.is_dir():
        raise RunError("is a folder", where=where, hint="name a file to write the run to, NAME.ttt")
    if path.exists() and not path.is_file():
        raise RunError("is not a regular file: a run cannot be written there", where=where)
    if not path.parent.is_dir():
        raise RunError("its folder does not exist", where=where, hint=f"mkdir -p {path.parent}")
    if is_protected(path):
        hint = f"chmod u+w {path}, or write to another file"
        raise RunError("is write-protected and was not changed", where=where, hint=hint)


def _not_written(path: str | os.PathLike[str], error: OSError) -> RunError:
    return RunError(f"cannot be written: {error.strerror or error}", where=str(path))
