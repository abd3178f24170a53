"""Small parts of inference that the smoothing models share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ttt_cli.fitted import Fit
from ttt_cli.histories import Walk
from ttt_cli.timeline import Timeline

Array = NDArray[np.float64]


def smoothed_walk(
    timeline: Timeline, marginal: Array, backward: Array, prior_mean: float, drift: float
) -> Walk:
    """The beliefs of messages (precision, precision times mean from the prior mean), shape (nodes, 2), points.

    The covariance with the node before is the Rauch-Tung-Striebel gain times the variance.
    """
    from ttt_cli.kernels.ep.chains import smoothed

    mean, sd, covariance = (np.empty(timeline.n_nodes) for _ in range(3))
    smoothed(
        timeline.previous, timeline.gap_years, drift, prior_mean, backward, marginal, mean, sd, covariance
    )
    return Walk(mean=mean, sd=sd, covariance=covariance, drift=drift)


def sites_name(colours: bool) -> str:
    """What the state of a fit calls its sites: with colours kept apart they are others."""
    return "sites by colour" if colours else "sites"


def started_sites(shape: tuple[int, int], start: Fit | None, name: str) -> Array:
    """Sites to begin with: those of an earlier fit of the same timeline or of its beginning, else none."""
    sites = np.zeros(shape)
    earlier = None if start is None else start.state.get(name)
    if earlier is not None and earlier.shape[1] == shape[1] and len(earlier) <= shape[0]:
        sites[: len(earlier)] = earlier
    return sites


def widest_prior(timeline: Timeline, prior_sd: float, drift: float) -> float:
    """The largest sd that anybody's quantity has before a game is seen, points."""
    years = np.bincount(timeline.node_player, timeline.gap_years, minlength=1).max(initial=0.0)
    return float(np.sqrt(prior_sd**2 + drift**2 * years))


def largest(values: Array) -> float:
    """The largest absolute value, 0 of none."""
    return float(np.max(np.abs(values), initial=0.0))


def central_slope(function: Callable[[float], float], at: float, unit: float) -> float:
    """The slope of a function by differences over a small part of `unit`; one-sided where it would turn negative."""
    step = 1e-4 * max(unit, abs(at))
    low = at - step if at >= step or at < 0.0 or at == 0.0 else at
    return (function(at + step) - function(low)) / (at + step - low)
