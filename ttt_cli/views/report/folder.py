"""The folder of a site: written beside its place, then moved there; files that no site wrote are never replaced."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from ttt_cli.support.errors import RunError
from ttt_cli.support.replacing import real_path, replacing_folder, sweep

MANIFEST: Final = "made-by-ttt.txt"
_HEADING: Final = (
    "`ttt report` wrote this folder. It replaces and deletes these files, and no others:\n"
)
WriteFile = Callable[[str, str], int]


class SiteFile(NamedTuple):
    """The path of a file within a site, and its text."""

    path: str
    text: str


@contextmanager
def new_folder(path: Path) -> Iterator[WriteFile]:
    """Yield a function that writes a text to a path within a new site, and returns the number of bytes.

    When the block ends, the folder replaces an older site or an empty folder (`replacing_folder`). Raises RunError
    when it cannot be written, or when the older folder has a file that is not in the manifest of its site; the older
    folder is unchanged then.
    """
    try:
        folder = real_path(path)
        if folder.parent.is_dir():
            sweep(folder.parent)  # which may put back an older site
        _check_folder(folder)
        with replacing_folder(folder) as new:
            written: list[str] = []

            def write(name: str, text: str) -> int:
                file = new / name
                if (
                    len(written) == 0
                    or PurePosixPath(name).parent != PurePosixPath(written[-1]).parent
                ):
                    file.parent.mkdir(parents=True, exist_ok=True)
                written.append(name)
                return file.write_bytes(text.encode("utf-8", "replace"))

            yield write
            lines = "".join(f"{name}\n" for name in [MANIFEST, *sorted(written)])
            (new / MANIFEST).write_text(_HEADING + lines, encoding="utf-8", newline="\n")
            _check_folder(folder)
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror or error}", where=str(path)) from error


def _check_folder(folder: Path) -> None:
    """Raise RunError unless the folder is missing, empty, or holds only files of its manifest; OSError."""
    where = str(folder)
    if not folder.parent.is_dir():
        raise RunError("its folder does not exist", where=where, hint=f"mkdir -p {folder.parent}")
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise RunError(
            "is a file, not a folder", where=where, hint="name a folder, or a page NAME.html"
        )
    files = _listed_files(folder)
    folders = {str(parent) for file in files for parent in PurePosixPath(file).parents}
    foreign = min(_foreign_entries(folder, "", files, folders), default=None)
    if foreign is not None:
        raise RunError(
            f"contains files that `ttt report` did not write ({foreign})",
            where=where,
            hint="name a new folder, or move them elsewhere",
        )


def _listed_files(folder: Path) -> set[str]:
    """Paths within the folder that its manifest lists."""
    manifest = folder / MANIFEST
    if manifest.is_symlink() or not manifest.is_file():
        return set()
    heading, _, lines = manifest.read_text(encoding="utf-8", errors="replace").partition("\n")
    return set(lines.splitlines()) if f"{heading}\n" == _HEADING else set()


def _foreign_entries(
    folder: Path, prefix: str, files: set[str], folders: set[str]
) -> Iterator[str]:
    """Paths within a folder that are neither regular `files` nor `folders`. Raises OSError."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False) and name in folders:
                yield from _foreign_entries(folder / entry.name, f"{name}/", files, folders)
            elif not (entry.is_file(follow_symlinks=False) and name in files):
                yield name
