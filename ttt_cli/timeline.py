"""Games laid out in time: nodes of players in periods, and the games of each period."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.covariates import Covariate, NumberCovariate, make_covariate
from ttt_cli.games.lineup import Lineup, Members, find_lineup, games_of_nodes, members_in
from ttt_cli.games.people import BORN, NO_PEOPLE, PeopleTable
from ttt_cli.games.table import Games, texts_of_rows
from ttt_cli.periods import STEPS_PER_YEAR, calendar_year, label, period_of
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.storage import MEMORY, ArrayStorage
from ttt_cli.support.arrays import Array, Ids, Mask, Places

if TYPE_CHECKING:
    from ttt_cli.config.schema import Colours, Period
    from ttt_cli.kernels.layout import Nodes

# Who has White's advantage in a game
UNKNOWN: Final = -1  # one of the two, it is unknown which
NEUTRAL: Final = 0  # neither
KNOWN: Final = 1  # the side named first
# Covariates that are computed: games before, in years or months, perhaps the root of their number
_ACTIVITY: Final = re.compile(r"(?P<root>root_)?activity(_(?P<length>[1-9]\d?)(?P<unit>[ym]))?")
_IDLE: Final = "idle"  # years without games
_MONTHS: Final = 12
_COLOURS_UNKNOWN: Final = (
    "the winner is always named first: colours are taken as unknown;"
    " data.colours: known says otherwise"
)


@dataclass(frozen=True)
class Timeline:
    """Nodes, (player, period) pairs with games, and games by period; read-only arrays.

    Periods without games are omitted: a random walk crosses them exactly through `gap_years`.

    | array | shape | meaning |
    |---|---|---|
    | periods | (periods,) | number of each period (see `ttt_cli.periods`) |
    | node_start, game_start | (periods + 1,) | nodes and games of period p: from `start[p]` up to `start[p + 1]` |
    | node_player, node_period | (nodes,) | player and period number; nodes are sorted by period, then player |
    | node_games | (nodes,) | weighted number of games |
    | previous, next | (nodes,) | the player's nodes before and after; -1: none |
    | gap_years | (nodes,) | years since the previous node, 0 at the first |
    | game_white, game_black | (games,) | nodes; White is the player named first where colours are unknown |
    | outcome, weight | (games,) | as in `Games`, in its order |
    | offset | (games,) | added to White's strength, Elo points; model points after `in_points` |
    | advantage_owner | (games,) | who has White's advantage: KNOWN, UNKNOWN, NEUTRAL; may have stride 0 |
    | joined | (games,) | whether a row continues the match of the previous row; None: no row does |
    | doubt | (games,) | probability that the record of a game says nothing about skills; None: all are right |
    | victory_margin | (games,) | by how much the winner won, 0 of draws and where it is unknown; None: 0 |
    | births | (players,) | in years, NaN where they are unknown; None: all are |
    | race | (games,) | as in `Games`; None: no game is part of an order of finish |
    | newcomer_means | (players,) | of the first skill, added to that of all newcomers, points; None: 0 |

    `category` has the kind of each game, None if no game has any. `members` are those of the sides of games between
    teams and in orders of finish, None if there are none; `game_white` and `game_black` are the first ones.
    `covariates` are of the games, `people` what is known of players; `notes` are on the games; `storage` stores the
    arrays.
    """

    players: tuple[str, ...]
    period: Period
    periods: Ids
    node_start: Places
    game_start: Places
    node_player: Ids
    node_period: Ids
    node_games: Array
    previous: Ids
    next: Ids
    gap_years: Array
    game_white: Ids
    game_black: Ids
    outcome: NDArray[np.int8]
    weight: Array
    offset: Array
    advantage_owner: NDArray[np.int8]
    joined: Mask | None = None
    category: CodedColumn[str] | None = None
    victory_margin: Array | None = None
    doubt: Array | None = None
    members: Members | None = None
    race: Ids | None = None
    covariates: tuple[Covariate, ...] = ()
    births: Array | None = None
    newcomer_means: Array | None = None
    people: PeopleTable = NO_PEOPLE
    notes: tuple[str, ...] = ()
    storage: ArrayStorage = MEMORY

    @property
    def n_nodes(self) -> int:
        """Number of (player, period) pairs."""
        return len(self.node_player)

    @property
    def n_games(self) -> int:
        """Number of game rows (not weighted)."""
        return len(self.outcome)

    @property
    def colours(self) -> bool:
        """Whether White is known in any game."""
        return bool(np.any(self.distinct_owners == KNOWN)) or not self.n_games

    @property
    def distinct_owners(self) -> NDArray[np.int8]:
        """`advantage_owner`, of a single game where all are equal."""
        return self.advantage_owner if self.advantage_owner.strides[0] else self.advantage_owner[:1]

    @property
    def has_births(self) -> bool:
        """Whether the birth of any player is known."""
        return self.births is not None and not bool(np.isnan(self.births).all())

    def ahead(self, advantage: float) -> Array:
        """Points (games,) by which White is ahead besides the skills, with an advantage where White is known."""
        ahead: Array = self.offset + advantage * (self.advantage_owner == KNOWN)
        return ahead

    def in_points(self, unit: float) -> Timeline:
        """The timeline with `offset` in model points, `unit` per Elo point."""
        return self if unit == 1.0 else replace(self, offset=unit * self.offset)

    def covariate_columns(self, terms: Sequence[str], *, mean_of_teams: bool = False) -> Array:
        """Values (games, terms) of covariates, of the side named first minus the other, by names of coefficients.

        `mean_of_teams` as in `with_computed`.
        """
        covariates = self.with_computed(terms, mean_of_teams=mean_of_teams).covariates
        of_term = {term: covariate for covariate in covariates for term in covariate.terms}
        columns = np.empty((self.n_games, len(terms)))
        for number, term in enumerate(terms):
            columns[:, number] = of_term[term].column(term, self.advantage_owner == KNOWN)
        return columns

    def _difference(self, value: Array, *, mean_of_teams: bool) -> Array:
        """The value of the side named first minus that of the other, (games,), of values of nodes."""
        difference: Array = value[self.game_white] - value[self.game_black]
        if (members := self.members) is None:
            return difference
        share = members.shares_of_sides(self.n_games) if mean_of_teams else members.share
        of_sides = members.sums(share * value[members.node], self.n_games)
        has_members = members.mask_of_games(self.n_games)
        return np.where(has_members, of_sides[:, 0] - of_sides[:, 1], difference)

    def with_computed(self, names: Iterable[str], *, mean_of_teams: bool = False) -> Timeline:
        """The timeline with those covariates of these names that are computed, by all games of earlier periods.

        Covariates of these names that were read from files stay. A team has the sum of its members' values, each times
        the member's share of the game, or their mean.
        """
        read = {covariate.name for covariate in self.covariates}
        covariates = list(self.covariates)
        for name in names:
            if name not in read and is_computed(name):
                value = _computed_covariate(self, name)
                difference = self._difference(value, mean_of_teams=mean_of_teams)
                covariates.append(NumberCovariate(name, difference))
        return (
            self
            if len(covariates) == len(self.covariates)
            else replace(self, covariates=tuple(covariates))
        )

    def label(self, number: int) -> str:
        """Label of a period number, e.g. 1858."""
        return label(number, self.period)

    def until(self, step: int) -> Timeline:
        """The timeline before the period at index `step`; its nodes and games are the first of these."""
        n_nodes = int(self.node_start[step])
        n_games = int(self.game_start[step])
        following = np.where(self.next[:n_nodes] < n_nodes, self.next[:n_nodes], -1).astype(
            np.int32
        )
        following.flags.writeable = False
        nodes = slice(n_nodes)
        return replace(
            self._with_nodes(nodes, previous=self.previous[nodes], following=following),
            periods=self.periods[:step],
            node_start=self.node_start[: step + 1],
        ).with_games(slice(n_games), self.game_start[: step + 1])

    def without_games(self) -> Timeline:
        """The same nodes without their games."""
        return self.with_games(slice(0), np.zeros_like(self.game_start))

    def in_category(self, category: str) -> Mask:
        """Mask (games,) of the games of a category."""
        if self.category is None:
            return np.zeros(self.n_games, np.bool_)
        is_this = np.array([text == category for text in self.category.values], np.bool_)
        mask: Mask = is_this[self.category.codes]
        return mask

    def with_games_where(self, games: Mask) -> Timeline:
        """The same nodes with the games of a mask."""
        return self.with_games(games, np.append(0, np.cumsum(games))[self.game_start])

    def with_games(self, games: slice | Mask, game_start: Places) -> Timeline:
        """The same nodes with some of their games; `game_start` as in `Timeline`, of these games."""
        white = self.game_white[games]
        black = self.game_black[games]
        weight = self.weight[games]
        members = None if self.members is None else self.members.of_games(games, self.n_games)
        return replace(
            self,
            node_games=games_of_nodes(white, black, weight, members, self.n_nodes),
            game_start=game_start,
            game_white=white,
            game_black=black,
            outcome=self.outcome[games],
            weight=weight,
            offset=self.offset[games],
            advantage_owner=self.advantage_owner[games],
            joined=None if self.joined is None else self.joined[games],
            category=None if self.category is None else texts_of_rows(self.category, games),
            victory_margin=None if self.victory_margin is None else self.victory_margin[games],
            doubt=None if self.doubt is None else self.doubt[games],
            members=members,
            race=None if self.race is None else self.race[games],
            covariates=tuple(covariate.take(games) for covariate in self.covariates),
        )

    def unplayed(self, nodes: Places) -> Timeline:
        """The timeline of some nodes, without games; `nodes` are sorted, all or none of each player's."""
        new_number = np.full(self.n_nodes + 1, -1, np.int32)  # the last is that of -1
        new_number[nodes] = np.arange(len(nodes), dtype=np.int32)
        previous = new_number[self.previous[nodes]]
        following = new_number[self.next[nodes]]
        return replace(
            self._with_nodes(nodes, previous=previous, following=following),
            node_start=np.searchsorted(nodes, self.node_start),
        ).without_games()

    def _with_nodes(self, nodes: slice | Places, *, previous: Ids, following: Ids) -> Timeline:
        """The timeline with the columns of some nodes; `node_start` and the games are to be adapted."""
        return replace(
            self,
            node_player=self.node_player[nodes],
            node_period=self.node_period[nodes],
            node_games=self.node_games[nodes],
            previous=previous,
            next=following,
            gap_years=self.gap_years[nodes],
        )


def build_timeline(games: Games, period: Period = "year", colours: Colours = "known") -> Timeline:
    """Lay out games in time. `auto`: colours are unknown in files that name the winner first.

    Games between teams are laid out as rows of a lineup, in each of which two members meet.
    """
    storage = games.storage
    periods = _find_periods(games, period)
    storage.release()
    lineup = find_lineup(games, periods.game_start)
    pieces = _pieces(lineup, storage)
    nodes = _find_nodes(lineup, storage, pieces)
    laid_out = _lay_out(lineup, storage, STEPS_PER_YEAR[period], periods, nodes, pieces)
    game_nodes = _find_game_nodes(lineup, laid_out)
    columns = laid_out.nodes
    if lineup.first_row is not None:
        # `_lay_out` counts rows: a game of teams has several
        columns.games[:] = games_of_nodes(
            game_nodes.white,
            game_nodes.black,
            games.weight,
            game_nodes.members,
            len(columns.player),
        )
    owners = _find_advantage_owners(games, colours)
    joined = _find_joined(games)
    for array in (*periods, *nodes, *columns, game_nodes.white, game_nodes.black, owners.owner):
        array.flags.writeable = False
    storage.release()
    return Timeline(
        players=games.players,
        period=period,
        periods=periods.number,
        node_start=nodes.start,
        game_start=periods.game_start,
        node_player=columns.player,
        node_period=columns.period,
        node_games=columns.games,
        previous=columns.previous,
        next=columns.next,
        gap_years=columns.gap_years,
        game_white=game_nodes.white,
        game_black=game_nodes.black,
        outcome=games.outcome,
        weight=games.weight,
        offset=games.offset,
        advantage_owner=owners.owner,
        joined=joined,
        category=games.category if games.category.codes.any() else None,
        victory_margin=games.victory_margin if games.victory_margin.any() else None,
        doubt=1.0 - games.p_true if (games.p_true < 1.0).any() else None,
        members=game_nodes.members,
        race=games.race if games.race.any() else None,
        covariates=tuple(make_covariate(texts) for texts in games.covariates),
        births=games.people.births(games.players) if BORN in games.people.fields else None,
        people=games.people,
        notes=owners.notes,
        storage=storage,
    )


def is_computed(covariate: str) -> bool:
    """Whether a covariate of this name needs no column: `activity`, `activity_3y`, `root_activity_6m`, `idle`."""
    return covariate == _IDLE or bool(_ACTIVITY.fullmatch(covariate))


def _computed_covariate(timeline: Timeline, name: str) -> Array:
    """Values (nodes,) of a covariate that is computed.

    Activity is log(1 + games before), or the root of their number; idle is log(1 + years without games beyond the
    first), 0 for newcomers.
    """
    form = _ACTIVITY.fullmatch(name)
    if form is None:
        return np.log1p(np.maximum(timeline.gap_years - 1.0, 0.0))
    years = int(form["length"] or 1) / (_MONTHS if form["unit"] == "m" else 1)
    games = games_before(timeline, years)
    return np.sqrt(games) if form["root"] else np.log1p(games)


def games_before(timeline: Timeline, years: float) -> Array:
    """Weighted games (nodes,) of each player in the periods of so many years before the node's, without its own.

    It counts at least one period.
    """
    steps = max(round(years * STEPS_PER_YEAR[timeline.period]), 1)
    order = np.lexsort((timeline.node_period, timeline.node_player))
    period = timeline.node_period[order].astype(np.int64)
    since = period - period.min(initial=0) + steps
    # ascending; the first period that counts is still a number of the same player
    number = timeline.node_player[order] * (since.max(initial=0) + 1) + since
    games = np.append(0.0, np.cumsum(timeline.node_games[order]))
    first = np.searchsorted(number, number - steps)
    count = np.empty(timeline.n_nodes)
    count[order] = np.maximum(games[np.arange(timeline.n_nodes)] - games[first], 0.0)  # rounding
    return count


class _Periods(NamedTuple):
    """Periods with games."""

    number: Ids  # (periods,)
    game_start: Places  # (periods + 1,)


def _find_periods(games: Games, period: Period) -> _Periods:
    """The periods of games, which are sorted by date."""
    first_of_day = _starts(games.date)
    number_of_day = period_of(games.date[first_of_day], period)
    first_day = _starts(number_of_day)
    game_start = np.append(first_of_day[first_day], len(games))
    return _Periods(number_of_day[first_day], game_start)


class _NodePlayers(NamedTuple):
    """Players with games in each period."""

    start: Places  # (periods + 1,), the first node of each period, and the number of nodes
    player: Ids  # (nodes,), by period, then player


def _pieces(lineup: Lineup, storage: ArrayStorage) -> list[slice]:
    """Slices of consecutive periods with about as many rows as may be in memory."""
    rows_in_memory = storage.rows or max(len(lineup.white), 1)
    first_periods = _starts(lineup.row_start[:-1] // rows_in_memory).tolist()
    n_periods = len(lineup.row_start) - 1
    return [slice(begin, end) for begin, end in pairwise([*first_periods, n_periods])]


def _find_nodes(lineup: Lineup, storage: ArrayStorage, pieces: list[slice]) -> _NodePlayers:
    """The nodes of all periods; `pieces` are `_pieces`."""
    from ttt_cli.kernels.layout import find_nodes, sort_nodes

    n_players = lineup.n_players
    node_start = np.zeros(len(lineup.row_start), np.int64)
    players_of_pieces = [np.empty(0, np.int32)]
    for piece in pieces:
        row_start = lineup.row_start[piece.start : piece.stop + 1]
        start = np.empty(len(row_start), np.int64)
        unsorted = np.empty(2 * int(row_start[-1] - row_start[0]), np.int32)
        last_period_seen = np.full(n_players, -1, np.int32)
        find_nodes(row_start, lineup.white, lineup.black, last_period_seen, start, unsorted)
        n_nodes = int(start[-1])
        player = np.empty(n_nodes, np.int32)
        spare = np.empty(n_nodes, np.int32)
        sort_nodes(start, unsorted, np.zeros(n_players, np.int32), spare, player)
        node_start[piece.start : piece.stop + 1] = node_start[piece.start] + start
        players_of_pieces.append(player)
        storage.release()
    node_player = np.concatenate(players_of_pieces)
    stored = storage.zeros("node-player", node_player.shape, np.int32)
    stored[:] = node_player
    return _NodePlayers(node_start, stored)


class _LaidOut(NamedTuple):
    """Columns of nodes (see `kernels.layout`), and the nodes of White and Black of the rows of a lineup, (rows,)."""

    nodes: Nodes
    white: Ids
    black: Ids


def _lay_out(
    lineup: Lineup,
    storage: ArrayStorage,
    steps_per_year: float,
    periods: _Periods,
    nodes: _NodePlayers,
    pieces: list[slice],
) -> _LaidOut:
    """Fill the columns of nodes, and find the nodes of rows; `pieces` are consecutive periods."""
    from ttt_cli.kernels.layout import Nodes, lay_out

    shape = (len(nodes.player),)
    columns = Nodes(
        player=nodes.player,
        period=storage.zeros("node-period", shape, np.int32),
        games=storage.zeros("node-games", shape, np.float64),
        previous=storage.zeros("node-previous", shape, np.int32),
        next=storage.zeros("node-next", shape, np.int32),
        gap_years=storage.zeros("node-gap_years", shape, np.float64),
    )
    white = storage.zeros("game-white", (len(lineup.white),), np.int32)
    black = storage.zeros("game-black", (len(lineup.white),), np.int32)
    last_node = np.full(lineup.n_players, -1, np.int32)
    for piece in pieces:
        with_end = slice(piece.start, piece.stop + 1)
        lay_out(
            periods.number[piece], steps_per_year, lineup.row_start[with_end], lineup.white, lineup.black,
            lineup.weight, nodes.start[with_end], last_node, columns, white, black,
        )  # fmt: skip
        storage.release()
    return _LaidOut(columns, white, black)


class _GameNodes(NamedTuple):
    """Nodes of the first members of the sides of games, (games,), and of all members; None without teams."""

    white: Ids
    black: Ids
    members: Members | None


def _find_game_nodes(lineup: Lineup, laid_out: _LaidOut) -> _GameNodes:
    """The nodes of games, by those of the rows of a lineup."""
    members = members_in(lineup, laid_out.white, laid_out.black)
    if lineup.first_row is None:
        return _GameNodes(laid_out.white, laid_out.black, members)
    return _GameNodes(laid_out.white[lineup.first_row], laid_out.black[lineup.first_row], members)


class _AdvantageOwners(NamedTuple):
    """Who has White's advantage in each game, (games,), and notes on it."""

    owner: NDArray[np.int8]
    notes: tuple[str, ...] = ()


def _find_advantage_owners(games: Games, colours: Colours) -> _AdvantageOwners:
    """Who has White's advantage; with `auto`, colours are unknown in files that name the winner first."""
    notes: tuple[str, ...] = ()
    is_unknown: Mask | bool = colours == "unknown"
    if colours == "auto" and games.winner_first:
        is_unknown = True
        notes = (_COLOURS_UNKNOWN,)
    elif colours == "auto":
        files = games.report.files
        numbers = [number for number, file in enumerate(files) if file.winner_first]
        if numbers:
            is_unknown = np.isin(games.source_file, numbers)
            paths = ", ".join(files[number].path for number in numbers)
            notes = (f"{paths}: {_COLOURS_UNKNOWN}",)
    is_neutral: Mask | bool = games.neutral if games.neutral.any() else False
    if games.race.any():
        is_neutral = is_neutral | (games.race > 0)
    owner = np.where(is_neutral, NEUTRAL, np.where(is_unknown, UNKNOWN, KNOWN)).astype(np.int8)
    return _AdvantageOwners(owner if owner.ndim else np.broadcast_to(owner, len(games)), notes)


def _find_joined(games: Games) -> Mask | None:
    """Mask of rows that belong to the previous row's record; None where none does."""
    joined = np.zeros(len(games), np.bool_)
    joined[1:] = games.source_line[1:] == games.source_line[:-1]
    if not joined.any():
        return None
    for column in (games.source_file, games.white, games.black, games.offset):
        joined[1:] &= column[1:] == column[:-1]
    joined[1:] &= games.outcome[1:] > games.outcome[:-1]
    joined.flags.writeable = False
    return joined if joined.any() else None


def _starts(values: NDArray[np.integer]) -> Places:
    """Start of each distinct value of a sorted array."""
    is_first = np.ones(len(values), np.bool_)
    is_first[1:] = values[1:] != values[:-1]
    return np.flatnonzero(is_first)


class Calendar(NamedTuple):
    """Calendar years of a timeline."""

    years: Ids  # (years,), those with games
    year_of_period: Ids  # (periods,), indices of `years`


def calendar(timeline: Timeline) -> Calendar:
    """Calendar years with games, and the index of each period's year among them."""
    year = calendar_year(timeline.periods, timeline.period)
    years, year_of_period = np.unique(year.astype(np.int32), return_inverse=True)
    return Calendar(years, year_of_period.astype(np.int32))
