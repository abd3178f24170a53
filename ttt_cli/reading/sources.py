"""What users name as files: files, folders, patterns; which files those stand for, and what kind of input each is."""

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import BinaryIO, Final, Literal, NamedTuple

from ttt_cli.errors import DataError
from ttt_cli.formats import FORMATS, Format
from ttt_cli.reading.reports import Problem
from ttt_cli.reading.streams import shown
from ttt_cli.reading.text import strip_mark

Named = str | os.PathLike[str] | BinaryIO

SKIPPED: Final = "skipped"  # what was done with a file that is none of games
OTHER_FILE: Final = "not named as games"
NO_GAMES: Final = "holds no games"
INNER_ARCHIVE: Final = "archive in an archive"
_HTML: Final = re.compile(rb"\s*<(?:!doctype|html|head|body|\?xml|!--|script|svg)", re.IGNORECASE)
_CONTROL: Final = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
# First in their zip archives.
_OFFICE: Final = re.compile(rb"\[Content_Types\]\.xml|mimetypeapplication/vnd\.oasis")
_CONTAINERS: Final = {
    b"PK\x03\x04": "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"%PDF": "a PDF document",
    b"SQLite format 3": "an SQLite database",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
}
_HINT: Final = (
    "games are read from PGN, CSV or TSV, JSONL and Parquet, also packed with gzip, bzip2, xz or zstd"
)
_PACKED: Final = frozenset({".gz", ".bz2", ".xz", ".zst"})
_ARCHIVES: Final = frozenset({".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst", ".7z", ".rar"})
GAMES_SUFFIXES: Final = tuple(suffix for form in FORMATS for suffix in form.suffixes)

Form = Literal["zip", "tar"]


class Source(NamedTuple):
    """One file or stream to read. `origin` numbers what the user named; `found` is whether that was a folder."""

    what: Named
    origin: int
    found: bool = False


def find_sources(named: Sequence[Named]) -> tuple[list[Source], list[Problem]]:
    """The files that names stand for, in order, and the files that were passed over.

    A folder stands for the files in it, however deep, whose names are those of games or of archives; a pattern that is
    no file itself (`games/*.pgn`) for the files that it matches, or the folders if there are no files. Both are sorted.
    Raises DataError for a folder without such files and for a pattern that matches nothing.
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
    *suffixes, last = GAMES_SUFFIXES
    return None if named_as_games(name) else f"named neither {', '.join(suffixes)} nor {last}"


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
        hint = "patterns know *, ? and [...]; ** stands for folders"
        raise DataError("no file matches", where=pattern, hint=hint)
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
        hint = f"in folders these are read: {', '.join(GAMES_SUFFIXES)}, archives"
        raise DataError("holds no file of games", where=str(folder), hint=hint)
    return files


def refuse_foreign(head: bytes, name: str, *, encoding: str | None) -> None:
    """Raise DataError when the unpacked content begins like a web page, an archive or another binary file.

    With an `encoding`, which may be one of two bytes a character, control characters are no sign of that.
    """
    if binary_format(head):
        return
    if not strip_mark(head).strip():
        raise DataError("is empty", where=name)
    if foreign := _foreign(head) or (None if encoding else _binary(head)):
        raise DataError(f"is {foreign[0]}, not a file of games", where=name, hint=foreign[1])


def binary_format(head: bytes) -> Format | None:
    """The format of bytes that are no text, if the unpacked content surely is of one."""
    return next((one for one in FORMATS if one.binary and one.begins and one.begins.match(head)), None)


def recognise(head: bytes, name: str) -> Format:
    """The format of text by its beginning, else by its name. Raises DataError when neither tells."""
    formats = [one for one in FORMATS if not one.binary]
    found = (
        next((one for one in formats if one.begins and one.begins.match(head)), None)
        or next((one for one in formats if _suffix(name) in one.suffixes), None)
        or next((one for one in formats if one.holds and one.holds.search(head)), None)
    )
    if found is None:
        raise DataError("holds neither PGN tags nor columns of a table", where=name, hint=_HINT)
    return found


def form_of(head: bytes) -> Form | None:
    """What kind of archive the unpacked content is that can be read member by member."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")) and not _OFFICE.search(head[:100]):
        return "zip"
    return "tar" if head[257:262] == b"ustar" else None


def named_as_games(name: str) -> bool:
    """Whether a file in a folder or an archive is taken for one of games."""
    return _suffix(name) in GAMES_SUFFIXES


def named_as_archive(name: str) -> bool:
    """Whether a name is that of an archive, be it one that can be read or not."""
    return _suffix(name) in _ARCHIVES


def _suffix(name: str) -> str:
    """The suffix of a file once it is unpacked."""
    path = PurePath(name.lower())
    if path.suffix in _PACKED:
        path = path.with_suffix("")
    return path.suffix


def _foreign(head: bytes) -> tuple[str, str] | None:
    """What the content is when it cannot be games, and a hint."""
    if _OFFICE.search(head[:100]):
        return "a spreadsheet or another office file", "save the table as CSV first"
    for magic, what in _CONTAINERS.items():
        if head.startswith(magic):
            return what, f"unpack or convert it first; {_HINT}" if "archive" in what else _HINT
    if head[257:262] == b"ustar":
        return "a tar archive", f"unpack it first (tar xf); {_HINT}"
    if head[8:12] == b"DUCK":
        return "a database, perhaps a run that was written before", _HINT
    if _HTML.match(strip_mark(head)):
        return "a web page", "download the file itself instead of the page that shows it"
    return None


def _binary(head: bytes) -> tuple[str, str] | None:
    sample = head[:4096]
    if len(sample) - len(sample.translate(None, _CONTROL)) > len(sample) // 20:
        hint = f"{_HINT}; for text in UTF-16 without a byte order mark set data.encoding=utf-16-le"
        return "a binary file", hint
    return None
