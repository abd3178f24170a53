"""The longest series of games without a loss, and of wins."""

from __future__ import annotations

import numpy as np

from ttt_cli.support.arrays import Mask
from ttt_cli.views.records.record import Record, RecordSource
from ttt_cli.views.rows import integral


def unbeaten(source: RecordSource) -> list[Record]:
    """The longest series of games without a loss."""
    return _streaks(source, source.sides.outcome > 0)


def wins(source: RecordSource) -> list[Record]:
    """The longest series of wins."""
    return _streaks(source, source.sides.outcome == 2)


def _streaks(source: RecordSource, goes_on: Mask) -> list[Record]:
    """The longest series of games of one player that go on, of equally long ones the earliest.

    `goes_on`, shape (sides,): by player, then in the run's order.
    """
    sides = source.sides
    is_new_player = np.diff(sides.player, prepend=-1) != 0
    series = np.cumsum(is_new_player | ~goes_on) - 1
    in_series = np.flatnonzero(goes_on)
    total = int(series[-1]) + 1 if len(series) else 0
    games = sides.sums_by_group(series, goes_on, total)
    points = sides.sums_by_group(series, np.where(goes_on, sides.outcome / 2.0, 0.0), total)
    first = np.searchsorted(series[in_series], np.arange(total))
    end = np.searchsorted(series[in_series], np.arange(total), side="right")
    possible = np.flatnonzero(games)
    first_side = in_series[first[possible]]
    order = np.lexsort((sides.game[first_side], -games[possible]))[: source.number]
    longest = possible[order]
    first_games = sides.game[in_series[first[longest]]]
    last_games = sides.game[in_series[end[longest] - 1]]
    players = sides.player[in_series[first[longest]]].tolist()
    return [
        Record(
            rank, source.played.players[player], integral(float(games[index])), first_date, last_date,
            points=float(points[index]),
        )
        for rank, (player, index, first_date, last_date) in enumerate(
            zip(players, longest, source.dates(first_games), source.dates(last_games), strict=True), 1
        )
    ]  # fmt: skip
