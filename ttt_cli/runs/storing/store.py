"""Writing a run: games, players, skills, the read report and all settings, in one DuckDB file."""

import os
from pathlib import Path

from ttt_cli.config.schema import Config
from ttt_cli.fitted import Fit
from ttt_cli.games.table import Games
from ttt_cli.runs.storing.destination import check_destination
from ttt_cli.runs.storing.durable import new_database
from ttt_cli.runs.storing.fill import fill
from ttt_cli.runs.storing.journal import forget
from ttt_cli.runs.storing.writing import writing
from ttt_cli.timeline import Timeline


def write_run(
    path: str | os.PathLike[str], games: Games, timeline: Timeline, fit: Fit, config: Config
) -> None:
    """Write a run file, whole or not at all; a run that stands there is replaced.

    Raises RunError when the place cannot be written to, holds something that is not a run, or the disk fails.
    """
    with writing(path):
        check_destination(path)
        with new_database(Path(path)) as connection:
            fill(connection, games, timeline, fit, config)
        forget(path)
