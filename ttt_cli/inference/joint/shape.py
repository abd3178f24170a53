"""Structure of the joint Gaussian of a fit: which variables there are, and which of them sites and steps join."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.gaussian.factor import Pattern, pattern_of
from ttt_cli.gaussian.precision import first_of, sums_of_games
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.support.arrays import Array, Ids, Mask, Places

STIFF: Final = 1e-10  # of the largest variance: smaller steps are none, as the matrix would lose its digits


@dataclass(frozen=True)
class Shape:
    """Structure of the joint Gaussian, without numbers.

    Consecutive variables form one group if the step between them has no variance: without drift a player has one skill.

    | name | shape | |
    |---|---|---|
    | group | (variables,) | group of each variable |
    | offset | (variables,) | sum of the steps' means from the group's first variable, points |
    | later | (steps,) | variables with a step from the previous one |
    | ends, u | | variables of each game, and the sums of them in its site (`link_entries`) |
    | pattern | | sparsity pattern of groups: pairs linked by games, in the order of the kernels, then by steps |
    """

    group: Places
    offset: Array
    later: Places
    ends: Sequence[NDArray[np.integer]]
    u: Array
    pattern: Pattern

    def total(self, values: Array) -> Array:
        """Sums of values (variables,) over groups."""
        return np.bincount(self.group, values, len(self.pattern.place)).astype(np.float64)


def shape_of(inference: Inference) -> Shape:
    """Structure of the joint Gaussian of a fit."""
    games = inference.merged.games
    chains = joint_chains(inference)
    previous = chains.previous
    begins = beginnings(previous, chains.variance)
    offset = np.where(begins, 0.0, chains.mean)
    first = first_of(np.where(begins, np.arange(len(previous)), previous), offset)
    firsts, group = np.unique(first, return_inverse=True)
    later = np.flatnonzero(begins & (previous >= 0))
    margins = len(inference.chains.previous) // 2 if "draw_margin" in inference.priors else 0
    ends, u = sums_of_games(games.first, games.second, margins)
    pairs = [*combinations(ends, 2), (previous[later], later)]
    one_end = np.concatenate([group[pair[0]] for pair in pairs])
    other_end = np.concatenate([group[pair[1]] for pair in pairs])
    return Shape(group, offset, later, ends, u, pattern_of(one_end, other_end, len(firsts)))


def beginnings(previous: Ids, variance: Array) -> Mask:
    """Mask of variables that start a group: without a previous one, or after a step of positive `variance`."""
    first = previous < 0
    return np.asarray(first | (variance > STIFF * variance.max(initial=0.0)))


def joint_chains(inference: Inference) -> Chains:
    """Chains of all variables: nodes, and newcomers' mean by year if it moves."""
    return inference.newcomers.tied(inference.chains) if inference.newcomers else inference.chains
