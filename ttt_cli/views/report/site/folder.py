"""The folder of a site: filled beside its place, and moved there when it is complete."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ttt_cli.errors import RunError
from ttt_cli.files import real_place, workplace

MARK: Final = "made-by-ttt.txt"
_MARK_TEXT: Final = "This folder was written by `ttt report`, which replaces it as a whole.\n"
_OURS: Final = frozenset({MARK, "players", "years", "events", "data"})
_ENDINGS: Final = (".html", ".css", ".js")

Write = Callable[[str, str], None]


@contextmanager
def new_folder(place: Path) -> Iterator[Write]:
    """What writes a file of a site: its path within it, and its text.

    When the block ends well the folder takes the place of an older site or of an empty folder. Raises RunError, and
    leaves `place` as it is, when it cannot be written, or when something else stands there.
    """
    place = real_place(place)
    _refuse_others(place)
    try:
        with workplace(place) as room:
            new, old = room / "new", room / "old"
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
            if place.exists():
                place.rename(old)
            try:
                new.rename(place)
            except OSError:
                if old.exists():
                    old.rename(place)
                raise
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror or error}", where=str(place)) from error


def _refuse_others(place: Path) -> None:
    """Raise RunError where a site would take the place of anything that is not one."""
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
        raise RunError(
            f"holds what `ttt report` did not write{what}",
            where=where,
            hint="name a new folder, or empty this one",
        )
