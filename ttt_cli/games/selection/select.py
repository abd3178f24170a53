"""Which records are wanted: the filters of a config, one after the other, each counted as a reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Mask
from ttt_cli.config.schema import DataConfig
from ttt_cli.config.selection import year_range
from ttt_cli.games.players.not_one_person import teams_and_engines
from ttt_cli.games.records import Records
from ttt_cli.games.selection.duplicates import find_duplicates
from ttt_cli.games.selection.groups import label_groups
from ttt_cli.games.selection.match import in_set, matching_players, of_events
from ttt_cli.reading.batches import (
    DUPLICATE,
    ENGINE,
    EXCLUDED_EVENT,
    FEW_GAMES,
    OTHER_EVENT,
    OTHER_GROUP,
    OTHER_PLAYERS,
    OTHER_YEARS,
    REJECT_CODE,
    TEAM,
)

NOTICED: Final = DUPLICATE, TEAM, ENGINE  # what is said of records that are used all the same


@dataclass(frozen=True)
class Selected:
    """`reject_code` as in Records, after all filters; `noticed` marks records used all the same, by what they are."""

    reject_code: NDArray[np.int8]
    noticed: dict[str, Mask]


class People(NamedTuple):
    """Which players, shape (players,), are teams or engines, and whom a filter names."""

    teams: Mask
    engines: Mask
    listed: Mask

    @classmethod
    def of(cls, players: Sequence[str], data: DataConfig) -> Self:
        """Told by the names of all players. Raises ConfigError when a player of the filter does not exist."""
        teams, engines = (np.array(found, np.bool_) for found in teams_and_engines(players))
        wanted = data.filter.players
        return cls(teams, engines, matching_players(players, wanted) if wanted else np.zeros_like(teams))


def select(records: Records, data: DataConfig, people: People | None = None) -> Selected:
    """Apply what `data` says of teams, engines, duplicates and its filter, in the order of DROP_REASONS.

    `people` are those of the records' players. Raises ConfigError when a player of the filter does not exist.
    """
    return _Selection(records, data, people or People.of(records.players, data)).selected()


class _Selection:
    def __init__(self, records: Records, data: DataConfig, people: People) -> None:
        self._records, self._data, self._people = records, data, people
        self._fault = records.reject_code.copy()

    def selected(self) -> Selected:
        teams, engines, _ = self._people
        self._drop_people(teams, engines)
        self._drop_by_filter(teams)
        duplicate = np.zeros(len(self._fault), np.bool_)
        duplicate[find_duplicates(self._records, self._fault == 0).row] = True
        if self._data.filter.dedupe:
            self._drop(DUPLICATE, duplicate)
        self._drop_until_stable(self._data.filter.min_games)
        if self._data.filter.largest_group:
            self._drop_other_groups()
        used = self._fault == 0
        noticed = {DUPLICATE: duplicate}
        if self._records.report.chess:
            noticed |= {TEAM: self._either(teams), ENGINE: self._either(engines)}
        return Selected(self._fault, {what: rows & used for what, rows in noticed.items() if rows.any()})

    def _drop(self, reason: str, rows: Mask) -> None:
        self._fault[(self._fault == 0) & rows] = REJECT_CODE[reason]

    def _either(self, players: Mask) -> Mask:
        """Records of one of the players; those without players do not matter."""
        if not players.any():
            return np.zeros(len(self._fault), np.bool_)
        either: Mask = players[self._records.white] | players[self._records.black]
        return either

    def _drop_people(self, teams: Mask, engines: Mask) -> None:
        if "teams" in self._data.drop:
            self._drop(TEAM, self._either(teams))
        if "engines" in self._data.drop:
            self._drop(ENGINE, self._either(engines))

    def _drop_by_filter(self, teams: Mask) -> None:
        records, wanted = self._records, self._data.filter
        if wanted.years is not None:
            first, last = year_range(wanted.years)
            self._drop(OTHER_YEARS, (records.year < first) | (records.year > last))
        if wanted.players:
            listed = self._people.listed
            white, black = listed[records.white], listed[records.black]
            self._drop(OTHER_PLAYERS, ~(white & black if wanted.among else white | black))
        if wanted.events:
            self._drop(OTHER_EVENT, ~of_events(records, wanted.events))
        if wanted.exclude_events:
            self._drop(EXCLUDED_EVENT, of_events(records, wanted.exclude_events))
        for name in wanted.exclude:
            rows = in_set(records, name)
            self._drop(name, rows | self._either(teams) if name == "consultation" else rows)

    def _drop_until_stable(self, least: int) -> None:
        """Leave out players with fewer games, and their opponents' games against them, until all have as many."""
        records = self._records
        count = records.tally.sum(axis=1)[records.result.codes] if least > 1 else np.zeros(0)
        while least > 1:
            rows = np.flatnonzero(self._fault == 0)
            ends = np.concatenate([records.white[rows], records.black[rows]])
            played = np.bincount(ends, np.tile(count[rows], 2), minlength=len(records.players))
            few = played < least
            dropped = rows[few[records.white[rows]] | few[records.black[rows]]]
            if not len(dropped):
                return
            self._fault[dropped] = REJECT_CODE[FEW_GAMES]

    def _drop_other_groups(self) -> None:
        records = self._records
        rows = np.flatnonzero(self._fault == 0)
        white, black = (side[rows].astype(np.int32) for side in (records.white, records.black))
        label = label_groups(white, black, len(records.players))
        self._fault[rows[label[white] > 0]] = REJECT_CODE[OTHER_GROUP]
