"""Records: the whole content of the files, used or not, as columns; Games are made of the used ones."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.table import Games, of_players, picked
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.columns import Codes, Column, alike, chosen, spread
from ttt_cli.reading.reports import DROP_REASONS, FileReport, InputFile, Problem, ReadReport, place_text
from ttt_cli.room import MEMORY, Room

Rows = NDArray[np.integer]


@dataclass(frozen=True)
class Records:
    """All records of all files in the order of reading; arrays of shape (records,) unless noted otherwise.

    Records `starts[i]` up to `starts[i + 1]` are those of `files[i]`, `line` is the place of each there. `date` to
    `odds` are texts as written; `date_day` and `date_precision` are those of each distinct date, `tally`, shape
    (distinct results, 3), the numbers of games that White lost, drew and won. `white` and `black` index `players`, all
    names united, and are -1 where nobody is named. `weight` to `moves` (a hash, 0 where they are not known) may have
    stride 0. `reject_code` is 0 for a record that is used, else 1 + the index in DROP_REASONS; of rejected records the
    other columns may mean nothing. `problems` are what was odd about single records, filters apart; the rest is as in
    `Games`.
    """

    files: tuple[FileReport, ...]
    starts: NDArray[np.int64]
    line: Codes
    date: Column[str]
    white_written: Column[str]
    black_written: Column[str]
    result: Column[str]
    event: Column[str]
    site: Column[str]
    round: Column[str]
    variant: Column[str]
    time_control: Column[str]
    status: Column[str]
    odds: Column[str]
    date_day: NDArray[np.int32]
    date_precision: NDArray[np.int8]
    tally: NDArray[np.float64]
    players: tuple[str, ...]
    white: Codes
    black: Codes
    weight: NDArray[np.float64]
    offset: NDArray[np.float64]
    neutral: NDArray[np.bool_]
    moves: NDArray[np.int64]
    reject_code: NDArray[np.int8]
    problems: tuple[Problem, ...] = ()
    aliases: InputFile | None = None
    spellings: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for column in (getattr(self, f.name) for f in fields(self)):
            if isinstance(column, np.ndarray):
                column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.reject_code)

    @property
    def file(self) -> NDArray[np.int32]:
        """The file of each record, an index of `files`."""
        return np.repeat(np.arange(len(self.files), dtype=np.int32), np.diff(self.starts))

    @property
    def day(self) -> NDArray[np.int32]:
        """Days since 1970-01-01, the middle of what is known."""
        return self.date_day[self.date.codes]

    @property
    def precision(self) -> NDArray[np.int8]:
        """How exact the date is, as in `Games`."""
        return self.date_precision[self.date.codes]

    @property
    def year(self) -> NDArray[np.int16]:
        """The year of each record."""
        return years_of(self.date_day)[self.date.codes]

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which records are games."""
        return np.equal(self.reject_code, 0)

    def with_codes(self, reject_codes: Sequence[int]) -> NDArray[np.bool_]:
        """Which records have one of these reject codes."""
        return spread(np.isin(np.arange(len(DROP_REASONS) + 1), reject_codes), self.reject_code)

    @property
    def report(self) -> ReadReport:
        """The account of the reading."""
        return ReadReport(self.files, self.problems, self.aliases)

    def reason(self, row: int) -> str | None:
        """Why a record is not used, None when it is."""
        return DROP_REASONS[self.reject_code[row] - 1] if self.reject_code[row] else None

    def place(self, row: int) -> str:
        """`file:line` of a record, with its number where several share the line."""
        file = int(np.searchsorted(self.starts, row, side="right")) - 1
        return place_text(self.files[file].path, int(self.line[row]))


def years_of(days: NDArray[np.int32]) -> NDArray[np.int16]:
    """Years of days since 1970-01-01."""
    return (days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970).astype(np.int16)


def games_of(records: Records) -> Games:
    """The games of the records that are used, by date, then as read; players are those who have games."""
    return table_of(game_columns(records), records.players, records.report, records.spellings)


def game_columns(records: Records) -> dict[str, Any]:
    """Columns of the games of `games_of`; `white` and `black` are numbers in `records.players`.

    A match is up to three rows of one source line, for the games that White lost, drew and won.
    """
    rows: Rows = np.flatnonzero(records.used)
    if len(records) < 1 << 31:
        rows = rows.astype(np.int32)
    codes, played = records.result.codes[rows], records.tally > 0
    met = np.zeros(len(played), np.bool_)
    met[codes] = True
    if np.all(played[met].sum(axis=1) == 1) and np.all(records.tally[met].max(axis=1, initial=0) == 1):
        outcome = (played @ np.array([0, 1, 2], np.int8)).astype(np.int8)[codes]
        count = constant(1.0, len(rows))
    else:
        which, kind = np.nonzero(played[codes])
        rows, outcome, count = rows[which], kind.astype(np.int8), records.tally[codes[which], kind]
    days = records.date_day[records.date.codes[rows]]
    first = days.min(initial=np.iinfo(np.int32).max)
    if int(days.max(initial=first)) - int(first) < 1 << 16:  # 179 years, which are sorted by counting
        days = (days - first).astype(np.uint16)
    order = np.argsort(days, kind="stable")
    rows, outcome, count = rows[order], outcome[order], chosen(count, order)
    del codes, days, order
    weight = chosen(records.weight, rows)
    factors = slice(1 if alike(count) and alike(weight) else None)  # the same for all games
    dates = records.date.codes[rows]
    return {
        "date": records.date_day[dates],
        "date_precision": records.date_precision[dates],
        "white": records.white[rows].astype(np.int32, copy=False),
        "black": records.black[rows].astype(np.int32, copy=False),
        "outcome": outcome,
        "weight": np.broadcast_to(count[factors] * weight[factors], len(rows)),
        "offset": chosen(records.offset, rows),
        "neutral": chosen(records.neutral, rows),
        "source_file": records.file[rows] if len(records.files) > 1 else np.zeros(len(rows), np.int32),
        "source_line": records.line[rows].astype(np.int64),
        **{name: picked(getattr(records, name), rows) for name in TEXT_COLUMNS},
    }


def table_of(
    columns: dict[str, Any],
    players: Sequence[str],
    report: ReadReport,
    spellings: Sequence[tuple[str, str]],
    room: Room = MEMORY,
) -> Games:
    """Games of `game_columns`, which lie in `room` and are changed, with those of all `players` who have games."""
    sides = [columns[name] for name in ("white", "black")]
    present = np.zeros(len(players), np.bool_)
    for part in room.parts(len(sides[0])):
        for side in sides:
            present[side[part]] = True
    number = (np.cumsum(present) - 1).astype(np.int32)
    for part in room.parts(len(sides[0])):
        for side in sides:
            side[part] = number[side[part]]
    names = tuple(compress(players, present.tolist()))
    return Games(**columns, players=names, report=report, spellings=of_players(spellings, names), room=room)


def constant(value: float, n: int) -> NDArray[np.float64]:
    """The same number n times, in the memory of one."""
    return np.broadcast_to(np.float64(value), (n,))
