"""Messages along players' chains: between a variable and the ones before and after it (`kernels/ep/structures.py`).

A segment is the nodes of one player in a slice of time. As a factor of its first and last node it takes a message
(p, h), precision and precision times mean, to ((A p + B) / (C p + 1), (K h + E p + F) / (C p + 1)) from the first to
beyond the last, and to ((p + B) / (C p + A), (K h + E' p + F') / (C p + A)) the other way. Steps without variance are
no exception, and no precision is a difference of others, so that nothing cancels.
"""

import math

import numpy as np

from ttt_cli.kernels.arrays import Index, Rows, SmallRows, Strided, Vector
from ttt_cli.kernels.compile import at, flat, inner, kernel, span
from ttt_cli.kernels.ep.structures import Chains, Messages


@flat
def step(precision: float, weighted: float, mean: float, variance: float) -> tuple[float, float]:
    """A message after a Gaussian step (TTT paper, section 3.2)."""
    shrink = 1.0 / (1.0 + variance * precision)
    return precision * shrink, (weighted + precision * mean) * shrink


@flat
def _between(i, s, back, mean, variance, precision, weighted):
    """A message of the variable s after the step to its neighbour i, which is the one before if `back`."""
    if back:
        return step(precision, weighted, -mean[s], variance[s])
    return step(precision, weighted, mean[i], variance[i])


@flat
def _root(i, back, mean, variance):
    """The message to a variable without a source: its prior where it is the first of its chain, else nothing."""
    if back:
        return 0.0, 0.0
    precision = 1.0 / variance[i]
    return precision, precision * mean[i]


@flat
def incoming(i, s, back, mean, variance, opposite, marginal):
    """The message to variable i from its source s, or its prior or nothing; `opposite` is what s received from i."""
    if s < 0:
        return _root(i, back, mean, variance)
    s = at(s)
    precision = marginal[s, 0] - opposite[s, 0]
    weighted = marginal[s, 1] - opposite[s, 1]
    return _between(i, s, back, mean, variance, precision, weighted)


@flat
def receive(i, message, received, marginal):
    """Put a new message in place of the one in `message`."""
    precision, weighted = received
    marginal[i, 0] += precision - message[i, 0]
    marginal[i, 1] += weighted - message[i, 1]
    message[i, 0] = precision
    message[i, 1] = weighted


@flat
def update_message(i, s, back, mean, variance, forward, backward, marginal):
    """Pass a message to variable i from its source s, the one after it if `back`."""
    if back:
        receive(i, backward, incoming(i, s, True, mean, variance, forward, marginal), marginal)
    else:
        receive(i, forward, incoming(i, s, False, mean, variance, backward, marginal), marginal)


@kernel
def accumulate(previous: Index, values: Vector) -> None:
    """Turn values of variables into sums over their chains so far."""
    for i in span(0, len(values)):
        if previous[i] >= 0:
            values[i] += values[at(previous[i])]


@kernel
def exchange(later: Index, chains: Chains, messages: Messages) -> None:
    """Pass the messages between each variable of `later` and the one before it, both ways."""
    _, previous, _, mean, variance = chains
    forward, backward, marginal = messages
    for k in range(len(later)):
        i = at(later[k])
        before = previous[i]
        past = incoming(i, before, False, mean, variance, backward, marginal)
        future = incoming(at(before), later[k], True, mean, variance, forward, marginal)
        receive(i, forward, past, marginal)
        receive(at(before), backward, future, marginal)


@kernel
def smooth(begin: int, end: int, chains: Chains, messages: Messages) -> None:
    """Fill all messages in a range of variables; on entry `marginal` has the sites alone, at the end everything.

    On the way back it excludes the message from the past until the variable before has its own, which must not contain
    that.
    """
    _, previous, following, mean, variance = chains
    forward, backward, marginal = messages
    for i in span(begin, end):
        s = previous[i]
        precision = weighted = 0.0
        if s < 0:
            precision, weighted = _root(i, False, mean, variance)
        elif begin <= s < end:
            precision, weighted = _between(
                i, at(s), False, mean, variance, marginal[at(s), 0], marginal[at(s), 1]
            )
        forward[i, 0] = precision
        forward[i, 1] = weighted
        marginal[i, 0] += precision
        marginal[i, 1] += weighted
    for count in range(end - begin):
        i = at(end - 1 - count)
        s = following[i]
        precision = marginal[i, 0] - forward[i, 0]
        weighted = marginal[i, 1] - forward[i, 1]
        if s < end:
            new = 0.0
            new_weighted = 0.0
            if s >= 0:
                new, new_weighted = _between(
                    i, at(s), True, mean, variance, marginal[at(s), 0], marginal[at(s), 1]
                )
                marginal[at(s), 0] += forward[at(s), 0]
                marginal[at(s), 1] += forward[at(s), 1]
            backward[i, 0] = new
            backward[i, 1] = new_weighted
            precision += new
            weighted += new_weighted
        if not begin <= previous[i] < end:
            precision += forward[i, 0]
            weighted += forward[i, 1]
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


@kernel
def chain_evidence(begin: int, end: int, messages: Messages) -> float:
    """The log of the integral of the chains of a range of variables, prior and steps, times their sites."""
    forward, backward, marginal = messages
    total = 0.0
    for i in span(begin, end):
        added = marginal[i, 0] - forward[i, 0] - backward[i, 0]
        added_weighted = marginal[i, 1] - forward[i, 1] - backward[i, 1]
        total += log_integral(forward[i, 0], forward[i, 1], added, added_weighted)
    return total


@kernel
def chain_gradient(
    begin: int, end: int, messages: Messages, by_mean: Vector, by_variance: Vector
) -> None:
    """Fill the gradient of the log-evidence in `mean` and `variance` of the chains, at a fixed point (`gradient`)."""
    forward, _, marginal = messages
    for i in span(begin, end):
        share = forward[i, 0] / marginal[i, 0]
        precision = marginal[i, 0] - forward[i, 0]
        by_mean[i] = (marginal[i, 1] - forward[i, 1]) * share - precision * forward[
            i, 1
        ] / marginal[i, 0]
        by_variance[i] = 0.5 * (by_mean[i] * by_mean[i] - precision * share)


@kernel
def smoothed(
    begin: int, chains: Chains, messages: Messages, mean: Vector, sd: Vector, covariance: Vector
) -> None:
    """Fill mean, sd and the covariance with the one before (0 at the first) of the variables from `begin` on."""
    _, backward, marginal = messages
    for k in span(0, len(mean)):
        i = at(begin) + k
        mean[k] = marginal[i, 1] / marginal[i, 0]
        sd[k] = 1.0 / math.sqrt(marginal[i, 0])
        covariance[k] = 0.0
        if chains.previous[i] >= 0:
            s = at(chains.previous[i])
            past = marginal[s, 0] - backward[s, 0]
            covariance[k] = 1.0 / (marginal[i, 0] * (1.0 + chains.variance[i] * past))


@kernel
def believe(begin: int, end: int, marginal: Rows, beliefs: Rows) -> None:
    """Fill `beliefs` (variables, 2) with mean and sd of a range of variables."""
    for i in span(begin, end):
        beliefs[i, 0] = marginal[i, 1] / marginal[i, 0]
        beliefs[i, 1] = 1.0 / math.sqrt(marginal[i, 0])


@kernel
def largest_move(begin: int, end: int, marginal: Rows, beliefs: Rows) -> float:
    """The largest difference of a mean or sd from `beliefs`, in a range of variables."""
    largest = 0.0
    for i in span(begin, end):
        moved = abs(marginal[i, 1] / marginal[i, 0] - beliefs[i, 0])
        narrowed = abs(1.0 / math.sqrt(marginal[i, 0]) - beliefs[i, 1])
        largest = max(largest, moved, narrowed)
    return largest


@kernel
def moves_to_come(
    begin: int,
    end: int,
    marginal: Rows,
    beliefs: Rows,
    moves: SmallRows,
    least: float,
    decay: float,
) -> tuple[float, float]:
    """The largest move of a mean or sd from `beliefs`, and the estimated remaining move of the slowest.

    That is d r / (1 - r) for a move d and its ratio r to the one before, which counts as `least` if it was smaller.
    `moves` (variables, 2) are the earlier moves; they become the present ones, but at least `decay` times the earlier.
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
            moves[i, c] = np.float32(max(move, decay * moves[i, c]))
            largest = max(largest, move)
    return largest, ahead


@kernel
def summarise(
    segment: Index, chains: Chains, precision: Strided, weighted: Strided, maps: Rows
) -> None:
    """Fill `maps` (segments, 8), A, B, C, K, E, F, E' and F'.

    `segment` (variables,) is negative where no map is needed; `precision` and `weighted` are the sites. Priors at
    first variables of chains are included.
    """
    maps[:, :] = 0.0
    for i in span(0, len(segment)):
        if segment[i] < 0:
            continue
        s = at(segment[i])
        added = precision[i]
        added_weighted = weighted[i]
        a = maps[s, 0]
        b = maps[s, 1]
        c = maps[s, 2]
        k = maps[s, 3]
        e = maps[s, 4]
        f = maps[s, 5]
        e_back = maps[s, 6]
        f_back = maps[s, 7]
        scale = 1.0
        if a == 0.0:
            a = k = 1.0
            if chains.previous[i] < 0:
                added += 1.0 / chains.variance[i]
                added_weighted += chains.mean[i] / chains.variance[i]
        else:
            mean = chains.mean[i]
            variance = chains.variance[i]
            c += variance * a
            scale = 1.0 / (1.0 + variance * b)
            e += mean * a
            f += mean * b
            e_back += variance * f_back - mean * k
        unscaled = 1.0 / scale
        maps[s, 0] = (a + added * c) * scale
        maps[s, 1] = (b + added * unscaled) * scale
        maps[s, 2] = c * scale
        maps[s, 3] = k * scale
        maps[s, 4] = (e + added_weighted * c) * scale
        maps[s, 5] = (f + added_weighted * unscaled) * scale
        maps[s, 6] = e_back * scale
        maps[s, 7] = (f_back + k * added_weighted + e_back * added) * scale


@kernel
def answer(
    segment: Index, first: Vector, last: Vector, arrived: Rows, z: Vector, residual: Vector
) -> float:
    """Add to `z` what follows from what `arrived` (segments, 2) at the ends; returns the product of z and `residual`.

    `first` and `last` (variables,) are the columns of the inverse for the first and last variable of each segment.
    """
    product = 0.0
    for i in span(0, len(segment)):
        if segment[i] >= 0:
            s = at(segment[i])
            z[i] += first[i] * arrived[s, 0] + last[i] * arrived[s, 1]
        product += z[i] * residual[i]
    return product
