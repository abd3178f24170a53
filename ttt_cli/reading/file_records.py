"""The records of one file as numbers of distinct values: names and dates recur, so each is read only once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.errors import DataError
from ttt_cli.reading.batches import Batch, Note, ResultKind
from ttt_cli.reading.column import ByteStrings, Codes, Column, Dictionary, GrowableCodes, narrow
from ttt_cli.reading.reasons import FURTHER_NOTES, KEPT, REJECT_CODE
from ttt_cli.reading.reports import Places

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period

Ids = NDArray[np.int32]

DATES, WHITES, BLACKS, RESULTS, WEIGHTS = "dates", "whites", "blacks", "results", "weights"
MOST_NOTES: Final = 100_000  # of a file that are kept
_PIECE: Final = 1 << 20  # records looked at at a time


class _SharedColumn:
    """One column, or several that share their values."""

    def __init__(self, *names: str) -> None:
        self._own = Dictionary[Hashable]()
        self._shared: Sequence[Hashable] | None = None  # what all codes are numbers of; None: of `_own`
        self._codes = {name: GrowableCodes() for name in names}
        self._values: Sequence[Hashable] | None = None  # once these are what codes are numbers of

    def add(self, name: str, values: Sequence[Hashable]) -> None:
        column = values if isinstance(values, Column) else None
        shared = column.values if column is not None and isinstance(column.values, ByteStrings) else None
        if not any(map(len, self._codes.values())):
            self._shared = shared
        elif shared is not self._shared:
            self._renumber()
        if column is None:
            codes: Codes = self._own.ids(values)
        elif self._shared is None:
            codes = self._own.ids(column.values)[column.codes]
        else:
            codes = column.codes
        self._codes[name].add(codes)
        self._values = None

    def values(self) -> Sequence[Hashable]:
        """The distinct values in the order in which they first come, in one column after the other."""
        if self._values is None:
            values = self._own.values if self._shared is None else self._shared
            chosen = _by_first_place([codes.whole() for codes in self._codes.values()], len(values))
            number = np.zeros(len(values), np.int32)
            number[chosen] = np.arange(len(chosen))
            for codes in self._codes.values():
                codes.renumber(number)
            self._shared = self._values = Column(chosen, values)
        return self._values

    def codes(self, name: str) -> Codes:
        """The number of each record's value among the distinct ones, until anything is added or taken."""
        self.values()
        return self._codes[name].whole()

    def take(self, name: str, numbers: Codes) -> Codes:
        """As `numbers[ids]`, in the memory of the column, which is gone then."""
        self.values()
        codes = self._codes.pop(name)
        codes.renumber(numbers)
        return codes.whole()

    def _renumber(self) -> None:
        """Make all codes numbers of `_own`."""
        if self._shared is not None:
            number = self._own.ids(self._shared)
            for codes in self._codes.values():
                codes.renumber(number)
            self._shared = None


class FileRecords:
    """Gathers batches of one file, of up to tens of millions of records; nothing is judged before all of it is seen.

    Columns are `dates`, `whites` and `blacks` (which share their values), `results`, `weights` and the further ones
    that batches have, where a batch without a column counts as empty texts. `rejects` are the first MOST_NOTES of the
    records that the reader could not split into columns, `notes` the oddities it met; the others are as in
    `batches.Table`.
    """

    def __init__(
        self,
        path: str,
        kind: ResultKind = "text",
        unit: Period | None = None,
        *,
        chess: bool = True,
        winners: bool = False,
    ) -> None:
        self.path = path
        self.kind = kind
        self.unit = unit
        self.chess = chess
        self.winners = winners
        self.rejects: list[Note] = []
        self.notes: list[Note] = []
        self._count = 0
        self._lines = GrowableCodes()
        self._places = Places()
        self._rejected = GrowableCodes(), GrowableCodes(np.int8)
        self._moves = GrowableCodes(np.int64)
        names = _SharedColumn(WHITES, BLACKS)
        dates, results = _SharedColumn(DATES), _SharedColumn(RESULTS)
        self._columns = {DATES: dates, WHITES: names, BLACKS: names, RESULTS: results}
        self._further: list[str] = []

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> int:
        """Records seen, those rejected by the reader included."""
        return self._count + len(self._rejected[0])

    @property
    def rejected(self) -> tuple[Codes, Codes]:
        """The lines, in order, and reject codes of all records that the reader could not split into columns."""
        lines, reject_codes = (column.whole() for column in self._rejected)
        if np.any(lines[1:] < lines[:-1]):  # a row was given up after lines behind its first were
            order = np.argsort(lines, kind="stable")
            lines, reject_codes = lines[order], reject_codes[order]
        return lines, reject_codes

    @property
    def further(self) -> tuple[str, ...]:
        """Names of the further columns that batches had."""
        return tuple(self._further)

    @property
    def weights(self) -> Sequence[Hashable]:
        """The distinct weights, none when there is no such column."""
        return self.distinct(WEIGHTS) if WEIGHTS in self._columns else ()

    def add(self, batch: Batch) -> None:
        """Take in the next records."""
        self._add_notes(batch)
        count = len(batch.lines)
        if not count:
            return
        columns = {DATES: batch.dates, WHITES: batch.whites, BLACKS: batch.blacks, RESULTS: batch.results}
        if batch.weights is not None:
            columns[WEIGHTS] = batch.weights
        columns |= batch.further
        self._columns |= {name: self._column(name) for name in columns}
        self._further = list(dict.fromkeys([*self._further, *batch.further]))
        for name, column in self._columns.items():
            column.add(name, columns[name] if name in columns else _nothing(count))
        self._lines.add(self._places.several(np.asarray(batch.lines, np.int64)))
        self._add_moves(count, batch.moves)
        self._count += count

    def _add_notes(self, batch: Batch) -> None:
        """Take in what was odd, in bounded memory: of very many notes the first are kept."""
        bad = len(self._rejected[0])
        if bad + len(batch.rejects) > MOST_NOTES and bad > self._count + len(batch.lines):
            message = f"most of its first {self.rows:,} records cannot be read"
            raise DataError(
                message, where=self.path, hint="is it a file of games? data.format names its kind"
            )
        if batch.rejects:
            lines, reject_codes = self._rejected
            lines.add(np.array([note.line for note in batch.rejects]))
            reject_codes.add(np.array([REJECT_CODE[note.reason] for note in batch.rejects]))
            self.rejects += batch.rejects[: max(0, MOST_NOTES - bad)]
        room = MOST_NOTES - len(self.notes)
        if len(batch.notes) > room >= 0:
            first = batch.notes[room]
            detail = f"only the first {MOST_NOTES:,} notes are kept"
            self.notes += [*batch.notes[:room], Note(first.line, FURTHER_NOTES, detail, KEPT)]
        else:
            self.notes += batch.notes if room >= 0 else ()

    def _add_moves(self, count: int, moves: NDArray[np.int64] | None) -> None:
        """Take in the moves of the next records; nothing is kept until some have any."""
        if moves is not None and not len(self._moves):
            self._moves.add(np.zeros(self._count, np.int64))
        if moves is not None or len(self._moves):
            self._moves.add(np.zeros(count, np.int64) if moves is None else moves)

    def _column(self, name: str) -> _SharedColumn:
        """A column, of empty texts where no batch has had it."""
        if name in self._columns:
            return self._columns[name]
        column = _SharedColumn(name)
        column.add(name, _nothing(self._count))
        return column

    def distinct(self, column: str) -> Sequence[Hashable]:
        """The distinct values of a column, those that `ids` gives the numbers of."""
        return self._column(column).values()

    def ids(self, column: str) -> Ids:
        """Which distinct value each record has in a column, shape (records,)."""
        return self.codes(column).astype(np.int32)

    def codes(self, column: str) -> Codes:
        """As `ids`, in as few bytes as they take; a view, until anything is added or taken."""
        return self._column(column).codes(column)

    def take(self, column: str, numbers: Codes) -> Codes:
        """As `numbers[ids(column)]`, shape (records,), in little memory: the column is not to be asked for again."""
        return self._column(column).take(column, numbers)

    def lines(self) -> Codes:
        """The place of each record (see `places`), shape (records,)."""
        return self._lines.whole()

    def moves(self) -> NDArray[np.int64]:
        """Hash of each record's moves, 0 where there are none, shape (records,)."""
        if not len(self._moves):
            return np.broadcast_to(np.int64(0), self._count)
        return self._moves.whole().view(np.int64)


def _nothing(count: int) -> Column[bytes]:
    return Column(np.zeros(count, np.int32), (b"",))


def _by_first_place(columns: Sequence[Codes], words: int) -> Codes:
    """The codes below `words` that columns hold, in the order in which they first come."""
    place = np.full(words, -1, np.int64)
    after = sum(map(len, columns))
    for codes in reversed(columns):
        for stop in range(len(codes), 0, -_PIECE):
            piece = codes[max(0, stop - _PIECE) : stop]
            # Of equal codes the last counts.
            place[piece[::-1]] = np.arange(after - 1, after - 1 - len(piece), -1)
            after -= len(piece)
    present = np.flatnonzero(place >= 0)
    return narrow(present[np.argsort(place[present])])
