"""What systems with one number per player share: a rating at first, and outcomes by the difference alone."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ttt_cli.inference.params import ExpectedParams, PriorMean

Array = NDArray[np.float64]
Expectation = Annotated[
    Literal["logistic", "normal"],
    Field(description="how a rating difference becomes an expected score in the update"),
]


class RatingParams(ExpectedParams):
    """Elo points, and where players begin."""

    prior_mean: Annotated[
        PriorMean, Field(description="rating of a player at the first appearance, points")
    ] = 1500.0


def unknown_sd(nodes: int) -> Array:
    """The sds of a system without uncertainty, shape (nodes,): NaN."""
    return np.full(nodes, np.nan)
