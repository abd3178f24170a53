"""Scores of all players against each of their opponents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ttt_cli.support.arrays import Array, Ids, Places
from ttt_cli.views.history.played import PlayedGames
from ttt_cli.views.history.slices import rows_of


@dataclass(frozen=True)
class OpponentTotals:
    """Sums over the games against each opponent, by the weight of games; arrays of shape (pairs,).

    | field | content |
    |---|---|
    | `opponent` | numbers in the run's names, ascending for each player |
    | `games` | games |
    | `won`, `drawn`, `lost` | games by result |
    | `expected` | points expected by the model |
    """

    opponent: Ids
    games: Array
    won: Array
    drawn: Array
    lost: Array
    expected: Array

    @property
    def points(self) -> Array:
        """Points scored, shape (pairs,)."""
        return self.won + self.drawn / 2.0


@dataclass(frozen=True)
class AllOpponents:
    """The opponents of all players, by player; `starts`, shape (players + 1,): the first pair of each."""

    totals: OpponentTotals
    starts: Places

    def of(self, player: int) -> OpponentTotals:
        """The opponents of a player."""
        rows = rows_of(self.starts, player)
        totals = self.totals
        return OpponentTotals(
            totals.opponent[rows], totals.games[rows], totals.won[rows], totals.drawn[rows], totals.lost[rows],
            totals.expected[rows],
        )  # fmt: skip


def all_opponents(played: PlayedGames) -> AllOpponents:
    """The opponents of all players."""
    sides = played.sides_in_order(slice(None))
    n_players = len(played.side_order.starts) - 1
    totals = sides.totals(sides.player * np.int64(n_players) + sides.opponent)
    starts = np.searchsorted(totals.keys, np.arange(n_players + 1) * np.int64(n_players))
    pairs = OpponentTotals(
        totals.keys % n_players,
        totals.games,
        totals.won,
        totals.drawn,
        totals.lost,
        totals.expected,
    )
    return AllOpponents(pairs, starts)
