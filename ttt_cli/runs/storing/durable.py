"""Databases that take the place of a run when they are complete, checked and on the disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.errors import RunError
from ttt_cli.files import real_place, replacing
from ttt_cli.runs.connection import attach, first_line
from ttt_cli.runs.folder import FILES, database_of, described, quoted, spread_out
from ttt_cli.runs.schema import DATABASE
from ttt_cli.runs.session import Session, remember, signature
from ttt_cli.runs.storing.large import LIMITS, Tables
from ttt_cli.runs.storing.writing import not_written, report, writing
from ttt_cli.runs.untrusted import check_catalog

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The oldest that every version of DuckDB we allow can write, and the first in which a log knows its database: a log
# left beside another one is refused there, and applied to it in older ones.
STORAGE: Final = "v1.4.0"
Digest = dict[str, tuple[int, int]]
_CHAINS: Final[dict[str, tuple[str, ...]]] = {}  # by what defined tables that were read again here


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
            if folder:
                connection.execute("INSERT INTO meta VALUES (?, ?)", [FILES, described(temporary)])
            connection.execute("COMMIT")
            written = digest(connection)
            connection.execute(f"CHECKPOINT {DATABASE}; USE memory; DETACH {DATABASE}")
            chains = _check_new(connection, temporary, written, tables)
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
        remember(signature(temporary), standing.chains)
        with session.writable() as connection:
            yield connection
            written = digest(connection)
        remember(signature(temporary), standing.chains)
        with _reading_again(temporary), session.asked() as connection:
            _compare(digest(connection), written)
        session.close()
    remember(signature(path), standing.chains)


def digest(connection: DuckDBPyConnection) -> Digest:
    """By table of the run, the number of rows and the sum of their hashes, which depend on their order too."""
    query = f"SELECT table_name FROM duckdb_tables() WHERE database_name = '{DATABASE}' ORDER BY table_name"
    each = "SELECT '{1}', count(*), coalesce(sum(hash(rowid, t)), 0) FROM {0}.main.\"{1}\" AS t"
    tables = [each.format(DATABASE, name) for (name,) in connection.execute(query).fetchall()]
    return {
        name: (rows, sum_) for name, rows, sum_ in connection.execute(" UNION ALL ".join(tables)).fetchall()
    }


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


def _check_new(
    connection: DuckDBPyConnection, path: Path, written: Digest, tables: Tables
) -> tuple[str, ...]:
    """The chains of a closed run, whose catalog is checked once in a process for those defined alike.

    Raises OSError when it does not hold what was written.
    """
    with _reading_again(database_of(path)):
        attach(connection, database_of(path))
        _compare(digest(connection), written)
        if tables.defined not in _CHAINS:
            _CHAINS[tables.defined] = check_catalog(connection, path)
        if tables.rows:
            spread_out(connection, path)
            counts = "SELECT " + ", ".join(
                f"(SELECT count(*) FROM {DATABASE}.main.{name})" for name in tables.rows
            )
            _compare(connection.execute(counts).fetchone(), (*tables.rows.values(),))
    return _CHAINS[tables.defined]


@contextmanager
def _reading_again(database: Path) -> Iterator[None]:
    """What is no run is an OSError inside the block, since it was one."""
    if log_of(database).exists():
        raise OSError("the database was not written out")
    try:
        yield
    except RunError as error:
        raise OSError(f"what was written cannot be read again: {error.message}") from error


def _compare(read: object, written: object) -> None:
    if read != written:
        raise OSError("what was written is not what is read again")


def _copy(old: Path, new: Path) -> None:
    shutil.copyfile(old, new)
    if log_of(old).exists():
        shutil.copyfile(log_of(old), log_of(new))
