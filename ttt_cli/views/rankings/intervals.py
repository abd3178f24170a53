"""Intervals of ranks, and how many players of a ranking are certainly ahead of the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Places

LEVEL: Final = 0.95
SAMPLES: Final = 10_000
MOST_TOGETHER: Final = 64  # players whose skills are taken together; all others as independent
_TOLERANCE: Final = 1e-3  # of solutions


class RankIntervals(NamedTuple):
    """Intervals of the ranks of players, of `LEVEL`: arrays of shape (players,).

    `n_certain`: how many are stronger than the next one with at least that probability.
    """

    low: Places
    high: Places
    n_certain: int


def rank_intervals(
    run: Run,
    skills: Sequence[tuple[str, int]],
    means: Array,
    sds: Array,
    order: Sequence[int],
    seed: int,
) -> RankIntervals:
    """Intervals of the ranks by skill of the players whose indices are in `order`, among all eligible ones of a period.

    `skills`: player and number of the period, of all; `means`, `sds`, shape (players,): their skills. From samples: the
    first `MOST_TOGETHER` of `order` are drawn from the joint posterior, all others as independent.
    """
    together = list(order[:MOST_TOGETHER])
    covariance = np.diag(sds[together] ** 2)
    if run.has_joint:
        (joint,) = run.joint.within([[skills[index] for index in together]], _TOLERANCE)
        covariance = joint * run.scale.slope**2
    rng = np.random.default_rng(seed)
    drawn = means + sds * rng.standard_normal((SAMPLES, len(means)))
    value, vector = np.linalg.eigh(covariance)
    root = vector * np.sqrt(np.maximum(value, 0.0))
    drawn[:, together] = means[together] + rng.standard_normal((SAMPLES, len(together))) @ root.T
    ranks = _ranks(drawn)[:, list(order)]
    tail = (1.0 - LEVEL) / 2.0
    low = np.quantile(ranks, tail, axis=0, method="inverted_cdf")
    high = np.quantile(ranks, 1.0 - tail, axis=0, method="inverted_cdf")
    ahead = (drawn[:, list(order[:-1])] > drawn[:, list(order[1:])]).mean(axis=0)
    return RankIntervals(low.astype(np.int64), high.astype(np.int64), int((ahead >= LEVEL).sum()))


def _ranks(drawn: Array) -> Places:
    """The rank of every player in each sample, 1 for the highest skill, shape of `drawn`."""
    order = np.argsort(-drawn, axis=1)
    ranks = np.empty_like(order)
    positions = np.broadcast_to(np.arange(1, drawn.shape[1] + 1), order.shape)
    np.put_along_axis(ranks, order, positions, axis=1)
    return ranks
