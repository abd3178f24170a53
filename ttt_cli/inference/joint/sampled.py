"""Variances of a joint Gaussian too large to be factorised: from samples, each conditioned on the chains.

A sample x of N(0, A^-1) is one of the chains alone, moved by what sites, each with noise of its own, say against it
(Papandreou and Yuille 2010). Given all others a chain has covariance M^-1, M being A without the couplings between
players, and mean u = M^-1 (M - A) x; so Var = M^-1 + Var(u), of which only the second part is sampled, or solved for
where it is much. Newcomers' mean m(t) is integrated out: what its slowest waves z add is solved for, and only
Var(u) - Cov(u, z) Var(z)^-1 Cov(z, u) is sampled.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, TypeVar

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.fitted import NewcomerCurve
from ttt_cli.histories import Chain
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.joint.shape import joint_chains

Vector = Array
Solution = Callable[[Vector, float], Vector]
Item = TypeVar("Item")

SAMPLES: Final = 100
SEED: Final = 20070
# Of a sample or a solution, in its energy norm: at 1e-2 sds of weak ties come out 3 % off.
EXACT: Final = 5e-3
CLOSE: Final = 1e-6  # the same of waves of newcomers' mean
WAVES: Final = 30  # such waves
STILL: Final = 1e-10  # of the largest variance of a wave: smaller ones are rounding
SAMPLED: Final = 0.3  # of a variance, of which more is solved for, for as many variables as there are samples


def sampled_histories(
    inference: Inference, samples: int = SAMPLES
) -> tuple[dict[str, Chain], NewcomerCurve | None, float]:
    """The histories of a fit and newcomers' mean with sds of the joint Gaussian, and their rms relative error."""
    previous, chains = inference.chains.previous, inference.histories()
    nodes = slice(len(previous))
    solution = inference.joint_solver()
    alone, alone_shared = inference.chain_variances()
    waves, known = _waves(inference, solution)
    of_years = inference.newcomers.alone if inference.newcomers else np.empty(0)
    alone = np.append(alone, of_years) + (known**2).sum(axis=0)
    alone_shared = alone_shared + np.einsum("ki,ki->i", known[:, nodes], known[:, previous])
    moved, moved_shared = np.zeros(len(alone)), np.zeros(len(previous))
    for x, right in _ahead(_samples(inference, samples)):
        u = _by_others(inference, x + solution(right, EXACT))
        u -= (waves @ u[len(previous) :]) @ known
        moved += u * u
        moved_shared += u[nodes] * u[previous]
    found, shared = alone + moved / samples, alone_shared + moved_shared / samples
    share = (1.0 - alone / found)[nodes]
    vague = np.argsort(-share, kind="stable")[:samples]
    for node in vague[share[vague] > SAMPLED]:
        unit = np.zeros(len(previous))
        unit[node] = 1.0
        solved = solution(unit, EXACT)
        found[node], shared[node], share[node] = solved[node], solved[previous[node]], 0.0
    shared[previous < 0] = 0.0
    error = np.sqrt(np.mean(share**2) / (2.0 * samples))
    sd = np.sqrt(found)
    parts = np.split(np.array([sd[nodes], shared]), len(inference.priors), axis=1)
    histories = {
        name: replace(chain, sd=sd, covariance=covariance)
        for (name, chain), (sd, covariance) in zip(chains.items(), parts, strict=True)
    }
    newcomers = inference.newcomers
    curve = newcomers.curve(np.array([newcomers.mean, sd[len(previous) :]])) if newcomers else None
    return histories, curve, float(error)


def _by_others(inference: Inference, x: Vector) -> Vector:
    """The mean of each variable given those of other players, then newcomers' means given all skills."""
    u = inference.by_chains(x)
    return np.append(u, inference.newcomers.by_skills(x)) if inference.newcomers else u


def _waves(inference: Inference, solution: Solution) -> tuple[Array, Array]:
    """Weights (waves, years) of independent sums of newcomers' means, of variance 1, and how all variables follow."""
    if not (newcomers := inference.newcomers):
        return np.empty((0, 0)), np.empty((0, len(inference.chains.previous)))
    weights = newcomers.waves(WAVES)
    rights = (newcomers.told(w, len(inference.chains.previous)) for w in weights)
    known = np.array([_by_others(inference, solution(right, CLOSE)) for right in rights])
    variance, turned = np.linalg.eigh(known[:, len(inference.chains.previous) :] @ weights.T)
    free = variance > STILL * variance[-1]
    scaled = (turned[:, free] / np.sqrt(variance[free])).T
    return scaled @ weights, scaled @ known


def _samples(inference: Inference, samples: int) -> Iterator[tuple[Vector, Vector]]:
    """Samples of all chains alone, and what sites, each with noise of its own, say against each."""
    from ttt_cli.kernels.joint import sampling

    games, previous, newcomers = inference.merged.games, inference.chains.previous, inference.newcomers
    variance = joint_chains(inference).variance[: len(previous)]
    link, positivity = inference.sites.link, inference.sites.positivity
    margins = len(positivity) > 0
    pull = sampling.pull_sides if margins else sampling.pull_skills
    rng = np.random.default_rng(SEED)
    for _ in range(samples):
        x, right = rng.standard_normal(len(previous)), np.zeros(len(previous))
        if newcomers:
            x[newcomers.first] += newcomers.sample(rng) / newcomers.sd
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
