"""Ratings from weighted differences, by conjugate gradients: what pools that hang together by few games need."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ttt_cli.arrays import Array, Ids

Members = Ids


@dataclass(frozen=True)
class Pairs:
    """Members `first` and `second` (pairs,) compared with a `weight` > 0; `group` (members,): those that pairs join."""

    first: Members
    second: Members
    weight: Array
    group: Members

    @classmethod
    def among(cls, members: int, first: Members, second: Members, weight: Array) -> Self:
        """Pairs among so many members, their groups found."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        if not members:
            return cls(first, second, weight, np.zeros(0, np.int32))
        graph = coo_array((np.ones(len(first)), (first, second)), shape=(members, members))
        return cls(first, second, weight, connected_components(graph, directed=False)[1].astype(np.int32))

    def weighing(self, weight: Array) -> Self:
        """The same pairs with other weights."""
        return replace(self, weight=weight)

    def to_members(self, values: Array) -> Array:
        """Sums of a quantity per pair over each member's pairs: for the first as it is, for the second negative."""
        n = len(self.group)
        total = np.bincount(self.first, values, n) - np.bincount(self.second, values, n)
        return total.astype(np.float64)


def level(values: Array, weights: Array, group: Members) -> Array:
    """`values` less the weighted mean of their group; weights > 0."""
    mean: Array = np.bincount(group, weights * values) / np.bincount(group, weights)
    return values - mean[group]


def balance(pairs: Pairs, score: Array, accuracy: float, max_steps: int) -> tuple[Array, bool]:
    """Ratings r with, for each member i, the sum over its pairs of weight (r_i - r_j) equal to its score, groups at 0.

    Returns whether moves that members would still make, each alone, are by `accuracy` smaller (as a norm) than before.
    """
    from ttt_cli.kernels.scores.elo_historical import advance, settle_alone

    n = len(pairs.group)
    ends = np.concatenate([pairs.first, pairs.second])
    weights = np.bincount(ends, np.tile(pairs.weight, 2), n).astype(np.float64)
    scale = np.where(weights > 0.0, weights, 1.0)
    group_weight = np.bincount(pairs.group, scale).astype(np.float64)
    mean = np.empty(len(group_weight))
    rating, residual, z, ap = np.zeros(n), score.astype(np.float64), np.empty(n), np.empty(n)
    rz = settle_alone(residual, scale, pairs.group, group_weight, mean, z)
    enough = accuracy**2 * rz
    p, steps = z.copy(), 0
    while rz > enough and steps < max_steps:
        advance(pairs.first, pairs.second, pairs.weight, rz, p, ap, rating, residual)
        before = rz
        rz = settle_alone(residual, scale, pairs.group, group_weight, mean, z)
        p = z + (rz / before) * p
        steps += 1
    return level(rating, scale, pairs.group), rz <= enough
