"""Which records are wanted: the filters of a config, one after the other, each counted as a reason.

They name events by what stands in a record, and players by any spelling.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Mask
from ttt_cli.config.schema import DataConfig, pattern_of, year_range
from ttt_cli.errors import ConfigError, suggested
from ttt_cli.folding import fold, fold_surname
from ttt_cli.games.players.names import clean_name, comma_keys, name_key
from ttt_cli.games.players.not_one_person import teams_and_engines
from ttt_cli.games.records import Records
from ttt_cli.games.selection.duplicates import find_duplicates
from ttt_cli.games.selection.event_sets import control_is, names_set, variant_is
from ttt_cli.games.selection.groups import label_groups
from ttt_cli.games.weights import is_even
from ttt_cli.reading import reasons
from ttt_cli.reading.column import Column

# What is said of records that are used all the same.
NOTICED: Final = reasons.DUPLICATE, reasons.TEAM, reasons.ENGINE


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
        self._reject_code = records.reject_code.copy()

    def selected(self) -> Selected:
        teams, engines, _ = self._people
        for what, reason, players in (("teams", reasons.TEAM, teams), ("engines", reasons.ENGINE, engines)):
            if what in self._data.drop:
                self._drop(reason, self._either(players))
        self._drop_by_filter(teams)
        duplicate = np.zeros(len(self._reject_code), np.bool_)
        duplicate[find_duplicates(self._records, self._reject_code == 0).row] = True
        if self._data.filter.dedupe:
            self._drop(reasons.DUPLICATE, duplicate)
        self._drop_until_stable(self._data.filter.min_games)
        if self._data.filter.largest_group:
            self._drop_other_groups()
        used = self._reject_code == 0
        noticed = {reasons.DUPLICATE: duplicate}
        if self._records.report.chess:
            noticed |= {reasons.TEAM: self._either(teams), reasons.ENGINE: self._either(engines)}
        return Selected(
            self._reject_code, {what: rows & used for what, rows in noticed.items() if rows.any()}
        )

    def _drop(self, reason: str, rows: Mask) -> None:
        self._reject_code[(self._reject_code == 0) & rows] = reasons.REJECT_CODE[reason]

    def _either(self, players: Mask) -> Mask:
        """Records of one of the players; those without players do not matter."""
        if not players.any():
            return np.zeros(len(self._reject_code), np.bool_)
        either: Mask = players[self._records.white] | players[self._records.black]
        return either

    def _drop_by_filter(self, teams: Mask) -> None:
        records, wanted = self._records, self._data.filter
        if wanted.years is not None:
            first, last = year_range(wanted.years)
            self._drop(reasons.OTHER_YEARS, (records.year < first) | (records.year > last))
        if wanted.players:
            listed = self._people.listed
            white, black = listed[records.white], listed[records.black]
            self._drop(reasons.OTHER_PLAYERS, ~(white & black if wanted.among else white | black))
        if wanted.events:
            self._drop(reasons.OTHER_EVENT, ~of_events(records, wanted.events))
        if wanted.exclude_events:
            self._drop(reasons.EXCLUDED_EVENT, of_events(records, wanted.exclude_events))
        for name in wanted.exclude:
            rows = in_set(records, name)
            self._drop(name, rows | self._either(teams) if name == "consultation" else rows)

    def _drop_until_stable(self, least: int) -> None:
        """Leave out players with fewer games, and their opponents' games against them, until all have as many."""
        records = self._records
        count = records.tally.sum(axis=1)[records.result.codes] if least > 1 else np.zeros(0)
        while least > 1:
            rows = np.flatnonzero(self._reject_code == 0)
            ends = np.concatenate([records.white[rows], records.black[rows]])
            played = np.bincount(ends, np.tile(count[rows], 2), minlength=len(records.players))
            few = played < least
            dropped = rows[few[records.white[rows]] | few[records.black[rows]]]
            if not len(dropped):
                return
            self._reject_code[dropped] = reasons.REJECT_CODE[reasons.FEW_GAMES]

    def _drop_other_groups(self) -> None:
        records = self._records
        rows = np.flatnonzero(self._reject_code == 0)
        white, black = (side[rows].astype(np.int32) for side in (records.white, records.black))
        label = label_groups(white, black, len(records.players))
        self._reject_code[rows[label[white] > 0]] = reasons.REJECT_CODE[reasons.OTHER_GROUP]


def of_events(records: Records, texts: Sequence[str]) -> Mask:
    """Records whose event or site holds one of the texts: words, whatever their case and accents, or /patterns/."""
    rows = np.zeros(len(records), np.bool_)
    for text in texts:
        rows |= _where((records.event, records.site), _matcher(text))
    return rows


def in_set(records: Records, name: str) -> Mask:
    """Records of a ready-made set of events, by texts of the event, variant, time control, and the odds of tables."""
    rows = _where((records.event, records.site, records.round), lambda value: names_set(fold(value), name))
    rows |= _where((records.variant,), lambda value: variant_is(fold(value), name))
    rows |= _where((records.time_control,), lambda value: control_is(value, name))
    if name == "odds":
        rows |= _where((records.odds,), lambda value: not is_even(value))
    return rows


def _matcher(text: str) -> Callable[[str], bool]:
    pattern = pattern_of(text)
    if pattern is not None:
        return lambda value: pattern.search(value) is not None
    words = f" {fold(text)} "
    return lambda value: words in f" {fold(value)} "


def _where(columns: Sequence[Column[str]], holds: Callable[[str], bool]) -> Mask:
    """Records of which one of the columns holds a text such that; each distinct text is looked at once."""
    rows = np.zeros(len(columns[0]), np.bool_)
    for column in columns:
        hit = np.array([bool(value) and holds(value) for value in column.values], np.bool_)
        if hit.any():
            rows |= hit[column.codes]
    return rows


def matching_players(players: Sequence[str], texts: Sequence[str]) -> Mask:
    """Which players are meant, shape (players,).

    A text is a name in any of its spellings (`First Last` too), a surname, which means all who have it, or a /pattern/.
    Raises ConfigError when it means nobody.
    """
    keys: dict[str, list[int]] = {}
    for number, player in enumerate(players):
        for key in {name_key(player), fold_surname(player)}:
            keys.setdefault(key, []).append(number)
    chosen = np.zeros(len(players), np.bool_)
    for text in texts:
        found = _find(players, keys, text)
        if not found:
            hint = suggested(text, players, "names are those that `ttt games` shows")
            raise ConfigError(f"there is no player {text!r}", where="data.filter.players", hint=hint)
        chosen[found] = True
    return chosen


def _find(players: Sequence[str], keys: dict[str, list[int]], text: str) -> list[int]:
    pattern = pattern_of(text)
    if pattern is not None:
        return [number for number, player in enumerate(players) if pattern.search(player)]
    key = name_key(clean_name(text))
    if key in keys:
        return keys[key]
    return [number for other in comma_keys(key) for number in keys.get(other, ())]
