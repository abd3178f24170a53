"""Games of a run that a condition or a file of games names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.extend import unite
from ttt_cli.games.read import read_games
from ttt_cli.games.table import GameColumns, Games, years_of
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import RESULTS
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import ConfigError, LookupFailed, suggested
from ttt_cli.views.rows import counted
from ttt_cli.views.where import (
    AllOf,
    AnyOf,
    Condition,
    FieldComparison,
    IsUnknown,
    Not,
    comparisons,
    parse_condition,
)

Truths = NDArray[np.int8]

PLAYER: Final = "player"  # either side
SIDES: Final = ("white", "black")
FALSE: Final = 0
UNKNOWN: Final = 1
TRUE: Final = 2
_TRUTHS: Final = {False: FALSE, None: UNKNOWN, True: TRUE}
_DATE_LENGTHS: Final = (4, 7, 10)  # of a year, a month and a day
_EXAMPLE: Final = "event = 'London' and year = 1851"


class GameKey(NamedTuple):
    """What two records of one game have in common; players by their numbers."""

    date: int
    date_precision: int
    white: int
    black: int
    outcome: int


class ChosenGames(NamedTuple):
    """Rows of `Games`, ascending, by what they were chosen, and notes on what was not found."""

    rows: Places
    words: str
    notes: tuple[str, ...] = ()


def games_where(run: Run, games: Games, text: str) -> ChosenGames:
    """The games of a run that meet a condition on their fields.

    Fields: date, year, white, black, player (either side), result, event, site, round, category, source, file. It
    raises ConfigError where the condition is malformed or has another field, LookupFailed where no game meets it.
    """
    return _games_that_meet(run, games, parse_condition(text, _EXAMPLE), text.strip())


def games_of_source(run: Run, games: Games, source: str) -> ChosenGames:
    """The games of a source. Raises LookupFailed if there are none."""
    if not games.source.codes.any():
        raise LookupFailed(
            "its games have no sources", where=run.name, hint="data.source at the fit: a column, or file"
        )
    words = f"source = '{source}'"
    return _games_that_meet(run, games, FieldComparison("source", "=", (source,)), words)


def _games_that_meet(run: Run, games: Games, condition: Condition, words: str) -> ChosenGames:
    """The games that meet a condition, which is written as `words`. Raises ConfigError, LookupFailed."""
    columns = _field_columns(games)
    fields = [*columns, PLAYER]
    for comparison in comparisons(condition):
        if comparison.field not in fields:
            hint = suggested(comparison.field, fields, f"fields are {', '.join(sorted(fields))}")
            raise ConfigError(f"--where: games have no field {comparison.field!r}", hint=hint)
    rows = np.flatnonzero(_truths(condition, columns) == TRUE)
    if not len(rows):
        unknown_value = next(_unknown_values(condition, columns), None)
        raise LookupFailed(f"no game of {run.name} meets the condition {words}", hint=unknown_value)
    return ChosenGames(rows, words)


def _field_columns(games: Games) -> dict[str, CodedColumn[str]]:
    """The fields of games as texts, empty where nothing is known."""
    files = tuple(file.path for file in games.report.files) or ("",)
    years, year_codes = np.unique(years_of(games.date), return_inverse=True)
    return {
        "date": date_texts(games),
        "year": CodedColumn(year_codes, tuple(f"{year:04d}" for year in years.tolist())),
        "white": CodedColumn(games.white, games.players),
        "black": CodedColumn(games.black, games.players),
        "result": CodedColumn(games.outcome, RESULTS),
        "event": games.event,
        "site": games.site,
        "round": games.round,
        "category": games.category,
        "source": games.source,
        "file": CodedColumn(games.source_file, files),
    }


def date_texts(games: Games) -> CodedColumn[str]:
    """Dates as they were known: 1851, 1851-05, 1851-05-27."""
    keys = games.date.astype(np.int64) * len(_DATE_LENGTHS) + games.date_precision
    distinct, codes = np.unique(keys, return_inverse=True)
    days = (distinct // len(_DATE_LENGTHS)).astype("datetime64[D]").astype(str).tolist()
    precisions = (distinct % len(_DATE_LENGTHS)).tolist()
    texts = [day[: _DATE_LENGTHS[precision]] for day, precision in zip(days, precisions, strict=True)]
    return CodedColumn(codes, tuple(texts))


def _truths(condition: Condition, columns: Mapping[str, CodedColumn[str]]) -> Truths:
    """Whether a condition is false, unknown or true of each game (Kleene's logic)."""
    match condition:
        case Not(part):
            return np.asarray(TRUE - _truths(part, columns), np.int8)
        case AllOf(parts):
            return _lowest([_truths(part, columns) for part in parts])
        case AnyOf(parts):
            return _highest([_truths(part, columns) for part in parts])
        case FieldComparison(field, operator) if field == PLAYER:
            sides = [_truths_in(condition, columns[side]) for side in SIDES]
            of_both = operator == "!="  # which says that the player is on neither side
            return _lowest(sides) if of_both else _highest(sides)
        case IsUnknown(field) if field == PLAYER:
            return np.full(len(columns["date"]), FALSE, np.int8)
        case _:
            return _truths_in(condition, columns[condition.field])


def _lowest(truths: Sequence[Truths]) -> Truths:
    return np.asarray(np.min(truths, axis=0), np.int8)


def _highest(truths: Sequence[Truths]) -> Truths:
    return np.asarray(np.max(truths, axis=0), np.int8)


def _truths_in(comparison: FieldComparison | IsUnknown, column: CodedColumn[str]) -> Truths:
    """Whether a comparison is true of each text of a column."""
    of_texts = [_TRUTHS[comparison.holds({comparison.field: text or None})] for text in column.values]
    return np.array(of_texts, np.int8)[column.codes]


def _unknown_values(condition: Condition, columns: Mapping[str, CodedColumn[str]]) -> Iterator[str]:
    """Hints on texts of a condition that no game has."""
    for comparison in comparisons(condition):
        if not isinstance(comparison, FieldComparison) or comparison.operator != "=":
            continue
        names = SIDES if comparison.field == PLAYER else (comparison.field,)
        texts = {text for name in names for text in columns[name].values if text}
        folded = {text.casefold() for text in texts}
        for value in comparison.values:
            if isinstance(value, str) and value.casefold() not in folded:
                yield suggested(value, texts, f"no game has the {comparison.field} {value!r}")


def games_in_file(run: Run, games: Games, path: str) -> ChosenGames:
    """The games of a run that a file of games lists: one for each of its games.

    Games are equal in date (as exact as it is written), players and result, and in the event where the file has it.
    Raises DataError for a file that cannot be read, LookupFailed where the run has none of its games.
    """
    data = DataConfig()
    listed = read_games([path], data)
    united = unite(games, listed, data).columns
    total = len(games)
    is_listed = np.isin(united.date[:total], united.date[total:])
    rows_of_run = np.flatnonzero(is_listed)
    candidates: defaultdict[GameKey, list[int]] = defaultdict(list)
    for row, key in zip(rows_of_run.tolist(), _game_keys(united.take(rows_of_run)), strict=True):
        candidates[key].append(row)
    in_file = united.take(np.arange(total, len(united.date)))
    rows = []
    missing = 0
    for key, event in zip(_game_keys(in_file), in_file.event, strict=True):
        equal_row = _take_equal(candidates[key], event, united.event)
        if equal_row is None:
            missing += 1
        else:
            rows.append(equal_row)
    if not rows:
        raise LookupFailed(
            f"none of the {counted(len(listed), 'game')} of {path} is in {run.name}",
            hint="dates, players, results and events are to be written as `ttt export games` writes them",
        )
    notes = (f"{counted(missing, 'game')} of {path} not found in {run.name}",) if missing else ()
    return ChosenGames(np.array(sorted(rows)), f"the games of {path}", notes)


def _game_keys(columns: GameColumns) -> list[GameKey]:
    """What is compared of each game."""
    fields: Sequence[NDArray[np.integer]] = (
        columns.date, columns.date_precision, columns.white, columns.black, columns.outcome,
    )  # fmt: skip
    return [GameKey(*values) for values in zip(*[field.tolist() for field in fields], strict=True)]


def _take_equal(candidates: list[int], event: str, events: CodedColumn[str]) -> int | None:
    """Take the first candidate of an event, of any if it is empty, out of a list."""
    for index, row in enumerate(candidates):
        if event in ("", events.values[events.codes[row]]):
            return candidates.pop(index)
    return None
