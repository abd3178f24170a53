"""Alias files: which spellings are which player, as users, `ttt names` and Scid write them.

An alias file has one player a line, `main,synonym,synonym,...`, quoted as CSV where a name has a comma; or it is a
table with the columns `spelling` and `name` (and `status`). A field `status=WORD` limits a line to records of that
status: `"Anderssen, Adolf (offhand)","Anderssen, Adolf",status=casual`; `years=1906-` limits it to these years. Lines
with a leading # are comments. Scid's spelling file is read too.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from ttt_cli.config.schema import year_range
from ttt_cli.games.names import clean_name
from ttt_cli.reading.input import Input
from ttt_cli.reading.reports import InputFile
from ttt_cli.reading.text import decode
from ttt_cli.support.errors import DataError
from ttt_cli.support.folding import fold

_STATUS: Final = re.compile(r"\s*status\s*=\s*(.+)", re.IGNORECASE)
_YEARS: Final = re.compile(r"\s*years\s*=\s*(.+)", re.IGNORECASE)
_SPELLING_HEADERS: Final = frozenset(
    {"spelling", "alias", "synonym", "written", "as in pgn", "as written"}
)
_NAME_HEADERS: Final = frozenset({"name", "main", "player", "canonical", "main name"})
_SCID_SECTION: Final = re.compile(r"^@PLAYER\b[^\n]*\n(.*?)(?=^@|\Z)", re.MULTILINE | re.DOTALL)
# A comment of `ttt names`: what was decided of two names
_ANSWER: Final = re.compile(r"# (?=(?:yes|no|years),)")

Years = tuple[int, int]  # the first and the last


@dataclass(frozen=True)
class Aliases:
    """The players of spellings; spellings are cleaned (see `clean_name`)."""

    names: Mapping[str, str] = field(default_factory=dict)  # spelling -> player
    # (spelling, folded status) -> player
    by_status: Mapping[tuple[str, str], str] = field(default_factory=dict)
    source: InputFile | None = None  # the file, None without one
    # (spelling, first year, last year) -> player
    by_years: Mapping[tuple[str, int, int], str] = field(default_factory=dict)
    # spelling -> line of the file; none in Scid's files
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def mains(self) -> frozenset[str]:
        """Names of the players that spellings are mapped to."""
        return frozenset((*self.names.values(), *self.by_status.values(), *self.by_years.values()))


class _Entry(NamedTuple):
    """A spelling of a player in a line of an alias file; `status` and `years` limit it."""

    line: int
    main: str
    synonym: str  # cleaned
    status: str = ""  # folded
    years: Years | None = None


def read_aliases(path: str) -> Aliases:
    """Read an alias file, plain or packed. Raises DataError with file and line for contradictions."""
    source = Input(path, kind="aliases")
    text = source.text("a list of names")
    file = InputFile(source.name, source.digest, source.count)
    spellings = scid_spellings(text)
    if spellings is not None:
        return Aliases(
            {clean_name(spelling): name for spelling, name in spellings.items()}, source=file
        )
    entries = _distinct_entries(_entries_in(text, file.path), file.path)
    unlimited = {
        entry.synonym: entry for entry in entries if not entry.status and entry.years is None
    }
    _refuse_chains(unlimited, file.path)
    lines: dict[str, int] = {}
    for entry in entries:
        lines.setdefault(entry.synonym, entry.line)
    return Aliases(
        names={entry.synonym: entry.main for entry in unlimited.values()},
        by_status={(entry.synonym, entry.status): entry.main for entry in entries if entry.status},
        source=file,
        by_years={(entry.synonym, *entry.years): entry.main for entry in entries if entry.years},
        lines=lines,
    )


def _distinct_entries(entries: Iterable[_Entry], path: str) -> list[_Entry]:
    """The first entry of each spelling, status and years. Raises DataError if another one contradicts it."""
    first: dict[tuple[str, str, Years | None], _Entry] = {}
    for entry in entries:
        before = first.setdefault((entry.synonym, entry.status, entry.years), entry)
        if before.main != entry.main:
            what = f"{entry.synonym!r} is {before.main!r} in line {before.line}, and {entry.main!r} here"
            raise DataError(what, where=f"{path}:{entry.line}", hint="a spelling has one player")
    return list(first.values())


def _refuse_chains(entries: Mapping[str, _Entry], path: str) -> None:
    """Raise DataError for a main name that is itself a spelling of another player; `entries` by spelling."""
    for entry in entries.values():
        if entry.synonym == entry.main or entry.main not in entries:
            continue
        entry_of_main = entries[entry.main]
        if entry_of_main.main != entry.main:
            chain = f"{entry.synonym!r} is {entry.main!r}, which is itself {entry_of_main.main!r}"
            raise DataError(
                f"{chain} in line {entry_of_main.line}",
                where=f"{path}:{entry.line}",
                hint=f"name {entry_of_main.main!r} in both lines",
            )


def _entries_in(text: str, path: str, first_line: int = 1) -> Iterator[_Entry]:
    """Yield the entries of an alias file, a list or a table. Raises DataError for malformed lines."""
    rows = list(_rows_in(text, path, first_line))
    header = [fold(cell) for cell in rows[0].cells] if rows else []
    if "white" in header and "black" in header:
        hint = "an alias file has lines of main,synonym,..."
        raise DataError("contains games, not names", where=path, hint=hint)
    columns = _table_columns(header)
    for row in rows if columns is None else rows[1:]:
        where = f"{path}:{row.line}"
        entries = (
            _list_entries(row, where) if columns is None else [_table_entry(row, columns, where)]
        )
        for entry in entries:
            if not entry.main or not entry.synonym:
                raise DataError("a name is empty", where=where)
            yield entry


class _AliasRow(NamedTuple):
    line: int
    cells: list[str]


def _rows_in(text: str, path: str, first_line: int = 1) -> Iterator[_AliasRow]:
    """Yield rows that are neither empty nor comments. Raises DataError for malformed quotes."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, first_line):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            cells = next(csv.reader([line], skipinitialspace=True, strict=True))
        except csv.Error as error:
            hint = "write names with a comma in double quotes"
            raise DataError(
                f"cannot be read: {error}", where=f"{path}:{number}", hint=hint
            ) from error
        yield _AliasRow(number, cells)


class _TableColumns(NamedTuple):
    """Indices of columns."""

    spelling: int
    name: int
    status: int | None


def _table_columns(header: Sequence[str]) -> _TableColumns | None:
    """The columns of a table of spellings by its folded header; None if it is no such header."""
    spelling = [index for index, word in enumerate(header) if word in _SPELLING_HEADERS]
    name = [index for index, word in enumerate(header) if word in _NAME_HEADERS]
    if not spelling or not name:
        return None
    status = header.index("status") if "status" in header else None
    return _TableColumns(spelling[0], name[0], status)


def _table_entry(row: _AliasRow, columns: _TableColumns, where: str) -> _Entry:
    """The entry in a row of a table. Raises DataError for a short row."""
    cells = row.cells
    if len(cells) <= max(columns.spelling, columns.name):
        raise DataError(
            f"{len(cells)} fields are too few", where=where, hint="a spelling and a name"
        )
    status = ""
    if columns.status is not None and columns.status < len(cells):
        status = fold(cells[columns.status])
    return _Entry(
        row.line, _single_blanks(cells[columns.name]), clean_name(cells[columns.spelling]), status
    )


def _list_entries(row: _AliasRow, where: str) -> list[_Entry]:
    """The entries in a line `main,synonym,...`. Raises DataError without a synonym, or with several limits."""
    statuses = [match[1] for cell in row.cells if (match := _STATUS.fullmatch(cell))]
    ranges = [match[1] for cell in row.cells if (match := _YEARS.fullmatch(cell))]
    names = [
        cell for cell in row.cells if not _STATUS.fullmatch(cell) and not _YEARS.fullmatch(cell)
    ]
    synonyms = [name for name in names[1:] if name.strip()]
    if not synonyms:
        hint = 'a line is main,synonym,...; a name with a comma is written in quotes: "Morphy, Paul",Morphy'
        raise DataError("no synonym", where=where, hint=hint)
    if len(statuses) + len(ranges) > 1:
        what = "status or range of years" if ranges else "status"
        raise DataError(f"more than one {what}", where=where, hint="write a line for each")
    try:
        years = year_range(ranges[0]) if ranges else None
    except ValueError as error:
        raise DataError(str(error), where=where) from error
    main = _single_blanks(names[0])
    status = fold("".join(statuses))
    return [_Entry(row.line, main, clean_name(synonym), status, years) for synonym in synonyms]


def _single_blanks(text: str) -> str:
    return " ".join(text.split())


def alias_row(main: str, synonym: str) -> str | None:
    """The line that gives a player a further spelling; None where no line can express it."""
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        row = csv_row([main, synonym], quoting)
        with suppress(DataError, UnicodeEncodeError):
            entries = list(_entries_in(decode(row.encode()), ""))
            if entries == [_Entry(1, main, synonym)]:
                return row
    return None


def csv_row(fields: Iterable[str], quoting: Literal[0, 1] = csv.QUOTE_MINIMAL) -> str:
    """Fields as a line of CSV, without a line break."""
    line = io.StringIO()
    csv.writer(line, lineterminator="", quoting=quoting).writerow(fields)
    return line.getvalue()


def scid_spellings(text: str) -> dict[str, str] | None:
    """The player of each other spelling in Scid's spelling file; None if the text is no such file.

            @PLAYER ".,- _"
            Kasparov, Garry #GM RUS [2812] 1963.04.13
               %Bio FIDEID 4100018
               = Kasparov, Gary

    Spellings of several players, or equal to another player's name, are skipped.
    """
    sections = _SCID_SECTION.findall(text)
    if not sections:
        return None
    names: set[str] = set()
    players: dict[str, str] = {}
    ambiguous: set[str] = set()
    for section in sections:
        name = ""
        for line in section.split("\n"):
            content = line.partition("#")[0].strip()
            if content.startswith("="):
                spelling = content[1:].strip()
                if players.setdefault(spelling, name) != name:
                    ambiguous.add(spelling)
            elif content and not content.startswith("%"):
                name = content
                names.add(name)
    skipped = names | ambiguous | {""}
    return {
        spelling: name for spelling, name in players.items() if name and spelling not in skipped
    }


class Decision(NamedTuple):
    """Whether a synonym is the main name's: yes, no, or in some years, such as `1850-1900`."""

    answer: str  # yes, no or years
    main: str
    synonym: str
    years: str = ""


class Decisions:
    """The answers in an alias file, with its other lines unchanged.

    `ttt names` writes an answer as a comment `# yes,A,B`, and where it is not "no" the line `A,B` below. A line of
    names without a comment and without limits counts as the answer "yes" to each of its spellings.

    Where B is a spelling of A and C one of B, C is written as a spelling of A.
    """

    def __init__(self) -> None:
        self._other_lines: list[str] = []
        self._decisions: dict[tuple[str, str], Decision] = {}  # by main name and synonym

    def __len__(self) -> int:
        return len(self._decisions)

    def add(self, decision: Decision) -> None:
        """Add an answer, replacing any other about the same names."""
        self._decisions[decision.main, decision.synonym] = decision

    def keep(self, line: str) -> None:
        """Add a line that is no answer."""
        self._other_lines.append(line)

    def answered(self, main: str, synonym: str) -> bool:
        """Whether there is an answer about two names, or the synonym is already united with another."""
        return (main, synonym) in self._decisions or synonym in self._mains()

    def text(self) -> str:
        """The alias file."""
        mains = self._mains()
        lines = list(self._other_lines)
        for decision in self._decisions.values():
            lines.append(f"# {csv_row(part for part in decision if part)}")
            if decision.answer != "no":
                row = alias_row(last_main(mains, decision.main, decision.synonym), decision.synonym)
                assert row is not None  # `ttt names` leaves out pairs that no line can express
                lines.append(row + (f",years={decision.years}" if decision.years else ""))
        return "".join(f"{line}\n" for line in lines)

    def _mains(self) -> dict[str, str]:
        """The main names of synonyms."""
        decisions = self._decisions.values()
        return {
            decision.synonym: decision.main for decision in decisions if decision.answer == "yes"
        }


def read_decisions(text: str, path: str = "") -> Decisions:
    """The answers in the text of an alias file. Raises DataError for malformed lines, and for a table of spellings."""
    decisions = Decisions()
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if _ANSWER.match(line):
            decision = Decision(*next(csv.reader([line[2:]])))
            decisions.add(decision)
            if decision.answer != "no":
                next(lines, None)  # the line of names that carries it out
            continue
        _refuse_header(line, path, number)
        entries = list(_entries_in(line, path, number))
        is_limited = any(entry.status or entry.years for entry in entries)
        if not entries or is_limited:
            decisions.keep(line)
            continue
        for entry in entries:
            decisions.add(Decision("yes", entry.main, entry.synonym))
    return decisions


def _refuse_header(line: str, path: str, number: int) -> None:
    """Raise DataError for the header of a table, whose rows are no lines of names."""
    header = [fold(cell) for row in _rows_in(line, path, number) for cell in row.cells]
    if _table_columns(header) is not None:
        hint = "write to a file of its own"
        raise DataError("is a table of spellings and names", where=path, hint=hint)


def last_main(mains: Mapping[str, str], name: str, never: str | None = None) -> str:
    """The main name at the end of a chain of synonyms: C, where `name` is a synonym of B, and B of C.

    Names may be synonyms of each other: the chain ends before it comes back. So it does before `never`, which is the
    synonym that a main name is looked for.
    """
    seen = {never}
    while name in mains and mains[name] not in seen:
        seen.add(name)
        name = mains[name]
    return name
