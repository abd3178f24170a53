"""Alias files: which further spellings a player has, and which of his games are another's.

One player a line, `main,synonym,synonym,...`, quoted as CSV where a name holds a comma; or a table with a header of
`spelling` and `name` (and `status`), a spelling a line. With a field `status=WORD` a line holds only for records of
that status: `"Anderssen, Adolf (offhand)","Anderssen, Adolf",status=casual`, and with `years=1906-` for those of these
years. Lines that begin with # are comments. Scid's spelling file is read too.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from ttt_cli.config.schema import year_range
from ttt_cli.errors import DataError
from ttt_cli.folding import fold
from ttt_cli.games.players.names import clean_name
from ttt_cli.reading.reports import InputFile
from ttt_cli.reading.streams import Input
from ttt_cli.reading.text import decode, whole_text

_STATUS: Final = re.compile(r"\s*status\s*=\s*(.+)", re.IGNORECASE)
_YEARS: Final = re.compile(r"\s*years\s*=\s*(.+)", re.IGNORECASE)
_SPELLINGS: Final = frozenset({"spelling", "alias", "synonym", "written", "as in pgn", "as written"})
_NAMES: Final = frozenset({"name", "main", "player", "canonical", "main name"})
_SECTION: Final = re.compile(r"^@PLAYER\b[^\n]*\n(.*?)(?=^@|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Aliases:
    """`names` maps cleaned spellings to names of players, `by_status` pairs of a name and a folded status, `by_years`
    triples of a name and a first and a last year.

    `lines` are those in which spellings stand, in a file that was made for these games; `source` is the file, None
    where there is none.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    by_status: Mapping[tuple[str, str], str] = field(default_factory=dict)
    source: InputFile | None = None
    by_years: Mapping[tuple[str, int, int], str] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def mains(self) -> frozenset[str]:
        """The names that spellings are mapped to."""
        return frozenset((*self.names.values(), *self.by_status.values(), *self.by_years.values()))


_Written = tuple[str, str, tuple[int, int] | None]


class _Entry(NamedTuple):
    line: int
    main: str
    synonym: str
    status: str
    years: tuple[int, int] | None = None

    @property
    def written(self) -> _Written:
        """The spelling, and where it holds."""
        return self.synonym, self.status, self.years


def read_aliases(path: str) -> Aliases:
    """Read an alias file, plain or packed. Raises DataError with file and line when it contradicts itself."""
    source = Input(path)
    text = whole_text(source, "a list of names")
    file = InputFile(source.name, source.digest, source.count)
    if is_spelling_file(text):
        return Aliases({clean_name(spelling): name for _, name, spelling in spellings_in(text)}, source=file)
    return _aliases_of(_entries(text, source.name), file)


def _aliases_of(entries: Iterable[_Entry], file: InputFile) -> Aliases:
    found: dict[_Written, _Entry] = {}
    for entry in entries:
        before = found.setdefault(entry.written, entry)
        if before.main != entry.main:
            said = f"{entry.synonym!r} is {before.main!r} in line {before.line}, and {entry.main!r} here"
            raise DataError(said, where=f"{file.path}:{entry.line}", hint="a spelling has one player")
    plain = {entry.synonym: entry for entry in found.values() if not entry.status and entry.years is None}
    _refuse_chains(plain, file.path)
    lines: dict[str, int] = {}
    for entry in found.values():
        lines.setdefault(entry.synonym, entry.line)
    return Aliases(
        {synonym: entry.main for synonym, entry in plain.items()},
        {(one.synonym, one.status): one.main for one in found.values() if one.status},
        file,
        {(one.synonym, *one.years): one.main for one in found.values() if one.years},
        lines,
    )


def plain_aliases(line: str, where: str) -> list[tuple[str, str]]:
    """Main names and spellings of a line of an alias file without a status or years, none of a comment.

    Raises DataError for what is no such line, and for the header of a file with a spelling on each.
    """
    words = {fold(cell) for _, row in _rows(line, where) for cell in row}
    if words & _SPELLINGS and words & _NAMES:
        raise DataError("is a table of spellings and names", where=where, hint="write to a file of its own")
    found = list(_entries(line, where))
    return [] if any(one.status or one.years for one in found) else [(one.main, one.synonym) for one in found]


def alias_row(main: str, synonym: str) -> str | None:
    """The line of an alias file that gives a player a further spelling; None where no line says just that."""
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        row = csv_row([main, synonym], quoting)
        with suppress(DataError, UnicodeEncodeError):
            read = [entry[1:] for entry in _entries(decode(row.encode()), "")]
            if read == [(main, synonym, "", None)]:
                return row
    return None


def csv_row(fields: Iterable[str], quoting: Literal[0, 1] = csv.QUOTE_MINIMAL) -> str:
    """Fields as a line of CSV, without its end."""
    line = io.StringIO()
    csv.writer(line, lineterminator="", quoting=quoting).writerow(fields)
    return line.getvalue()


def _refuse_chains(entries: Mapping[str, _Entry], path: str) -> None:
    for synonym, (line, main, *_) in entries.items():
        if main != synonym and main in entries and entries[main].main != main:
            further = entries[main]
            said = f"{synonym!r} is {main!r}, which is itself {further.main!r} in line {further.line}"
            raise DataError(said, where=f"{path}:{line}", hint=f"name {further.main!r} in both lines")


def _entries(text: str, path: str) -> Iterator[_Entry]:
    rows = _rows(text, path)
    first = next(rows, None)
    if first is None:
        return
    header = [fold(cell) for cell in first[1]]
    spelling, name = (
        next((i for i, word in enumerate(header) if word in known), None) for known in (_SPELLINGS, _NAMES)
    )
    if spelling is not None and name is not None:
        status = header.index("status") if "status" in header else None
        for line, row in rows:
            yield _from_table(row, line, (spelling, name, status), path)
    else:
        yield from _from_list(first[1], first[0], path)
        for line, row in rows:
            yield from _from_list(row, line, path)


def _rows(text: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that hold something, with the line that each begins in."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                yield number, next(csv.reader([line], skipinitialspace=True, strict=True))
            except csv.Error as error:
                hint = "names with a comma stand in double quotes"
                raise DataError(f"cannot be read: {error}", where=f"{path}:{number}", hint=hint) from error


def _from_table(row: Sequence[str], line: int, at: tuple[int, int, int | None], path: str) -> _Entry:
    spelling, name, status = at
    if len(row) <= max(spelling, name):
        said = f"{len(row)} fields are too few"
        raise DataError(said, where=f"{path}:{line}", hint="a spelling and a name")
    word = row[status] if status is not None and status < len(row) else ""
    return _entry(line, row[name], row[spelling], word, path)


def _from_list(row: Sequence[str], line: int, path: str) -> Iterator[_Entry]:
    statuses, ranges = (
        [match[1] for cell in row if (match := form.fullmatch(cell))] for form in (_STATUS, _YEARS)
    )
    plain = [cell for cell in row if not (_STATUS.fullmatch(cell) or _YEARS.fullmatch(cell))]
    main, *synonyms = plain or [""]
    synonyms = [synonym for synonym in synonyms if synonym.strip()]
    if not synonyms:
        hint = 'a line is main,synonym,...; a name with a comma stands in quotes: "Morphy, Paul",Morphy'
        raise DataError("no synonym", where=f"{path}:{line}", hint=hint)
    if len(statuses) + len(ranges) > 1:
        what = "status" if not ranges else "status or range of years"
        raise DataError(f"more than one {what}", where=f"{path}:{line}", hint="write a line for each")
    years = None
    if ranges:
        try:
            years = year_range(ranges[0])
        except ValueError as error:
            raise DataError(str(error), where=f"{path}:{line}") from error
    for synonym in synonyms:
        yield _entry(line, main, synonym, "".join(statuses), path)._replace(years=years)


def _entry(line: int, main: str, synonym: str, status: str, path: str) -> _Entry:
    entry = _Entry(line, " ".join(main.split()), clean_name(synonym), fold(status))
    if not entry.main or not entry.synonym:
        raise DataError("a name is empty", where=f"{path}:{line}")
    return entry


def is_spelling_file(text: str) -> bool:
    """Whether a text is Scid's spelling file."""
    return _SECTION.search(text) is not None


def spellings_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, name of the player and other spelling in Scid's spelling file.

        @PLAYER ".,- _"
        Kasparov, Garry #GM RUS [2812] 1963.04.13
           %Bio FIDEID 4100018
           = Kasparov, Gary

    A spelling that the file has for several players, or as the name of another one, tells nothing and is left out.
    """
    found: list[tuple[int, str, str]] = []
    names: set[str] = set()
    players: dict[str, str | None] = {}
    for section in _SECTION.finditer(text):
        first, name = 1 + text.count("\n", 0, section.start(1)), ""
        for number, line in enumerate(section[1].split("\n"), first):
            words = line.partition("#")[0].strip()
            if words.startswith("="):
                spelling = words[1:].strip()
                found.append((number, name, spelling))
                players[spelling] = name if players.get(spelling, name) == name else None
            elif words and not words.startswith("%"):
                name = words
                names.add(name)
    for number, name, spelling in found:
        if name and spelling and spelling not in names and players[spelling] is not None:
            yield number, name, spelling
