"""Lists of players as users type them: names, several with commas or semicolons between, and files of names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import DataError, LookupFailed


class NameList(NamedTuple):
    """Players, named as in the run; `notes` say who else might have been meant."""

    players: list[str]
    notes: tuple[str, ...]


def find_players(run: Run, texts: Sequence[str]) -> NameList:
    """The players in a list, each once, in its order.

    A text is a file with a name in each line (empty lines and those after # do not count), a name as of
    `Run.find_player`, or several with semicolons or commas between. Raises LookupFailed, DataError.
    """
    players: dict[str, None] = {}
    notes: list[str] = []
    for text in texts:
        for name in _names_in(run, text):
            match = run.find_player(name)
            players[match.player] = None
            if match.note:
                notes.append(match.note)
    return NameList(list(players), tuple(notes))


def _names_in(run: Run, text: str) -> list[str]:
    """The names in a text of a list."""
    if Path(text).is_file():
        return _names_in_file(text)
    if ";" in text:
        return [name.strip() for name in text.split(";") if name.strip()]
    if "," not in text:
        return [text]
    try:
        run.find_player(text)
    except LookupFailed:
        return [name.strip() for name in text.split(",") if name.strip()]
    return [text]


def _names_in_file(path: str) -> list[str]:
    """The names in the lines of a file. Raises DataError for one that cannot be read or has none."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            "cannot be read as a list of names", where=path, hint="a name a line, in UTF-8"
        ) from error
    names = [line.partition("#")[0].strip() for line in lines]
    names = [name for name in names if name]
    if not names:
        raise DataError("has no names", where=path, hint="a name a line")
    return names
