"""Evidence points on their way into a run: lines in a file beside it, on the disk as soon as they are known.

Readers may hold the run as long as they like meanwhile. A line is a JSON array: when its run was created, then the
point's row. Lines of other runs, and those broken off, are passed over.
"""

import json
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ttt_cli.files import real_place
from ttt_cli.runs.connection import RunHeld
from ttt_cli.runs.evidence import INSERT, EvidencePoint
from ttt_cli.runs.schema import DATABASE
from ttt_cli.runs.storing.durable import changed_database
from ttt_cli.runs.storing.writing import not_written, writing

_FLAGS: Final = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_COLUMNS: Final = 6


def journal_of(path: Path) -> Path:
    """Where the points of a run wait."""
    place = real_place(path)
    return place.with_name(f".{place.name}.points")


def note(path: Path, created: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Add points to the journal of the run that was created then. Raises RunError when the disk does not take them."""
    lines = "".join(f"{json.dumps([created, *row])}\n" for row in rows)
    with writing(path):
        try:
            descriptor = os.open(journal_of(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT | _FLAGS, 0o666)
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                text = f"\n{lines}".encode()  # the last line may have been broken off
                if file.write(text) != len(text):
                    raise OSError("the disk is full")
                os.fsync(descriptor)
        except OSError as error:
            raise not_written(path, error) from error


def noted(path: Path, created: str) -> list[tuple[Any, ...]]:
    """The rows that wait for the run that was created then, as far as they are ours to trust."""
    with suppress(OSError):
        descriptor = os.open(journal_of(path), os.O_RDONLY | _FLAGS)
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
            found = os.fstat(descriptor)
            if stat.S_ISREG(found.st_mode) and (not hasattr(os, "geteuid") or found.st_uid == os.geteuid()):
                return [row for line in file if (row := _row(line, created))]
    return []


def merge(path: Path, created: str) -> bool:
    """Move all points that wait into the run; False, and they go on waiting, while somebody holds it for writing.

    Raises RunError when the run cannot be written; the points are kept then, too.
    """
    with writing(path):
        if not journal_of(path).exists():
            return True
        if rows := noted(path, created):
            try:
                with changed_database(path) as connection:
                    connection.executemany(INSERT.format(table=f"{DATABASE}.main.evidence"), rows)
            except RunHeld:
                return False
        forget(path)
    return True


def forget(path: str | os.PathLike[str]) -> None:
    """Remove the journal of a run that holds its points, or was replaced."""
    with suppress(OSError):
        journal_of(Path(path)).unlink()


def _row(line: str, created: str) -> tuple[Any, ...] | None:
    try:
        run, *values = json.loads(line)
        row = tuple(values)
        EvidencePoint.from_row(row)
    except (ValueError, TypeError, RecursionError):
        return None
    return row if run == created and len(row) == _COLUMNS else None
