"""Gaussian random walks over calendar years, smoothed in time in proportion to the years.

A walk begins at N(0, 1), or where its first step says, and moves from year to year by N(0, drift^2 times the years
between). Draw margins that follow the years and the mean of newcomers are such walks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ttt_cli.support.arrays import Array, Ids


def step_variances(years: Ids, drift: float) -> Array:
    """Variances (years,) of the steps of a random walk over the years: 1 to the first one, then drift^2 a year."""
    return np.append(1.0, drift**2 * np.diff(years))[: len(years)]


class SmoothedWalk(NamedTuple):
    """A walk given information on its years.

    | name | shape | |
    |---|---|---|
    | mean, variance | (years,) | of the walk |
    | squares | (years,) | expected squares of the steps, over their prior variances |
    | log_determinant_ratio | | log |P + F| - log |P|, P the precision of the prior, F of the information |
    """

    mean: Array
    variance: Array
    squares: Array
    log_determinant_ratio: float


def smooth_walk(variances: Array, information: Array, weighted: Array) -> SmoothedWalk:
    """Smooth a walk with steps of these variances (years,), of which each year is known independently.

    `information` (years,): precision of what is known of each year; `weighted`: that times what it says the walk is.
    Messages forward and backward, as for skills (Dangauthier et al. 2007, section 3). Year by year, |P + F| / |P| is
    the product of 1 + F v, where v is the variance of the walk given the years before.
    """
    first_precision = 1.0 / variances[0] if len(variances) else 0.0
    before = _passed_on(information, weighted, variances[1:], first_precision)
    later = _passed_on(information[::-1], weighted[::-1], variances[:0:-1], first_precision=0.0)
    after = YearMessages(later.precision[::-1], later.weighted[::-1])
    variance = 1.0 / (before.precision + information + after.precision)
    mean = (before.weighted + weighted + after.weighted) * variance
    return SmoothedWalk(
        mean,
        variance,
        _step_squares(
            mean, variances, before.precision + information, information + after.precision
        ),
        log_determinant_ratio=float(np.log1p(information / before.precision).sum()),
    )


def _step_squares(mean: Array, variances: Array, up_to: Array, from_then: Array) -> Array:
    """Expected squares of the steps over their prior variances v, (years,).

    `up_to`, `from_then` (years,): precisions of what is known of a year from itself and the years before, and from
    itself and the years after. Both sides together know a step with the precision p = up_to from_then / (up_to +
    from_then), and the first one, from 0, with p = from_then. So a step has the posterior variance 1 / (1/v + p), and
    its expected square over v is mean^2 / v + 1 / (1 + v p).
    """
    between = up_to[:-1] * from_then[1:] / (up_to[:-1] + from_then[1:])
    first = from_then[:1]
    variance_ratio = 1.0 / (1.0 + variances * np.append(first, between))  # posterior over prior
    steps = np.diff(mean, prepend=0.0)
    squared_means = np.divide(steps**2, variances, out=np.zeros(len(mean)), where=variances > 0.0)
    return np.asarray(squared_means + variance_ratio)


class YearMessages(NamedTuple):
    """What each year receives from one side: precision, and precision times mean, (years,)."""

    precision: Array
    weighted: Array


def _passed_on(
    information: Array, weighted: Array, step_variance: Array, first_precision: float
) -> YearMessages:
    """What each year receives from those before it, in this order; the first one `first_precision` around 0.

    `step_variance` (years - 1,): variances of the steps from year to year.
    """
    received = YearMessages(np.zeros(len(information)), np.zeros(len(information)))
    received.precision[:1] = first_precision
    for year, variance in enumerate(step_variance.tolist()):
        precision = received.precision[year] + information[year]
        shrink = 1.0 / (1.0 + variance * precision)
        received.precision[year + 1] = precision * shrink
        received.weighted[year + 1] = (received.weighted[year] + weighted[year]) * shrink
    return received
