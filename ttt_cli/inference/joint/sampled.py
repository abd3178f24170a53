"""Variances of a joint Gaussian too large to be factorised: from samples, each conditioned on the chains.

A sample x of N(0, A^-1) is one of the chains alone, moved by what sites, each with noise of its own, say against it
(Papandreou and Yuille 2010). Given all others a chain has covariance M^-1, M being A without the couplings between
players, and mean u = M^-1 (M - A) x; so Var = M^-1 + Var(u), of which only the second part is sampled. Where that is
much of it, as in groups that few games tie to the others, variances are solved for.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, TypeVar

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.histories import Chain
from ttt_cli.inference.ep.inference import Inference

Vector = Array
Item = TypeVar("Item")

SAMPLES: Final = 100
SEED: Final = 20070
EXACT: Final = (
    5e-3  # of a sample or a solution, in its energy norm: at 1e-2 sds of weak ties come out 3 % off
)
SAMPLED: Final = 0.3  # of a variance, of which more is solved for, for as many variables as there are samples


def sampled_histories(inference: Inference, samples: int = SAMPLES) -> tuple[dict[str, Chain], float]:
    """The histories of a fit with sds of the joint Gaussian of its sites, and the standard error of these, relative.

    The error is the root mean square over all nodes that are sampled.
    """
    previous = inference.chains.previous
    moved, moved_shared = np.zeros((2, len(previous)))
    alone, alone_shared = inference.chain_variances()
    solution = inference.joint_solver()
    for x, right in _ahead(_samples(inference, samples)):
        u = inference.by_chains(x + solution(right, EXACT))
        moved += u * u
        moved_shared += u * u[previous]
    found, shared = alone + moved / samples, alone_shared + moved_shared / samples
    share = 1.0 - alone / found
    vague = np.argsort(-share, kind="stable")[:samples]
    for node in vague[share[vague] > SAMPLED]:
        unit = np.zeros(len(previous))
        unit[node] = 1.0
        solved = solution(unit, EXACT)
        found[node], shared[node], share[node] = solved[node], solved[previous[node]], 0.0
    shared[previous < 0] = 0.0
    error = np.sqrt(np.mean(share**2) / (2.0 * samples))
    parts = np.split(np.array([np.sqrt(found), shared]), len(inference.priors), axis=1)
    chains = inference.histories().items()
    return {
        name: replace(chain, sd=sd, covariance=covariance)
        for (name, chain), (sd, covariance) in zip(chains, parts, strict=True)
    }, float(error)


def _samples(inference: Inference, samples: int) -> Iterator[tuple[Vector, Vector]]:
    """Samples of all chains alone, and what sites, each with noise of its own, say against each."""
    from ttt_cli.kernels.joint import sampling

    games, (_, previous, _, _, variance) = inference.merged.games, inference.chains
    link, positivity = inference.sites.link, inference.sites.positivity
    margins = len(positivity) > 0
    pull = sampling.pull_sides if margins else sampling.pull_skills
    rng = np.random.default_rng(SEED)
    for _ in range(samples):
        x, right = rng.standard_normal(len(previous)), np.zeros(len(previous))
        sampling.walk(previous, variance, x)
        pull(games, link, x, rng.standard_normal((len(link), 1 + margins)), right)
        if margins:
            own = slice(len(positivity), None)
            noise = np.sqrt(np.maximum(positivity[:, 0], 0.0)) * rng.standard_normal(len(positivity))
            right[own] += noise - positivity[:, 0] * x[own]
        yield x, right


def _ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, each made by a thread while the one before is worked on."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item


def solved_deviations(inference: Inference, contrasts: Array) -> Array:
    """The sds of sums of skills in the joint Gaussian of the sites, points, (sums,), with weights (nodes, sums)."""
    weights = np.zeros((len(inference.chains.previous), contrasts.shape[1]))
    weights[: len(contrasts)] = contrasts
    solution = inference.joint_solver()
    return np.sqrt([c @ solution(c, EXACT) for c in weights.T])
