"""Games of a run that a condition or a file of games names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.game_fields import check_fields, columns_of, field_columns, rows_that_meet
from ttt_cli.games.table import GameColumns, Games
from ttt_cli.games.where import Condition, FieldComparison, comparisons, parse_condition
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import LookupFailed, suggested
from ttt_cli.views.rows import counted

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
            "its games have no sources",
            where=run.name,
            hint="data.source at the fit: a column, or file",
        )
    words = f"source = '{source}'"
    return _games_that_meet(run, games, FieldComparison("source", "=", (source,)), words)


def _games_that_meet(run: Run, games: Games, condition: Condition, words: str) -> ChosenGames:
    """The games that meet a condition, which is written as `words`. Raises ConfigError, LookupFailed."""
    check_fields(condition)
    columns = field_columns(games, condition)
    rows = rows_that_meet(condition, columns)
    if not len(rows):
        unknown_value = next(_unknown_values(condition, columns), None)
        raise LookupFailed(f"no game of {run.name} meets the condition {words}", hint=unknown_value)
    return ChosenGames(rows, words)


def _unknown_values(condition: Condition, columns: Mapping[str, CodedColumn[str]]) -> Iterator[str]:
    """Hints on texts of a condition that no game has."""
    for comparison in comparisons(condition):
        if not isinstance(comparison, FieldComparison) or comparison.operator != "=":
            continue
        of_field = columns_of(comparison.field, columns)
        texts = {text for column in of_field for text in column.values if text}
        folded = {text.casefold() for text in texts}
        for value in comparison.values:
            if not isinstance(value, str) or value.casefold() in folded:
                continue
            name, _, year = value.rpartition(" ")  # titles of events end with the year
            if year.isdecimal() and name.casefold() in folded:
                yield f"the year is a field of its own: {comparison.field} = {name!r} and year = {year}"
            else:
                yield suggested(value, texts, f"no game has the {comparison.field} {value!r}")


def games_in_file(run: Run, games: Games, path: str) -> ChosenGames:
    """The games of a run that a file of games lists: one for each of its games.

    Games are equal in date (as exact as it is written), players and result, and in the event where the file has it.
    Raises DataError for a file that cannot be read, LookupFailed where the run has none of its games.
    """
    from ttt_cli.config.schema import DataConfig
    from ttt_cli.games.extend import unite
    from ttt_cli.games.read import read_games

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


def with_whole_races(games: Games, chosen: ChosenGames) -> ChosenGames:
    """The games with all others of the orders of finish that they are a part of."""
    races = np.unique(games.race[chosen.rows])
    is_added = np.isin(games.race, races[races > 0])
    is_added[chosen.rows] = False
    if not is_added.any():
        return chosen
    rows = np.sort(np.append(chosen.rows, np.flatnonzero(is_added)))
    return chosen._replace(rows=rows, notes=(*chosen.notes, "orders of finish are left out whole"))


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
