"""What is believed of a quantity of the players before any game: a chain of Gaussian steps for each, as arrays.

The one place where parameters become priors. A new prior is a class like `RandomWalk` in a module of its own; the
parameters that it takes say so (`PlayParams.skill_prior`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.histories import STEADY, Chain, Curve, Filter, Walk
from ttt_cli.timeline import Timeline

if TYPE_CHECKING:
    from ttt_cli.inference.newcomers import Newcomers


class Prior(Protocol):
    """The chains of one quantity; `origin`: whence means are counted; `newcomers`: what first nodes have in common."""

    origin: float
    newcomers: Newcomers | None

    def steps(self) -> tuple[Array, Array]:
        """Mean and variance (nodes,) of the change since the player's node before; of first nodes, of the quantity."""

    def gradient(self, by_mean: Array, by_variance: Array) -> dict[str, float]:
        """The gradient of something in the parameters but `origin`, from that in the `steps`."""

    def history(self, mean: Array, sd: Array, covariance: Array) -> Chain:
        """The chain of what is believed at the nodes, points; `covariance` is that with the player's node before."""

    def filtered(self, mean: Array, sd: Array) -> Filter:
        """The chain of what is believed after each node's games, points, and before them by what the last node left."""


class RandomWalk:
    """N(`origin`, `sd`^2) at the first node, then a step of mean 0 and variance `drift`^2 for every year.

    `drift` is one number, or one per node: that of the time after it. `names` are the parameters that `sd` and `drift`
    are. A filter's sd grows to no more than `ceiling`. `curve` is what skills still do by themselves after each
    node, for priors that are made of this one.
    """

    curve: Curve = STEADY
    newcomers: Newcomers | None = None

    def __init__(
        self,
        timeline: Timeline,
        origin: float,
        sd: float,
        drift: float | Array,
        names: tuple[str, str] = ("prior_sd", "tau"),
        ceiling: float = np.inf,
    ) -> None:
        self.origin, self.ceiling, self._sd, self._drift, self._names = origin, ceiling, sd, drift, names
        self._previous, self._years = timeline.previous, timeline.gap_years

    def steps(self) -> tuple[Array, Array]:
        """No change on average."""
        drift = np.broadcast_to(self._drift, self._years.shape)[self._previous]
        variance = np.where(self._previous < 0, self._sd**2, drift**2 * self._years)
        return np.zeros(len(variance)), variance

    def gradient(self, by_mean: Array, by_variance: Array) -> dict[str, float]:  # noqa: ARG002
        """In `sd` and `drift`."""
        sd, drift = self._names
        return {
            sd: 2.0 * self._sd * float(by_variance[self._previous < 0].sum()),
            drift: 2.0 * float(self._drift * self._years @ by_variance),
        }

    def history(self, mean: Array, sd: Array, covariance: Array) -> Chain:
        """A walk that goes on as it was."""
        return Walk(mean=mean, sd=sd, covariance=covariance, drift=self._drift, curve=self.curve)

    def filtered(self, mean: Array, sd: Array) -> Filter:
        """Every step, and after the last node as the walk goes on; `sd` may be NaN throughout."""
        change, variance = self.steps()
        first, previous = self._previous < 0, self._previous
        return Filter(
            mean=mean,
            sd=sd,
            before_mean=change + np.where(first, self.origin, mean[previous]),
            before_sd=np.minimum(np.sqrt(variance + np.where(first, 0.0, sd[previous] ** 2)), self.ceiling),
            drift=self._drift,
            ceiling=self.ceiling,
            curve=self.curve,
        )


def prior_slopes(priors: Mapping[str, Prior], by_mean: Array, by_variance: Array) -> dict[str, float]:
    """The gradient in the parameters of all priors, from that in the steps of all variables."""
    found: dict[str, float] = {}
    parts = np.split(np.array([by_mean, by_variance]), len(priors), axis=1)
    for prior, part in zip(priors.values(), parts, strict=True):
        found |= prior.gradient(*part)
    return found
