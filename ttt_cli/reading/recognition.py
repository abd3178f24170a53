"""The format of a file by its first bytes or its name; files that hold no games."""

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Final, NamedTuple

from ttt_cli.formats import FORMATS, Format
from ttt_cli.reading.text import strip_mark
from ttt_cli.support.errors import DataError
from ttt_cli.support.installed import FORMATS as INSTALLED
from ttt_cli.support.installed import entry_points_of, load_entry_point

GAMES_SUFFIXES: Final = tuple(suffix for form in FORMATS for suffix in form.suffixes)
PACKED_SUFFIXES: Final = frozenset({".gz", ".bz2", ".xz", ".zst"})
# Readable or not
ARCHIVE_SUFFIXES: Final = frozenset(
    {".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst", ".7z", ".rar"}
)
_READ_FORMATS: Final = (
    "games are read from PGN, CSV or TSV, JSONL, Parquet, TRF and crosstables, also packed with gzip, bzip2, xz or "
    "zstd"
)
_UNPACK: Final = f"unpack or convert it first; {_READ_FORMATS}"
# How office documents, which are zip archives, begin.
OFFICE_FILE: Final = re.compile(
    rb".{0,100}?(?:\[Content_Types\]\.xml|mimetypeapplication/vnd\.oasis)", re.DOTALL
)


class _Foreign(NamedTuple):
    """A kind of file without games: how it begins, what it is, and what to do with it."""

    begins: re.Pattern[bytes]
    kind: str
    hint: str


def _foreign(begins: bytes, kind: str, hint: str = _READ_FORMATS) -> _Foreign:
    return _Foreign(re.compile(begins, re.DOTALL), kind, hint)


_FOREIGN: Final = (
    _Foreign(OFFICE_FILE, "a spreadsheet or another office file", "save the table as CSV first"),
    _foreign(rb"PK\x03\x04", "a zip archive", _UNPACK),
    _foreign(rb"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    _foreign(rb"Rar!", "a rar archive", _UNPACK),
    _foreign(rb".{257}ustar", "a tar archive", f"unpack it first (tar xf); {_READ_FORMATS}"),
    _foreign(rb"%PDF", "a PDF document"),
    _foreign(rb"SQLite format 3", "an SQLite database"),
    _foreign(rb".{8}DUCK", "a database, perhaps a run that was written before"),
    _foreign(rb"\x89PNG|\xff\xd8\xff", "an image"),
    _foreign(
        rb"(?:\xef\xbb\xbf)?\s*<(?i:!doctype|html|head|body|\?xml|!--|script|svg)",
        "a web page",
        "download the file itself instead of the page that shows it",
    ),
)
_CONTROL: Final = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_SAMPLE: Final = 4096  # bytes in which control characters are counted
_RATINGS: Final = {"rating", "ratings", "elo", "rtng", "srtng", "rrtng", "brtng", "fideid"}
_OF_GAMES: Final = {
    "white",
    "black",
    "result",
    "score",
    "opponent",
    "winner",
    "loser",
    "home",
    "away",
}


def suffix_of(name: str) -> str:
    """The suffix of a file once it is unpacked, in lower case."""
    path = PurePath(name.lower())
    return (path.with_suffix("") if path.suffix in PACKED_SUFFIXES else path).suffix


def named_as_games(name: str) -> bool:
    """Whether a file in a folder or an archive has the suffix of a file of games."""
    return suffix_of(name) in GAMES_SUFFIXES or _installed_format(name) is not None


def refuse_foreign(head: bytes, name: str, *, encoding: str | None) -> None:
    """Raise DataError for a web page, an archive or another binary file.

    With a given `encoding` control characters are allowed, since it may use two bytes a character.
    """
    if format_by_start(head, binary=True):
        return
    if not strip_mark(head).strip():
        raise DataError("is empty", where=name)
    if b"<playerslist" in head[:1000]:
        raise rating_list(name)
    for foreign in _FOREIGN:
        if foreign.begins.match(head):
            raise _no_games(foreign.kind, name, foreign.hint)
    if not encoding and _is_binary(head[:_SAMPLE]):
        hint = f"{_READ_FORMATS}; for text in UTF-16 without a byte order mark set data.encoding=utf-16-le"
        raise _no_games("a binary file", name, hint)


def _no_games(kind: str, name: str, hint: str) -> DataError:
    return DataError(f"is {kind}, not a file of games", where=name, hint=hint)


def _is_binary(sample: bytes) -> bool:
    """Whether more than one byte of twenty is a control character."""
    n_control = len(sample) - len(sample.translate(None, _CONTROL))
    return n_control > len(sample) // 20


def format_by_start(head: bytes, *, binary: bool) -> Format | None:
    """The format of binary (unpacked) files, such as Parquet, or of text that these first bytes identify, else None."""
    for form in FORMATS:
        if form.binary == binary and form.begins and form.begins.match(head):
            return form
    return None


def format_by_name(name: str | None) -> Format | None:
    """The format that `data.format` names; None for `auto` and no name."""
    return _first(form for form in FORMATS if form.name == name)


def recognise(head: bytes, name: str) -> Format:
    """The format of text by its first bytes, else by its name. Raises DataError when neither decides."""
    by_start = format_by_start(head, binary=False)
    if by_start is not None:
        return by_start
    texts = [form for form in FORMATS if not form.binary]
    by_suffix = _first(form for form in texts if suffix_of(name) in form.suffixes)
    by_suffix = by_suffix or _installed_format(name)
    by_content = _first(form for form in texts if form.holds and form.holds.search(head))
    form = by_suffix or by_content
    if form is not None:
        return form
    if is_rating_list(head.lstrip().partition(b"\n")[0].decode("utf-8", "replace")):
        raise rating_list(name)
    raise DataError("holds neither PGN tags nor columns of a table", where=name, hint=_READ_FORMATS)


def _installed_format(name: str) -> Format | None:
    """The format of another package by the suffix of a file. Raises ConfigError where one cannot be imported."""
    forms: list[Format] = [load_entry_point(INSTALLED, form) for form in entry_points_of(INSTALLED)]
    return _first(form for form in forms if suffix_of(name) in form.suffixes)


def _first(forms: Iterable[Format]) -> Format | None:
    return next(iter(forms), None)


def rating_list(name: str) -> DataError:
    """The error for a list of ratings instead of games."""
    hint = "perhaps --beside FILE of `ttt plot` or `ttt report`, which show published ratings"
    return DataError("is a rating list, not games", where=name, hint=hint)


def is_rating_list(line: str) -> bool:
    """Whether the first line of a file is that of a list of players with their ratings."""
    words = set(re.findall(r"[a-z]+", line.casefold()))
    return bool(words & {"name", "player"} and words & _RATINGS) and not words & _OF_GAMES
