"""Which formats of run files open, and what to do about those that do not."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ttt_cli.errors import RunError
from ttt_cli.runs.connection import NotARun
from ttt_cli.runs.schema import ALIASES, DATABASE, FORMAT

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SHOWN: Final = 3  # files of games that are named
_LONGEST: Final = 300  # bytes of their names together


def check_format(connection: DuckDBPyConnection, path: Path, *, inputs: bool) -> None:
    """Raise RunError when the run attached to a session has another format, with what to do.

    Its table `meta` is known to be plain, and `inputs` where the flag says so: both are the same in every format.
    """
    query = f"SELECT max(value) FILTER (key = 'format' AND strlen(value) < 10) FROM {DATABASE}.main.meta"
    (version,) = connection.execute(query).fetchone() or ("",)
    if not (version or "").isdigit():
        raise NotARun(path)
    if int(version) > FORMAT:
        raise RunError(
            f"written by a newer ttt, in format {version}; this one knows formats to {FORMAT}",
            where=str(path),
            hint="upgrade ttt, or fit the games again",
        )
    if int(version) < FORMAT:
        files = _files(connection) if inputs else ""
        raise RunError(
            f"written by an older ttt, in format {version}; this one opens format {FORMAT}",
            where=str(path),
            hint=f"fit the games again: `ttt fit {files or 'FILE...'} -o {shlex.quote(str(path))}`;"
            " how it was fitted stands in its table meta, key config",
        )


def _files(connection: DuckDBPyConnection) -> str:
    """The files of games and the alias file as arguments of `ttt fit`, empty where they are too many to be shown."""
    rows = f"SELECT left(path, {_LONGEST}), kind = '{ALIASES}' FROM {DATABASE}.main.inputs LIMIT {_SHOWN + 1}"
    found = connection.execute(rows).fetchall()
    words = [word for path, alias in found for word in (["--aliases", path] if alias else [path])]
    text = shlex.join(words) if all(words) else ""
    return text if len(found) <= _SHOWN and len(text.encode()) < _LONGEST else ""
