"""Corrections of games: a list, kept beside the files of games, of what is wrong in these and why.

A CSV with the columns action, where, player, value, reason and source. `where` is a condition on games
(`ttt_cli.games.where`). Corrections are applied one after the other, to the games that filters have left.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.game_fields import check_fields, field_columns, rows_that_meet
from ttt_cli.games.table import DRAW, LOSS, WIN, GameColumns, Games, games_from_columns
from ttt_cli.games.where import Condition, comparisons, parse_condition
from ttt_cli.reading.dates import parse_dates
from ttt_cli.reading.input import Input
from ttt_cli.reading.reports import CORRECTION, IDLE_CORRECTION, KEPT, REPAIRED, InputFile, Problem
from ttt_cli.reading.results import parse_result
from ttt_cli.reading.text import decode, strip_mark
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import ConfigError, DataError, suggested
from ttt_cli.support.progress import SILENT

DROP: Final = "drop"
RESULT: Final = "result"
DATE: Final = "date"
NAME: Final = "name"
MERGE: Final = "merge"
SPLIT: Final = "split"
ACTIONS: Final = (DROP, RESULT, DATE, NAME, MERGE, SPLIT)
COLUMNS: Final = ("action", "where", "player", "value", "reason", "source")
_NEEDED: Final = {  # besides reason and source
    DROP: ("where",), RESULT: ("where", "value"), DATE: ("where", "value"), NAME: ("player", "value"),
    MERGE: ("player", "value"), SPLIT: ("where", "player", "value"),
}  # fmt: skip
_EMPTY: Final = {
    DROP: ("player", "value"), RESULT: ("player",), DATE: ("player",), NAME: (), MERGE: ("where",), SPLIT: (),
}  # fmt: skip
_EXAMPLE: Final = "white = 'Morphy, Paul' and year = 1858"
_TIMES: Final = frozenset({"year", "date"})  # fields of which the condition of a split has one


class NewDate(NamedTuple):
    """Days since 1970-01-01, and how exact they are."""

    day: int
    precision: int


@dataclass(frozen=True)
class Correction:
    """One correction.

    - `line`: in the file
    - `action`: one of `ACTIONS`
    - `condition`: on the games, None for all
    - `player`: the name that is wrong, `value` the right name
    - `outcome`, `date`: the right result or date
    - `reason`, `source`: why, and where from
    """

    line: int
    action: str
    condition: Condition | None
    player: str
    value: str
    outcome: int | None
    date: NewDate | None
    reason: str
    source: str


@dataclass(frozen=True)
class Corrections:
    """The corrections in a file."""

    file: InputFile
    rows: tuple[Correction, ...]


class Corrected(NamedTuple):
    """Corrected games, and the number of games that each correction changed."""

    games: Games
    counts: list[int]


def read_corrections(path: str) -> Corrections:
    """The corrections in a CSV. Raises DataError, with the line, for what cannot be understood."""
    source = Input(path, kind="corrections")
    with closing(source.blocks(SILENT)) as blocks:
        text = decode(strip_mark(b"".join(blocks)))
    reader = csv.reader(io.StringIO(text), skipinitialspace=True)
    header: list[str] = []
    rows = []
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        if not header:
            header = _header(cells, source.name)
        else:
            rows.append(_correction(reader.line_num, header, cells, source.name))
    if not header:
        raise DataError(
            "has no corrections", where=source.name, hint=f"its columns are {', '.join(COLUMNS)}"
        )
    return Corrections(InputFile(source.name, source.digest, source.count), tuple(rows))


def _header(cells: Sequence[str], file: str) -> list[str]:
    """The columns of a file. Raises DataError unless they are ours, in any order."""
    header = [cell.strip().casefold() for cell in cells]
    if sorted(header) != sorted(COLUMNS):
        raise DataError(
            f"has the columns {', '.join(header)}",
            where=file,
            hint=f"they are {', '.join(COLUMNS)}",
        )
    return header


def _correction(line: int, header: Sequence[str], cells: Sequence[str], file: str) -> Correction:
    """A correction. Raises DataError."""
    where = f"{file}:{line}"
    if len(cells) != len(header):
        message = f"a row of {len(cells)} cells below {len(header)}"
        raise DataError(message, where=where, hint="names and conditions with commas need quotes")
    row = {column: cell.strip() for column, cell in zip(header, cells, strict=True)}
    action = row["action"].casefold()
    if action not in ACTIONS:
        hint = suggested(action, ACTIONS, f"actions are {', '.join(ACTIONS)}")
        raise DataError(f"no action {row['action']!r}", where=where, hint=hint)
    for column in (*_NEEDED[action], "reason", "source"):
        if not row[column]:
            raise DataError(f"{action} needs {column}", where=where)
    for column in _EMPTY[action]:
        if row[column]:
            raise DataError(f"{action} has no {column}, but there is {row[column]!r}", where=where)
    try:
        condition = parse_condition(row["where"], _EXAMPLE) if row["where"] else None
        if condition is not None:
            check_fields(condition)
    except ConfigError as error:
        raise DataError(
            error.message.removeprefix("--where: "), where=where, hint=error.hint
        ) from None
    if action == SPLIT and condition is not None:
        fields = {comparison.field for comparison in comparisons(condition)}
        if fields.isdisjoint(_TIMES):
            raise DataError(
                "split needs a condition on the year or date",
                where=where,
                hint="for instance year < 1850",
            )
    return Correction(
        line=line,
        action=action,
        condition=condition,
        player=row["player"],
        value=row["value"],
        outcome=_outcome(row["value"], where) if action == RESULT else None,
        date=_date(row["value"], where) if action == DATE else None,
        reason=row["reason"],
        source=row["source"],
    )


def _outcome(text: str, where: str) -> int:
    """The outcome that a result means. Raises DataError."""
    outcome = parse_result(text)
    if outcome not in (LOSS, DRAW, WIN):
        raise DataError(f"{text!r} is no result", where=where, hint="1-0, 1/2-1/2 or 0-1")
    return int(outcome)


def _date(text: str, where: str) -> NewDate:
    """A date as exact as it is written. Raises DataError."""
    dates = parse_dates([text], DataConfig())
    if dates.reject_code[0] or dates.repaired[0]:
        raise DataError(
            f"{text!r} is no date", where=where, hint="for instance 1851, 1851-05 or 1851-05-27"
        )
    return NewDate(int(dates.day[0]), int(dates.precision[0]))


def correct_games(games: Games, corrections: Corrections) -> Games:
    """Corrected games, with a report on every correction, used or not, among their problems. Raises DataError."""
    corrected = apply_corrections(games, corrections)
    problems = []
    for correction, count in zip(corrections.rows, corrected.counts, strict=True):
        words = f"{correction.action} {correction.value}".strip()
        why = f"{correction.reason} ({correction.source})"
        reason = CORRECTION if count else IDLE_CORRECTION
        action = REPAIRED if count else KEPT
        number = f", {count:,} {'game' if count == 1 else 'games'}" if count else ""
        detail = f"{words}{number}: {why}"
        problems.append(Problem(corrections.file.path, correction.line, reason, detail, action))
    report = replace(
        games.report, problems=(*games.report.problems, *problems), corrections=corrections.file
    )
    return replace(corrected.games, report=report)


def apply_corrections(games: Games, corrections: Corrections) -> Corrected:
    """Games with all corrections, one after the other. Raises DataError where a player would play himself."""
    counts = []
    for correction in corrections.rows:
        where = f"{corrections.file.path}:{correction.line}"
        rows = _rows_of(games, correction)
        if len(rows) and (
            games.race[rows].any() or games.white_team[rows].any() or games.black_team[rows].any()
        ):
            raise DataError("games of teams and orders of finish are not corrected", where=where)
        if len(rows):
            games = _corrected(games, correction, rows, where)
        counts.append(len(rows))
    return Corrected(games, counts)


def _rows_of(games: Games, correction: Correction) -> Places:
    """The games that a correction changes."""
    rows = np.arange(len(games))
    if correction.condition is not None:
        rows = rows_that_meet(correction.condition, field_columns(games, correction.condition))
    match correction.action:
        case "result":
            rows = rows[games.outcome[rows] != correction.outcome]
        case "date":
            rows = rows[_dates_differ(games, rows, correction.date)]
        case "name" | "merge" | "split":
            number = {player: index for index, player in enumerate(games.players)}
            player = number.get(correction.player, -1)
            if correction.action == MERGE and correction.value not in number:
                player = -1  # there is nobody to be one with
            rows = rows[(games.white[rows] == player) | (games.black[rows] == player)]
    return rows


def _dates_differ(games: Games, rows: Places, date: NewDate | None) -> Places:
    """Which of the rows have another date, as indices."""
    assert date is not None
    differs = (games.date[rows] != date.day) | (games.date_precision[rows] != date.precision)
    return np.flatnonzero(differs)


def _corrected(games: Games, correction: Correction, rows: Places, where: str) -> Games:
    """Games with a correction of these rows. Raises DataError."""
    columns = games.columns
    players = list(games.players)
    if correction.action == DROP:
        remaining = np.ones(len(games), np.bool_)
        remaining[rows] = False
        columns = columns.take(remaining)
    elif correction.outcome is not None:
        outcome = games.outcome.copy()
        outcome[rows] = correction.outcome
        victory_margin = games.victory_margin.copy()
        victory_margin[rows] = 0.0
        columns = columns._replace(outcome=outcome, victory_margin=victory_margin)
    elif correction.date is not None:
        date = games.date.copy()
        date[rows] = correction.date.day
        date_precision = games.date_precision.copy()
        date_precision[rows] = correction.date.precision
        order = np.argsort(date, kind="stable")
        columns = columns._replace(date=date, date_precision=date_precision).take(order)
    else:
        if correction.value not in players:
            players.append(correction.value)
        before = players.index(correction.player)
        after = players.index(correction.value)
        white = games.white.copy()
        black = games.black.copy()
        white[rows] = np.where(white[rows] == before, after, white[rows])
        black[rows] = np.where(black[rows] == before, after, black[rows])
        if (white == black).any():
            raise DataError(f"{correction.value} would play himself", where=where)
        columns = columns._replace(white=white, black=black)
    return _with_sorted_players(games, columns, players)


def _with_sorted_players(games: Games, columns: GameColumns, players: Sequence[str]) -> Games:
    """A table of games, whose players are sorted and have games."""
    order = sorted(range(len(players)), key=lambda index: players[index])
    number = np.empty(len(players), np.int32)
    number[order] = np.arange(len(players), dtype=np.int32)
    renumbered = columns._replace(white=number[columns.white], black=number[columns.black])
    return games_from_columns(
        renumbered, [players[index] for index in order], games.report, games.spellings, games.people
    )
