"""What systems with one number per player share: a rating at first, and outcomes by the difference alone."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ttt_cli.arrays import Array
from ttt_cli.histories import Filter
from ttt_cli.inference.params import ExpectedParams, PriorMean
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.timeline import Timeline

Expectation = Annotated[
    Literal["logistic", "normal"],
    Field(description="how a rating difference becomes an expected score in the update"),
]


class RatingParams(ExpectedParams):
    """Elo points, and where players begin."""

    prior_mean: PriorMean = Field(
        default=1500.0, description="rating of a player at the first appearance, points"
    )

    def filtered(self, timeline: Timeline, rating: Array) -> Filter:
        """The chain of ratings after the nodes' games, which stand until the next."""
        return RandomWalk(timeline, self.prior_mean, np.nan, 0.0).filtered(rating, unknown_sd(len(rating)))


def unknown_sd(nodes: int) -> Array:
    """The sds of a system without uncertainty, shape (nodes,): NaN."""
    return np.full(nodes, np.nan)
