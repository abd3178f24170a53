"""What kind of input a file is, by its first bytes and then its name."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final, Literal

from ttt_cli.errors import DataError
from ttt_cli.games.text import strip_mark

Kind = Literal["pgn", "csv"]

_TAG_FIRST: Final = re.compile(rb'(?:\s|[%;][^\n]*\n)*+\[[ \t]*[A-Za-z]\w*[ \t]*"')
_TAG_LINE: Final = re.compile(rb'^[ \t]*(?:\xef\xbb\xbf)?\[[ \t]*[A-Za-z]\w*[ \t]+"[^\n]*\]', re.MULTILINE)
_MOVETEXT: Final = re.compile(rb"\s*(?:\{[^}]*\}\s*)?1\.\s*(?:\.\.\s*)?[a-hKQRBNO]")
_HTML: Final = re.compile(rb"\s*<(?:!doctype|html|head|body|\?xml|!--|script|svg)", re.IGNORECASE)
_CONTROL: Final = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_CONTAINERS: Final = {
    b"PK\x03\x04": "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"%PDF": "a PDF document",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "an SQLite database",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
}
_HINT: Final = "games are read from PGN and from CSV or TSV, also packed with gzip, bzip2, xz or zstd"
_SUFFIXES: Final[dict[str, Kind]] = {".pgn": "pgn", ".csv": "csv", ".tsv": "csv", ".tab": "csv"}
_PACKED: Final = frozenset({".gz", ".bz2", ".xz", ".zst"})


def refuse_foreign(head: bytes, name: str, *, encoding: str | None) -> None:
    """Raise DataError when the unpacked content begins like a web page, an archive or another binary file.

    With an `encoding`, which may be one of two bytes a character, control characters are no sign of that.
    """
    if not strip_mark(head).strip():
        raise DataError("is empty", where=name)
    foreign = _foreign(head) or (None if encoding else _binary(head))
    if foreign:
        raise DataError(f"is {foreign[0]}, not a file of games", where=name, hint=foreign[1])


def recognise(head: bytes, name: str) -> Kind:
    """Tell PGN from tables by the beginning of the unpacked content; `name` decides only when that does not.

    Raises DataError for what is neither.
    """
    if _TAG_FIRST.match(head):
        return "pgn"
    named = _named(name)
    if named:
        return named
    if _TAG_LINE.search(head) or _MOVETEXT.match(head):
        return "pgn"
    if any(mark in head for mark in (b",", b"\t", b";", b"|")):
        return "csv"
    raise DataError("holds neither PGN tags nor columns of a table", where=name, hint=_HINT)


def _named(name: str) -> Kind | None:
    path = PurePath(name.lower())
    if path.suffix in _PACKED:
        path = path.with_suffix("")
    return _SUFFIXES.get(path.suffix)


def _foreign(head: bytes) -> tuple[str, str] | None:
    """What the content is when it cannot be games, and a hint."""
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
