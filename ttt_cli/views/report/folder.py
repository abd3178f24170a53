"""Write a site's folder: complete beside its place, then renamed to it once the older site is set aside."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ttt_cli.support.errors import RunError
from ttt_cli.support.files import real_place, workplace

MARK: Final = "made-by-ttt.txt"
_MARK_TEXT: Final = "This folder was written by `ttt report`, which replaces it as a whole.\n"
_OURS: Final = frozenset({MARK, "players", "years", "events", "data"})
_ENDINGS: Final = (".html", ".css", ".js")
_OLD: Final = ".ttt-old"  # suffix of an older site set aside
Write = Callable[[str, str], None]


@contextmanager
def new_folder(place: Path) -> Iterator[Write]:
    """Yield a function that writes a text to a path within a new site.

    When the block ends, the folder replaces an older site or an empty folder. At every moment, also after a signal or
    a failed call, a complete site is at `place`, or beside it and put back by the next call. Raises RunError when the
    folder cannot be written or `place` contains anything but a site; `place` is unchanged then.
    """
    place = real_place(place)
    try:
        _put_back(place)
        _refuse_others(place)
        with workplace(place) as room:
            new = room / "new"
            folders: set[str] = set()

            def write(path: str, text: str) -> None:
                folder = path.rpartition("/")[0]
                if folder not in folders:
                    (new / folder).mkdir(parents=True, exist_ok=True)
                    folders.add(folder)
                with (new / path).open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                    file.write(text)

            write(MARK, _MARK_TEXT)
            yield write
            _refuse_others(place)
            _take_place(new, place)
        for old in _set_aside(place):
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror or error}", where=str(place)) from error


def _take_place(new: Path, place: Path) -> None:
    """Put `new` at `place`. An older folder is set aside under a name that is never swept."""
    try:
        if place.exists():
            place.rename(place.with_name(f".{place.name}.{secrets.token_hex(4)}{_OLD}"))
        new.rename(place)
    finally:
        _put_back(place)


def _set_aside(place: Path) -> list[Path]:
    """Older sites set aside by `_take_place`, sorted by name."""
    return sorted(place.parent.glob(f".{place.name}.*{_OLD}"))


def _put_back(place: Path) -> None:
    """Move an older site back to a place that is empty."""
    if not os.path.lexists(place):
        for old in _set_aside(place)[:1]:
            with suppress(FileNotFoundError):  # put back by another process
                old.rename(place)


def _refuse_others(place: Path) -> None:
    """Raise RunError unless `place` is free, empty or a site."""
    where = str(place)
    if not place.parent.is_dir():
        raise RunError("its folder does not exist", where=where, hint=f"mkdir -p {place.parent}")
    if not place.exists():
        return
    if not place.is_dir():
        raise RunError("is a file, not a folder", where=where, hint="name a folder, or a page NAME.html")
    names = {entry.name for entry in place.iterdir()}
    others = sorted(name for name in names if name not in _OURS and not name.endswith(_ENDINGS))
    if names and (MARK not in names or others):
        what = f" ({others[0]})" if others else ""
        hint = "name a new folder, or empty this one"
        raise RunError(f"contains files that `ttt report` did not write{what}", where=where, hint=hint)
