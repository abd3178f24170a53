"""What users name as files: files, folders, patterns; and which files those stand for."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import BinaryIO, Final, NamedTuple

from ttt_cli.errors import DataError
from ttt_cli.reading.detect import GAMES_SUFFIXES, named_as_archive, named_as_games
from ttt_cli.reading.reports import Problem
from ttt_cli.reading.streams import shown

Named = str | os.PathLike[str] | BinaryIO

SKIPPED: Final = "skipped"  # what was done with a file that is none of games
OTHER_FILE: Final = "not named as games"
NO_GAMES: Final = "holds no games"
INNER_ARCHIVE: Final = "archive in an archive"


class Source(NamedTuple):
    """One file or stream to read. `origin` numbers what the user named; `found` is whether that was a folder."""

    what: Named
    origin: int
    found: bool = False


def find_sources(named: Sequence[Named]) -> tuple[list[Source], list[Problem]]:
    """The files that names stand for, in order, and the files that were passed over.

    A folder stands for the files in it and in its folders whose names are those of games or of archives; a pattern
    that is no file itself (`games/*.pgn`, `**` for folders too) for the files that it matches, or the folders if
    there are no files. Both are sorted. Raises DataError for a folder without such files and for a pattern that matches
    nothing.
    """
    sources: list[Source] = []
    skipped: list[Problem] = []
    for origin, one in enumerate(named):
        if isinstance(one, str | os.PathLike) and (places := _places(Path(one))):
            for place in places:
                files = _files_in(place, skipped) if place.is_dir() else [place]
                sources += [Source(str(file), origin, found=True) for file in files]
        else:
            sources.append(Source(one, origin))
    return sources, skipped


def skipped_file(name: str, reason: str, why: str) -> Problem:
    """The account of a file that was passed over."""
    return Problem(shown(name), 1, reason, why, SKIPPED)


def why_not_games(name: str) -> str | None:
    """Why a file in a folder or an archive is none of games, by its name there; None if it may be."""
    if any(part.startswith(".") or part == "__MACOSX" for part in PurePath(name).parts):
        return "hidden"
    return (
        None
        if named_as_games(name)
        else f"named neither {', '.join(GAMES_SUFFIXES[:-1])} nor {GAMES_SUFFIXES[-1]}"
    )


def _places(named: Path) -> list[Path]:
    """The folder of that name, or what matches if it is a pattern; nothing if it is meant as a file."""
    if named.is_dir():
        return [named]
    pattern = str(named)
    if not glob.has_magic(pattern) or named.exists():
        return []
    matches = [Path(match) for match in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207
    places = [match for match in matches if match.is_file()] or matches
    if not places:
        raise DataError(
            "no file matches", where=pattern, hint="patterns know *, ? and [...]; ** stands for folders"
        )
    return places


def _files_in(folder: Path, skipped: list[Problem]) -> list[Path]:
    files: list[Path] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        inside = str(path.relative_to(folder))
        why = None if named_as_archive(path.name) else why_not_games(inside)
        if why is None:
            files.append(path)
        else:
            skipped.append(skipped_file(str(path), OTHER_FILE, why))
    if not files:
        known = ", ".join(GAMES_SUFFIXES)
        raise DataError(
            "holds no file of games", where=str(folder), hint=f"in folders these are read: {known}, archives"
        )
    return files
