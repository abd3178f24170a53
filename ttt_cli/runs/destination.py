"""Where a run may be written: found out before the work begins."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ttt_cli.errors import RunError
from ttt_cli.files import real_place
from ttt_cli.runs.connection import NotARun, looks_like_database
from ttt_cli.runs.meta import RunMeta
from ttt_cli.runs.schema import DATABASE
from ttt_cli.runs.session import Session


def check_destination(path: str | os.PathLike[str]) -> str | None:
    """The run that stands at `path` and would be replaced, in words; None when the place is free.

    Raises RunError when nothing can be written there, or when something else than a run stands there.
    """
    place = Path(path)
    where = str(place)
    if place.is_dir():
        raise RunError("is a folder", where=where, hint="name a file to write the run to, NAME.ttt")
    if place.exists() and not place.is_file():
        raise RunError("is not an ordinary file, a run cannot be written there", where=where)
    if not place.parent.is_dir():
        raise RunError("its folder does not exist", where=where, hint=f"mkdir -p {place.parent}")
    try:
        with tempfile.TemporaryDirectory(prefix=".ttt.", dir=real_place(place).parent):
            return _standing(place) if place.exists() and place.stat().st_size else None
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror or error}", where=where) from error


def _standing(place: Path) -> str:
    foreign = RunError(
        "exists and is not a run of ttt", where=str(place), hint="name another file with -o, or remove it"
    )
    if not looks_like_database(place):
        raise foreign
    try:
        session = Session(place)
        with session.asked() as connection:
            rows = connection.execute(f"SELECT key, value FROM {DATABASE}.main.meta").fetchall()
        session.close()
        return RunMeta.from_rows(rows).describe()
    except NotARun:
        raise foreign from None
    except (RunError, ValueError, TypeError) as error:  # held, damaged, of another version
        if place.suffix != ".ttt":
            raise foreign from error
        return "a run that cannot be read"
