"""How a quantity of a player runs through time: at the periods with games, between them, and after the last."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array

Nodes = NDArray[np.integer]


class Bridge(NamedTuple):
    """The way from nodes to the next ones of their players or, after the last, through one year; shape (bridges,).

    After a share s of it the mean has changed by `slope` s and the variance by `rise` s + `bend` s^2, but the sd is at
    most `most`. Where there is a `prior` sd, this is the variance before the prior is taken in; with a `centre` as
    well, the mean is drawn to it as the prior gains weight. NaN: there is none.
    """

    slope: Array
    rise: Array
    bend: Array
    most: float = np.nan
    prior: float = np.nan
    centre: float = np.nan


def idle_walk(drift: Array, growth: float = 0.0) -> Bridge:
    """A year in which nothing is learned: the mean grows so much, the variance by `drift` squared; shape (nodes,)."""
    return Bridge(np.full(len(drift), growth), drift**2, np.zeros(len(drift)))


@dataclass(frozen=True)
class Walk:
    """A smoothed Gaussian random walk: what is believed at each node given all games; arrays of shape (nodes,).

    `covariance` is that with the player's node before (of no meaning at the first), `growth` and `drift` mean and sd of
    the change over one year (the drift one number, or one per node: that after it).
    """

    mean: Array
    sd: Array
    covariance: Array
    drift: float | Array
    growth: float = 0.0

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:
        """What is believed between two uncertain ends, so many years apart."""
        walked = np.broadcast_to(self.drift, self.mean.shape)[earlier] ** 2 * years
        change = bridge_of_walk(self.sd[earlier], self.sd[later], self.covariance[later], walked)
        return Bridge(self.mean[later] - self.mean[earlier], *change)

    def onward(self, last: Nodes) -> Bridge:
        """A year after the last nodes of players."""
        return idle_walk(np.broadcast_to(self.drift, self.mean.shape)[last], self.growth)


@dataclass(frozen=True)
class Line:
    """Ratings given at the nodes and joined by straight lines, and so are their sds (NaN where the system has none)."""

    mean: Array
    sd: Array

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:  # noqa: ARG002
        """The straight way between the ends, whatever the years."""
        change = self.sd[later] - self.sd[earlier]
        return Bridge(self.mean[later] - self.mean[earlier], 2.0 * self.sd[earlier] * change, change**2)

    def onward(self, last: Nodes) -> Bridge:
        """A year after the last nodes of players: the rating stands."""
        return idle_walk(np.zeros(len(last)))


@dataclass(frozen=True)
class Filter:
    """What is believed at each node after its games and those before; arrays of shape (nodes,).

    `before_mean`, `before_sd`: before the node's own games. In an idle year the mean grows by `growth` and the variance
    by `drift` squared (one number, or one per node: the drift after it), the sd to no more than `ceiling`.
    `sd` is NaN in a system without uncertainty.
    """

    mean: Array
    sd: Array
    before_mean: Array
    before_sd: Array
    drift: float | Array
    ceiling: float = np.inf
    growth: float = 0.0

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:  # noqa: ARG002
        """The way from the earlier ends, which knows nothing of the later."""
        year = Filter.onward(self, earlier)
        return year._replace(slope=year.slope * years, rise=year.rise * years)

    def onward(self, last: Nodes) -> Bridge:
        """A year after nodes, of whose player nothing later is known."""
        year = idle_walk(np.broadcast_to(self.drift, self.mean.shape)[last], self.growth)
        return year._replace(most=self.ceiling)


Chain = Walk | Line | Filter


def bridge_of_walk(sd: Array, later_sd: Array, covariance: Array, walked: Array) -> tuple[Array, Array]:
    """`rise` and `bend` of the variance between ends that know this much, with a walk of that variance between them."""
    before, after = sd**2, later_sd**2
    return walked - 2.0 * (before - covariance), before + after - 2.0 * covariance - walked
