"""The arrays of systems that take games in order, by what they belong to."""

from typing import NamedTuple

from ttt_cli.kernels.arrays import Flags, Index, Outcomes, Places, Vector


class Piece(NamedTuple):
    """Consecutive periods: where nodes and games begin, (periods + 1,); `goes_on`: a part of the first came before."""

    goes_on: bool
    node_start: Places
    game_start: Places


class Games(NamedTuple):
    """Rows of games by period, (games,).

    | name | unit | |
    |---|---|---|
    | white, black | | nodes |
    | outcome | | of White: 0 loss, 1 draw, 2 win |
    | weight | games | |
    | offset | points | added to White's rating |
    | either | points | that one of the two has besides, nobody knows which; 0 where there is no such doubt |
    | joined | | whether a row goes on with the match of the row before |
    """

    white: Index
    black: Index
    outcome: Outcomes
    weight: Vector
    offset: Vector
    either: Vector
    joined: Flags


class Steps(NamedTuple):
    """Mean and variance of the change since the player's node before, `previous`, points; at first the prior's."""

    previous: Index
    mean: Vector
    variance: Vector


class Beliefs(NamedTuple):
    """What is believed of nodes, (nodes,): mean, points, and variance, points^2."""

    mean: Vector
    variance: Vector


class Slopes(NamedTuple):
    """Of the log-likelihood of games in the nodes' ratings, (nodes,): its gradient and its information."""

    gradient: Vector
    information: Vector


class Expectation(NamedTuple):
    """How differences of ratings become expected scores and outcomes: by the draw margin, points."""

    margin: float
    normal: bool


class Factors(NamedTuple):
    """K: of new players, of those who have once reached the top rating, and of the others."""

    k: float
    k_new: float
    k_top: float
    new_games: float
    top_rating: float


class Careers(NamedTuple):
    """Ratings after the games of nodes, (nodes,), games played by then, and the highest rating so far."""

    rating: Vector
    played: Vector
    peak: Vector
