"""Artificial games of teams, and of more than two sides: who takes part, and in which order sides finish."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.table import DRAW, WIN
from ttt_cli.games.teams import NO_TEAM, NO_TEAMS, Teams
from ttt_cli.support.arrays import Array, Ids, Places

_REDRAWS = 20  # of players who take part already


def draw_participants(
    cluster: Places,
    activity: Array,
    mixing: float,
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> Places:
    """Players of games, of the shape (games, players of a game), each game with different ones.

    `cluster` and `activity` are of the active players, sorted by cluster. The first player is drawn in proportion to
    activity; so are the others, in the first one's cluster, or from all in a share `mixing` of the games and where the
    cluster has too few.
    """
    n, size = shape
    bound = np.concatenate(([0.0], np.cumsum(activity)))

    def drawn(left: Places, right: Places) -> Places:
        point = bound[left] + rng.random(len(left)) * (bound[right] - bound[left])
        interval = np.searchsorted(bound, point, "right") - 1
        player: Places = np.clip(interval, left, right - 1).astype(np.int64)
        return player

    left = np.zeros(n, np.int64)
    right = np.full(n, len(cluster), np.int64)
    participants = np.empty(shape, np.int64)
    participants[:, 0] = drawn(left, right)
    begin = np.searchsorted(cluster, cluster, "left")[participants[:, 0]]
    end = np.searchsorted(cluster, cluster, "right")[participants[:, 0]]
    stays = (rng.random(n) >= mixing) & (end - begin >= size)
    left[stays] = begin[stays]
    right[stays] = end[stays]
    for number in range(1, size):
        others = participants[:, :number]
        player = drawn(left, right)
        for _ in range(_REDRAWS):
            again = np.flatnonzero((others == player[:, np.newaxis]).any(axis=1))
            player[again] = drawn(left[again], right[again])
        for game in np.flatnonzero((others == player[:, np.newaxis]).any(axis=1)):
            absent = np.setdiff1d(np.arange(left[game], right[game]), others[game])
            player[game] = rng.choice(absent)
        participants[:, number] = player
    return participants


def ranks_by_performance(performance: Array, margin: float) -> Ids:
    """Ranks (games, sides) from 1; neighbours in the order whose performances differ by no more than a margin tie.

    Sides after a tie have the rank that they would have without it.
    """
    order = np.argsort(-performance, axis=1, kind="stable")
    falling = np.take_along_axis(performance, order, axis=1)
    rank_in_order = np.ones(performance.shape, np.int32)
    for place in range(1, performance.shape[1]):
        is_behind = falling[:, place - 1] - falling[:, place] > margin
        rank_in_order[:, place] = np.where(is_behind, place + 1, rank_in_order[:, place - 1])
    rank = np.empty_like(rank_in_order)
    np.put_along_axis(rank, order, rank_in_order, axis=1)
    return rank


class SidesOfGames(NamedTuple):
    """Games as tables of games have them: an order of finish is a row for each side and the next one behind it.

    | name | shape | |
    |---|---|---|
    | event | (rows,) | the game that each row is of |
    | white, black | (rows,) | first members of the sides |
    | white_team, black_team | (rows,) | numbers of `teams` |
    | outcome | (rows,) | White's |
    | race | (rows,) | number of the order of finish, 0 for games of two sides |
    | teams | | |
    """

    event: Places
    white: Ids
    black: Ids
    white_team: Ids
    black_team: Ids
    outcome: NDArray[np.int8]
    race: Ids
    teams: Teams


def sides_of_games(members: Ids, rank: Ids | None, outcome: NDArray[np.int8]) -> SidesOfGames:
    """Games of `members`, (games, sides, players of a side), by their ranks; of two sides by White's `outcome`."""
    games, sides, size = members.shape
    team = np.zeros((games, sides), np.int32)
    teams = NO_TEAMS
    if size > 1:
        different, number = np.unique(members.reshape(-1, size), axis=0, return_inverse=True)
        team = (number.reshape(games, sides) + NO_TEAM + 1).astype(np.int32)
        start = np.append(0, size * np.arange(len(different) + 1)).astype(np.int64)
        teams = Teams(start, different.ravel().astype(np.int32), np.ones(different.size))
    first = members[:, :, 0].astype(np.int32)
    race = np.zeros(games, np.int32)
    if rank is not None:
        order = np.argsort(rank, axis=1, kind="stable")
        rank = np.take_along_axis(rank, order, axis=1)
        first = np.take_along_axis(first, order, axis=1)
        team = np.take_along_axis(team, order, axis=1)
        outcome = np.where(rank[:, :-1] < rank[:, 1:], np.int8(WIN), np.int8(DRAW)).ravel()
        race = np.arange(1, games + 1, dtype=np.int32)
    return SidesOfGames(
        event=np.repeat(np.arange(games), sides - 1),
        white=first[:, :-1].ravel(),
        black=first[:, 1:].ravel(),
        white_team=team[:, :-1].ravel(),
        black_team=team[:, 1:].ravel(),
        outcome=outcome,
        race=np.repeat(race, sides - 1),
        teams=teams,
    )
