"""Writing a run: games, players, skills, the read report and all settings, in one DuckDB file."""

import os
from pathlib import Path

from ttt_cli.config.schema import Config
from ttt_cli.fitted import Fit
from ttt_cli.games.table import Games
from ttt_cli.processes import Engine
from ttt_cli.runs.storing.destination import check_destination, space_needed
from ttt_cli.runs.storing.durable import new_database
from ttt_cli.runs.storing.fill import fill
from ttt_cli.runs.storing.journal import forget
from ttt_cli.runs.storing.writing import writing
from ttt_cli.timeline import Timeline


def write_run(
    path: str | os.PathLike[str],
    games: Games,
    timeline: Timeline,
    fit: Fit,
    config: Config,
    most: int | None = None,
    workers: Engine | None = None,
) -> None:
    """Write a run, whole or not at all; a run that stands there is replaced.

    It is a file, or a folder where it would surely have more bytes than `most`. `workers` find the
    files of the games' room.
    Raises RunError when the place cannot be written to, holds something that is not a run, or the disk fails.
    """
    with writing(path):
        check_destination(path)
        folder = most is not None and space_needed(timeline) > most
        with new_database(Path(path), folder=folder) as tables:
            fill(tables, games, timeline, fit, config, workers)
        forget(path)
