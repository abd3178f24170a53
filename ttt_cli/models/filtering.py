"""What the filters share: beliefs before a period's games from those after the last."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ttt_cli.chains import Filter
from ttt_cli.timeline import Timeline

Array = NDArray[np.float64]


def gaussian_filter(
    timeline: Timeline,
    mean: Array,
    sd: Array,
    prior_mean: float,
    prior_sd: float,
    drift: float | Array,
    ceiling: float = np.inf,
) -> Filter:
    """The chain of beliefs `mean`, `sd` after each node's games; before them a player has what the last node left.

    Newcomers have the prior. `drift` is the sd of the change over one year, one number or one per node for the time
    after it; `ceiling` bounds the sd that idle years leave. `sd` may be NaN throughout.
    """
    previous = timeline.previous
    new = previous < 0
    last = np.broadcast_to(drift, mean.shape)[previous]
    grown = np.minimum(np.sqrt(sd[previous] ** 2 + last**2 * timeline.gap_years), ceiling)
    return Filter(
        mean=mean,
        sd=sd,
        before_mean=np.where(new, prior_mean, mean[previous]),
        before_sd=np.where(new, prior_sd, grown),
        drift=drift,
        ceiling=ceiling,
    )
