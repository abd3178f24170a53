"""Structure of the joint Gaussian of a fit: which variables there are, and which of them sites and steps join."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ttt_cli.gaussian.factor import Pattern, pattern_of
from ttt_cli.gaussian.precision import sums_from_first
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.joint.links import sums_of_links
from ttt_cli.inference.joint.pairs import SiteSums, site_sums
from ttt_cli.inference.links import VariablePairs
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.support.arrays import Array, Ids, Mask, Places

# Part of the largest variance: smaller steps are taken for none, as the matrix would lose its digits
STIFF: Final = 1e-10


@dataclass(frozen=True)
class Shape:
    """Structure of the joint Gaussian, without numbers.

    Consecutive variables form one group if the step between them has no variance: without drift a player has one skill.

    | name | shape | |
    |---|---|---|
    | group | (variables,) | group of each variable |
    | offset | (variables,) | sum of the steps' means from the group's first variable, points |
    | later | (steps,) | variables with a step from the previous one |
    | sums | | what is in the site of each game between two players |
    | pattern | | sparsity pattern of groups: pairs of variables that sites join, by kind of games, then pairs with a |
    | | | covariance that is reported, then steps |
    """

    group: Places
    offset: Array
    later: Places
    sums: SiteSums
    pattern: Pattern

    def total(self, values: Array) -> Array:
        """Sums of values (variables,) over groups."""
        return np.bincount(self.group, values, len(self.pattern.column_of)).astype(np.float64)


def shape_of(inference: Inference) -> Shape:
    """Structure of the joint Gaussian of a fit."""
    chains = joint_chains(inference)
    previous = chains.previous
    begins = beginnings(previous, chains.variance)
    step_in_group = np.where(begins, 0.0, chains.mean)
    before = np.where(begins, np.arange(len(previous)), previous)
    first, offset = sums_from_first(before, step_in_group)
    firsts, group = np.unique(first, return_inverse=True)
    later = np.flatnonzero(begins & (previous >= 0))
    sums = site_sums(inference)
    pairs = [*sums.pairs, VariablePairs(previous[later], later)]
    if inference.slice_state.links:
        of_links = sums_of_links(inference.slice_state.links.rows).pairs()
        pairs.insert(-1, VariablePairs(of_links.first, of_links.second))
        pairs.insert(-1, inference.slice_state.links.reported)
    first_groups = np.concatenate([group[pair.first] for pair in pairs])
    second_groups = np.concatenate([group[pair.second] for pair in pairs])
    return Shape(group, offset, later, sums, pattern_of(first_groups, second_groups, len(firsts)))


def beginnings(previous: Ids, variance: Array) -> Mask:
    """Mask of variables that start a group: without a previous one, or after a step of positive `variance`."""
    first = previous < 0
    return np.asarray(first | (variance > STIFF * largest_variance(variance)))


def largest_variance(variance: Array) -> float:
    """The largest variance of a step or prior; performances have none."""
    return float(variance.max(initial=0.0, where=np.isfinite(variance)))


def joint_chains(inference: Inference) -> Chains:
    """Chains of all variables: nodes, extra ones of links, and newcomers' mean by year if it moves."""
    return inference.newcomers.tied(inference.chains) if inference.newcomers else inference.chains
