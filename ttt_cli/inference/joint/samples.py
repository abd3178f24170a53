"""Sds of the joint posterior where no factor can be afforded: from samples, and solutions for single variables."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np

from ttt_cli.fitted import Chain, NewcomerCurve, Walk
from ttt_cli.inference.ep.inference import Inference, JointSystem, factor_joint
from ttt_cli.inference.ep.parts import MOST
from ttt_cli.inference.ep.results import chain_variances
from ttt_cli.inference.joint.shape import joint_chains
from ttt_cli.kernels import joint as kernels
from ttt_cli.kernels.ep.chains import accumulate
from ttt_cli.kernels.ep.links import pull as pull_sums
from ttt_cli.support.arrays import Array

Item = TypeVar("Item")

SAMPLES: Final = 100
SEED: Final = 20070
# Of samples and solutions, in the energy norm; 1e-2 gives sds of weak ties with 3 % error.
EXACT: Final = 5e-3
CLOSE: Final = 1e-6  # the same of waves of newcomers' mean
WAVES: Final = 30  # such waves
STILL: Final = 1e-10  # of the largest variance of a wave: smaller ones are rounding
SAMPLED: Final = 0.3  # of a variance, of which more is solved for, for as many variables as there are samples


class SampledHistories(NamedTuple):
    """Chains and newcomers' mean with sampled sds of the joint Gaussian, and their rms relative error."""

    chains: dict[str, Chain]
    newcomers: NewcomerCurve | None
    error: float


class WaveResponses(NamedTuple):
    """Independent sums of newcomers' means with variance 1.

    | name | shape | |
    |---|---|---|
    | weights | (waves, years) | of the means of years |
    | response | (waves, variables and years) | covariance with all variables, and with the means of years |
    """

    weights: Array
    response: Array


class RightSide(NamedTuple, Generic[Item]):
    """What A x = b is solved for, and its b."""

    item: Item
    b: Array


class Solution(NamedTuple, Generic[Item]):
    """What A x = b was solved for, and its x."""

    item: Item
    x: Array


def sampled_histories(inference: Inference, samples: int = SAMPLES) -> SampledHistories:
    """Sampled sds; the means are those of the fit."""
    previous = inference.chains.previous
    chains = inference.histories()
    newcomers = inference.newcomers
    nodes = slice(len(previous))  # and extra variables
    system = factor_joint(inference)
    of_chains = chain_variances(inference.slice)
    waves = _waves(inference, system)
    of_years = newcomers.conditional_variance if newcomers else np.empty(0)
    # known exactly: variances given other players, and what the waves add
    exact = np.append(of_chains.variance, of_years) + (waves.response**2).sum(axis=0)
    exact_covariance = of_chains.covariance + np.einsum(
        "ki,ki->i", waves.response[:, nodes], waves.response[:, previous]
    )
    squares = np.zeros(len(exact))
    products = np.zeros(len(previous))
    for sample, solved in _solve(inference, system, _samples(inference, samples)):
        means = system.conditional_means(sample + solved)
        means -= (waves.weights @ means[len(previous) :]) @ waves.response
        squares += means * means
        products += means[nodes] * means[previous]
    variance = exact + squares / samples
    covariance = exact_covariance + products / samples
    share = (1.0 - exact / variance)[nodes]  # of variances by samples
    vague = np.argsort(-share, kind="stable")[:samples]
    vague = vague[share[vague] > SAMPLED]
    share[vague] = 0.0
    unit_vectors = (RightSide(node, np.eye(1, len(previous), node)[0]) for node in vague)
    for node, column in _solve(inference, system, unit_vectors):
        variance[node] = column[node]
        covariance[node] = column[previous[node]]
    covariance[previous < 0] = 0.0
    error = np.sqrt(np.mean(share**2) / (2.0 * samples))
    sd = np.sqrt(variance)
    curve = newcomers.curve(np.array([newcomers.posterior.mean, sd[len(previous) :]])) if newcomers else None
    of_nodes = slice(inference.slice.parts.quantities[-1].end)
    return SampledHistories(_with_sds(chains, sd[of_nodes], covariance[of_nodes]), curve, float(error))


def _with_sds(chains: dict[str, Chain], sd: Array, covariance: Array) -> dict[str, Chain]:
    """Chains of all quantities with other sds, and covariances with the node before."""
    sds = np.split(sd, len(chains))
    covariances = np.split(covariance, len(chains))
    changed: dict[str, Chain] = {}
    for number, (name, chain) in enumerate(chains.items()):
        assert isinstance(chain, Walk)
        changed[name] = replace(chain, sd=sds[number], covariance=covariances[number])
    return changed


def _waves(inference: Inference, system: JointSystem) -> WaveResponses:
    """The sums of newcomers' means that vary most, none where the mean does not move."""
    size = len(inference.chains.previous)
    if not inference.newcomers:
        return WaveResponses(np.empty((0, 0)), np.empty((0, size)))
    waves = inference.newcomers.waves(WAVES, size)
    response = np.array([system.conditional_means(system.solve(b, CLOSE)) for b in waves.of_skills])
    variance, vectors = np.linalg.eigh(response[:, size:] @ waves.weights.T)
    free = variance > STILL * variance[-1]
    scaled = (vectors[:, free] / np.sqrt(variance[free])).T
    return WaveResponses(scaled @ waves.weights, scaled @ response)


def _samples(inference: Inference, samples: int) -> Iterator[RightSide[Array]]:
    """Yield samples of all chains, with noise of the sites added."""
    games = inference.merged.games
    previous = inference.chains.previous
    newcomers = inference.newcomers
    variance = joint_chains(inference).variance[: len(previous)]
    variance = np.where(np.isfinite(variance), variance, 0.0)  # performances have no prior: any value will do
    link = inference.sites.link
    positivity = inference.sites.positivity
    own_margins = len(positivity) > 0
    links = inference.slice.links
    pull = kernels.pull_sides if own_margins else kernels.pull_skills
    rng = np.random.default_rng(SEED)
    for _ in range(samples):
        x = rng.standard_normal(len(previous))
        b = np.zeros(len(previous))
        if newcomers:
            x[newcomers.first] += newcomers.sample(rng) / newcomers.sd
        x *= np.sqrt(variance)
        accumulate(previous, x)
        pull(games, link, x, rng.standard_normal((len(link), 1 + own_margins)), b)
        if links:
            noise = rng.standard_normal(len(links.coupling))
            pull_sums(links.rows, links.sites.site, x, noise, b)
        if own_margins:
            margins = slice(len(positivity), None)
            noise = np.sqrt(np.maximum(positivity[:, 0], 0.0)) * rng.standard_normal(len(positivity))
            b[margins] += noise - positivity[:, 0] * x[margins]
        yield RightSide(x, b)


def _solve(
    inference: Inference, system: JointSystem, right_sides: Iterator[RightSide[Item]]
) -> Iterator[Solution[Item]]:
    """Yield A^-1 b of each b: one is solved in each thread, while the next are computed."""
    systems = [system.for_another_solution() for _ in range(min(inference.threads, MOST))]

    def next_batch() -> list[RightSide[Item]]:
        return [*islice(right_sides, len(systems))]

    def solve(system: JointSystem, right: RightSide[Item]) -> Solution[Item]:
        return Solution(right.item, system.solve(right.b, EXACT))

    with ThreadPoolExecutor(1 + len(systems)) as threads:
        coming = threads.submit(next_batch)
        while batch := coming.result():
            coming = threads.submit(next_batch)
            yield from threads.map(solve, systems, batch)


def solved_deviations(inference: Inference, contrasts: Array) -> Array:
    """Joint sds (sums,) of sums of skills with weights (nodes, sums), points."""
    weights = np.zeros((len(inference.chains.previous), contrasts.shape[1]))
    weights[: len(contrasts)] = contrasts
    system = factor_joint(inference)
    right_sides = (RightSide(column, column) for column in weights.T)
    return np.sqrt([column @ x for column, x in _solve(inference, system, right_sides)])
