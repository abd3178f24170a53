"""Games laid out in time: who plays in which period, and which games each period holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import Colours, Period
from ttt_cli.games.table import Games
from ttt_cli.periods import STEPS_PER_YEAR, label, period_of


@dataclass(frozen=True)
class Timeline:
    """Nodes are (player, period) pairs in which the player has games; read-only arrays.

    Periods without games are left out: a random walk crosses them exactly through `gap_years`.

    Per period present (P): `periods` its number (see `ttt_cli.periods`); nodes `node_start[p]` up to
    `node_start[p + 1]` and games `game_start[p]` up to `game_start[p + 1]` belong to it.
    Per node (N), sorted by period, then player: `node_player`, `node_period` (the period's number),
    `node_games` (weighted), `previous` and `next` along the player's chain (-1 at its ends),
    `gap_years` to the previous node (0 at the first).
    Per game (G), in the order of the Games: `game_white`, `game_black` (nodes), `outcome`, `weight`, `offset` (Elo
    points added to White's strength).
    `colours`: whether it is known who had White; if not, `game_white` is the player named first.
    """

    players: tuple[str, ...]
    period: Period
    periods: NDArray[np.int32]
    node_start: NDArray[np.int64]
    game_start: NDArray[np.int64]
    node_player: NDArray[np.int32]
    node_period: NDArray[np.int32]
    node_games: NDArray[np.float64]
    previous: NDArray[np.int32]
    next: NDArray[np.int32]
    gap_years: NDArray[np.float64]
    game_white: NDArray[np.int32]
    game_black: NDArray[np.int32]
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]
    offset: NDArray[np.float64]
    colours: bool = True

    @property
    def n_nodes(self) -> int:
        """Number of (player, period) pairs."""
        return len(self.node_player)

    @property
    def n_games(self) -> int:
        """Number of game rows (not weighted)."""
        return len(self.outcome)

    def label(self, number: int) -> str:
        """How a period number is written, e.g. 1858."""
        return label(number, self.period)

    def until(self, step: int) -> Timeline:
        """The same before the period at index `step` of `periods`: its games and nodes are the first of these."""
        nodes, games = int(self.node_start[step]), int(self.game_start[step])
        following = np.where(self.next[:nodes] < nodes, self.next[:nodes], -1).astype(np.int32)
        following.flags.writeable = False
        return replace(
            self,
            periods=self.periods[:step],
            node_start=self.node_start[: step + 1],
            game_start=self.game_start[: step + 1],
            **{name: getattr(self, name)[:nodes] for name in _NODE_COLUMNS},
            **{name: getattr(self, name)[:games] for name in _GAME_COLUMNS},
            next=following,
        )


_NODE_COLUMNS = ("node_player", "node_period", "node_games", "previous", "gap_years")
_GAME_COLUMNS = ("game_white", "game_black", "outcome", "weight", "offset")


def build_timeline(games: Games, period: Period = "year", colours: Colours = "known") -> Timeline:
    """Lay out games in time steps. Takes O(n log n) time."""
    number = period_of(games.date, period)
    periods, game_start = _runs(number)
    n_players = len(games.players)
    step = np.repeat(np.arange(len(periods), dtype=np.int64), np.diff(game_start))
    white_key = step * n_players + games.white
    black_key = step * n_players + games.black
    keys, ends = np.unique(np.concatenate([white_key, black_key]), return_inverse=True)
    ends = ends.astype(np.int32)
    node_step = keys // max(n_players, 1)
    node_player = (keys - node_step * n_players).astype(np.int32)
    node_period = periods[node_step] if len(keys) else np.zeros(0, np.int32)
    previous, following = _chains(node_player)
    linked = previous >= 0
    gap = np.zeros(len(keys))
    gap[linked] = (node_period[linked] - node_period[previous[linked]]) / STEPS_PER_YEAR[period]
    n = len(games)
    arrays = {
        "periods": periods,
        "node_start": np.searchsorted(node_step, np.arange(len(periods) + 1)).astype(np.int64),
        "game_start": game_start,
        "node_player": node_player,
        "node_period": node_period,
        "node_games": np.bincount(ends, np.tile(games.weight, 2), minlength=len(keys)).astype(np.float64),
        "previous": previous,
        "next": following,
        "gap_years": gap,
        "game_white": ends[:n].copy(),
        "game_black": ends[n:].copy(),
        "outcome": games.outcome,
        "weight": games.weight,
        "offset": games.offset,
    }
    for array in arrays.values():
        array.flags.writeable = False
    return Timeline(players=games.players, period=period, colours=colours == "known", **arrays)


def _runs(number: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Distinct values of a sorted array and where each starts, with the end appended."""
    starts = np.flatnonzero(np.diff(number, prepend=number[:1] - 1)).astype(np.int64)
    return number[starts], np.append(starts, len(number)).astype(np.int64)


def _chains(node_player: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The previous and next node of the same player, for nodes in time order."""
    order = np.argsort(node_player, kind="stable")
    same = node_player[order][1:] == node_player[order][:-1]
    previous = np.full(len(order), -1, np.int32)
    following = np.full(len(order), -1, np.int32)
    previous[order[1:][same]] = order[:-1][same]
    following[order[:-1][same]] = order[1:][same]
    return previous, following
