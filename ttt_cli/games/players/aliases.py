"""Alias files: which further spellings a player has, and which of his games are another's.

One player a line, `main,synonym,synonym,...`, quoted as CSV where a name holds a comma; or a table with a header of
`spelling` and `name` (and `status`), a spelling a line. With a field `status=WORD` a line holds only for records of
that status: `"Anderssen, Adolf (offhand)","Anderssen, Adolf",status=casual`. Lines that begin with # are comments.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ttt_cli.errors import DataError
from ttt_cli.folding import fold
from ttt_cli.games.players.names import clean_name
from ttt_cli.reading.decode import decode
from ttt_cli.reading.reports import InputFile
from ttt_cli.reading.small import whole_text
from ttt_cli.reading.streams import Input

_STATUS: Final = re.compile(r"\s*status\s*=\s*(.+)", re.IGNORECASE)
_SPELLINGS: Final = frozenset({"spelling", "alias", "synonym", "written", "as in pgn", "as written"})
_NAMES: Final = frozenset({"name", "main", "player", "canonical", "main name"})


@dataclass(frozen=True)
class Aliases:
    """`names` maps cleaned spellings to names of players, `by_status` pairs of a name and a folded status.

    `source` is the file that says so, None where there is none.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    by_status: Mapping[tuple[str, str], str] = field(default_factory=dict)
    source: InputFile | None = None

    @property
    def mains(self) -> frozenset[str]:
        """The names that spellings are mapped to."""
        return frozenset((*self.names.values(), *self.by_status.values()))


class _Entry(NamedTuple):
    line: int
    main: str
    synonym: str
    status: str


def read_aliases(path: str) -> Aliases:
    """Read an alias file, plain or packed. Raises DataError with file and line when it contradicts itself."""
    source = Input(path)
    text = whole_text(source, "a list of names")
    names: dict[str, str] = {}
    by_status: dict[tuple[str, str], str] = {}
    lines: dict[tuple[str, str], int] = {}
    for entry in _entries(text, source.name):
        key = (entry.synonym, entry.status)
        before = by_status.get(key) if entry.status else names.get(entry.synonym)
        if before not in (None, entry.main):
            said = f"{entry.synonym!r} is {before!r} in line {lines[key]}, and {entry.main!r} here"
            raise DataError(said, where=f"{source.name}:{entry.line}", hint="a spelling has one player")
        lines.setdefault(key, entry.line)
        if entry.status:
            by_status[key] = entry.main
        else:
            names[entry.synonym] = entry.main
    _refuse_chains(names, lines, source.name)
    return Aliases(names, by_status, InputFile(source.name, source.digest, source.count))


def alias_row(main: str, synonym: str) -> str | None:
    """The line of an alias file that gives a player a further spelling; None where no line says just that."""
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        line = io.StringIO()
        csv.writer(line, lineterminator="", quoting=quoting).writerow([main, synonym])
        row = line.getvalue()
        with suppress(DataError, UnicodeEncodeError):
            read = [entry[1:] for entry in _entries(decode(row.encode()), "")]
            if read == [(main, synonym, "")]:
                return row
    return None


def _refuse_chains(names: Mapping[str, str], lines: Mapping[tuple[str, str], int], path: str) -> None:
    for synonym, main in names.items():
        if main != synonym and names.get(main, main) != main:
            said = f"{synonym!r} is {main!r}, which is itself {names[main]!r} in line {lines[main, '']}"
            raise DataError(
                said, where=f"{path}:{lines[synonym, '']}", hint=f"name {names[main]!r} in both lines"
            )


def _entries(text: str, path: str) -> Iterator[_Entry]:
    rows = _rows(text, path)
    first = next(rows, None)
    if first is None:
        return
    header = [fold(cell) for cell in first[1]]
    spelling = next((i for i, word in enumerate(header) if word in _SPELLINGS), None)
    name = next((i for i, word in enumerate(header) if word in _NAMES), None)
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
        raise DataError(
            f"{len(row)} fields are too few", where=f"{path}:{line}", hint="a spelling and a name"
        )
    word = row[status] if status is not None and status < len(row) else ""
    return _entry(line, row[name], row[spelling], word, path)


def _from_list(row: Sequence[str], line: int, path: str) -> Iterator[_Entry]:
    statuses = [match[1] for cell in row if (match := _STATUS.fullmatch(cell))]
    main, *synonyms = [cell for cell in row if not _STATUS.fullmatch(cell)] or [""]
    synonyms = [synonym for synonym in synonyms if synonym.strip()]
    if not synonyms:
        hint = 'a line is main,synonym,...; a name with a comma stands in quotes: "Morphy, Paul",Morphy'
        raise DataError("no synonym", where=f"{path}:{line}", hint=hint)
    if len(statuses) > 1:
        raise DataError("more than one status", where=f"{path}:{line}", hint="write a line for each")
    for synonym in synonyms:
        yield _entry(line, main, synonym, "".join(statuses), path)


def _entry(line: int, main: str, synonym: str, status: str, path: str) -> _Entry:
    entry = _Entry(line, " ".join(main.split()), clean_name(synonym), fold(status))
    if not entry.main or not entry.synonym:
        raise DataError("a name is empty", where=f"{path}:{line}")
    return entry
