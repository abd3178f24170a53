"""What kind of input a file is, by its first bytes and then its name."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final, Literal

from ttt_cli.errors import DataError
from ttt_cli.reading.text import strip_mark

Kind = Literal["pgn", "csv", "jsonl", "parquet"]

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
    b"SQLite format 3": "an SQLite database",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
}
_HINT: Final = (
    "games are read from PGN, CSV or TSV, JSONL and Parquet, also packed with gzip, bzip2, xz or zstd"
)
_PARQUET: Final = b"PAR1"
_OBJECT_FIRST: Final = re.compile(rb'\s*(?:\[\s*)?\{\s*"(?:[^"\\]|\\.)*+"\s*:')
_SUFFIXES: Final[dict[str, Kind]] = {
    ".pgn": "pgn",
    **dict.fromkeys((".csv", ".tsv", ".tab"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
}
_PARQUET_SUFFIXES: Final = frozenset({".parquet", ".pq"})
_PACKED: Final = frozenset({".gz", ".bz2", ".xz", ".zst"})
_ARCHIVES: Final = frozenset({".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst"})
_OTHER_ARCHIVES: Final = frozenset({".7z", ".rar"})
GAMES_SUFFIXES: Final = (*_SUFFIXES, *sorted(_PARQUET_SUFFIXES))

Form = Literal["zip", "tar"]


def refuse_foreign(head: bytes, name: str, *, encoding: str | None) -> None:
    """Raise DataError when the unpacked content begins like a web page, an archive or another binary file.

    With an `encoding`, which may be one of two bytes a character, control characters are no sign of that.
    """
    if is_parquet(head):
        return
    if not strip_mark(head).strip():
        raise DataError("is empty", where=name)
    foreign = _foreign(head) or (None if encoding else _binary(head))
    if foreign:
        raise DataError(f"is {foreign[0]}, not a file of games", where=name, hint=foreign[1])


def is_parquet(head: bytes) -> bool:
    """Whether the unpacked content begins as Parquet does."""
    return head.startswith(_PARQUET)


def recognise(head: bytes, name: str) -> Kind:
    """Tell PGN, JSON objects and delimited tables apart by the beginning of the unpacked content.

    `name` decides only when that does not. Raises DataError for what is none of them.
    """
    if _TAG_FIRST.match(head):
        return "pgn"
    if _OBJECT_FIRST.match(head):
        return "jsonl"
    named = _named(name)
    if named:
        return named
    if _TAG_LINE.search(head) or _MOVETEXT.match(head):
        return "pgn"
    if any(mark in head for mark in (b",", b"\t", b";", b"|")):
        return "csv"
    raise DataError("holds neither PGN tags nor columns of a table", where=name, hint=_HINT)


def form_of(head: bytes) -> Form | None:
    """What kind of archive the unpacked content is that can be read member by member."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    return "tar" if head[257:262] == b"ustar" else None


def named_as_games(name: str) -> bool:
    """Whether a file in a folder or an archive is taken for one of games."""
    return _suffix(name) in GAMES_SUFFIXES


def named_as_archive(name: str) -> bool:
    """Whether a name is that of an archive, be it one that can be read or not."""
    return _suffix(name) in _ARCHIVES | _OTHER_ARCHIVES


def _named(name: str) -> Kind | None:
    return _SUFFIXES.get(_suffix(name))


def _suffix(name: str) -> str:
    """The suffix of a file once it is unpacked."""
    path = PurePath(name.lower())
    if path.suffix in _PACKED:
        path = path.with_suffix("")
    return path.suffix


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
