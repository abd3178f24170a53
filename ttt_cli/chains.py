"""How a quantity of a player runs through time, at the periods with games and between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Nodes = NDArray[np.integer]


@dataclass(frozen=True)
class Walk:
    """A smoothed Gaussian random walk: what is believed at each node given all games; arrays of shape (nodes,).

    `covariance` is that with the player's node before (of no meaning at the first), `drift` the sd of the change over
    one year.
    """

    mean: Array
    sd: Array
    covariance: Array
    drift: float

    def between(self, earlier: Nodes, later: Nodes, gone: Array, left: Array) -> tuple[Array, Array]:
        """Mean and sd so many years after one node and before the next: the bridge between two uncertain ends."""
        share = gone / (gone + left)
        rest = 1.0 - share
        variance = (
            (rest * self.sd[earlier]) ** 2
            + (share * self.sd[later]) ** 2
            + 2.0 * share * rest * self.covariance[later]
            + self.drift**2 * left * share
        )
        return rest * self.mean[earlier] + share * self.mean[later], np.sqrt(variance)


@dataclass(frozen=True)
class Line:
    """Ratings given at the nodes and joined by straight lines, and so are their sds (NaN where the system has none)."""

    mean: Array
    sd: Array

    def between(self, earlier: Nodes, later: Nodes, gone: Array, left: Array) -> tuple[Array, Array]:
        """Mean and sd so many years after one node and before the next."""
        share = gone / (gone + left)
        rest = 1.0 - share
        return (
            rest * self.mean[earlier] + share * self.mean[later],
            rest * self.sd[earlier] + share * self.sd[later],
        )


@dataclass(frozen=True)
class Filter:
    """What is believed at each node after its games and those before; arrays of shape (nodes,).

    `before_mean`, `before_sd`: before the node's own games. An idle player keeps the mean while the variance grows by
    `drift` squared a year (one number, or one per node: the drift after it), the sd to no more than `ceiling`.
    `sd` is NaN in a system without uncertainty.
    """

    mean: Array
    sd: Array
    before_mean: Array
    before_sd: Array
    drift: float | Array
    ceiling: float = np.inf

    def between(self, earlier: Nodes, later: Nodes, gone: Array, left: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """Mean and sd so many years after one node and before the next."""
        drift = np.broadcast_to(self.drift, self.mean.shape)[earlier]
        return self.mean[earlier], np.minimum(np.sqrt(self.sd[earlier] ** 2 + drift**2 * gone), self.ceiling)


Chain = Walk | Line | Filter
