"""Which run is meant: the one named, else `$TTT_RUN`, else the newest `*.ttt` here."""

from __future__ import annotations

import os
from pathlib import Path

from ttt_cli.errors import RunError


def locate_run(path: str | os.PathLike[str] | None = None) -> Path:
    """The run's path, existing or not. Raises RunError when none is named and none is here."""
    named = path or os.environ.get("TTT_RUN")
    if named:
        return Path(named)
    here = [file for file in Path().glob("*.ttt") if file.is_file() and not file.name.startswith(".")]
    if not here:
        raise RunError(
            "there is no run (*.ttt) here",
            hint="make one with `ttt fit FILE`, or name one with -r RUN or in $TTT_RUN",
        )
    return max(here, key=lambda file: (file.stat().st_mtime_ns, file.name))
