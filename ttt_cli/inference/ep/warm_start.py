"""First guesses: sites from what is believed of the players, where an earlier fit's own sites are not at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.fitted import Fit
from ttt_cli.inference.ep.slices import Slices

Array = NDArray[np.float64]


def tells_of(start: Fit | None, nodes: int) -> bool:
    """Whether `start` holds beliefs about the skills of as many nodes."""
    return start is not None and len(start.mean) == nodes


def believed(start: Fit | None, chain: str, nodes: int, prior_mean: float, prior_sd: float) -> Array:
    """Beliefs about a quantity as messages, shape (nodes, 2): precision, and precision times mean from the prior mean.

    They are the prior where `start` has no such chain or its mean is no number; an unknown sd is the prior's.
    """
    mean, sd = np.full(nodes, prior_mean), np.full(nodes, prior_sd)
    if start is not None and chain in start.chains:
        known = start.chains[chain]
        told = np.isfinite(known.mean)
        sure = told & np.isfinite(known.sd) & (known.sd > 0.0)
        mean[told], sd[sure] = known.mean[told], known.sd[sure]
    precision = sd**-2
    return np.stack([precision, precision * (mean - prior_mean)], axis=1)


def guess_sites(
    sweep: Callable[..., Any],
    layout: tuple[NDArray[Any], ...],
    prior_precision: Array,
    scalars: tuple[Any, ...],
    slices: Slices,
    messages: tuple[Array, ...],
    links: Array,
    beliefs: Array,
) -> None:
    """Give every game the sites that it would have if its players were as believed, shape (variables, 2).

    This is a pass of the kernel `sweep` in which no node has one before it and games have no weight, so that beliefs
    stay as they are. The other arguments are the kernel's, those before `repeats` and from `forward` on; messages are
    of no meaning afterwards.
    """
    forward, _, marginal, *_ = messages
    marginal[:] = beliefs
    forward[:] = np.stack([prior_precision, np.zeros_like(prior_precision)], axis=1)
    node_start, previous, *middle, weight = layout
    alone, weightless = np.full_like(previous, -1), np.zeros_like(weight)

    def guess(number: int) -> None:
        arrays = node_start, alone, *middle, weightless, prior_precision
        sweep(*arrays, *scalars, 0, *slices.periods[number], False, *messages, links)

    slices.run(guess)
