"""Batches of records, which readers return, and all records of one file as dictionary-encoded columns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.reading.columns import Codes, Strings, narrow, narrowest, spread
from ttt_cli.reading.members import (
    MEMBER_SIGN,
    SideMembers,
    TeamFields,
    members_in_columns,
    share_of,
    split_texts,
)
from ttt_cli.reading.reports import (
    BAD_ROW,
    DROPPED,
    FURTHER_NOTES,
    KEPT,
    REJECT_CODE,
    RecordPositions,
)
from ttt_cli.reading.unpacking import DamagedInputError
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import DataError

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period

Ids = NDArray[np.int32]
# Codes, and their values or the numbers of values among the strings
_Coded = tuple[Codes, Codes | list[Any]]
ResultKind = Literal["text", "scores", "goals", "sport", "winners"]  # how results are written

DATES = "dates"
WHITES = "whites"
BLACKS = "blacks"
RESULTS = "results"
WEIGHTS = "weights"
USUAL: Final[Mapping[str, tuple[int, ...]]] = {
    DATES: (0,),
    WHITES: (1,),
    BLACKS: (2,),
    RESULTS: (3,),
}
MOST_NOTES: Final = 100_000  # of a file that are kept
_PIECE: Final = 1 << 20  # records processed at a time
_MOST_PAIRS: Final = 1 << 24  # of two columns that are counted without sorting


class Note(NamedTuple):
    """A problem in the file being read: a `Problem` without the name of the file."""

    line: int
    reason: str
    detail: str
    action: str


class Batch(NamedTuple):
    """Consecutive records: their lines in the file, and `codes` (columns, n), the numbers of their strings.

    `rejects` are additional records that could not be split into columns. `notes` are problems of other records.
    `moves` (n,) are hashes of the games' moves, 0 for games without moves.
    """

    lines: Sequence[int] | NDArray[np.int64]
    codes: Ids
    rejects: Sequence[Note] = ()
    notes: Sequence[Note] = ()
    moves: NDArray[np.int64] | None = None


class Layout(NamedTuple):
    """The meaning of the columns of a file.

    `columns`: the fields of each column by name (DATES to WEIGHTS, and others such as `event`). The field -1 - k is not
    in the file: its value is `constants[k]` in all rows. `kind`: how results are written. `combiners`: functions that
    combine the values of several fields into one. `unit`: the period that dates count, None for calendar dates.
    `chess`: whether the games are chess. `winners`: whether the two players of a row are winner and loser. `width` and
    `header`: the number of fields in a row of a table, and whether the first row is a header. `home`: whether the
    columns of the two players are named home and away. `races`: whether records are neighbours in orders of finish,
    and `race_rows`: the number of rows that these were read from. `teams`: the columns of the members of both sides,
    where they have columns of their own.
    """

    columns: Mapping[str, tuple[int, ...]] = USUAL
    kind: ResultKind = "text"
    combiners: Mapping[str, Callable[..., Hashable]] = {}
    unit: Period | None = None
    chess: bool = True
    winners: bool = False
    width: int = 0
    header: bool = False
    constants: tuple[str, ...] = ()
    home: bool = False
    races: bool = False
    race_rows: int = 0
    teams: TeamFields | None = None

    @property
    def used(self) -> tuple[int, ...]:
        """All fields of the file that are used, each once, in its order."""
        fields = sorted(set(chain(*self.columns.values())))
        return tuple(fields[bisect_left(fields, 0) :])


class Table(NamedTuple):
    """An open file with its batches of records; their codes are in the order of `layout.used`."""

    layout: Layout
    strings: Strings
    batches: Iterator[Batch]


def text_table(
    lines: Sequence[int],
    columns: Mapping[str, Sequence[str | tuple[str, ...]]],
    rejects: Sequence[Note] = (),
    moves: NDArray[np.int64] | None = None,
    **layout: Any,
) -> Table:
    """An open small file with `columns`, each a text for each line, or a tuple of texts (year, month, day)."""
    strings = Strings()
    fields = {}
    parts: list[Sequence[str]] = []
    for name, values in columns.items():
        rows = (value if isinstance(value, tuple) else (value,) for value in values)
        value_parts = list(zip(*rows, strict=True)) or [()]
        fields[name] = tuple(range(len(parts), len(parts) + len(value_parts)))
        parts += value_parts
    codes = [
        strings.numbers_of([text.encode("utf-8", "surrogateescape") for text in part])
        for part in parts
    ]
    batch = Batch(lines, np.array(codes), rejects, moves=moves)
    return Table(Layout(fields, **layout), strings, iter([batch]))


class TextRecords:
    """Records of a small file, added one by one as texts; `table` makes a table of them, and of none too."""

    def __init__(self) -> None:
        self._lines: list[int] = []
        self._records: list[dict[str, str]] = []
        self._rejects: list[Note] = []

    def add(
        self, line: int, *, date: str, white: str, black: str, result: str, **columns: str
    ) -> None:
        """Add the record in a line; further `columns`, such as `event`, are empty in records without them."""
        self._lines.append(line)
        self._records.append(
            {DATES: date, WHITES: white, BLACKS: black, RESULTS: result, **columns}
        )

    def reject(self, line: int, text: str) -> None:
        """Report a line that is no record; it is counted as a bad row."""
        self._rejects.append(Note(line, BAD_ROW, text, DROPPED))

    def table(self, **layout: Any) -> Table:
        """The table of all records; `layout`: further fields of its `Layout`."""
        names = dict.fromkeys([*USUAL, *(name for record in self._records for name in record)])
        columns = {name: [record.get(name, "") for record in self._records] for name in names}
        return text_table(self._lines, columns, self._rejects, **layout)


class WrittenSides(NamedTuple):
    """The sides of the records of a file: players, or members of teams.

    | name | shape | |
    |---|---|---|
    | names | (names,) | names of players and members as written |
    | members | | members of each side; None: the sides are the names |
    | white, black | (records,) | the sides of each record |
    """

    names: list[str]
    members: SideMembers | None
    white: Codes
    black: Codes


class _BatchArrays(NamedTuple):
    """The arrays of the batches read so far, one after the other."""

    lines: list[Codes]  # positions of the records
    moves: list[Codes]  # hashes of moves, empty while there are none
    codes: list[list[Codes]]  # of each field that is used: numbers of strings


class FileRecords:
    """All records of one file, up to tens of millions; they are validated after the whole file has been read.

    Columns are those of the table; `whites` and `blacks` share one list of distinct values, unless their members have
    columns of their own. `rejects` are the first
    MOST_NOTES records that could not be split into columns, `notes` the first problems of other records. `moves` are
    hashes of moves, None where there are none. Raises DataError for a damaged file, with the number of records before
    the damage, and if most records are unreadable.
    """

    def __init__(self, path: str, table: Table) -> None:
        self.path = path
        self.layout = table.layout
        self.further = tuple(name for name in table.layout.columns if name not in USUAL)
        self.rejects: list[Note] = []
        self.notes: list[Note] = []
        self._count = 0
        self.rejected: list[
            tuple[int, int]
        ] = []  # line and reject code of all that could not be split
        parts = self._read_parts(table)
        # positions of records (see `reports.RecordPositions`)
        self.lines = _joined_parts(parts.lines)
        self.moves = _joined_parts(parts.moves) if parts.moves else None
        fields = {
            index: _joined_parts(codes)
            for index, codes in zip(table.layout.used, parts.codes, strict=True)
        }
        for number, text in enumerate(table.layout.constants):
            code = np.int32(table.strings.number(text.encode()))
            fields[-1 - number] = np.broadcast_to(code, self._count)
        self._strings = table.strings
        self._columns = _coded_columns(table, fields)
        teams = table.layout.teams
        # fields of members, which become sides
        self._fields = {} if teams is None else {index: fields[index] for index in teams.fields}

    def _read_parts(self, table: Table) -> _BatchArrays:
        """Read all batches of a table. Raises DataError for a damaged file, and if most records are unreadable."""
        parts = _BatchArrays([], [], [[] for _ in table.layout.used])
        positions = RecordPositions()
        try:
            for batch in table.batches:
                self._add_notes(batch)
                count = len(batch.lines)
                if not count:
                    continue
                for column, values in zip(parts.codes, batch.codes, strict=True):
                    column.append(narrow(values, copy=True))
                parts.lines.append(narrow(positions.several(np.asarray(batch.lines, np.int64))))
                if batch.moves is not None and not parts.moves:
                    parts.moves.append(np.zeros(self._count, np.int64))
                if parts.moves or batch.moves is not None:
                    parts.moves.append(
                        np.zeros(count, np.int64) if batch.moves is None else batch.moves
                    )
                self._count += count
        except DamagedInputError as error:
            message = f"{error.message}; {self.rows:,} records came before that"
            raise DataError(message, where=error.where or self.path, hint=error.hint) from error
        return parts

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> int:
        """Records read, those rejected by the reader included."""
        return self._count + len(self.rejected)

    def _add_notes(self, batch: Batch) -> None:
        """Keep the first MOST_NOTES notes and rejects. Raises DataError when most records are unreadable."""
        bad = len(self.rejected)
        if bad + len(batch.rejects) > MOST_NOTES and bad > self._count + len(batch.lines):
            message = f"most of its first {self.rows:,} records cannot be read"
            hint = "is it a file of games? data.format names its kind"
            raise DataError(message, where=self.path, hint=hint)
        for note in batch.rejects:
            self.rejected.append((note.line, REJECT_CODE[note.reason]))
        self.rejects += batch.rejects[: max(0, MOST_NOTES - bad)]
        left = MOST_NOTES - len(self.notes)  # -1 once the note FURTHER_NOTES is among them
        if len(batch.notes) > left >= 0:
            first = batch.notes[left]
            detail = f"only the first {MOST_NOTES:,} notes are kept"
            self.notes += [*batch.notes[:left], Note(first.line, FURTHER_NOTES, detail, KEPT)]
        else:
            self.notes += batch.notes if left >= 0 else ()

    def distinct(self, column: str) -> list[Any]:
        """The distinct values of a column in the order of their first occurrence: texts, or what combiners give."""
        values = self._columns[column][1]
        return self._strings.texts(values) if isinstance(values, np.ndarray) else values

    def codes(self, column: str) -> Codes:
        """Indices of each record's value in `distinct`, shape (records,), in the smallest type."""
        return self._columns[column][0]

    def take(self, column: str, numbers: Codes) -> Codes:
        """`numbers[codes(column)]`, shape (records,). Frees the column."""
        return spread(narrow(numbers), self._columns.pop(column)[0])

    def take_sides(self, separator: str | None) -> WrittenSides:
        """The sides of all records. A separator joins the members of a team in a name. Frees the columns."""
        teams = self.layout.teams
        if teams is None:
            white, values = self._columns.pop(WHITES)
            black, _ = self._columns.pop(BLACKS)
            numbers = np.asarray(values)
            members = None
        else:
            numbers, members = self._members(teams)
            white = np.arange(self._count)
            black = np.arange(self._count, 2 * self._count)
        signs = [MEMBER_SIGN] if separator is None else [MEMBER_SIGN, separator]
        if not any(self._strings.holds(sign.encode()) for sign in signs):
            return WrittenSides(self._strings.texts(numbers), members, white, black)
        split = split_texts(self._strings.arrow(numbers), separator)
        if members is not None:
            members = members.with_members_of_names(split.members)
        return WrittenSides(split.names, members or split.members, white, black)

    def _members(self, teams: TeamFields) -> tuple[Codes, SideMembers]:
        """The distinct names in columns of members, and the sides: White's of all records, then Black's.

        Frees the columns.
        """
        fields = [*teams.white.members, *teams.black.members]
        columns = _distinct([self._fields[field] for field in fields], len(self._strings))
        numbers = columns[0][1]
        codes = dict(zip(fields, [codes for codes, _ in columns], strict=True))
        has_name = np.array([text.strip() != "" for text in self._strings.texts(numbers)], np.bool_)
        white, black = (
            members_in_columns(
                np.column_stack([codes[field] for field in side.members]),
                {column: self._shares(field) for column, field in side.shares.items()},
                has_name,
            )
            for side in (teams.white, teams.black)
        )
        self._fields = {}
        members = SideMembers(
            np.concatenate([white.size, black.size]),
            np.concatenate([white.name, black.name]),
            np.concatenate([white.share, black.share]),
        )
        return numbers, members

    def _shares(self, field: int) -> Array:
        """The shares of the game that are written in a field, (records,)."""
        ((codes, numbers),) = _distinct([self._fields[field]], len(self._strings))
        shares: Array = np.array([share_of(text) for text in self._strings.texts(numbers)])
        return shares[codes]


def _joined_parts(parts: list[Codes]) -> Codes:
    """The parts concatenated; frees each part once it is copied."""
    if not parts:
        return np.zeros(0, np.uint8)
    if len(parts) == 1:
        return parts.pop()
    joined = np.empty(
        sum(len(part) for part in parts), np.result_type(*{part.dtype for part in parts})
    )
    stop = len(joined)
    while parts:
        part = parts.pop()
        joined[stop - len(part) : stop] = part
        stop -= len(part)
    return joined


def _coded_columns(table: Table, fields: Mapping[int, Codes]) -> dict[str, _Coded]:
    """The columns of a table by name, of the numbers of the strings in each field, shape (records,).

    Members with columns of their own are not among them.
    """
    size = len(table.strings)
    columns: dict[str, _Coded] = {}
    for name, indices in table.layout.columns.items():
        numbers = [fields[index] for index in indices]
        if table.layout.teams is not None and name in (WHITES, BLACKS):
            continue
        if name == WHITES:
            blacks = fields[table.layout.columns[BLACKS][0]]
            columns[WHITES], columns[BLACKS] = _distinct([*numbers, blacks], size)
        elif len(numbers) > 1:
            columns[name] = _combined(table, name, numbers)
        elif name != BLACKS:
            (columns[name],) = _distinct(numbers, size)
    return columns


def _distinct(columns: Sequence[Codes], size: int) -> list[tuple[Codes, Codes]]:
    """Codes of numbers below `size`, and the distinct numbers in the order of occurrence, alike for all columns."""
    if (
        len(columns) == 1 and len(columns[0]) and not columns[0].any()
    ):  # empty throughout, as most tags are
        return [(np.broadcast_to(np.uint8(0), len(columns[0])), np.zeros(1, np.uint8))]
    first_row = np.full(size, -1, np.int64)  # of each number, counted through all columns
    after = sum(len(codes) for codes in columns)
    for codes in reversed(columns):
        for stop in range(len(codes), 0, -_PIECE):
            piece = codes[max(0, stop - _PIECE) : stop]
            # Of equal codes the last counts.
            first_row[piece[::-1]] = np.arange(after - 1, after - 1 - len(piece), -1)
            after -= len(piece)
    present = np.flatnonzero(first_row >= 0)
    numbers = narrow(present[np.argsort(first_row[present])])
    code = np.zeros(size, narrowest(len(numbers) - 1))
    code[numbers] = np.arange(len(numbers))
    return [(spread(code, codes), numbers) for codes in columns]


class _Combinations(NamedTuple):
    """The combinations of values that occur in several fields."""

    codes: Codes  # (records,), the index of each record's combination
    numbers: NDArray[np.int64]  # (combinations, fields), of strings


def _combined(table: Table, name: str, fields: Sequence[Codes]) -> _Coded:
    """A column of several fields: each combination of values that occurs, as its combiner gives it, or as a tuple."""
    combinations = _Combinations(np.zeros(0, np.uint8), np.zeros((1, 0), np.int64))
    for field in fields:
        ((codes, numbers),) = _distinct([field], len(table.strings))
        combinations = _add_field(combinations, codes, numbers)
    texts = [table.strings.texts(numbers) for numbers in combinations.numbers.T]
    values = zip(*texts, strict=True)
    combine = table.layout.combiners.get(name)
    if combine is None:
        return narrow(combinations.codes), list(values)
    return narrow(combinations.codes), [combine(*parts) for parts in values]


def _add_field(combinations: _Combinations, codes: Codes, numbers: Codes) -> _Combinations:
    """The combinations with another field: its distinct `numbers`, and `codes` (records,), indices in these."""
    n_combinations = len(combinations.numbers)
    n_numbers = max(len(numbers), 1)
    pairs: Codes  # combination * n_numbers + index of the number
    if n_combinations == 1:
        pairs = np.arange(len(numbers))
        pair_codes = codes
    elif n_numbers == 1:
        pairs = np.arange(n_combinations)
        pair_codes = combinations.codes
    else:
        pairs, pair_codes = pairs_in(combinations.codes, codes, n_combinations, n_numbers)
    before = combinations.numbers[pairs // n_numbers]
    return _Combinations(pair_codes, np.column_stack([before, numbers[pairs % n_numbers]]))


def pairs_in(left: Codes, right: Codes, lefts: int, rights: int) -> tuple[Codes, Codes]:
    """The distinct pairs of codes, sorted, as left * rights + right, and the index of each row's pair among them.

    Codes are less than `lefts` and `rights`.
    """
    keys = left.astype(np.int64) * rights + right
    if lefts * rights > _MOST_PAIRS:
        return np.unique(keys, return_inverse=True)
    seen = np.zeros(lefts * rights, np.bool_)
    seen[keys] = True
    return np.flatnonzero(seen), (np.cumsum(seen, dtype=np.int32) - 1)[keys]
