"""The Bradley-Terry model: likelihood of comparisons by differences of ratings.

Natural units, of 400 / ln 10 Elo points. At a difference x a comparison is won with probability 1 / (1 + exp(margin -
x)). Without a margin a score s is s comparisons won and 1 - s lost. With one, a win or a loss is one comparison and a
draw is one of each: the model of Rao and Kupper 1967, in which P(draw) = (exp(2 margin) - 1) P(win) P(loss).
"""

import math

from ttt_cli.kernels.arrays import Index, Vector
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
    """log(logistic(x))."""
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


@kernel
def compare(
    first: Index, second: Index, shift: Vector, won: Vector, lost: Vector, margin: float, rating: Vector,
    gradient: Vector, coupling: Vector, diagonal: Vector,
) -> float:  # fmt: skip
    """Add the comparisons' log-likelihood to `gradient` and `diagonal` (curvature); returns the log-likelihood.

    `won` and `lost` are weights of comparisons of `first`, with `shift` added to its rating, against `second`. Fills
    `coupling` with the curvature of each row: the Hessian is coupling - diagonal.
    """
    value = 0.0
    for g in range(len(first)):
        i = first[g]
        j = second[g]
        difference = rating[i] - rating[j] + shift[g]
        # Probabilities of the opposite results.
        up = logistic(margin - difference)
        down = logistic(margin + difference)
        value += won[g] * log_logistic(difference - margin) + lost[g] * log_logistic(
            -difference - margin
        )
        score = won[g] * up - lost[g] * down
        gradient[i] += score
        gradient[j] -= score
        coupling[g] = won[g] * up * (1.0 - up) + lost[g] * down * (1.0 - down)
        diagonal[i] += coupling[g]
        diagonal[j] += coupling[g]
    return value


@kernel
def drawn_matches(
    previous: Index, steps: Vector, ties: float, ground: Vector, rating: Vector, gradient: Vector,
    link_precision: Vector, node_precision: Vector,
) -> float:  # fmt: skip
    """Add the gradient of the drawn matches to `gradient`; returns their log-likelihood.

    Nodes are `steps` periods apart, with one match of `ties` games for each; ratings between nodes are on a straight
    line at the maximum and omitted. Fills `link_precision` with the curvature between neighbouring nodes. `ground`
    fixes the level of a connected group at one node, and is copied to `node_precision`.
    """
    value = 0.0
    for i in range(len(previous)):
        node_precision[i] = ground[i]
        value -= 0.5 * ground[i] * rating[i] * rating[i]
        gradient[i] -= ground[i] * rating[i]
        before = previous[i]
        if before < 0:
            link_precision[i] = 0.0
            continue
        step = (rating[i] - rating[before]) / steps[i]
        expected = logistic(step)
        value += 0.5 * ties * steps[i] * (log_logistic(step) + log_logistic(-step))
        score = ties * (0.5 - expected)
        gradient[i] += score
        gradient[before] -= score
        link_precision[i] = ties / steps[i] * expected * (1.0 - expected)
    return value


@kernel
def wiener(
    previous: Index, mean: Vector, variance: Vector, virtual: float, rating: Vector, gradient: Vector,
    link_precision: Vector, node_precision: Vector,
) -> float:  # fmt: skip
    """Add the gradient of the histories' log density to `gradient`; returns the density, unnormalised at first nodes.

    First nodes have `virtual` comparisons won and as many lost against a rating of 0; `mean` and `variance` are those
    of the change since the previous node. Fills `link_precision` with the curvature of steps, `node_precision` with
    that of virtual games.
    """
    value = 0.0
    for i in range(len(previous)):
        node_precision[i] = 0.0
        link_precision[i] = 0.0
        before = previous[i]
        if before < 0:
            score = logistic(rating[i])
            value += virtual * (log_logistic(rating[i]) + log_logistic(-rating[i]))
            gradient[i] += virtual * (1.0 - 2.0 * score)
            node_precision[i] = 2.0 * virtual * score * (1.0 - score)
        else:
            change = rating[i] - rating[before] - mean[i]
            value -= 0.5 * (change * change / variance[i] + math.log(2.0 * math.pi * variance[i]))
            gradient[i] -= change / variance[i]
            gradient[before] += change / variance[i]
            link_precision[i] = 1.0 / variance[i]
    return value
