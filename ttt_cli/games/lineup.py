"""Who stands on the sides of games: two players, or with teams and orders of finish any number of members."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ttt_cli.games.table import Games, Records
from ttt_cli.support.arrays import Array, Ids, Mask, Places


class Members(NamedTuple):
    """Members of the sides of games between teams and in orders of finish, (members,) each.

    They are sorted by game, then side: White's before Black's. A side of one player has that one here, too.

    | name | |
    |---|---|
    | game | row of the game |
    | is_black | whether the member is on Black's side |
    | node | node of the player |
    | share | of the game that the member played |
    """

    game: Places
    is_black: Mask
    node: Ids
    share: Array

    def of_games(self, games: slice | Mask, n_games: int) -> Members | None:
        """The members in some of so many games, numbered anew; None where they have no teams."""
        row = np.arange(n_games)[games]
        number = np.full(n_games, -1, np.int64)
        number[row] = np.arange(len(row))
        game = number[self.game]
        is_there = game >= 0
        if not is_there.any():
            return None
        return Members(
            game[is_there], self.is_black[is_there], self.node[is_there], self.share[is_there]
        )

    def mask_of_games(self, n_games: int) -> Mask:
        """Mask (games,) of those of so many games that are between teams or part of an order of finish."""
        has_members = np.zeros(n_games, np.bool_)
        has_members[self.game] = True
        return has_members

    def shares_of_sides(self, n_games: int) -> Array:
        """The shares of members in the sum of those of their sides, (members,), in so many games."""
        side = 2 * self.game + self.is_black
        shares: Array = self.share / np.bincount(side, self.share, 2 * n_games)[side]
        return shares

    def sums(self, values: Array, n_games: int) -> Array:
        """Sums of values of members, (games, 2): of White's and of Black's side."""
        side = 2 * self.game + self.is_black
        sums: Array = np.bincount(side, values, 2 * n_games).astype(np.float64)
        return sums.reshape(n_games, 2)


NO_MEMBERS: Final = Members(
    np.empty(0, np.int64), np.empty(0, np.bool_), np.empty(0, np.int32), np.empty(0)
)


def games_of_nodes(
    white: Ids, black: Ids, weight: Array, members: Members | None, n_nodes: int
) -> Array:
    """Weighted games (nodes,) of nodes."""
    of_two = weight
    if members is not None:
        of_two = weight.copy()
        of_two[members.game] = 0.0
    node_games: Array = np.bincount(white, of_two, n_nodes).astype(np.float64)
    node_games += np.bincount(black, of_two, n_nodes)
    if members is not None:
        node_games += np.bincount(members.node, weight[members.game], n_nodes)
    return node_games


class LineupMembers(NamedTuple):
    """Members of sides in a lineup, (members,) each, as in `Members`.

    | name | |
    |---|---|
    | game | row of the game |
    | is_black | whether the member is on Black's side |
    | share | of the game that the member played |
    | row | a row of the lineup in which the member is on the same side |
    """

    game: Places
    is_black: Mask
    share: Array
    row: Places


class Lineup(NamedTuple):
    """Who meets in the rows that are laid out: a row a game, or with teams as many as the larger side has members.

    | name | shape | |
    |---|---|---|
    | row_start | (periods + 1,) | the first row of each period |
    | white, black | (rows,) | players |
    | weight | (rows,) | of the game |
    | first_row | (games,) | the first row of each game; None: rows are games |
    | of_members | | members of sides, None without any |
    """

    row_start: Places
    white: Ids
    black: Ids
    weight: Array
    n_players: int
    first_row: Places | None = None
    of_members: LineupMembers | None = None


def find_lineup(games: Games, game_start: Places) -> Lineup:
    """The lineup of games. Of a team with fewer members than its opponents the last member is repeated."""
    if not games.has_sums:
        return Lineup(game_start, games.white, games.black, games.weight, len(games.players))
    size_of_team = np.maximum(games.teams.size, 1)
    rows_of_game = np.maximum(size_of_team[games.white_team], size_of_team[games.black_team])
    first_row = np.append(0, np.cumsum(rows_of_game))
    game = np.repeat(np.arange(len(games)), rows_of_game)
    number = np.arange(len(game)) - first_row[game]  # of the row within its game
    white = _side_of_rows(games, games.white[game], games.white_team[game], number)
    black = _side_of_rows(games, games.black[game], games.black_team[game], number)
    has_sums = ((games.white_team > 0) | (games.black_team > 0) | (games.race > 0))[game]
    row_of_white = np.flatnonzero(has_sums & white.is_member)
    row_of_black = np.flatnonzero(has_sums & black.is_member)
    row = np.concatenate([row_of_white, row_of_black])
    is_black = np.repeat([False, True], [len(row_of_white), len(row_of_black)])
    share = np.concatenate([white.share[row_of_white], black.share[row_of_black]])
    order = np.lexsort((row, is_black, game[row]))
    return Lineup(
        row_start=first_row[game_start],
        white=white.player,
        black=black.player,
        weight=games.weight[game],
        n_players=len(games.players),
        first_row=first_row[:-1],
        of_members=LineupMembers(game[row[order]], is_black[order], share[order], row[order]),
    )


class _SideOfRows(NamedTuple):
    """A side in the rows of a lineup, (rows,) each.

    | name | |
    |---|---|
    | player | |
    | share | of the game that the player played |
    | is_member | whether the row is the first one with this player, who is repeated after the last member |
    """

    player: Ids
    share: Array
    is_member: Mask


def _side_of_rows(games: Games, first_player: Ids, team: Ids, number: Places) -> _SideOfRows:
    """A side by its first player, its team and the number of the row within the game, (rows,) each."""
    teams = games.teams
    size = np.maximum(teams.size[team], 1)
    has_team = team > 0
    if not has_team.any():
        return _SideOfRows(first_player.astype(np.int32), np.ones(len(team)), number < size)
    member = np.where(has_team, teams.start[team] + np.minimum(number, size - 1), 0)
    player = np.where(has_team, teams.player[member], first_player).astype(np.int32)
    share = np.where(has_team, teams.share[member], 1.0)
    return _SideOfRows(player, share, number < size)


class FurtherMembers(NamedTuple):
    """Members of teams but the first, who stand in `Games.white` or `Games.black`; (members,) each.

    | name | |
    |---|---|
    | game | row of the game |
    | is_black | whether the member is on Black's side |
    | player | |
    """

    game: Places
    is_black: Mask
    player: Ids


def further_members(games: Games | Records) -> FurtherMembers:
    """The members of teams but the first: White's of all games, then Black's."""
    teams = games.teams
    parts = []
    for is_black, team in enumerate((games.white_team, games.black_team)):
        with_team = np.flatnonzero(team)
        first = teams.start[team[with_team]] + 1
        count = teams.size[team[with_team]] - 1
        game = np.repeat(with_team, count)
        number = np.arange(len(game)) - np.repeat(np.cumsum(count) - count, count)
        player = teams.player[np.repeat(first, count) + number]
        parts.append(FurtherMembers(game, np.full(len(game), bool(is_black)), player))
    white, black = parts
    return FurtherMembers(
        np.concatenate([white.game, black.game]),
        np.concatenate([white.is_black, black.is_black]),
        np.concatenate([white.player, black.player]),
    )


class Meetings(NamedTuple):
    """Pairs of players who met in a game, (meetings,) each."""

    white: Ids
    black: Ids


def meetings(games: Games) -> Meetings:
    """Pairs that link all players of a game: the first ones of both sides, and further members with the other side."""
    if len(games.teams) == 1:
        return Meetings(games.white, games.black)
    further = further_members(games)
    opponent = np.where(further.is_black, games.white[further.game], games.black[further.game])
    return Meetings(
        np.concatenate([games.white, further.player]), np.concatenate([games.black, opponent])
    )


def members_in(lineup: Lineup, white_node: Ids, black_node: Ids) -> Members | None:
    """Members of sides with their nodes; `white_node` and `black_node` (rows,) are those of the lineup."""
    if lineup.of_members is None:
        return None
    game, is_black, share, row = lineup.of_members
    node = np.where(is_black, black_node[row], white_node[row])
    return Members(game, is_black, node, share)
