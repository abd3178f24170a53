"""The DuckDB file of a run, opened safely: read-only, checked, only its tables. SQL cannot reach any other file."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ttt_cli.runs.checks import CHECKED, Catalog, NotARun, Signature, check_catalog
from ttt_cli.runs.schema import DATABASE, session_views, used_views
from ttt_cli.support.errors import RunError
from ttt_cli.support.opening import check_special
from ttt_cli.support.replacing import real_path

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttt_cli.config.schema import Period

# Seconds, while another process writes the file
RETRY_DELAYS: Final = (
    0.05,
    0.1,
    0.2,
    0.4,
    0.8,
    1.6,
)
_SETTINGS: Final = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "2GB",
    "max_temp_directory_size": "20GB",
}
_MAGIC: Final = b"DUCK"  # in every DuckDB file, after its checksum
_MAGIC_AT: Final = 8
_DAMAGED: Final = ("corrupt", "could not read")
_LOCKED: Final = ("could not set lock", "file handle conflict", "being used by another process")


class Opened(NamedTuple):
    """A database in memory with a run attached as `DATABASE`."""

    connection: DuckDBPyConnection
    catalog: Catalog
    signature: Signature


class Shown(NamedTuple):
    """What the views of a run show: the scale of skills, and the number of the only category of games."""

    slope: float
    shift: float
    category: int | None


class Views:
    """The views of a connection, created when a query first reads them; shared by all runs of the connection."""

    def __init__(self) -> None:
        self._shown: Shown | None = None  # before the first query
        self._definitions: dict[str, str] = {}  # SQL by name, as `_shown` says
        self._created: set[str] = set()  # names of those that exist, as `_shown` says

    @property
    def used(self) -> bool:
        """Whether any query was prepared."""
        return self._shown is not None

    def show(self, shown: Shown, catalog: Catalog, period: Period) -> bool:
        """Show this from now on; whether that is a change."""
        if self._shown == shown:
            return False
        self._definitions = session_views(
            *catalog, period, shown.slope, shown.shift, shown.category
        )
        self._created.clear()
        self._shown = shown
        return True

    def create(self, connection: DuckDBPyConnection, sql: str, *, every_view: bool) -> None:
        """Create the views that a query reads, or all, where they do not exist."""
        used = self._definitions if every_view else used_views(self._definitions, sql)
        missing = [name for name in used if name not in self._created]
        if missing:
            connection.execute(";".join(self._definitions[name] for name in missing))
            self._created.update(missing)


def connect(path: Path, may_write: Path | None = None) -> Opened:
    """Open a run. Raises RunError.

    SQL may write the file `may_write` only.
    """
    import duckdb

    check_name(path)
    check_file(path)
    file = real_path(path)
    allowed = [f"{file}", f"{file}.wal", f"{file}.wal.checkpoint", f"{file}.wal.recovery"]
    if may_write:
        allowed.append(str(real_path(may_write)))
    connection = duckdb.connect(":memory:", config={**_SETTINGS, "temp_directory": f"{file}.tmp"})
    try:
        connection.execute("SET allowed_paths = ?", [allowed])
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        with translated(path):
            opened_signature = signature(path)
            for delay in (*RETRY_DELAYS, None):
                try:
                    connection.execute(
                        f"ATTACH {quoted(file)} AS {DATABASE} (READ_ONLY, TYPE duckdb)"
                    )
                    break
                except duckdb.Error as error:
                    check_file(path)  # gone by now?
                    text = str(error)
                    if not any(word in text.lower() for word in _LOCKED):
                        raise _unreadable(path, text) from error
                    if delay is None:
                        hint = "wait for it to end, or fit into another file with -o"
                        message = "another process has this run open for writing"
                        raise RunError(message, where=str(path), hint=hint) from error
                    time.sleep(delay)
            if opened_signature not in CHECKED:
                CHECKED[opened_signature] = check_catalog(connection, path), False
            catalog, _ = CHECKED[opened_signature]
    except BaseException:
        connection.close()
        raise
    return Opened(connection, catalog, opened_signature)


def signature(path: Path) -> Signature:
    """Numbers that change when a file, or its log, is replaced or written to."""
    database = real_path(path)
    numbers: list[int] = []
    for file in (database, log_of(database)):
        if file.exists():
            status = file.stat()
            numbers += [
                status.st_dev,
                status.st_ino,
                status.st_size,
                status.st_mtime_ns,
                status.st_ctime_ns,
            ]
    return tuple(numbers)


def log_of(database: Path) -> Path:
    """The write-ahead log of a database."""
    return database.with_name(f"{database.name}.wal")


def quoted(path: Path) -> str:
    """A path in SQL."""
    return "'" + str(path).replace("'", "''") + "'"


def check_name(path: Path) -> None:
    """Raise RunError unless the name is UTF-8, as the database needs."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        where = str(path).encode("utf-8", "backslashreplace").decode()
        raise RunError(
            "the name of a run must be UTF-8", where=where, hint="give it another name"
        ) from error


def check_file(path: Path) -> None:
    """Raise RunError unless the path is a DuckDB database."""
    where = str(path)
    if path.is_dir():
        raise RunError(
            "is a folder, not a run", where=where, hint="name a file NAME.ttt written by `ttt fit`"
        )
    try:
        is_database = looks_like_database(path)
    except FileNotFoundError:
        with_ending = path.with_name(f"{path.name}.ttt")
        hint = (
            f"did you mean {with_ending}?"
            if with_ending.exists()
            else "make one with `ttt fit FILE`"
        )
        raise RunError("no such run", where=where, hint=hint) from None
    except OSError as error:
        raise RunError(error.strerror or str(error), where=where) from error
    if not is_database:
        raise NotARun(path)


def looks_like_database(path: Path) -> bool:
    """Whether an ordinary file starts like a DuckDB database. Raises OSError."""
    if not stat.S_ISREG(check_special(path).st_mode):  # opening a FIFO would wait for its writer
        return False
    with path.open("rb") as file:
        return file.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] == _MAGIC


@contextmanager
def translated(path: Path | None, written: Path | None = None) -> Iterator[None]:
    """Turn errors of the database into RunErrors about `path`, or the file `written` from it."""
    import duckdb

    try:
        yield
    except (duckdb.Error, OverflowError) as error:
        text = str(error)
        if path and any(word in text.lower() for word in _DAMAGED):
            raise _unreadable(path, text, "read") from error
        where = written or path
        raise RunError(first_line(text), where=str(where) if where else None) from error


def insert_rows(
    connection: DuckDBPyConnection, table: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert all rows in one statement."""
    if columns := [list(column) for column in zip(*rows, strict=True)]:
        unnested = ", ".join(["unnest(?)"] * len(columns))
        connection.execute(f"INSERT INTO {table} SELECT {unnested}", columns)


def first_line(text: str) -> str:
    """The first line of a message, without a final full stop."""
    return text.strip().partition("\n")[0].rstrip(".")


def _unreadable(path: Path, text: str, how: str = "opened") -> RunError:
    if "newer version of duckdb" in text.lower():
        return RunError(
            "written by a newer version",
            where=str(path),
            hint="upgrade ttt and duckdb, or fit it again",
        )
    hint = "the file may be damaged; fit it again"
    if (log := path.with_name(f"{path.name}.wal")).exists():
        hint = f"{log} belongs to another database or is incomplete: move it away; the run is complete without it"
    return RunError(f"cannot be {how}: {first_line(text)}", where=str(path), hint=hint)
