"""Games laid out in time: nodes of players in periods, and the games of each period."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import Colours, Period
from ttt_cli.games.table import Games
from ttt_cli.periods import STEPS_PER_YEAR, calendar_year, label, period_of
from ttt_cli.reading.reports import WINNER_FIRST
from ttt_cli.room import MEMORY, Room
from ttt_cli.support.arrays import Array, Ids, Mask, Places

UNKNOWN: Final = -1  # sides of a game: an unknown one of the two has White's advantage
NEUTRAL: Final = 0  # neither has it
KNOWN: Final = 1  # the player named first has it
_COLOURS_UNKNOWN: Final = (
    "the winner is always named first: colours are taken as unknown; data.colours: known says otherwise"
)


@dataclass(frozen=True)
class Timeline:
    """Nodes, (player, period) pairs with games, and games by period; read-only arrays.

    Periods without games are omitted: a random walk crosses them exactly through `gap_years`.

    Per period: `periods` its number (`ttt_cli.periods`); its nodes are `node_start[p]` up to `node_start[p + 1]`, its
    games `game_start[p]` up to `game_start[p + 1]`.
    Per node, by period, then player: `node_player`, `node_period` (number), `node_games` (weighted), `previous` and
    `next` of the player (-1: none), `gap_years` to the previous node (0 at the first).
    Per game, in the order of the Games: `game_white`, `game_black` (nodes; the player named first where colours are
    unknown), `outcome`, `weight`, `offset` (Elo points added to White's strength), `sides` (owner of White's advantage:
    KNOWN, UNKNOWN, NEUTRAL; may have stride 0), `joined` (row continues the previous row's match; None: no row does).
    `notes`: on the games; `room`: storage of the arrays.
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
    sides: NDArray[np.int8]
    joined: Mask | None = None
    notes: tuple[str, ...] = ()
    room: Room = MEMORY

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
        return bool(np.any(self.distinct_sides == KNOWN)) or not self.n_games

    @property
    def distinct_sides(self) -> NDArray[np.int8]:
        """`sides`, of one game where all are equal."""
        return self.sides if self.sides.strides[0] else self.sides[:1]

    def ahead(self, advantage: float) -> Array:
        """Points (games,) by which White is ahead besides the skills, with an advantage where White is known."""
        ahead: Array = self.offset + advantage * (self.sides == KNOWN)
        return ahead

    def in_points(self, unit: float) -> "Timeline":
        """The timeline with handicaps in a model's points, `unit` per Elo point."""
        return self if unit == 1.0 else replace(self, offset=unit * self.offset)

    def label(self, number: int) -> str:
        """Label of a period number, e.g. 1858."""
        return label(number, self.period)

    def games(self, part: slice) -> dict[str, Any]:
        """Columns of some games."""
        joined = None if self.joined is None else self.joined[part]
        return {name: getattr(self, name)[part] for name in GAME_COLUMNS} | {"joined": joined}

    def until(self, step: int) -> "Timeline":
        """The timeline before the period at index `step`; its nodes and games are the first of these."""
        nodes = int(self.node_start[step])
        games = int(self.game_start[step])
        following = np.where(self.next[:nodes] < nodes, self.next[:nodes], -1).astype(np.int32)
        following.flags.writeable = False
        return replace(
            self,
            periods=self.periods[:step],
            node_start=self.node_start[: step + 1],
            game_start=self.game_start[: step + 1],
            **{name: getattr(self, name)[:nodes] for name in _NODE_COLUMNS} | {"next": following},
            **self.games(slice(games)),
        )

    def without_games(self) -> "Timeline":
        """The same nodes without their games."""
        return replace(self, game_start=np.zeros_like(self.game_start), **self.games(slice(0)))

    def unplayed(self, nodes: Places) -> "Timeline":
        """The timeline without the games of some nodes, all or none of each player's."""
        place = np.full(self.n_nodes + 1, -1, np.int32)  # of -1, too
        place[nodes] = np.arange(len(nodes), dtype=np.int32)
        columns = {name: getattr(self, name)[nodes] for name in _NODE_COLUMNS}
        return replace(
            self,
            node_start=np.searchsorted(nodes, self.node_start),
            game_start=np.zeros_like(self.game_start),
            **columns | {"previous": place[self.previous[nodes]], "next": place[self.next[nodes]]},
            **self.games(slice(0)),
        )


_NODE_COLUMNS = ("node_player", "node_period", "node_games", "previous", "next", "gap_years")  # as `Nodes`
GAME_COLUMNS: Final = ("game_white", "game_black", "outcome", "weight", "offset", "sides")


def build_timeline(games: Games, period: Period = "year", colours: Colours = "known") -> Timeline:
    """Lay out games in time. `auto`: colours are unknown in files that name the winner first."""
    from ttt_cli.kernels.layout import Nodes, lay_out

    room = games.room
    days = _starts(games.date)
    number = period_of(games.date[days], period)
    first = _starts(number)
    periods = number[first]
    game_start = np.append(days[first], len(games))
    room.let_go()
    cuts = _starts(game_start[:-1] // (room.rows or max(len(games), 1))).tolist()
    parts = list(pairwise([*cuts, len(periods)]))  # periods with about as many games as may be in memory
    node_start, node_player = _nodes(games, game_start, parts)
    nodes = len(node_player)
    kinds = (np.int32, np.int32, np.float64, np.int32, np.int32, np.float64)
    laid = Nodes._make(
        room.empty(f"node-{name}", (nodes,), kind) for name, kind in zip(Nodes._fields, kinds, strict=True)
    )
    laid.player[:] = node_player
    del node_player
    count = (len(games),)
    ends = room.empty("game-white", count, np.int32), room.empty("game-black", count, np.int32)
    node_of = np.full(len(games.players), -1, np.int32)
    for begin, end in parts:
        here = slice(begin, end + 1)
        lay_out(
            periods[begin:end], STEPS_PER_YEAR[period], game_start[here], games.white, games.black, games.weight,
            node_start[here], node_of, laid, *ends,
        )  # fmt: skip
        room.let_go()
    sides, notes = _sides(games, colours)
    arrays: dict[str, NDArray[Any]] = {
        "periods": periods,
        "node_start": node_start,
        "game_start": game_start,
        **dict(zip(_NODE_COLUMNS, laid, strict=True)),
        **dict(zip(GAME_COLUMNS, (*ends, games.outcome, games.weight, games.offset), strict=False)),
        "sides": sides,
    }
    for array in arrays.values():
        array.flags.writeable = False
    joined = _joined(games)
    room.let_go()
    return Timeline(games.players, period, joined=joined, notes=notes, room=room, **arrays)


def _nodes(games: Games, game_start: Places, parts: list[tuple[int, int]]) -> tuple[Places, Ids]:
    """Start of each period's nodes, with the end, and the player of each node."""
    from ttt_cli.kernels.layout import find_nodes, sort_nodes

    node_start = np.zeros(len(game_start), np.int64)
    players = len(games.players)
    found: list[Ids] = []
    for begin, end in parts:
        start = np.empty(end - begin + 1, np.int64)
        here = game_start[begin : end + 1]
        rough = np.empty(2 * int(here[-1] - here[0]), np.int32)
        find_nodes(here, games.white, games.black, np.full(players, -1, np.int32), start, rough)
        count = int(start[-1])
        spare, player = np.empty((2, count), np.int32)
        sort_nodes(start, rough, np.zeros(players, np.int32), spare, player)
        node_start[begin : end + 1] = node_start[begin] + start
        found.append(player)
        games.room.let_go()
    return node_start, np.concatenate([np.empty(0, np.int32), *found])


def _sides(games: Games, colours: Colours) -> tuple[NDArray[np.int8], tuple[str, ...]]:
    """Owner of White's advantage by game, and notes; with `auto` unknown in files that name the winner first."""
    unknown: Mask | bool = colours == "unknown"
    notes: tuple[str, ...] = ()
    if colours == "auto" and games.winner_first:
        unknown = True
        notes = (_COLOURS_UNKNOWN,)
    elif colours == "auto":
        named = [problem.file for problem in games.report.problems if problem.reason == WINNER_FIRST]
        numbers = [number for number, file in enumerate(games.report.files) if file.path in named]
        unknown = np.isin(games.source_file, numbers) if named else False
        notes = (f"{', '.join(named)}: {_COLOURS_UNKNOWN}",) if named else ()
    neutral = games.neutral if games.neutral.any() else False
    sides = np.where(neutral, NEUTRAL, np.where(unknown, UNKNOWN, KNOWN)).astype(np.int8)
    return sides if sides.ndim else np.broadcast_to(sides, len(games)), notes


def _joined(games: Games) -> Mask | None:
    """Mask of rows that belong to the previous row's record; None where none does."""
    more = np.zeros(len(games), np.bool_)
    more[1:] = games.source_line[1:] == games.source_line[:-1]
    if not more.any():
        return None
    for name in ("source_file", "white", "black", "offset"):
        column = getattr(games, name)
        more[1:] &= column[1:] == column[:-1]
    more[1:] &= games.outcome[1:] > games.outcome[:-1]
    more.flags.writeable = False
    return more if more.any() else None


def _starts(values: NDArray[np.integer]) -> Places:
    """Start of each distinct value of a sorted array."""
    return np.flatnonzero(np.append(np.ones(len(values[:1]), np.bool_), values[1:] != values[:-1]))


def calendar(timeline: Timeline) -> tuple[Ids, Ids]:
    """Calendar years with games, and the index of each period's year among them."""
    year = calendar_year(timeline.periods, timeline.period)
    years, place = np.unique(year.astype(np.int32), return_inverse=True)
    return years, place.astype(np.int32)
