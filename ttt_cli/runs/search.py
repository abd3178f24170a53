"""Runs here that have a player or an event."""

from pathlib import Path
from typing import Final, NamedTuple

from ttt_cli.runs.run import ENDING, Run
from ttt_cli.support.errors import LookupFailed, RunError
from ttt_cli.support.folding import fold

MOST_SEARCHED: Final = 20  # runs that may have a player


class RunWithPlayer(NamedTuple):
    """The file of a run, and a player as named there; the name searched for where several players have it."""

    file: Path
    player: str


def runs_with(player: str) -> list[RunWithPlayer]:
    """Runs in the current folder that have a player by this name, the newest first; no more than `MOST_SEARCHED`."""
    runs = []
    for file in _newest_runs():
        try:
            with Run(file) as run:
                runs.append(RunWithPlayer(file, run.find_player(player).player))
        except LookupFailed as error:
            if error.player is None:
                runs.append(RunWithPlayer(file, player))
        except RunError:
            continue
    return runs


def runs_with_event(name: str) -> list[Path]:
    """Runs in the current folder with an event that has all words of a name, numbers aside, the newest first."""
    words = [word for word in fold(name).split() if not word.isdecimal()]
    if not words:
        return []
    conditions = " AND ".join(["contains(lower(text), ?)"] * len(words))
    query = f"SELECT 1 FROM game_texts JOIN texts ON texts.id = event WHERE {conditions} LIMIT 1"
    runs = []
    for file in _newest_runs():
        try:
            with Run(file) as run:
                if run.select(query, words)[1]:
                    runs.append(file)
        except RunError:
            continue
    return runs


def _newest_runs() -> list[Path]:
    """The files of runs in the current folder, the newest first; no more than `MOST_SEARCHED`."""
    files = sorted(Path().glob(f"*{ENDING}"), key=lambda file: (-file.stat().st_mtime, file.name))
    return files[:MOST_SEARCHED]
