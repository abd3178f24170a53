"""Games added to others: one table of both, the players united as in one reading."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.dictionaries import NameDictionary
from ttt_cli.games.players.aliases import Aliases, read_aliases
from ttt_cli.games.players.unify import identify, spellings
from ttt_cli.games.records import years_of
from ttt_cli.games.table import GAME_COLUMNS, PRECISION_DAY, Games, joined, of_players, picked
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.reasons import DROPPED, DUPLICATE, SAME_PLAYER
from ttt_cli.reading.reports import LINES, FileReport, Problem, ReadReport

Mask = NDArray[np.bool_]
_DEFAULT: Final = DataConfig()


@dataclass(frozen=True)
class Extended:
    """`games` are all games, `added` those that came in addition, with their own report and the players of both.

    `repeats` counts added records that seem to tell a game that was there, `repeats_dropped` is whether they were left
    out. `aliases_changed`: the alias file has another content than before; names that it united then stay united.
    """

    games: Games
    added: Games
    repeats: int
    repeats_dropped: bool
    aliases_changed: bool = False


def extend_games(old: Games, new: Games, data: DataConfig = _DEFAULT) -> Extended:
    """All games of two tables, sorted as if they had been read one after the other; files and problems of both.

    Names of either table are united by `data.names` and `data.aliases`; what then is a game of a player against himself
    is dropped. New records repeat old ones if day, players, colours, result and weight are the same; with
    `data.filter.dedupe` they are dropped. Raises DataError when the alias file cannot be used.
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
    """Names that a reading has already cleaned and found to be somebody's."""

    def _take(self, values: Sequence[str]) -> None:
        self.cleaned += values
        self.reject_code.frombytes(bytes(len(values)))


def _united(old: Games, new: Games, data: DataConfig) -> tuple[Games, Games]:
    """Both tables with the same players, none of them playing against himself."""
    dictionary = _Names()
    numbers = [dictionary.ids(games.players) for games in (old, new)]
    white, black = (
        np.concatenate([numbers[0][getattr(old, side)], numbers[1][getattr(new, side)]])
        for side in ("white", "black")
    )
    aliases = Aliases() if data.aliases is None else read_aliases(data.aliases)
    years = years_of(np.concatenate([old.date, new.date]))
    who = identify(dictionary, (white, black), data.names, aliases, years=years)
    alone = who.white == who.black
    renamed = spellings(dictionary.values, (white, black), who)
    now = {before: player for player, before in renamed}
    parts = []
    for games, part in ((old, slice(0, len(old))), (new, slice(len(old), None))):
        same = alone[part]
        kept = _without(games, same, SAME_PLAYER)
        known = ((now.get(player, player), spelling) for player, spelling in games.spellings)
        parts.append(
            replace(
                kept,
                white=who.white[part][~same],
                black=who.black[part][~same],
                players=who.players,
                spellings=tuple(pair for pair in (*known, *renamed) if pair[0] != pair[1]),
            )
        )
    return parts[0], parts[1]


def _repeats(old: Games, new: Games) -> Mask:
    """Which new games repeat old ones: of equal ones as many as there are old."""
    names = ("date", "white", "black", "outcome", "weight")
    rows = np.flatnonzero((new.date_precision == PRECISION_DAY) & _alone_in_line(new))
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


def _alone_in_line(games: Games) -> Mask:
    """Which games are all that their record tells: those of a match given by its score are several."""
    _, record, count = np.unique(_record(games), return_inverse=True, return_counts=True)
    return np.asarray(count[record] == 1, np.bool_)


def _record(games: Games) -> NDArray[np.int64]:
    """A number for the record of each game."""
    lines = games.source_line
    if lines.max(initial=0) > LINES:
        lines = np.unique(lines, return_inverse=True)[1]
    return games.source_file * np.int64(lines.max(initial=0) + 1) + lines


def _without(games: Games, rows: Mask, reason: str) -> Games:
    """The games but for some, whole records, which are counted as dropped."""
    if not rows.any():
        return games
    problems = games.report.problems
    if reason == SAME_PLAYER:
        problems = (*problems, *_against_himself(games, rows))
    report = replace(games.report, files=_counted(games, rows, reason, "dropped"), problems=problems)
    columns: dict[str, Any] = {name: getattr(games, name)[~rows] for name in GAME_COLUMNS}
    columns |= {name: picked(getattr(games, name), ~rows) for name in TEXT_COLUMNS}
    return replace(games, **columns, report=report)


def _counted(games: Games, rows: Mask, what: str, key: str) -> tuple[FileReport, ...]:
    """The reports of all files, with the records that some games are counted as `dropped` or as `noticed`."""
    _, first = np.unique(_record(games)[rows], return_index=True)
    counts = np.bincount(games.source_file[rows][first], minlength=len(games.report.files)).tolist()
    files = []
    for file, count in zip(games.report.files, counts, strict=False):
        known: dict[str, int] = getattr(file, key)
        more: dict[str, Any] = {key: {**known, what: known.get(what, 0) + count}} if count else {}
        files.append(replace(file, used=file.used - count * (key == "dropped"), **more))
    return tuple(files)


def _against_himself(games: Games, rows: Mask) -> list[Problem]:
    places = zip(games.source_file[rows].tolist(), games.source_line[rows].tolist(), strict=True)
    found = dict(zip(places, games.white[rows].tolist(), strict=True))
    return [
        Problem(games.report.files[file].path, line, SAME_PLAYER, games.players[player], DROPPED)
        for (file, line), player in found.items()
        if file < len(games.report.files)
    ]


def _joined(old: Games, new: Games) -> Games:
    """The games of two tables with the same players, by date, then those of the first before those of the second."""
    files: tuple[FileReport, ...] = (*old.report.files, *new.report.files)
    order = np.argsort(np.concatenate([old.date, new.date]), kind="stable")
    new = replace(new, source_file=new.source_file + np.int32(len(old.report.files)))
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(old, name), getattr(new, name)])[order] for name in GAME_COLUMNS
    }
    columns |= {name: picked(joined(getattr(old, name), getattr(new, name)), order) for name in TEXT_COLUMNS}
    present = np.unique(np.concatenate([columns["white"], columns["black"]]))
    for side in ("white", "black"):
        columns[side] = np.searchsorted(present, columns[side])
    players = tuple(old.players[player] for player in present.tolist())
    return Games(
        **columns,
        players=players,
        spellings=of_players((*old.spellings, *new.spellings), players),
        report=ReadReport(
            files, (*old.report.problems, *new.report.problems), new.report.aliases or old.report.aliases
        ),
    )
