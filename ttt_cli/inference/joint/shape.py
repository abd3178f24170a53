"""Which variables of a fit are one, and which are joined."""

from typing import Final

import numpy as np

from ttt_cli.arrays import Array, Ids, Mask
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.sparse.pattern import pattern_of

STIFF: Final = 1e-10  # of the largest variance: smaller steps are none, as the matrix would lose its digits


def beginnings(previous: Ids, variance: Array) -> Mask:
    """Which variables are not one with that before; `variance` is that of the step from there."""
    first = previous < 0
    return np.asarray(first | (variance > STIFF * variance.max(initial=0.0)))


def joint_chains(inference: Inference) -> Chains:
    """The steps of all variables: those of nodes, and of newcomers' mean by year if it moves."""
    return inference.newcomers.tied(inference.chains) if inference.newcomers else inference.chains


class Shape:
    """The joint Gaussian of a fit before any number is known.

    A player whose skill does not drift has one skill: variables without a step between them are a group.

    | name | shape | |
    |---|---|---|
    | group | (variables,) | of each variable |
    | offset | (variables,) | points that each is above the first of its group, by the means of the steps |
    | later | (steps,) | variables with a step from the one before |
    | first, second | (pairs,) | variables that games join, in the order of the kernels, then those that steps do |
    | pattern | | of groups: those that pairs join |
    """

    def __init__(self, inference: Inference) -> None:
        games, (_, previous, _, mean, variance) = inference.merged.games, joint_chains(inference)
        begins = beginnings(previous, variance)
        root = np.where(begins, np.arange(len(previous)), previous)
        self.offset = np.where(begins, 0.0, mean)
        while (further := root[root] != root).any():
            self.offset[further] += self.offset[root[further]]
            root[further] = root[root[further]]
        firsts, self.group = np.unique(root, return_inverse=True)
        self.later = np.flatnonzero(begins & (previous >= 0))
        i, j = games.first, games.second
        pairs = [(i, j)]
        if "draw_margin" in inference.priors:
            a, b = (ends + len(inference.chains.previous) // 2 for ends in (i, j))
            pairs = [(i, j), (i, a), (i, b), (j, a), (j, b), (a, b)]
        ends = map(np.concatenate, zip(*pairs, (previous[self.later], self.later), strict=True))
        self.first, self.second = ends
        self.pattern = pattern_of(self.group[self.first], self.group[self.second], len(firsts))

    def total(self, values: Array) -> Array:
        """The sums over groups of what belongs to variables."""
        return np.bincount(self.group, values, len(self.pattern.place)).astype(np.float64)
