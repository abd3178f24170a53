"""What a slice of time is made of, wherever it is to be held."""

from dataclasses import dataclass
from typing import NamedTuple

from ttt_cli.arrays import Array, Ids, Mask, Places
from ttt_cli.inference.ep.levels import Elsewhere
from ttt_cli.kernels.ep.structures import Games


class Moving(NamedTuple):
    """What a slice needs where newcomers' mean moves: the sd of their skills around it, and steps to other slices."""

    sd: float
    past: Elsewhere
    future: Elsewhere


@dataclass(frozen=True)
class Piece:
    """A slice of time with its own numbers of nodes, 1 to n, and variables: node 0 and all nodes of every quantity.

    Node 0 stands for all nodes of earlier slices, what comes after the last of a quantity for those of later ones.

    | name | shape | unit | |
    |---|---|---|---|
    | number | | | of the slice, in the order of time |
    | year | (periods,) | | the place of each period's calendar year among all `years` of the timeline |
    | games, handicap | | | as `MergedGames` has them |
    | node_start | (periods + 1,) | | where the nodes of each period begin |
    | previous, following | (variables,) | | neighbours in the player's chain, -1 at its ends |
    | mean, variance | (variables,) | points, points^2 | of the step from the variable before, as `Chains` have it |
    | widest | (variables,) | points^2 | how uncertain each is before a game is seen |
    | chain | (variables,) | | the number of the chain; segments, which go on in other slices, come first |
    | first, last | (segments,) | | variables of each segment whose neighbours are elsewhere |
    | past, future | (segments,) | | whether there are such neighbours |
    | guess | (variables, 2) | | what is believed to begin with, as messages; None: nothing |
    | newcomers | | | None where their mean is the same in all years |
    """

    number: int
    year: Ids
    years: int
    games: Games
    handicap: Array
    node_start: Places
    previous: Ids
    following: Ids
    mean: Array
    variance: Array
    widest: Array
    chain: Ids
    first: Ids
    last: Ids
    past: Mask
    future: Mask
    guess: Array | None = None
    newcomers: Moving | None = None
