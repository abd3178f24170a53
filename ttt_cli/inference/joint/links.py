"""The precision matrix of a joint Gaussian by nodes, as a Fit keeps it."""

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.fitted import Links
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.joint.shape import beginnings
from ttt_cli.kernels.ep.structures import Chains


def links_of(inference: Inference, chains: Chains, link: Array, positivity: Array) -> Links:
    """That of these sites (`kernels/ep/structures.py`), along the chains of nodes among these, of an inference."""
    games, previous, variance = inference.merged.games, inference.chains.previous, chains.variance
    nodes, kinds = len(previous) // len(inference.priors), 3 if len(positivity) else 1
    sites, turned = link[:, :kinds].T, games.first > games.second
    precision = games.weight * np.where(turned, sites[::-1], sites)
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    distinct, pair = np.unique(low.astype(np.int64) * nodes + high, return_inverse=True)
    first, second = np.divmod(distinct, max(nodes, 1))
    begins = beginnings(chains.previous, variance)[: len(previous)] | (previous < 0)
    return Links(
        first.astype(np.int32),
        second.astype(np.int32),
        np.array([np.bincount(pair, column, len(distinct)) for column in precision]),
        np.where(begins, variance[: len(previous)], 0.0).reshape(-1, nodes),
        positivity[:, 0].copy() if len(positivity) else np.full(nodes, np.nan),
    )
