"""The longest series of games of one player with results of a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.support.arrays import Ids, Mask
from ttt_cli.views.history.played import Sides

ORDER_OF_GAMES: Final = "games of one date in the order of the files, which may not be that of play"
# Whether a series goes on, by outcomes: 0 lost, 1 drawn, 2 won
STREAKS: Final[dict[str, Callable[[Ids], Mask]]] = {
    "unbeaten": lambda outcome: outcome > 0,
    "wins": lambda outcome: outcome == 2,
    "without a win": lambda outcome: outcome < 2,
    "losses": lambda outcome: outcome == 0,
}


class Streak(NamedTuple):
    """A series of games of one player: games and points by weight, and the indices of its first and last side."""

    games: float
    points: float
    first: int
    last: int


def longest_streaks(sides: Sides, kind: str, number: int) -> list[Streak]:
    """The longest series of a kind of `STREAKS` in the games of a player, of equally long ones the earliest first."""
    goes_on = STREAKS[kind](sides.outcome)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], goes_on, [False]]).astype(np.int8)))
    starts = edges[::2]
    ends = edges[1::2]
    games_before = np.concatenate([[0.0], np.cumsum(sides.weight)])
    points_before = np.concatenate([[0.0], np.cumsum(sides.weight * sides.outcome) / 2.0])
    games = games_before[ends] - games_before[starts]
    points = points_before[ends] - points_before[starts]
    longest = np.argsort(-games, kind="stable")[:number].tolist()
    return [
        Streak(float(games[index]), float(points[index]), int(starts[index]), int(ends[index]) - 1)
        for index in longest
    ]
