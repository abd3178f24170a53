"""Games in groups: each game alone, or by opponent, event, year or source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.lineup import further_members
from ttt_cli.games.table import Games
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import ConfigError

_EPOCH: Final = 1970
_YEARS: Final = 10_000  # years are numbers below it


class GameGroups(NamedTuple):
    """Groups of games. A game is in no group or one, but in those of all opponents that a team has.

    | name | shape | |
    |---|---|---|
    | row | (entries,) | the row of a game |
    | group | (entries,) | the group that this game is in |
    | names | (groups,) | of the groups; none where each game is one |
    """

    row: Places
    group: NDArray[np.integer]
    names: Sequence[str] = ()

    def rows_of(self, group: int) -> Places:
        """The games of a group."""
        rows: Places = self.row[self.group == group]
        return rows


def single_games(games: Games) -> GameGroups:
    """Each game alone."""
    rows = np.arange(len(games))
    return GameGroups(rows, rows)


def by_opponent(games: Games, player: str) -> GameGroups:
    """The games of a player by those who were on the other side."""
    further = further_members(games)
    rows = np.arange(len(games))
    # of all members of sides, White's first, then Black's, then those of teams beyond the first
    row = np.concatenate([rows, rows, further.game])
    is_black = np.concatenate([np.repeat([False, True], len(games)), further.is_black])
    member = np.concatenate([games.white, games.black, further.player])
    own = np.flatnonzero(member == games.players.index(player))
    plays = np.zeros(len(games), np.bool_)
    plays_black = np.zeros(len(games), np.bool_)
    plays[row[own]] = True
    plays_black[row[own]] = is_black[own]
    is_opponent = plays[row] & (is_black != plays_black[row])
    entries = np.flatnonzero(is_opponent)
    entries = entries[np.argsort(row[entries], kind="stable")]
    return GameGroups(row[entries], member[entries], games.players)


def by_event(games: Games) -> GameGroups:
    """Games with an event, by it and the year."""
    rows = _rows_with_text(games.event)
    event_and_year = games.event.codes[rows].astype(np.int64) * _YEARS + _years(games)[rows]
    distinct, group = np.unique(event_and_year, return_inverse=True)
    event, year = np.divmod(distinct, _YEARS)
    names = [
        f"{games.event.values[code]} ({number})"
        for code, number in zip(event.tolist(), year.tolist(), strict=True)
    ]
    return GameGroups(rows, group, names)


def by_year(games: Games) -> GameGroups:
    """All games by year."""
    years, group = np.unique(_years(games), return_inverse=True)
    return GameGroups(np.arange(len(games)), group, [f"{year:04d}" for year in years.tolist()])


def by_source(games: Games) -> GameGroups:
    """Games with a source, by it. Raises ConfigError where none has one."""
    rows = _rows_with_text(games.source)
    if not len(rows):
        raise ConfigError(
            "its games have no sources", hint="data.source at the fit: a column, or file"
        )
    return GameGroups(rows, games.source.codes[rows], games.source.values)


# Of the games of everybody; those by opponent are a player's
GROUPINGS: Final[dict[str, Callable[[Games], GameGroups]]] = {
    "game": single_games,
    "event": by_event,
    "year": by_year,
    "source": by_source,
}


def _rows_with_text(column: CodedColumn[str]) -> Places:
    """The rows with a text that is not empty."""
    is_text = np.array([text != "" for text in column.values], np.bool_)
    return np.flatnonzero(is_text[column.codes])


def _years(games: Games) -> Places:
    """The calendar year of each game."""
    since_epoch = games.date.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64)
    years: Places = since_epoch + _EPOCH
    return years
