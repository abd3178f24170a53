"""Databases that take the place of a run when they are complete, checked and on the disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.errors import RunError
from ttt_cli.files import real_place, replacing
from ttt_cli.runs.connection import first_line
from ttt_cli.runs.folder import database_of, quoted
from ttt_cli.runs.schema import DATABASE
from ttt_cli.runs.session import Session, remember, signature
from ttt_cli.runs.storing.large import LIMITS, Tables
from ttt_cli.runs.storing.writing import not_written, report, writing

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The oldest that every version of DuckDB we allow can write, and the first in which a log knows its database: a log
# left beside another one is refused there, and applied to it in older ones.
STORAGE: Final = "v1.4.0"
Digest = dict[str, tuple[int, int]]


@contextmanager
def new_database(path: Path, *, folder: bool = False) -> Iterator[Tables]:
    """The tables of a new run, in an empty database named `schema.DATABASE`; after the block it replaces `path`.

    With `folder` it is one in a folder, which has the large tables beside it.

    It is written out, closed, opened again and compared with what was there before, since DuckDB closes a database that
    it could not write out without a word. Raises RunError, and leaves `path` as it is, when anything goes wrong.
    """
    import duckdb

    with _replacing(path) as temporary:
        if folder:
            temporary.mkdir()
        limits: dict[str, Any] = {**LIMITS, "temp_directory": f"{temporary}.tmp"}
        with closing(duckdb.connect(config=limits)) as connection:
            name = quoted(database_of(temporary))
            connection.execute(
                f"ATTACH {name} AS {DATABASE} (STORAGE_VERSION '{STORAGE}'); USE {DATABASE}; BEGIN"
            )
            tables = Tables(connection, temporary if folder else None)
            yield tables
            connection.execute("COMMIT")
            written = digest(connection)
            connection.execute(f"CHECKPOINT {DATABASE}")
        chains = _check(database_of(temporary), written)
        if folder:
            _check_large(temporary, tables.rows)
    remember(signature(path), chains)


@contextmanager
def changed_database(path: Path) -> Iterator[DuckDBPyConnection]:
    """As `new_database`, but it begins as a copy of the run that stands there, which may be anybody's.

    Raises RunHeld while another process has opened that for writing.
    """
    place = database_of(real_place(path))
    with _replacing(place) as temporary:
        standing, session = Session(place), Session(temporary)
        with standing.asked():
            _copy(place, temporary)
        standing.close()
        with session.writable() as connection:
            yield connection
            written = digest(connection)
        session.close()
        chains = _check(temporary, written)
    remember(signature(path), chains)


def digest(connection: DuckDBPyConnection) -> Digest:
    """By table of the run, the number of rows and the sum of their hashes, which depend on their order too."""
    query = f"SELECT table_name FROM duckdb_tables() WHERE database_name = '{DATABASE}' ORDER BY table_name"
    found: Digest = {}
    for (name,) in connection.execute(query).fetchall():
        table = f'{DATABASE}.main."{name}" AS t'
        rows = connection.execute(
            f"SELECT count(*), coalesce(sum(hash(rowid, t)), 0) FROM {table}"
        ).fetchall()
        found[name] = rows[0]
    return found


def log_of(place: Path) -> Path:
    """Where DuckDB keeps what it has not yet written into a database."""
    return place.with_name(f"{place.name}.wal")


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    import duckdb

    place = real_place(path)
    with writing(path):
        try:
            if place.exists() and (names := place.stat().st_nlink) > 1:
                report(f"{path} has {names:,} names (hard links): the others keep the run as it was")
            with replacing(path) as temporary:
                yield temporary
            log_of(place).unlink(missing_ok=True)  # of a process that died here
        except OSError as error:
            raise not_written(path, error) from error
        except duckdb.Error as error:
            reason = first_line(str(error)).rpartition("rror: ")[2].replace(str(temporary), place.name)
            raise RunError(f"cannot be written: {reason}", where=str(path)) from error


def _check(path: Path, written: Digest) -> tuple[str, ...]:
    """The chains of a closed database. Raises OSError when it does not hold what was written."""
    if log_of(path).exists():
        raise OSError("the database was not written out")
    session = Session(path)
    try:
        with session.asked() as connection:
            same = digest(connection) == written
    except RunError as error:
        raise OSError(f"what was written cannot be read again: {error.message}") from error
    session.close()
    if not same:
        raise OSError("what was written is not what is read again")
    return session.chains


def _check_large(path: Path, rows: dict[str, int]) -> None:
    """Raises OSError when tables of a folder have not so many rows."""
    session = Session(path)
    with session.asked() as connection:
        for table, count in rows.items():
            found = connection.execute(f"SELECT count(*) FROM {DATABASE}.main.{table}").fetchone()
            if found != (count,):
                raise OSError(f"what was written of {table} is not what is read again")
    session.close()


def _copy(old: Path, new: Path) -> None:
    shutil.copyfile(old, new)
    if log_of(old).exists():
        shutil.copyfile(log_of(old), log_of(new))
