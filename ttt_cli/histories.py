"""How a quantity of a player runs through time: at the periods with games, between them, and after the last."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array

Nodes = NDArray[np.integer]
Numbers = Array | NDArray[np.integer]


class Curve(NamedTuple):
    """How skills change by themselves: of all players alike, with the years since their first period.

    After a years the mean has changed by D(a) = growth (1 - e^(-a / growth_years)) - decline max(0, a - decline_after)
    points, and the variance by what it changes in A(a) = a + early early_years (1 - e^(-a / early_years)) years of a
    walk. From any moment on the rest of a curve is a curve again.
    """

    growth: float | Array = 0.0
    growth_years: float | Array = 3.0
    decline: float | Array = 0.0
    decline_after: float | Array = 15.0
    early: float | Array = 0.0
    early_years: float | Array = 3.0

    def change(self, years: Numbers) -> Array:
        """D, points."""
        grown: Array = -self.growth * np.expm1(-years / self.growth_years)
        return grown - self.decline * np.maximum(years - self.decline_after, 0.0)

    def clock(self, years: Numbers) -> Array:
        """A, years."""
        passed: Array = years - self.early * self.early_years * np.expm1(-years / self.early_years)
        return passed

    def after(self, years: float | Array) -> "Curve":
        """The rest of it, so many years later."""
        return self._replace(
            growth=self.growth * np.exp(-years / self.growth_years),
            decline_after=np.maximum(self.decline_after - years, 0.0),
            early=self.early * np.exp(-years / self.early_years),
        )

    def by(self, steps: float) -> "Curve":
        """The same in units of time of which so many make a year."""
        growth_years, decline_after, early_years = (
            steps * years for years in (self.growth_years, self.decline_after, self.early_years)
        )
        return Curve(self.growth, growth_years, self.decline / steps, decline_after, self.early, early_years)


STEADY: Final = Curve()  # nothing happens by itself


class Bridge(NamedTuple):
    """The way from nodes to the next ones of their players or, after the last, through one year; shape (bridges,).

    After a share s of it the mean has changed by `slope` s and the variance by `rise` s + `bend` s^2, but the sd is at
    most `most`. Where there is a `prior` sd, this is the variance before the prior is taken in; with a `centre` as
    well, the mean is drawn to it as the prior gains weight. NaN: there is none. With a `curve` shares are those of its
    clock, and its change of the mean comes on top.
    """

    slope: Array
    rise: Array
    bend: Array
    most: float = np.nan
    prior: float = np.nan
    centre: float = np.nan
    curve: Curve = STEADY


def idle_walk(drift: Array) -> Bridge:
    """A year in which nothing is learned: the variance grows by `drift` squared; shape (nodes,)."""
    return Bridge(np.zeros(len(drift)), drift**2, np.zeros(len(drift)))


@dataclass(frozen=True)
class Walk:
    """A smoothed Gaussian random walk: what is believed at each node given all games; arrays of shape (nodes,).

    `covariance` is that with the player's node before (of no meaning at the first), `drift` the sd of the change over
    one year (one number, or one per node: that after it), `curve` what is left of the player's at each node.
    """

    mean: Array
    sd: Array
    covariance: Array
    drift: float | Array
    curve: Curve = STEADY

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:
        """What is believed between two uncertain ends, so many years apart."""
        curve = curve_at(self.curve, earlier)
        walked = np.broadcast_to(self.drift, self.mean.shape)[earlier] ** 2 * curve.clock(years)
        change = bridge_of_walk(self.sd[earlier], self.sd[later], self.covariance[later], walked)
        slope = self.mean[later] - self.mean[earlier] - curve.change(years)
        return Bridge(slope, *change, curve=curve)

    def onward(self, last: Nodes) -> Bridge:
        """A year after the last nodes of players."""
        year = idle_walk(np.broadcast_to(self.drift, self.mean.shape)[last])
        return year._replace(curve=curve_at(self.curve, last))


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

    `before_mean`, `before_sd`: before the node's own games. In an idle year the variance grows by `drift` squared (one
    number, or one per node: the drift after it), the sd to no more than `ceiling`; `curve` as a `Walk` has it.
    `sd` is NaN in a system without uncertainty.
    """

    mean: Array
    sd: Array
    before_mean: Array
    before_sd: Array
    drift: float | Array
    ceiling: float = np.inf
    curve: Curve = STEADY

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:  # noqa: ARG002
        """The way from the earlier ends, which knows nothing of the later."""
        year = Filter.onward(self, earlier)
        return year._replace(rise=year.rise * year.curve.clock(years))

    def onward(self, last: Nodes) -> Bridge:
        """A year after nodes, of whose player nothing later is known."""
        year = idle_walk(np.broadcast_to(self.drift, self.mean.shape)[last])
        return year._replace(most=self.ceiling, curve=curve_at(self.curve, last))


Chain = Walk | Line | Filter


def curve_at(curve: Curve, nodes: Nodes) -> Curve:
    """The curves of some nodes, where each has its own."""
    return Curve(*(part[nodes] if isinstance(part, np.ndarray) else part for part in curve))


def bridge_of_walk(sd: Array, later_sd: Array, covariance: Array, walked: Array) -> tuple[Array, Array]:
    """`rise` and `bend` of the variance between ends that know this much, with a walk of that variance between them."""
    before, after = sd**2, later_sd**2
    return walked - 2.0 * (before - covariance), before + after - 2.0 * covariance - walked
