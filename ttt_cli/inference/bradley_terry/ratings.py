"""What the Bradley-Terry systems share: how certain their ratings are, where to start, and what they predict."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ttt_cli.arrays import Array
from ttt_cli.fitted import Fit
from ttt_cli.inference.bradley_terry.newton import Posterior
from ttt_cli.timeline import Timeline

Deviations = Annotated[
    Literal["exact", "own"],
    Field(description="exact, or own: opponents taken as known, which is quicker and too sure"),
]


def started_ratings(timeline: Timeline, start: Fit | None) -> Array:
    """Ratings (nodes,), natural units, to begin with: those of a fit of the same timeline or of its beginning, else 0.

    A node that the earlier fit did not know has the rating of the player's node before.
    """
    rating = np.zeros(timeline.n_nodes)
    earlier = None if start is None else start.state.get("rating")
    if earlier is not None and len(earlier) <= len(rating):
        rating[: len(earlier)] = earlier
        for i, before in enumerate(timeline.previous[len(earlier) :].tolist(), len(earlier)):
            rating[i] = rating[before] if before >= 0 else 0.0
    return rating


def own_deviations(posterior: Posterior, diagonal: Array) -> tuple[Array, Array]:
    """Variances (nodes,) and covariances with the node before, natural units, as if all others were known.

    `diagonal` is the curvature but for the links between the nodes of one player.
    """
    from ttt_cli.kernels.bradley_terry.likelihood import own_variances

    with np.errstate(divide="ignore"):
        link_variance = 1.0 / posterior.link_precision
    variance, covariance = np.empty_like(diagonal), np.empty_like(diagonal)
    own_variances(posterior.previous, link_variance, diagonal, variance, covariance)
    return variance, covariance
