"""Add games to others: one table of both, with players united as in one reading."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.aliases import Aliases, read_aliases
from ttt_cli.games.dictionaries import NameDictionary
from ttt_cli.games.records import table_of, years_of
from ttt_cli.games.table import GAME_COLUMNS, PRECISION_DAY, Games, joined, picked
from ttt_cli.games.unify import find_mentions, identify, spellings
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.reports import DROPPED, DUPLICATE, LINES, SAME_PLAYER, FileReport, Problem, ReadReport
from ttt_cli.support.arrays import Mask, Places

_DEFAULT: Final = DataConfig()


@dataclass(frozen=True)
class Extended:
    """All games, and the `added` ones with their own report and the players of both.

    `repeats` counts added records that seem to repeat an earlier game, `repeats_dropped` is whether they were left
    out. With `aliases_changed` the alias file differs from that of the earlier reading; names united then stay
    united.
    """

    games: Games
    added: Games
    repeats: int
    repeats_dropped: bool
    aliases_changed: bool = False


def extend_games(old: Games, new: Games, data: DataConfig = _DEFAULT) -> Extended:
    """Join two tables of games, sorted as if read one after the other, with files and problems of both.

    Names are united by `data.names` and `data.aliases`; games of a player against himself are dropped. New records
    repeat old ones if day, players, colours, result and weight are equal; `data.filter.dedupe` drops them. Raises
    DataError when the alias file cannot be used.
    """
    before, now = old.report.aliases, new.report.aliases
    changed = bool(before and now and before.path == now.path and before.digest != now.digest)
    old, new = _united(old, new, data)
    repeated = _repeats(old, new)
    repeats = len(np.unique(_record(new)[repeated]))
    if data.filter.dedupe:
        new = _without(new, repeated, DUPLICATE)
    else:
        new = replace(new, report=replace(new.report, files=_counted(new, repeated, DUPLICATE, "noticed")))
    return Extended(_joined(old, new), new, repeats, data.filter.dedupe, changed)


class _Names(NameDictionary):
    """Names that were cleaned and checked in an earlier reading."""

    def _take(self, values: Sequence[str]) -> None:
        self.cleaned += values
        self.reject_code.frombytes(bytes(len(values)))


def _united(old: Games, new: Games, data: DataConfig) -> tuple[Games, Games]:
    """Both tables with the same players, without games of a player against himself."""
    dictionary = _Names()
    numbers = [dictionary.ids(games.players) for games in (old, new)]
    white, black = (
        np.concatenate([numbers[0][getattr(old, side)], numbers[1][getattr(new, side)]])
        for side in ("white", "black")
    )
    aliases = Aliases() if data.aliases is None else read_aliases(data.aliases)
    years = years_of(np.concatenate([old.date, new.date])) if aliases.by_years else None
    mentions, sides = find_mentions((white, black), len(dictionary.values), years=years)
    who = identify(dictionary, mentions, data.names, aliases)
    white, black = (who.player[side] for side in sides)
    alone = white == black
    renamed = spellings(dictionary.values, mentions, who)
    now = {before: player for player, before in renamed}
    parts = []
    for games, part in ((old, slice(0, len(old))), (new, slice(len(old), None))):
        same = alone[part]
        kept = _without(games, same, SAME_PLAYER)
        known = ((now.get(player, player), spelling) for player, spelling in games.spellings)
        parts.append(
            replace(
                kept,
                white=white[part][~same],
                black=black[part][~same],
                players=who.players,
                spellings=tuple(pair for pair in (*known, *renamed) if pair[0] != pair[1]),
            )
        )
    return parts[0], parts[1]


def _repeats(old: Games, new: Games) -> Mask:
    """Mask of new games that repeat old ones; of equal games as many as there are old."""
    names = ("date", "white", "black", "outcome", "weight")
    _, record, count = np.unique(_record(new), return_inverse=True, return_counts=True)
    rows = np.flatnonzero((new.date_precision == PRECISION_DAY) & (count[record] == 1))  # not of a match
    exact = (old.date_precision == PRECISION_DAY) & np.isin(old.date, new.date[rows])
    columns = [np.concatenate([getattr(old, name)[exact], getattr(new, name)[rows]]) for name in names]
    order = np.lexsort(columns[::-1])  # the old ones of equal ones first: the sort is stable
    first = np.ones(len(order), np.bool_)
    first[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    group = np.cumsum(first) - 1
    is_new = order >= np.count_nonzero(exact)
    known = np.bincount(group, ~is_new)
    place = np.arange(len(order)) - np.flatnonzero(first)[group]
    repeated = np.zeros(len(new), np.bool_)
    again = is_new & (place < 2 * known[group])
    repeated[rows[order[again] - np.count_nonzero(exact)]] = True
    return repeated


def _record(games: Games) -> Places:
    """A number for the record of each game."""
    lines = games.source_line
    if lines.max(initial=0) > LINES:
        lines = np.unique(lines, return_inverse=True)[1]
    return games.source_file * np.int64(lines.max(initial=0) + 1) + lines


def _without(games: Games, rows: Mask, reason: str) -> Games:
    """The games without some rows, which are counted as dropped records."""
    if not rows.any():
        return games
    problems = games.report.problems
    if reason == SAME_PLAYER:
        places = zip(games.source_file[rows].tolist(), games.source_line[rows].tolist(), strict=True)
        found = dict(zip(places, games.white[rows].tolist(), strict=True))
        problems += tuple(
            Problem(games.report.files[file].path, line, SAME_PLAYER, games.players[player], DROPPED)
            for (file, line), player in found.items()
            if file < len(games.report.files)
        )
    report = replace(games.report, files=_counted(games, rows, reason, "dropped"), problems=problems)
    columns: dict[str, Any] = {name: getattr(games, name)[~rows] for name in GAME_COLUMNS}
    columns |= {name: picked(getattr(games, name), ~rows) for name in TEXT_COLUMNS}
    return replace(games, **columns, report=report)


def _counted(games: Games, rows: Mask, what: str, key: str) -> tuple[FileReport, ...]:
    """The reports of all files, with records of some games added to `dropped` or `noticed`."""
    _, first = np.unique(_record(games)[rows], return_index=True)
    counts = np.bincount(games.source_file[rows][first], minlength=len(games.report.files)).tolist()
    files = []
    for file, count in zip(games.report.files, counts, strict=False):
        known: dict[str, int] = getattr(file, key)
        more: dict[str, Any] = {key: {**known, what: known.get(what, 0) + count}} if count else {}
        files.append(replace(file, used=file.used - count * (key == "dropped"), **more))
    return tuple(files)


def _joined(old: Games, new: Games) -> Games:
    """The games of two tables with the same players, by date; at equal dates the first table's come first."""
    files: tuple[FileReport, ...] = (*old.report.files, *new.report.files)
    order = np.argsort(np.concatenate([old.date, new.date]), kind="stable")
    new = replace(new, source_file=new.source_file + np.int32(len(old.report.files)))
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(old, name), getattr(new, name)])[order] for name in GAME_COLUMNS
    }
    columns |= {name: picked(joined(getattr(old, name), getattr(new, name)), order) for name in TEXT_COLUMNS}
    report = ReadReport(
        files, (*old.report.problems, *new.report.problems), new.report.aliases or old.report.aliases
    )
    return table_of(columns, old.players, report, (*old.spellings, *new.spellings))
