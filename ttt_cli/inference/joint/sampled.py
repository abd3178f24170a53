"""Variances of a joint Gaussian too large to be factorised: from samples, each conditioned on the chains.

A sample x of N(0, A^-1) is one of the chains alone, moved by what sites, each with noise of its own, say against it
(Papandreou and Yuille 2010). Given all others a chain has covariance M^-1, M being A without the couplings between
players, and mean u = M^-1 (M - A) x; so Var = M^-1 + Var(u), of which only the second part is sampled.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.histories import Chain
from ttt_cli.inference.ep.inference import Inference

SAMPLES: Final = 100
SEED: Final = 20070
EXACT: Final = 1e-2  # of a sample, in its energy norm


def sampled_histories(inference: Inference, samples: int = SAMPLES) -> tuple[dict[str, Chain], float]:
    """The histories of a fit with sds of the joint Gaussian of its sites, and the standard error of these, relative.

    The error is the root mean square over all nodes.
    """
    from ttt_cli.kernels.joint import sampling

    games, (_, previous, _, _, variance) = inference.merged.games, inference.chains
    link, positivity = inference.sites.link, inference.sites.positivity
    margins = len(positivity) > 0
    pull = sampling.pull_sides if margins else sampling.pull_skills
    rng = np.random.default_rng(SEED)
    moved, shared = np.zeros((2, len(previous)))
    for _ in range(samples):
        x, right = rng.standard_normal(len(previous)), np.zeros(len(previous))
        sampling.walk(previous, variance, x)
        pull(games, link, x, rng.standard_normal((len(link), 1 + margins)), right)
        if margins:
            own = slice(len(positivity), None)
            noise = np.sqrt(np.maximum(positivity[:, 0], 0.0)) * rng.standard_normal(len(positivity))
            right[own] += noise - positivity[:, 0] * x[own]
        x += inference.joint_solution(right, EXACT)
        u, alone, alone_shared = inference.chain_solution(x)
        moved += u * u
        shared += np.where(previous < 0, 0.0, u * u[previous])
    found = alone + moved / samples
    error = np.sqrt(np.mean((moved / samples / found) ** 2) / (2.0 * samples))
    parts = np.split(
        np.array([np.sqrt(found), alone_shared + shared / samples]), len(inference.priors), axis=1
    )
    chains = inference.histories().items()
    return {
        name: replace(chain, sd=sd, covariance=covariance)
        for (name, chain), (sd, covariance) in zip(chains, parts, strict=True)
    }, float(error)


def solved_deviations(inference: Inference, contrasts: Array) -> Array:
    """The sds of sums of skills in the joint Gaussian of the sites, points, (sums,), with weights (nodes, sums)."""
    weights = np.zeros((len(inference.chains.previous), contrasts.shape[1]))
    weights[: len(contrasts)] = contrasts
    return np.sqrt([c @ inference.joint_solution(c, EXACT) for c in weights.T])
