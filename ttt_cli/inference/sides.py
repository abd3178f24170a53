"""Sides of several players: how members count, and what chances sides have."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ttt_cli.games.lineup import Members
from ttt_cli.support.arrays import Array

TeamSkill = Literal["sum", "mean"]  # how the members' skills make that of a side


class MemberWeights(NamedTuple):
    """How members count in their sides.

    | name | shape | |
    |---|---|---|
    | coefficient | (members,) | of the member's skill in the sum |
    | players | (2 games,) | how many players' noise each side has, n: White's of each game, then Black's |
    """

    coefficient: Array
    players: Array


def member_weights(members: Members, n_games: int, team: TeamSkill) -> MemberWeights:
    """The weights of members in so many games."""
    side = 2 * members.game + members.is_black
    if team == "sum":
        coefficient = members.share
        players = np.bincount(side, coefficient**2, 2 * n_games)
    else:
        coefficient = members.shares_of_sides(n_games)
        players = np.minimum(np.bincount(side, minlength=2 * n_games), 1)
    return MemberWeights(coefficient, players.astype(np.float64))


class SidesAsPlayers(NamedTuple):
    """Sides of games as two players of one game who have the same chances.

    | name | shape | unit | |
    |---|---|---|---|
    | mean, sd | (games, 2) | points | of White's side and of Black's |
    | scale | (games,) | | of a difference over that of two players: divide by it what else is added to skills |
    """

    mean: Array
    sd: Array
    scale: Array

    def added_to_first(self, points: Array, advantage: Array | float) -> Array:
        """What to add to the first side beside its advantage itself, points (games,).

        `points` are added to its skill in a game, and so is `advantage`, which predictions add undivided:
        (points + advantage) / scale - advantage.
        """
        added: Array = points / self.scale + (1.0 / self.scale - 1.0) * advantage
        return added


def sides_as_players(
    members: Members, mean: Array, sd: Array, n_games: int, team: TeamSkill
) -> SidesAsPlayers:
    """Sides of so many games, from independent beliefs about the members, (members,) each.

    With n players in a game, d has the noise n beta^2 and the margin eps sqrt(n / 2): all divided by sqrt(n / 2), it is
    a game of two. Games without members have 0 and a scale of 1.
    """
    weights = member_weights(members, n_games, team)
    players = weights.players.reshape(n_games, 2).sum(axis=1)
    scale = np.where(players > 0.0, np.sqrt(0.5 * players), 1.0)
    mean_of_side = members.sums(weights.coefficient * mean, n_games)
    variance_of_side = members.sums((weights.coefficient * sd) ** 2, n_games)
    by_scale = scale[:, np.newaxis]
    return SidesAsPlayers(mean_of_side / by_scale, np.sqrt(variance_of_side) / by_scale, scale)
