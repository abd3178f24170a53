"""Runs here that have a player."""

from pathlib import Path
from typing import Final, NamedTuple

from ttt_cli.runs.run import ENDING, Run
from ttt_cli.support.errors import LookupFailed, RunError

MOST_SEARCHED: Final = 20  # runs that may have a player


class RunWithPlayer(NamedTuple):
    """The file of a run, and a player as named there; the name searched for where several players have it."""

    file: Path
    player: str


def runs_with(player: str) -> list[RunWithPlayer]:
    """Runs in the current folder that have a player by this name, the newest first; no more than `MOST_SEARCHED`."""
    files = sorted(Path().glob(f"*{ENDING}"), key=lambda file: (-file.stat().st_mtime, file.name))
    runs = []
    for file in files[:MOST_SEARCHED]:
        try:
            with Run(file) as run:
                runs.append(RunWithPlayer(file, run.find_player(player).player))
        except LookupFailed as error:
            if error.player is None:
                runs.append(RunWithPlayer(file, player))
        except RunError:
            continue
    return runs
