"""Messages along players' chains: a variable (skill or draw margin) of a node and the ones before and after it.

Every Gaussian message is a pair (precision, precision times mean) in a row of an array of shape (variables, 2):
`forward` from the past, `backward` from the future, `marginal` both and all sites.
"""

from __future__ import annotations

import math

from ttt_cli.kernels.compile import inner, kernel

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
    return drift(
        marginal[before, 0] - backward[before, 0], marginal[before, 1] - backward[before, 1], variance[i]
    )


@inner
def from_future(after, variance, forward, marginal):
    """The message to a variable from the one after it, or nothing."""
    if after < 0:
        return 0.0, 0.0
    return drift(
        marginal[after, 0] - forward[after, 0], marginal[after, 1] - forward[after, 1], variance[after]
    )


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


@kernel(f"void(int32[::1], int32[::1], float64[::1], float64[::1], {_ROWS}, {_ROWS}, {_ROWS})")
def smooth_chains(previous, following, variance, prior_precision, forward, backward, marginal):
    """All messages along the chains, exactly; on entry `marginal` holds the sites alone.

    `prior_precision` (variables,) counts at the first variable of each chain.
    """
    n = len(previous)
    for i in range(n):
        backward[i, 0] = 0.0
        backward[i, 1] = 0.0
    for i in range(n):
        precision, weighted = from_past(i, previous[i], variance, prior_precision[i], backward, marginal)
        forward[i, 0] = precision
        forward[i, 1] = weighted
        marginal[i, 0] += precision
        marginal[i, 1] += weighted
    for i in range(n - 1, -1, -1):
        precision, weighted = from_future(following[i], variance, forward, marginal)
        backward[i, 0] = precision
        backward[i, 1] = weighted
        marginal[i, 0] += precision
        marginal[i, 1] += weighted


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
    for i in range(len(marginal)):
        added = marginal[i, 0] - forward[i, 0] - backward[i, 0]
        added_weighted = marginal[i, 1] - forward[i, 1] - backward[i, 1]
        total += log_integral(forward[i, 0], forward[i, 1], added, added_weighted)
    return total


@kernel(f"void(int64, int64, {_ROWS}, {_ROWS})")
def believe(begin, end, marginal, beliefs):
    """Fill `beliefs` (variables, 2) with mean and sd of a range of variables."""
    for i in range(begin, end):
        beliefs[i, 0] = marginal[i, 1] / marginal[i, 0]
        beliefs[i, 1] = 1.0 / math.sqrt(marginal[i, 0])


@kernel(f"float64(int64, int64, {_ROWS}, {_ROWS})")
def largest_move(begin, end, marginal, beliefs):
    """The largest difference of a mean or sd from `beliefs`, in a range of variables."""
    largest = 0.0
    for i in range(begin, end):
        moved = abs(marginal[i, 1] / marginal[i, 0] - beliefs[i, 0])
        narrowed = abs(1.0 / math.sqrt(marginal[i, 0]) - beliefs[i, 1])
        largest = max(largest, moved, narrowed)
    return largest
