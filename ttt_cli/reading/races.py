"""Races and tables: files with one row a participant, or one row an event, as results of neighbours in the order.

An order of finish of n sides gives n - 1 records, each of a side and the next one behind it: the first won, or both
drew where their ranks are equal. Their column `race` has the same text.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Batch, Note, Table
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.layout import column_of, find_layout, word_of
from ttt_cli.reading.members import MEMBER_SIGN
from ttt_cli.reading.reports import BAD_ROW, DROPPED
from ttt_cli.support.errors import ConfigError, suggested

RACE: Final = "race"  # our name of the column of orders of finish
# Columns of one row a participant, by our names
_PARTICIPANT: Final[Mapping[str, tuple[str, ...]]] = {
    "event_id": ("eventid", "raceid", "gameid", "matchid", "heatid", "race", "heat", "event"),
    "player": (
        "player",
        "playername",
        "name",
        "driver",
        "athlete",
        "rider",
        "competitor",
        "participant",
        "horse",
    ),
    "rank": ("rank", "place", "position", "pos", "finish", "standing", "placing"),
    "score": ("score", "points", "total"),
    "team": ("team", "teamname"),
}
_NAMES_OF_EVENTS: Final = frozenset({"race", "heat", "event"})  # which come again on other days
_DATES: Final = frozenset({"date", "year", "month", "day", "week", "period", "utc_date"})
_PLACE: Final = re.compile(r"(\d+)(?:st|nd|rd|th)(?:place)?")
_TIE: Final = " = "  # between the sides of a place, in files with one row an event
_WON: Final = "1-0"
_DRAWN: Final = "1/2-1/2"


class RaceColumns(NamedTuple):
    """Columns of a file of orders of finish.

    | name | |
    |---|---|
    | header | names of all columns |
    | fields | of one row a participant, by our names; empty for one row an event |
    | places | the columns of places in their order, of one row an event |
    """

    header: list[str]
    fields: dict[str, int]
    places: list[int]

    @property
    def key(self) -> list[int]:
        """Columns with the same texts in all rows of an event: its number, or its name and date."""
        field = self.fields["event_id"]
        if word_of(self.header[field]) not in _NAMES_OF_EVENTS:
            return [field]
        return [
            field,
            *[index for index, cell in enumerate(self.header) if column_of(cell) in _DATES],
        ]

    def of_events(self, data: DataConfig) -> list[int]:
        """Columns of events that records have, too: dates, names and the like."""
        of_participants = {field for name, field in self.fields.items() if name != "event_id"}
        others = {*self.places, *self.of_sides(data)} | of_participants
        return [field for field in range(len(self.header)) if field not in others]

    def of_sides(self, data: DataConfig) -> list[int]:
        """Columns with a value for each participant: those of covariates, of one row a participant."""
        names = {word_of(column) for column in data.covariates.values()} if self.fields else set()
        return [field for field, cell in enumerate(self.header) if word_of(cell) in names]


def find_race_columns(first: Sequence[str], data: DataConfig, name: str) -> RaceColumns | None:
    """The columns of orders of finish, by the first row or the config; None for any other file.

    Raises ConfigError for configured columns that are not there.
    """
    configured = data.columns
    header = configured if isinstance(configured, list) else [cell.strip() for cell in first]
    words = [word_of(cell) for cell in header]
    places = {
        int(match[1]): field
        for field, word in enumerate(words)
        if (match := _PLACE.fullmatch(word))
    }
    if {1, 2} <= places.keys():
        return RaceColumns(header, {}, [places[number] for number in sorted(places)])
    ours = {column_of(cell) for cell in header}
    fields = _configured(configured, header, name) if isinstance(configured, dict) else {}
    for our_name, synonyms in _PARTICIPANT.items():
        present = [words.index(word) for word in synonyms if word in words]
        if our_name not in fields and present:
            fields[our_name] = present[0]
    is_race = {"event_id", "player"} <= fields.keys() and bool(fields.keys() & {"rank", "score"})
    return RaceColumns(header, fields, []) if is_race and not ours & {"white", "black"} else None


def _configured(columns: Mapping[str, str], header: Sequence[str], name: str) -> dict[str, int]:
    """The fields of configured columns of participants. Raises ConfigError for one that is not there."""
    fields = {}
    for our_name, written in columns.items():
        if our_name not in _PARTICIPANT:
            continue
        if written not in header:
            hint = suggested(written, header, f"columns are {', '.join(header)}")
            raise ConfigError(
                f"data.columns: there is no column {written!r}", where=name, hint=hint
            )
        fields[our_name] = header.index(written)
    return fields


class _RankedSide(NamedTuple):
    """A side in an order of finish; `row`: of its participant, the first of a team."""

    rank: float
    name: str
    line: int
    row: Sequence[str]


class _Race(NamedTuple):
    """An order of finish: the first row of the event, and its sides in any order."""

    row: Sequence[str]
    sides: list[_RankedSide]


def read_races(
    blocks: Iterable[bytes], columns: RaceColumns, data: DataConfig, delimiter: str, name: str
) -> Table:
    """The records of a file of orders of finish, which is read as a whole. Raises as `find_layout`."""
    text = b"".join(blocks).decode("utf-8", "surrogateescape")
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    numbered = ((rows.line_num, row) for row in rows if any(row))
    if not isinstance(data.columns, list) or data.header:
        next(numbered, None)
    return table_of_races(numbered, [], columns, data, name)


def table_of_races(
    numbered: Iterator[tuple[int, Sequence[str]]],
    rejects: list[Note],
    columns: RaceColumns,
    data: DataConfig,
    name: str,
) -> Table:
    """The records of all rows of orders of finish, with their lines. `rejects` may grow with the rows.

    Raises as `find_layout`.
    """
    rows = list(numbered)
    races = (
        _of_events(rows, columns) if columns.places else _of_participants(rows, columns, rejects)
    )
    lines: list[int] = []
    records: list[tuple[str, ...]] = []
    for number, race in enumerate(races):
        if len(race.sides) < 2:
            line = race.sides[0].line if race.sides else 0
            rejects.append(Note(line, BAD_ROW, "nobody to compare in the order of finish", DROPPED))
            continue
        others = tuple(race.row[field] for field in columns.of_events(data))
        in_order = sorted(race.sides, key=lambda side: side.rank)
        for side, behind in pairwise(in_order):
            result = _WON if side.rank < behind.rank else _DRAWN
            lines.append(max(side.line, behind.line))
            values = [
                row[field] for field in columns.of_sides(data) for row in (side.row, behind.row)
            ]
            names = side.name, behind.name
            records.append((*others, *values, *names, result, f"{name} {number}"))
    table = _table(lines, records, rejects, columns, data, name)
    return table._replace(layout=table.layout._replace(race_rows=len(rows)))


def _table(
    lines: list[int],
    records: list[tuple[str, ...]],
    rejects: list[Note],
    columns: RaceColumns,
    data: DataConfig,
    name: str,
) -> Table:
    """The table of records, by line.

    They have the columns of events, then those of sides, twice each, both sides, the result and the race.
    """
    header = [columns.header[field] for field in columns.of_events(data)]
    for field in columns.of_sides(data):
        header += [f"{columns.header[field]}_white", f"{columns.header[field]}_black"]
    header += ["white", "black", "result"]
    configured = data.columns if isinstance(data.columns, dict) else {}
    of_records = {ours: column for ours, column in configured.items() if ours not in _PARTICIPANT}
    as_pairs = data.model_copy(update={"columns": of_records or None, "header": True})
    sample = [record[:-1] for record in records[:1000]]
    layout = find_layout([header, *sample], as_pairs, name, named=True)
    layout = layout._replace(
        columns={**layout.columns, RACE: (len(header),), "neutral": (-1 - len(layout.constants),)},
        constants=(*layout.constants, "true"),
        chess=False,
        races=True,
    )
    order = sorted(range(len(lines)), key=lines.__getitem__)
    strings = Strings()
    codes = [
        strings.numbers_of(
            [records[number][field].encode("utf-8", "surrogateescape") for number in order]
        )
        for field in layout.used
    ]
    batch = Batch(np.array([lines[number] for number in order], np.int64), np.array(codes), rejects)
    return Table(layout, strings, iter([batch]))


def _of_events(rows: Iterable[tuple[int, Sequence[str]]], columns: RaceColumns) -> Iterator[_Race]:
    """The orders of finish of rows of events."""
    for line, row in rows:
        sides = []
        for rank, field in enumerate(columns.places):
            cell = row[field].strip() if field < len(row) else ""
            sides += [
                _RankedSide(rank, side.strip(), line, row)
                for side in cell.split(_TIE)
                if side.strip()
            ]
        yield _Race(row, sides)


def _of_participants(
    rows: Iterable[tuple[int, Sequence[str]]], columns: RaceColumns, rejects: list[Note]
) -> list[_Race]:
    """The orders of finish of rows of participants; those without a rank are added to `rejects`."""
    fields = columns.fields
    width = len(columns.header)
    key = columns.key
    participants: dict[tuple[str, ...], _Race] = {}
    teams: dict[tuple[tuple[str, ...], str], list[_RankedSide]] = {}
    for line, row in rows:
        if len(row) < width:
            rejects.append(Note(line, BAD_ROW, f"{len(row)} fields, not {width}", DROPPED))
            continue
        player = row[fields["player"]].strip()
        rank = _rank(row, fields)
        if rank is None:
            rejects.append(Note(line, BAD_ROW, f"without a rank: {player}", DROPPED))
            continue
        event = tuple(row[field].strip() for field in key)
        race = participants.setdefault(event, _Race(row, []))
        side = _RankedSide(rank, player, line, row)
        team = row[fields["team"]].strip() if "team" in fields else ""
        if team:
            teams.setdefault((event, team), []).append(side)
        else:
            race.sides.append(side)
    for (event, _), members in teams.items():
        name = MEMBER_SIGN.join([member.name for member in members])
        rank = min(member.rank for member in members)
        first = members[0]
        participants[event].sides.append(_RankedSide(rank, name, first.line, first.row))
    return list(participants.values())


def _rank(row: Sequence[str], fields: Mapping[str, int]) -> float | None:
    """The rank of a row, the less the better: a number, or minus the score; None for what is none."""
    sign = 1.0 if "rank" in fields else -1.0
    try:
        rank = sign * float(row[fields["rank" if "rank" in fields else "score"]])
    except ValueError:
        return None
    return rank if math.isfinite(rank) else None
