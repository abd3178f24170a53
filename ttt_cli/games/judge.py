"""Judging the records of a file: which are games, and why the others are not."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.dates import parse_date
from ttt_cli.games.file_records import FileRecords, Ids, Interner
from ttt_cli.games.names import clean_name, not_a_player, text_of
from ttt_cli.games.records import BAD_DATE, BAD_WEIGHT, DROP_REASONS, DROPPED, REPAIRED, SAME_PLAYER, Note
from ttt_cli.games.results import parse_results

_CODES: Final = {reason: code for code, reason in enumerate(DROP_REASONS, 1)}  # 0: no fault
_NOBODY: Final = -1


class Judged:
    """What became of each record; every distinct value is read once.

    Columns have shape (records,): `day` since 1970-01-01, `precision`, `white` and `black` (numbers in
    `players`), `outcome`, `weight`, `line`. `fault` is 0 for a game, else 1 + the index in DROP_REASONS of
    the first that applies, and then the other columns mean nothing. `notes` tells of every record that is
    dropped or repaired.
    """

    def __init__(self, records: FileRecords, players: Interner) -> None:
        self._written = records
        self._dates, self._results = records.ids("dates"), records.ids("results")
        self._whites, self._blacks = records.ids("whites"), records.ids("blacks")
        self.line = records.lines()
        dates = [parse_date(_joined(raw, "-")) for raw in records.dates]
        self.day = np.array([date.day for date in dates], np.int32)[self._dates]
        self.precision = np.array([date.precision for date in dates], np.int8)[self._dates]
        self._repaired = np.array([date.repaired for date in dates], np.bool_)[self._dates]
        self._names = [clean_name(raw) for raw in records.names]
        nobody = [not_a_player(name) for name in self._names]
        number = [_NOBODY if why else players[name] for name, why in zip(self._names, nobody, strict=True)]
        self.white = np.array(number, np.int32)[self._whites]
        self.black = np.array(number, np.int32)[self._blacks]
        counts = np.bincount(self._results, minlength=len(records.results)).tolist()
        outcomes = parse_results(dict(zip(records.results, counts, strict=True)), records.kind)
        read = [outcomes[raw] for raw in records.results]
        self.outcome = np.array([_NOBODY if isinstance(o, str) else o for o in read], np.int8)[self._results]
        self.weight = _weights(records)
        nameless = _codes(nobody)
        self.fault = _first_fault(
            _earlier(nameless[self._whites], nameless[self._blacks]),
            (self.white == self.black) * _CODES[SAME_PLAYER],
            _codes(None if date.repaired else date.fault for date in dates)[self._dates],
            _codes(o if isinstance(o, str) else None for o in read)[self._results],
            ~(np.isfinite(self.weight) & (self.weight > 0)) * _CODES[BAD_WEIGHT],
        )
        self.notes = [*self._dropped_notes(), *self._repaired_notes()]

    def _dropped_notes(self) -> Iterable[Note]:
        dates, results = list(self._written.dates), list(self._written.results)
        for row in np.flatnonzero(self.fault).tolist():
            date, result = _joined(dates[self._dates[row]], "-"), _joined(results[self._results[row]], "-")
            white, black = self._names[self._whites[row]], self._names[self._blacks[row]]
            detail = f"{date or '?'}: {white or '?'} - {black or '?'} {result}".rstrip()
            yield Note(int(self.line[row]), DROP_REASONS[self.fault[row] - 1], detail, DROPPED)

    def _repaired_notes(self) -> Iterable[Note]:
        dates = list(self._written.dates)
        for row in np.flatnonzero(self._repaired & (self.fault == 0)).tolist():
            yield Note(int(self.line[row]), BAD_DATE, _joined(dates[self._dates[row]], "-"), REPAIRED)


def _joined(raw: Hashable, separator: str) -> str:
    """A value as text; of a tuple, the parts that are not empty."""
    if isinstance(raw, tuple):
        return separator.join(text for part in raw if (text := text_of(part).strip()))
    return text_of(raw).strip()


def _weights(records: FileRecords) -> NDArray[np.float64]:
    """Weights of all records, 1 where the file has none, NaN where one is no number."""
    if not records.weights:
        return np.ones(records.rows - len(records.rejects))
    return np.array([_number(text_of(raw)) for raw in records.weights])[records.ids("weights")]


def _number(text: str) -> float:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return math.nan


def _codes(reasons: Iterable[str | None]) -> Ids:
    return np.array([_CODES[reason] if reason else 0 for reason in reasons], np.int32)


def _earlier(first: Ids, second: Ids) -> Ids:
    """The smaller of two fault codes, no fault being the largest."""
    none = np.int32(len(DROP_REASONS) + 1)
    code = np.minimum(np.where(first == 0, none, first), np.where(second == 0, none, second))
    return np.where(code == none, 0, code).astype(np.int32)


def _first_fault(*faults: NDArray[np.integer]) -> Ids:
    first = np.zeros(len(faults[0]), np.int32)
    for codes in faults:
        np.copyto(first, codes.astype(np.int32), where=first == 0)
    return first
