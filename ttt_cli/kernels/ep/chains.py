"""Messages along players' chains: a variable (skill or draw margin) of a node and the ones before and after it.

Every Gaussian message is a pair (precision, precision times mean) in a row of an array of shape (variables, 2):
`forward` from the past, `backward` from the future, `marginal` both and all sites.
"""

from __future__ import annotations

import math

import numpy as np

from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.indices import at, span

_ROWS = "float64[:, ::1]"


@inner
def drift(precision: float, weighted: float, variance: float) -> tuple[float, float]:
    """A message after a Gaussian step of that variance (TTT paper, section 3.2)."""
    shrink = 1.0 / (1.0 + variance * precision)
    return precision * shrink, weighted * shrink


@inner
def from_past(i, before, variance, prior_precision, backward, marginal):
    """The message to a variable from the one before it, or the prior."""
    if before < 0:
        return prior_precision, 0.0
    s = at(before)
    return drift(marginal[s, 0] - backward[s, 0], marginal[s, 1] - backward[s, 1], variance[i])


@inner
def from_future(after, variance, forward, marginal):
    """The message to a variable from the one after it, or nothing."""
    if after < 0:
        return 0.0, 0.0
    s = at(after)
    return drift(marginal[s, 0] - forward[s, 0], marginal[s, 1] - forward[s, 1], variance[s])


@inner
def receive(i, message, precision, weighted, marginal):
    """Put a new message in place of the one in `message`."""
    marginal[i, 0] += precision - message[i, 0]
    marginal[i, 1] += weighted - message[i, 1]
    message[i, 0] = precision
    message[i, 1] = weighted


@kernel(f"void(int32[::1], int32[::1], float64[::1], {_ROWS}, {_ROWS}, {_ROWS})")
def exchange(later, previous, variance, forward, backward, marginal):
    """Pass the messages between each variable of `later` and the one before it, both ways."""
    for k in range(len(later)):
        i = later[k]
        before = previous[i]
        past, past_weighted = from_past(i, before, variance, 0.0, backward, marginal)
        future, future_weighted = from_future(i, variance, forward, marginal)
        receive(i, forward, past, past_weighted, marginal)
        receive(before, backward, future, future_weighted, marginal)


_WAY = "int64, int64, boolean, int32[::1], float64[::1], float64[::1]"  # begin, end, back, source, variance, prior


@inner
def _root(i, back, prior_precision):
    """What a variable without a source is told: its prior where it is the first of its chain, else nothing."""
    return (0.0 if back else prior_precision[i]), 0.0


@kernel(f"void({_WAY}, {_ROWS}, {_ROWS})")
def inward(begin, end, back, source, variance, prior_precision, message, marginal):
    """Collect sites towards the other end of a range of variables, up or `back`; messages go into `message`.

    On entry `marginal` holds the sites alone, then what comes from the `source` too: the variable before, or the one
    after if `back`, a step of `variance` away. Nothing comes from sources beyond the range.
    """
    for step in range(end - begin):
        i = at(end - 1 - step if back else begin + step)
        s = source[i]
        precision = weighted = 0.0
        if s < 0:
            precision, weighted = _root(i, back, prior_precision)
        elif begin <= s < end:
            precision, weighted = drift(marginal[at(s), 0], marginal[at(s), 1], variance[i])
        message[i, 0] = precision
        message[i, 1] = weighted
        marginal[i, 0] += precision
        marginal[i, 1] += weighted


@kernel(f"void(int32[::1], int32[::1], float64[::1], {_ROWS}, {_ROWS}, {_ROWS})")
def meet(later, previous, variance, forward, backward, marginal):
    """The messages between each variable of `later` and the one before it, where both know their own side alone."""
    for k in range(len(later)):
        i = later[k]
        before = previous[i]
        past, past_weighted = drift(marginal[before, 0], marginal[before, 1], variance[i])
        future, future_weighted = drift(marginal[i, 0], marginal[i, 1], variance[i])
        forward[i, 0], forward[i, 1] = past, past_weighted
        backward[before, 0], backward[before, 1] = future, future_weighted
        marginal[i, 0] += past
        marginal[i, 1] += past_weighted
        marginal[before, 0] += future
        marginal[before, 1] += future_weighted


@kernel(f"void({_WAY}, int32[::1], {_ROWS}, {_ROWS}, {_ROWS})")
def outward(begin, end, back, source, variance, prior_precision, away, told, message, marginal):
    """Spread what has been collected through a range of variables, the other way than `inward`; completes `marginal`.

    `told` are the messages that `inward` made, `message` those that are made here. A variable's marginal is without
    what it was told until the one `away` has heard of it, for this is what it has to say.
    """
    for step in range(end - begin):
        i = at(end - 1 - step if back else begin + step)
        s = source[i]
        precision = marginal[i, 0] - told[i, 0]
        weighted = marginal[i, 1] - told[i, 1]
        if s < end and (s < 0 or s >= begin):
            if s < 0:
                heard, heard_weighted = _root(i, back, prior_precision)
            else:
                heard, heard_weighted = drift(marginal[at(s), 0], marginal[at(s), 1], variance[i])
                marginal[at(s), 0] += told[at(s), 0]
                marginal[at(s), 1] += told[at(s), 1]
            message[i, 0] = heard
            message[i, 1] = heard_weighted
            precision += heard
            weighted += heard_weighted
        if not begin <= away[i] < end:
            precision += told[i, 0]
            weighted += told[i, 1]
        marginal[i, 0] = precision
        marginal[i, 1] = weighted


@inner
def log_integral(precision, weighted, added, added_weighted):
    """log of the integral of a normalised Gaussian times exp(-added s^2 / 2 + added_weighted s)."""
    total = precision + added
    mean = weighted / precision
    peak = weighted + added_weighted
    # (peak^2 / total - weighted^2 / precision) / 2 without the difference of two large numbers
    exponent = 0.5 * (added_weighted * (peak + weighted) - mean * added * weighted) / total
    return exponent + 0.5 * math.log(precision / total)


@kernel(f"float64({_ROWS}, {_ROWS}, {_ROWS})")
def chain_evidence(forward, backward, marginal):
    """The log of the integral of all chains, prior and walk, times their sites."""
    total = 0.0
    for i in span(0, len(marginal)):
        added = marginal[i, 0] - forward[i, 0] - backward[i, 0]
        added_weighted = marginal[i, 1] - forward[i, 1] - backward[i, 1]
        total += log_integral(forward[i, 0], forward[i, 1], added, added_weighted)
    return total


@kernel(
    "void(Array(int32, 1, 'C', True), Array(float64, 1, 'C', True), float64, float64, "
    f"{_ROWS}, {_ROWS}, float64[::1], float64[::1], float64[::1])"
)
def smoothed(previous, gap_years, drift, prior_mean, backward, marginal, mean, sd, covariance):
    """Fill mean, sd and the covariance with the one before of all variables, `drift` the sd of a step of one year.

    Of the first of a chain the covariance has no meaning.
    """
    for i in span(0, len(previous)):
        before = previous[i]
        past = 1.0 / (marginal[before, 0] - backward[before, 0])
        gain = past / (past + drift**2 * gap_years[i])
        mean[i] = prior_mean + marginal[i, 1] / marginal[i, 0]
        sd[i] = 1.0 / math.sqrt(marginal[i, 0])
        covariance[i] = gain / marginal[i, 0]


@kernel(f"void(int64, int64, {_ROWS}, {_ROWS})")
def believe(begin, end, marginal, beliefs):
    """Fill `beliefs` (variables, 2) with mean and sd of a range of variables."""
    for i in span(begin, end):
        beliefs[i, 0] = marginal[i, 1] / marginal[i, 0]
        beliefs[i, 1] = 1.0 / math.sqrt(marginal[i, 0])


@kernel(f"float64(int64, int64, {_ROWS}, {_ROWS})")
def largest_move(begin, end, marginal, beliefs):
    """The largest difference of a mean or sd from `beliefs`, in a range of variables."""
    largest = 0.0
    for i in span(begin, end):
        moved = abs(marginal[i, 1] / marginal[i, 0] - beliefs[i, 0])
        narrowed = abs(1.0 / math.sqrt(marginal[i, 0]) - beliefs[i, 1])
        largest = max(largest, moved, narrowed)
    return largest


@kernel(f"UniTuple(float64, 2)(int64, int64, {_ROWS}, {_ROWS}, float32[:, ::1], float64, float64)")
def moves_to_come(begin, end, marginal, beliefs, moves, least, share):
    """The largest move of a mean or sd from `beliefs`, and what the slowest of them has still to go.

    That is d r / (1 - r) for a move d and its ratio r to the one before, infinite where r is 1 or more. `moves`
    (variables, 2) are those before, and become those of now: taken as `least` or more, and as this `share` of before.
    """
    largest = 0.0
    ahead = 0.0
    for i in span(begin, end):
        moved = abs(marginal[i, 1] / marginal[i, 0] - beliefs[i, 0])
        narrowed = abs(1.0 / math.sqrt(marginal[i, 0]) - beliefs[i, 1])
        for c, move in ((0, moved), (1, narrowed)):
            shrunk = max(moves[i, c], least) - move
            if move > 0.0:
                ahead = max(ahead, move * move / shrunk if shrunk > 0.0 else math.inf)
            moves[i, c] = np.float32(max(move, share * moves[i, c]))
            largest = max(largest, move)
    return largest, ahead
