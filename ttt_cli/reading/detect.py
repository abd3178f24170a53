"""What kind of input a file is, by its first bytes and then its name."""

import re
from pathlib import PurePath
from typing import Final, Literal

from ttt_cli.errors import DataError
from ttt_cli.formats import FORMATS, Format
from ttt_cli.reading.text import strip_mark

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
_ARCHIVES: Final = frozenset({".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst"})
_OTHER_ARCHIVES: Final = frozenset({".7z", ".rar"})
GAMES_SUFFIXES: Final = tuple(suffix for form in FORMATS for suffix in form.suffixes)

Form = Literal["zip", "tar"]


def refuse_foreign(head: bytes, name: str, *, encoding: str | None) -> None:
    """Raise DataError when the unpacked content begins like a web page, an archive or another binary file.

    With an `encoding`, which may be one of two bytes a character, control characters are no sign of that.
    """
    if binary_format(head):
        return
    if not strip_mark(head).strip():
        raise DataError("is empty", where=name)
    foreign = _foreign(head) or (None if encoding else _binary(head))
    if foreign:
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
    return _suffix(name) in _ARCHIVES | _OTHER_ARCHIVES


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
        return (
            "a binary file",
            f"{_HINT}; for text in UTF-16 without a byte order mark set data.encoding=utf-16-le",
        )
    return None
