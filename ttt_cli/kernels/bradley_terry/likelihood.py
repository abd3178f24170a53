"""The Bradley-Terry model: what comparisons say about differences of ratings.

Natural units, of 400 / ln 10 Elo points. At the difference x one is won with probability 1 / (1 + exp(margin - x)).
Without a margin a game scored s is s comparisons won and 1 - s lost. With one, a win or a loss is one comparison and a
draw is one of each: the model of Rao and Kupper 1967, in which P(draw) = (exp(2 margin) - 1) P(win) P(loss).
"""

import math

import numpy as np

from ttt_cli.kernels.compile import inner, kernel


@inner
def logistic(x):
    """1 / (1 + exp(-x))."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


@inner
def log_logistic(x):
    """The logarithm of `logistic`."""
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


@kernel(
    "float64(int32[::1], int32[::1], float64[::1], float64[::1], float64[::1], float64, float64[::1], "
    "float64[::1], float64[::1], float64[::1])"
)
def compare(first, second, shift, won, lost, margin, rating, gradient, coupling, diagonal):
    """Add the slopes of the comparisons' log-likelihood to `gradient` and their curvatures to `diagonal`.

    `won` and `lost` are weights of comparisons of `first`, whose rating has `shift` added, with `second`. Fills
    `coupling` with the curvature of each row, so that the Hessian is coupling - diagonal; returns the log-likelihood.
    """
    value = 0.0
    for g in range(len(first)):
        i, j = first[g], second[g]
        difference = rating[i] - rating[j] + shift[g]
        # Chances of what did not happen.
        up, down = logistic(margin - difference), logistic(margin + difference)
        value += won[g] * log_logistic(difference - margin) + lost[g] * log_logistic(-difference - margin)
        score = won[g] * up - lost[g] * down
        gradient[i] += score
        gradient[j] -= score
        coupling[g] = won[g] * up * (1.0 - up) + lost[g] * down * (1.0 - down)
        diagonal[i] += coupling[g]
        diagonal[j] += coupling[g]
    return value


@kernel("void(int32[::1], float64[::1], float64[::1], float64[::1], float64[::1])")
def own_variances(previous, link_variance, diagonal, variance, covariance):
    """Fill variances of each player's ratings and covariances with the node before, all others known (Coulom 2008).

    `diagonal` is the information but for the links between the player's nodes.
    """
    n = len(previous)
    filtered = np.empty(n)  # precision by the nodes up to this one
    coming = np.zeros(n)  # precision by the nodes after it
    for i in range(n):
        before = previous[i]
        filtered[i] = diagonal[i]
        if before >= 0:
            filtered[i] += filtered[before] / (1.0 + link_variance[i] * filtered[before])
    for i in range(n - 1, -1, -1):
        variance[i] = 1.0 / (filtered[i] + coming[i])
        covariance[i] = 0.0
        before = previous[i]
        if before >= 0:
            covariance[i] = variance[i] / (1.0 + link_variance[i] * filtered[before])
            later = diagonal[i] + coming[i]
            coming[before] = later / (1.0 + link_variance[i] * later)
