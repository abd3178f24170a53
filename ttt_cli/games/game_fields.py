"""Fields of games in conditions, and the games that meet one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.lineup import further_members
from ttt_cli.games.table import Games, years_of
from ttt_cli.games.where import (
    AllOf,
    AnyOf,
    Condition,
    FieldComparison,
    IsUnknown,
    Not,
    comparisons,
)
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import ConfigError, suggested

Truths = NDArray[np.int8]
Fields = Mapping[str, CodedColumn[str]]

PLAYER: Final = "player"  # either side
SIDES: Final = ("white", "black")
FALSE: Final = 0
UNKNOWN: Final = 1
TRUE: Final = 2
RESULTS: Final = ("0-1", "1/2-1/2", "1-0")  # by outcome for White
FIELDS: Final = (
    "date", "year", "white", "black", PLAYER, "result", "event", "site", "round", "category", "source", "file",
)  # fmt: skip
_TRUTHS: Final = {False: FALSE, None: UNKNOWN, True: TRUE}
ALL: Final = slice(None)
_DATE_LENGTHS: Final = (4, 7, 10)  # of a year, a month and a day


def check_fields(condition: Condition) -> None:
    """Raise ConfigError for a condition on what games do not have."""
    for comparison in comparisons(condition):
        if comparison.field not in FIELDS:
            hint = suggested(comparison.field, FIELDS, f"fields are {', '.join(FIELDS)}")
            raise ConfigError(f"--where: games have no field {comparison.field!r}", hint=hint)


def field_columns(games: Games, condition: Condition) -> dict[str, CodedColumn[str]]:
    """The fields of games that a condition compares, as texts, empty where nothing is known.

    For `player` there are `white` and `black`. `white 2`, `white 3` and so on are further members of teams, and the
    first one where there are fewer.
    """
    names = {comparison.field for comparison in comparisons(condition)}
    if PLAYER in names:
        names.update(SIDES)
    columns = {name: make(games) for name, make in _COLUMNS.items() if name in names}
    if not names.isdisjoint(SIDES):
        columns |= _further_members(games)
    return columns


def _years(games: Games) -> CodedColumn[str]:
    years, codes = np.unique(years_of(games.date), return_inverse=True)
    return CodedColumn(codes, tuple(f"{year:04d}" for year in years.tolist()))


def _files(games: Games) -> CodedColumn[str]:
    files = tuple(file.path for file in games.report.files) or ("",)
    return CodedColumn(games.source_file, files)


def _further_members(games: Games) -> dict[str, CodedColumn[str]]:
    """Columns of members of teams beyond the first."""
    further = further_members(games)
    columns = {}
    for side, first in zip(SIDES, (games.white, games.black), strict=True):
        on_side = further.is_black == (side != SIDES[0])
        game = further.game[on_side]
        player = further.player[on_side]
        number = np.arange(len(game)) - np.searchsorted(game, game)  # of the member of the game
        for member in range(number.max(initial=-1) + 1):
            codes = first.copy()
            codes[game[number == member]] = player[number == member]
            columns[f"{side} {member + 2}"] = CodedColumn(codes, games.players)
    return columns


def columns_of(field: str, columns: Fields) -> list[CodedColumn[str]]:
    """The columns of a field: of `player`, `white` and `black` those of all members of a side."""
    fields = SIDES if field == PLAYER else (field,)
    return [column for name, column in columns.items() if name.partition(" ")[0] in fields]


def date_texts(games: Games, rows: slice = ALL) -> CodedColumn[str]:
    """Dates of some of the games as they were known: 1851, 1851-05, 1851-05-27."""
    keys = games.date[rows].astype(np.int64) * len(_DATE_LENGTHS) + games.date_precision[rows]
    distinct, codes = np.unique(keys, return_inverse=True)
    days = (distinct // len(_DATE_LENGTHS)).astype("datetime64[D]").astype(str).tolist()
    precisions = (distinct % len(_DATE_LENGTHS)).tolist()
    texts = [
        day[: _DATE_LENGTHS[precision]] for day, precision in zip(days, precisions, strict=True)
    ]
    return CodedColumn(codes, tuple(texts))


_COLUMNS: Final[Mapping[str, Callable[[Games], CodedColumn[str]]]] = {
    "date": date_texts,
    "year": _years,
    "white": lambda games: CodedColumn(games.white, games.players),
    "black": lambda games: CodedColumn(games.black, games.players),
    "result": lambda games: CodedColumn(games.outcome, RESULTS),
    "event": lambda games: games.event,
    "site": lambda games: games.site,
    "round": lambda games: games.round,
    "category": lambda games: games.category,
    "source": lambda games: games.source,
    "file": _files,
}


def rows_that_meet(condition: Condition, columns: Fields) -> Places:
    """The games that meet a condition; `columns` as in `field_columns`."""
    return np.flatnonzero(_truths(condition, columns) == TRUE)


def _truths(condition: Condition, columns: Fields) -> Truths:
    """Whether a condition is false, unknown or true of each game (Kleene's logic)."""
    match condition:
        case Not(part):
            return np.asarray(TRUE - _truths(part, columns), np.int8)
        case AllOf(parts):
            return _lowest([_truths(part, columns) for part in parts])
        case AnyOf(parts):
            return _highest([_truths(part, columns) for part in parts])
        case FieldComparison(field, operator) if field in (PLAYER, *SIDES):
            members = [_truths_in(condition, column) for column in columns_of(field, columns)]
            of_all = operator == "!="  # which says that the player is none of them
            return _lowest(members) if of_all else _highest(members)
        case IsUnknown(field) if field == PLAYER:
            return np.full(len(columns[SIDES[0]]), FALSE, np.int8)
        case _:
            return _truths_in(condition, columns[condition.field])


def _lowest(truths: Sequence[Truths]) -> Truths:
    return np.asarray(np.min(truths, axis=0), np.int8)


def _highest(truths: Sequence[Truths]) -> Truths:
    return np.asarray(np.max(truths, axis=0), np.int8)


def _truths_in(comparison: FieldComparison | IsUnknown, column: CodedColumn[str]) -> Truths:
    """Whether a comparison is true of each text of a column."""
    of_texts = [
        _TRUTHS[comparison.holds({comparison.field: text or None})] for text in column.values
    ]
    return np.array(of_texts, np.int8)[column.codes]
