"""Writing a run: games, players, skills, the read report and all settings, in one DuckDB file."""

import os
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Final

from ttt_cli.config.schema import Config
from ttt_cli.errors import RunError
from ttt_cli.files import real_place, workplace
from ttt_cli.fitted import Fit
from ttt_cli.games.table import Games
from ttt_cli.processes import Engine
from ttt_cli.runs.connection import NotARun, looks_like_database
from ttt_cli.runs.folder import database_of
from ttt_cli.runs.meta import RunMeta
from ttt_cli.runs.schema import DATABASE
from ttt_cli.runs.session import Session, Signature, signature
from ttt_cli.runs.storing.durable import new_database
from ttt_cli.runs.storing.fill import fill
from ttt_cli.runs.storing.journal import forget
from ttt_cli.runs.storing.writing import check_place, not_written, writing
from ttt_cli.timeline import Timeline

_OTHERS: Final = (  # endings of files that are no databases
    ".csv .tsv .txt .json .jsonl .ndjson .parquet .pgn .xlsx .ods .html .yaml "
    ".yml .svg .png .pdf .gz .bz2 .xz .zst .zip"
)
_EMPTY: Final = 2_000_000  # bytes of a run without games, as measured
_GAME: Final = 10  # and of each row of a game, and of each node
_NODE: Final = 35


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


def check_destination(path: str | os.PathLike[str]) -> str | None:
    """The run that stands at `path` and would be replaced, in words; None when the place is free.

    Raises RunError when nothing can be written there, or when something else than a run stands there.
    """
    place = Path(path)
    check_place(place)
    try:
        with workplace(real_place(place)):
            standing = _standing(place, signature(place)) if place.exists() and place.stat().st_size else None
    except OSError as error:
        raise not_written(place, error) from error
    _check_ending(place)
    return standing


def check_space(path: str | os.PathLike[str], timeline: Timeline) -> None:
    """Raise RunError when the disk surely has not enough room for a run of these games, and for what it replaces."""
    folder = real_place(Path(path)).parent
    needed = space_needed(timeline)
    if (free := shutil.disk_usage(folder).free) < needed:
        raise RunError(
            f"the run needs about {needed / 1e6:,.0f} MB, and the disk has {free / 1e6:,.1f} MB left",
            where=str(path),
            hint="make room, or write it to another disk with -o",
        )


def space_needed(timeline: Timeline) -> int:
    """Bytes that writing a run takes at least, roughly: a run is written beside the one that it replaces."""
    return _EMPTY + _GAME * timeline.n_games + _NODE * timeline.n_nodes


def _check_ending(place: Path) -> None:
    """Raise RunError for a name that says another format."""
    if place.suffix.lower() in _OTHERS.split():
        raise RunError(
            f"a run is a database, not what {place.suffix} says: name it {place.stem}.ttt",
            where=str(place),
            hint=f"`ttt export skills -o {place.stem}.csv` writes the skills of a run (also .tsv .json .parquet)",
        )


@lru_cache
def _standing(place: Path, _: Signature) -> str:
    foreign = RunError(
        "exists and is not a run of ttt", where=str(place), hint="name another file with -o, or remove it"
    )
    if not looks_like_database(database_of(place)):
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
