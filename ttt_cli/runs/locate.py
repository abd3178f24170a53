"""Which run is meant: the one named, else `$TTT_RUN`, else the one here that was fitted last."""

import os
from pathlib import Path
from typing import Final

from ttt_cli.errors import RunError
from ttt_cli.runs.folder import database_of, is_folder

ENDING: Final = ".ttt"  # of the runs that are found unasked


def named_run(path: str | os.PathLike[str] | None = None) -> Path | None:
    """The path that is named or in `$TTT_RUN`, existing or not, as `run_place` has it; None: neither."""
    named = path or os.environ.get("TTT_RUN")
    return run_place(named) if named else None


def run_place(name: str | os.PathLike[str]) -> Path:
    """The file that is meant by the name of a run: `a` is `a.ttt`, unless something stands at `a`."""
    path = Path(name)
    return path if path.suffix or not path.name or os.path.lexists(path) else path.with_suffix(ENDING)


def runs_here() -> list[tuple[Path, float]]:
    """The runs in the current folder and when each was written to (seconds since 1970), the last of them first.

    Raises RunError when there is none.
    """
    found = (place for place in Path().glob(f"*{ENDING}") if not place.name.startswith("."))
    here = [place for place in found if place.is_file() or is_folder(place)]
    if not here:
        raise RunError(
            "there is no run (*.ttt) here",
            hint="make one with `ttt fit FILE`, or name one with -r RUN or in $TTT_RUN",
        )
    written = sorted(((file.stat().st_mtime, file.name, file) for file in here), reverse=True)
    return [(file, time) for time, _, file in written]


def refuse_foreign(path: Path) -> None:
    """Raise RunError for a run that nobody named and another user put here."""
    facts = path.stat(), path.lstat(), database_of(path).stat()
    if hasattr(os, "geteuid") and {fact.st_uid for fact in facts} != {os.geteuid()}:
        raise RunError(
            "belongs to another user and is not opened unasked",
            where=str(path),
            hint=f"name the run that is meant: -r RUN; -r {path} if you trust it",
        )
