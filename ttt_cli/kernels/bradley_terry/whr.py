"""Whole-History Rating: the Wiener process and the virtual games of a player (Coulom 2008, sections 2.4 and 4.1)."""

import math

from ttt_cli.kernels.arrays import Index, Vector
from ttt_cli.kernels.bradley_terry.likelihood import log_logistic, logistic
from ttt_cli.kernels.compile import kernel


@kernel
def wiener(
    previous: Index,
    mean: Vector,
    variance: Vector,
    virtual: float,
    rating: Vector,
    gradient: Vector,
    link_precision: Vector,
    own: Vector,
) -> float:
    """Add that of the log density of all histories to `gradient`; returns the density, not normalised at the start.

    A history begins with `virtual` comparisons won and as many lost against a rating of 0; `mean` and `variance` are
    those of the change since the node before. Fills `link_precision` with the curvature between a node and the one
    before, `own` with that of the virtual games.
    """
    value = 0.0
    for i in range(len(previous)):
        own[i] = 0.0
        link_precision[i] = 0.0
        before = previous[i]
        if before < 0:
            score = logistic(rating[i])
            value += virtual * (log_logistic(rating[i]) + log_logistic(-rating[i]))
            gradient[i] += virtual * (1.0 - 2.0 * score)
            own[i] = 2.0 * virtual * score * (1.0 - score)
        else:
            change = rating[i] - rating[before] - mean[i]
            value -= 0.5 * (change * change / variance[i] + math.log(2.0 * math.pi * variance[i]))
            gradient[i] -= change / variance[i]
            gradient[before] += change / variance[i]
            link_precision[i] = 1.0 / variance[i]
    return value
