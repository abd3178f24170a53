"""Sites of surprises, which take precision away where chance decides some games: how much they may take."""

from __future__ import annotations

import numpy as np

from ttt_cli.support.arrays import Array


def take_less(site: Array, mean: Array, left: float) -> bool:
    """Leave this part of the precision that `site` (games, 2) takes away; the pull at the `mean` of each sum stays.

    Returns whether any site takes precision away.
    """
    taken = np.minimum(site[:, 0], 0.0)
    if not taken.any():
        return False
    site[:, 0] -= (1.0 - left) * taken
    site[:, 1] -= (1.0 - left) * taken * mean
    return True


def limit_taken(site: Array, cavity: Array, most: float) -> None:
    """Limit what `site` (games, 2) takes away to `most` / (1 + `most`) of the precision of its `cavity` (games, 2).

    The pull at the means of the cavities stays.
    """
    taking = np.flatnonzero((site[:, 0] < 0.0) & (cavity[:, 1] > 0.0))
    cavity_mean, cavity_variance = cavity[taking].T
    precision, weighted_mean = site[taking].T
    limited = np.maximum(precision, -most / (1.0 + most) / cavity_variance)
    # a site moves the mean by (h - q m) / (1 / V + q), with the mean m and the variance V of the cavity
    left = (1.0 + limited * cavity_variance) / (1.0 + precision * cavity_variance)
    pull = (weighted_mean - precision * cavity_mean) * left
    site[taking, 0] = limited
    site[taking, 1] = pull + limited * cavity_mean
