"""Attaching a run file, with the errors of the database put in words."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ttt_cli.errors import RunError
from ttt_cli.files import real_place
from ttt_cli.runs.folder import database_of, is_folder, quoted
from ttt_cli.runs.schema import DATABASE

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

RETRY_DELAYS: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # seconds, while another process holds the file
_MAGIC: Final = (8, b"DUCK")  # where every DuckDB file says so
_DAMAGED: Final = ("corrupt", "could not read")
_HELD: Final = ("could not set lock", "file handle conflict", "being used by another process")


class RunHeld(RunError):
    """A run that another process has opened for writing, or this one in another way."""


def check_name(path: Path) -> None:
    """Raise RunError for a name that the database cannot take."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        where = str(path).encode("utf-8", "backslashreplace").decode()
        raise RunError("the name of a run must be UTF-8", where=where, hint="give it another name") from error


def attach(connection: DuckDBPyConnection, path: Path, *, write: bool = False) -> None:
    """Attach a run file to a database in memory. Raises RunError when it is too new, damaged or held by another."""
    import duckdb

    place = quoted(database_of(real_place(path)))
    mode = "READ_WRITE" if write else "READ_ONLY"
    for delay in (*RETRY_DELAYS, None):
        try:
            connection.execute(f"ATTACH {place} AS {DATABASE} ({mode}, TYPE duckdb)")
            return
        except duckdb.Error as error:
            check_file(path)  # gone by now?
            text = str(error)
            if not any(word in text.lower() for word in _HELD):
                raise _unreadable(path, text) from error
            if delay is None:
                raise RunHeld(
                    "another process holds this run",
                    where=str(path),
                    hint="wait for it to end, or fit into another file with -o",
                ) from error
            time.sleep(delay)


@contextmanager
def translated(path: Path | None, written: Path | None = None) -> Iterator[None]:
    """Turn errors of the database inside the block into RunErrors about `path`, or what is `written` from it."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        text = str(error)
        if path and any(word in text.lower() for word in _DAMAGED):
            raise _unreadable(path, text, "read") from error
        where = written or path
        raise RunError(first_line(text), where=str(where) if where else None) from error


def first_line(text: str) -> str:
    """The first line of a message, without a final full stop."""
    return text.strip().partition("\n")[0].rstrip(".")


def looks_like_database(path: Path) -> bool:
    """Whether the file's first bytes are those of a DuckDB database. Raises OSError when unreadable."""
    offset, magic = _MAGIC
    with path.open("rb") as file:
        return file.read(offset + len(magic))[offset:] == magic


def check_file(path: Path) -> None:
    """Raise RunError unless a DuckDB database stands there."""
    where = str(path)
    if path.is_dir() and not is_folder(path):
        raise RunError(
            "is a folder, not a run", where=where, hint="name a file NAME.ttt written by `ttt fit`"
        )
    try:
        is_database = looks_like_database(database_of(path))
    except FileNotFoundError:
        named = path.with_name(f"{path.name}.ttt")
        hint = f"did you mean {named}?" if named.exists() else "make one with `ttt fit FILE`"
        raise RunError("no such run", where=where, hint=hint) from None
    except OSError as error:
        raise RunError(error.strerror or str(error), where=where) from error
    if not is_database:
        raise NotARun(path)


class NotARun(RunError):
    """A file that something else wrote."""

    def __init__(self, path: Path) -> None:
        hint = "make a run from games with `ttt fit FILE`, or name one with -r NAME.ttt"
        super().__init__("not a run of ttt", where=str(path), hint=hint)


def _unreadable(path: Path, text: str, how: str = "opened") -> RunError:
    if "newer version of duckdb" in text.lower():
        return RunError(
            "written by a newer version", where=str(path), hint="upgrade ttt and duckdb, or fit it again"
        )
    hint = "the file may be damaged; fit it again"
    if (log := path.with_name(f"{path.name}.wal")).exists():
        hint = f"{log} is of another database, or broken off: move it away, the run is whole without"
    return RunError(f"cannot be {how}: {first_line(text)}", where=str(path), hint=hint)
