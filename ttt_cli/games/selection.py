"""Selection: which records become games, by the filters of a config, and what is remarked on those that do."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig, FilterConfig, pattern_of, year_range
from ttt_cli.games.duplicates import find_duplicates
from ttt_cli.games.event_sets import (
    CONSULTATION,
    EXHIBITIONS,
    one_against_many,
    records_by_event_words,
    records_in_set,
    records_of_events,
    variants_but_chess960,
)
from ttt_cli.games.groups import label_groups
from ttt_cli.games.lineup import further_members
from ttt_cli.games.names import clean_name, comma_keys, name_key
from ttt_cli.games.table import Records
from ttt_cli.games.teams_and_engines import may_be_club, teams_and_engines
from ttt_cli.reading import reports as reasons
from ttt_cli.support.arrays import Mask, Places
from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.support.folding import fold_surname

# Remarks on records that are used
NOTICED: Final = (
    reasons.DUPLICATE,
    reasons.TEAM,
    reasons.ENGINE,
)
_FEWEST_OF_CLUB: Final = 20  # records of a club; consultants rarely meet again
_MOSTLY_ENGINES: Final = 0.25  # the share of sides from which on games are of computers


class PlayerClasses(NamedTuple):
    """What the names of players tell, masks of shape (players,), and whether games with engines are left out.

    `teams`: several players; `clubs`: those of them that are clubs where the records are from tables.
    """

    teams: Mask
    clubs: Mask
    engines: Mask
    listed: Mask  # whom a filter lists
    drop_engines: bool
    drop_engines_anywhere: bool  # in other games than chess too


def classify_players(
    players: Sequence[str], data: DataConfig, n_records: Places, n_computers: int
) -> PlayerClasses:
    """Classify players by name. Raises ConfigError for a player of the filter who does not exist.

    `n_records` (players,) are their records, `n_computers` is the number of records with an engine by type or title. By
    default engines are dropped, unless they are a quarter of all sides: then the games are theirs. Engines by name are
    counted by side; a record with an engine by type or title counts as one side, though it may have two.
    """
    teams, engines = np.array(teams_and_engines(players), np.bool_)
    clubs = teams & (n_records >= _FEWEST_OF_CLUB)
    clubs[clubs] = [may_be_club(players[player]) for player in np.flatnonzero(clubs).tolist()]
    texts = data.filter.players
    listed = matching_players(players, texts) if texts else np.zeros_like(teams)
    n_sides_of_engines = max(int(n_records[engines].sum()), n_computers)
    mostly_engines = n_sides_of_engines >= _MOSTLY_ENGINES * int(n_records.sum())
    drop_engines = not mostly_engines if data.drop is None else "engines" in data.drop
    return PlayerClasses(
        teams, clubs, engines, listed, drop_engines, drop_engines_anywhere=data.drop is not None
    )


def filters_need_all_games(data: DataConfig) -> bool:
    """Whether a filter depends on all games, so that these have to be in memory together."""
    return data.filter.min_games > 1 or data.filter.largest_group


class Selected(NamedTuple):
    """What filters leave of records, (records,)."""

    reject_code: NDArray[np.int8]  # 0: used
    noticed: Mapping[str, Mask]  # used records with a remark, by the reasons in NOTICED


class _Kinds(NamedTuple):
    """What records are, masks of shape (records,)."""

    with_team: Mask
    with_engine: Mask
    chess: Mask


class _Drops:
    """Reject codes of records, of which the first one counts."""

    def __init__(self, reject_code: NDArray[np.int8]) -> None:
        self.reject_code = reject_code.copy()

    @property
    def used(self) -> Mask:
        """Records that are not dropped so far."""
        return np.equal(self.reject_code, 0)

    def drop_where(self, reason: str, is_dropped: Mask) -> None:
        """Drop records of a mask that are used so far."""
        self.drop_rows(reason, np.flatnonzero(self.used & is_dropped))

    def drop_rows(self, reason: str, rows: Places) -> None:
        """Drop records, all of which are used so far."""
        self.reject_code[rows] = reasons.REJECT_CODE[reason]


def select(records: Records, data: DataConfig, player_classes: PlayerClasses) -> Selected:
    """Apply all filters of `data` in the order of DROP_REASONS; `player_classes` are those of the records' players."""
    filters = data.filter
    drops = _Drops(records.reject_code)
    kinds = _Kinds(
        with_team=_with_team(player_classes, records),
        with_engine=_with_side_of(player_classes.engines, records) | records.computer,
        chess=np.repeat([file.chess for file in records.files], np.diff(records.starts)),
    )
    if data.drop is not None and "teams" in data.drop:
        drops.drop_where(reasons.TEAM, kinds.with_team)
    if player_classes.drop_engines:
        anywhere = player_classes.drop_engines_anywhere
        drops.drop_where(
            reasons.ENGINE, kinds.with_engine if anywhere else kinds.with_engine & kinds.chess
        )
    _apply_filters(drops, records, filters, player_classes, kinds)
    if filters.exclude is None and kinds.chess.any():
        _leave_out_exhibitions(drops, records, kinds)
    is_duplicate = np.zeros(len(records), np.bool_)
    repeating_and_repeated = find_duplicates(records, drops.used)
    is_duplicate[repeating_and_repeated[:, 0]] = True
    if filters.dedupe:
        drops.drop_where(reasons.DUPLICATE, is_duplicate)
    if filters.min_games > 1:
        _drop_few_games(drops, records, filters.min_games)
    if filters.largest_group:
        _drop_small_groups(drops, records)
    used = drops.used
    noticed = {reason: np.zeros(len(records), np.bool_) for reason in NOTICED}
    noticed[reasons.DUPLICATE] = is_duplicate & used
    any_file_is_chess = records.report.chess
    if any_file_is_chess:  # then remarks are made on the records of all files
        noticed[reasons.TEAM] = kinds.with_team & used
        noticed[reasons.ENGINE] = kinds.with_engine & used
    return Selected(drops.reject_code, noticed)


def _with_team(player_classes: PlayerClasses, records: Records) -> Mask:
    """Mask of records with a side of several players; in tables clubs are none."""
    with_team = _with_side_of(player_classes.teams, records)
    if player_classes.clubs.any():
        is_table = [file.kind != "pgn" for file in records.files]
        without_clubs = _with_side_of(player_classes.teams & ~player_classes.clubs, records)
        with_team &= without_clubs | ~np.repeat(is_table, np.diff(records.starts))
    return with_team


def _with_side_of(players: Mask, records: Records) -> Mask:
    """Mask of records with a side of these players, (players,).

    Where nobody is named, -1, it is that of the last player; such records are rejected already.
    """
    if not players.any():
        return np.zeros(len(records), np.bool_)
    return players[records.white] | players[records.black]


def _apply_filters(
    drops: _Drops,
    records: Records,
    filters: FilterConfig,
    player_classes: PlayerClasses,
    kinds: _Kinds,
) -> None:
    """Drop records by years, players and events."""
    if filters.years is not None:
        first, last = year_range(filters.years)
        drops.drop_where(reasons.OTHER_YEARS, (records.year < first) | (records.year > last))
    if filters.players:
        white_is_listed = player_classes.listed[records.white]
        black_is_listed = player_classes.listed[records.black]
        if filters.among:
            drops.drop_where(reasons.OTHER_PLAYERS, ~(white_is_listed & black_is_listed))
        else:
            drops.drop_where(reasons.OTHER_PLAYERS, ~(white_is_listed | black_is_listed))
    if filters.events:
        drops.drop_where(reasons.OTHER_EVENT, ~records_of_events(records, filters.events))
    if filters.exclude_events:
        drops.drop_where(reasons.EXCLUDED_EVENT, records_of_events(records, filters.exclude_events))
    for name in filters.exclude or ():
        rows = records_in_set(records, name)
        drops.drop_where(name, rows | kinds.with_team if name == CONSULTATION else rows)


def _leave_out_exhibitions(drops: _Drops, records: Records, kinds: _Kinds) -> None:
    """Drop what is left out of chess by default: exhibitions, games at odds, variants.

    Odds whose points are known are no reason, as they count as a handicap. Blindfold games are left out where one
    player met several others: there are tournaments without sight of the board, too.
    """
    sets = records_by_event_words(records, EXHIBITIONS)
    sets[CONSULTATION] |= kinds.with_team
    sets["odds"] &= records.offset == 0
    sets["variants"] = variants_but_chess960(records)
    for name, rows in sets.items():
        is_dropped = rows & kinds.chess & drops.used
        if name == "blindfold":
            is_dropped = one_against_many(records, is_dropped)
        drops.drop_where(name, is_dropped)


def _drop_few_games(drops: _Drops, records: Records, min_games: int) -> None:
    """Drop records until all players left have enough games."""
    n_games = records.tally.sum(axis=1)
    further = further_members(records)
    while True:
        used = drops.used
        rows = np.flatnonzero(used)
        members = np.flatnonzero(used[further.game])
        row = np.concatenate([rows, rows, further.game[members]])
        player = np.concatenate([records.white[rows], records.black[rows], further.player[members]])
        n_played = np.bincount(player, n_games[records.result.codes[row]], len(records.players))
        has_few = (n_played > 0) & (n_played < min_games)
        if not has_few.any():
            return
        drops.drop_rows(reasons.FEW_GAMES, np.unique(row[has_few[player]]))


def _drop_small_groups(drops: _Drops, records: Records) -> None:
    """Drop records outside the largest group of players linked by games."""
    used = drops.used
    rows = np.flatnonzero(used)
    white = records.white[rows].astype(np.int32)
    black = records.black[rows].astype(np.int32)
    further = further_members(records)
    members = np.flatnonzero(used[further.game])
    label = label_groups(
        np.concatenate([white, records.white[further.game[members]].astype(np.int32)]),
        np.concatenate([black, further.player[members].astype(np.int32)]),
        len(records.players),
    )
    drops.drop_rows(reasons.OTHER_GROUP, rows[label[white] > 0])


def matching_players(players: Sequence[str], texts: Sequence[str]) -> Mask:
    """Mask of the players selected by `texts`, shape (players,).

    A text is a name in any spelling (`First Last` too), a surname, for all who have it, or a /pattern/. Raises
    ConfigError when nobody is selected.
    """
    by_key: dict[str, list[int]] = {}
    for number, player in enumerate(players):
        for key in {name_key(player), fold_surname(player)}:
            by_key.setdefault(key, []).append(number)
    is_selected = np.zeros(len(players), np.bool_)
    for text in texts:
        pattern = pattern_of(text)
        if pattern is not None:
            numbers = [number for number, player in enumerate(players) if pattern.search(player)]
        else:
            key = name_key(clean_name(text))
            numbers = by_key.get(key, [])
            if not numbers:
                numbers = [number for order in comma_keys(key) for number in by_key.get(order, ())]
        if not numbers:
            hint = suggested(text, players, "names are those that `ttt games` shows")
            raise ConfigError(
                f"there is no player {text!r}", where="data.filter.players", hint=hint
            )
        is_selected[numbers] = True
    return is_selected
