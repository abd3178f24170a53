"""Sds of the joint posterior where no factor can be afforded: from samples, and solutions for single variables."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np

from ttt_cli.fitted import Chain, ExtraBeliefs, NewcomerCurve, Walk
from ttt_cli.inference.ep.inference import (
    Inference,
    JointSystem,
    given_skills_of_others,
    joint_system,
)
from ttt_cli.inference.ep.parts import MOST_THREADS
from ttt_cli.inference.ep.results import ChainVariances, chain_variances
from ttt_cli.inference.joint.shape import joint_chains
from ttt_cli.inference.links import NO_PAIRS
from ttt_cli.kernels import joint as kernels
from ttt_cli.kernels.ep.chains import accumulate
from ttt_cli.kernels.ep.links import pull as pull_sums
from ttt_cli.support.arrays import Array, Places

Key = TypeVar("Key")

SAMPLES: Final = 100
SEED: Final = 20070
# Relative errors in the energy norm. 1e-2 gives sds of weak ties with 3 % error.
SAMPLE_TOLERANCE: Final = 5e-3
WAVE_TOLERANCE: Final = 1e-6
MOST_WAVES: Final = 30  # a wave is a sum of newcomers' means that varies much
LEAST_WAVE: Final = 1e-10  # of the largest variance of a wave: smaller ones are rounding
# Variances of which samples give more than this share are solved for exactly, at most as many as there are samples.
MOST_SAMPLED: Final = 0.3


class SampledHistories(NamedTuple):
    """Chains, newcomers' mean and extra variables with sampled sds of the joint Gaussian, and their rms relative error.

    `extra` is None without games as links of any number of variables.
    """

    chains: dict[str, Chain]
    newcomers: NewcomerCurve | None
    error: float
    extra: ExtraBeliefs | None


class WaveResponses(NamedTuple):
    """Independent sums of newcomers' means with variance 1.

    | name | shape | |
    |---|---|---|
    | weights | (waves, years) | of the means of years |
    | response | (waves, variables and years) | covariance with all variables, and with the means of years |
    """

    weights: Array
    response: Array


class RightSide(NamedTuple, Generic[Key]):
    """The b of A x = b, and a key by which its solution is known."""

    key: Key
    b: Array


class SampledSolution(NamedTuple, Generic[Key]):
    """The x of A x = b, and the key of b."""

    key: Key
    x: Array


class Spread(NamedTuple):
    """Variances and covariances of the joint Gaussian, or a part of them, points^2.

    | name | shape | |
    |---|---|---|
    | variance | (variables + years,) | of all variables, then of newcomers' means by year |
    | covariance | (variables,) | with the variable before; without one it has no meaning |
    | reported | (pairs,) | of the pairs of variables that links ask for |
    """

    variance: Array
    covariance: Array
    reported: Array


class PosteriorSample(NamedTuple):
    """A sample of the joint Gaussian, less its mean, points.

    | name | shape | |
    |---|---|---|
    | x | (variables,) | all variables |
    | conditional_mean | (variables + years,) | mean of each given the sampled skills of all other players, then of |
    | | | newcomers' mean in each year given all skills |
    """

    x: Array
    conditional_mean: Array


def sampled_histories(inference: Inference, samples: int = SAMPLES) -> SampledHistories:
    """Histories with sds of the joint Gaussian, of which a part is estimated from samples.

    The means are those of the fit. The law of total variance, of a skill x:

        Var x = Var(x given other players) + Var(mean of x given other players)

    | part | computed |
    |---|---|
    | the first | exactly, by chains |
    | the second, as far as it follows from waves of newcomers' means | exactly (`_waves`) |
    | what is left of the second | from samples (`_sampled_part`) |

    Variables with a large share in the last row are solved for instead, exactly.
    """
    state = given_skills_of_others(inference)
    of_chains = chain_variances(state)  # before `joint_system`, which takes the same buffers
    system = joint_system(inference, state)
    waves = _waves(inference, system)
    exact = _exact_part(inference, of_chains, waves)
    sampled = _sampled_part(inference, system, waves, samples)
    spread = Spread(
        exact.variance + sampled.variance, exact.covariance + sampled.covariance, sampled.reported
    )
    size = len(spread.covariance)
    sampled_share = (1.0 - exact.variance / spread.variance)[:size]
    vague = _vague_variables(sampled_share, samples)
    _solve_variances(inference, system, vague, spread)
    sampled_share[vague] = 0.0
    # A variance from n samples has the relative error sqrt(2 / n), its root half of that.
    error = np.sqrt(np.mean(sampled_share**2) / (2.0 * samples))
    return _with_spread(inference, spread, float(error))


def _with_spread(inference: Inference, spread: Spread, error: float) -> SampledHistories:
    """The histories of a fit with the sds and covariances of `spread`; `error`: of the sds."""
    size = len(spread.covariance)
    nodes_end = inference.slice_state.parts.node_variables
    sd = np.sqrt(spread.variance)
    is_first = inference.chains.previous < 0
    covariance = np.where(is_first, 0.0, spread.covariance)
    chains = _with_sds(inference.histories(), sd[:nodes_end], covariance[:nodes_end])
    newcomers = inference.newcomers
    curve = newcomers.curve(np.array([newcomers.posterior.mean, sd[size:]])) if newcomers else None
    extra = None
    if inference.slice_state.links:
        means = inference.extra_beliefs()[0]
        of_extra = slice(nodes_end, size)
        extra = ExtraBeliefs(means, sd[of_extra], covariance[of_extra], spread.reported)
    return SampledHistories(chains, curve, error, extra)


def _exact_part(inference: Inference, of_chains: ChainVariances, waves: WaveResponses) -> Spread:
    """Variances given other players, and what the waves add; nothing of the reported covariances."""
    previous = inference.chains.previous
    newcomers = inference.newcomers
    of_years = newcomers.conditional_variance if newcomers else np.empty(0)
    variance = np.append(of_chains.variance, of_years) + (waves.response**2).sum(axis=0)
    of_waves = np.einsum(
        "ki,ki->i", waves.response[:, : len(previous)], waves.response[:, previous]
    )
    return Spread(variance, of_chains.covariance + of_waves, np.empty(0))


def _sampled_part(
    inference: Inference, system: JointSystem, waves: WaveResponses, samples: int
) -> Spread:
    """What is left of the variance of conditional means without the waves, from samples of the joint Gaussian.

    The waves are independent with variance 1. Given their values u the conditional means have the part u'R, R the
    responses, which is taken off.

    Links ask for covariances of variables x and y in different chains. As y is among what the conditional mean of x is
    given, Cov(x, y) = Cov(mean of x, y); the same holds with x and y exchanged, and both are averaged.
    """
    previous = inference.chains.previous
    size = len(previous)
    square_sum = np.zeros(waves.response.shape[1])
    product_sum = np.zeros(size)
    links = inference.slice_state.links
    pairs = links.reported if links else NO_PAIRS
    reported_sum = np.zeros(len(pairs.first))
    for x, mean in _posterior_samples(inference, system, samples):
        if links:
            reported_sum += 0.5 * mean[pairs.first] * x[pairs.second]
            reported_sum += 0.5 * x[pairs.first] * mean[pairs.second]
        wave_values = waves.weights @ mean[size:]
        residual = mean - wave_values @ waves.response
        square_sum += residual * residual
        product_sum += residual[:size] * residual[previous]
    return Spread(square_sum / samples, product_sum / samples, reported_sum / samples)


def _posterior_samples(
    inference: Inference, system: JointSystem, samples: int
) -> Iterator[PosteriorSample]:
    """Yield samples of the joint Gaussian, from the same seed in every fit."""
    for prior_sample, correction in _solve(inference, system, _samples(inference, samples)):
        x = prior_sample + correction
        yield PosteriorSample(x, system.conditional_means(x))


def _solve_variances(
    inference: Inference, system: JointSystem, variables: Places, spread: Spread
) -> None:
    """Overwrite the variances of some variables, and their covariances with those before, by exact ones."""
    previous = inference.chains.previous
    for variable, column in _solve(inference, system, _unit_vectors(variables, len(previous))):
        spread.variance[variable] = column[variable]
        spread.covariance[variable] = column[previous[variable]]


def _vague_variables(sampled_share: Array, most: int) -> Places:
    """The variables with shares of variance from samples above `MOST_SAMPLED`; the `most` with the largest ones."""
    variables = np.argsort(-sampled_share, kind="stable")[:most]
    return variables[sampled_share[variables] > MOST_SAMPLED]


def _unit_vectors(variables: Places, size: int) -> Iterator[RightSide[int]]:
    """Yield the right sides whose solutions are the columns of the covariance matrix of these variables."""
    for variable in variables.tolist():
        yield RightSide(variable, np.eye(1, size, variable)[0])


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
    """The sums of newcomers' means that vary most, none where the mean does not move.

    With the covariance matrix V of the sums and its eigenvalues D and eigenvectors U, V = U D U', the sums rotated by
    D^-1/2 U' are independent and have variance 1.
    """
    size = len(inference.chains.previous)
    if not inference.newcomers:
        return WaveResponses(np.empty((0, 0)), np.empty((0, size)))
    waves = inference.newcomers.waves(MOST_WAVES, size)
    response = np.array(
        [system.conditional_means(system.solve(b, WAVE_TOLERANCE)) for b in waves.of_skills]
    )
    covariance = response[:, size:] @ waves.weights.T
    variance, vectors = np.linalg.eigh(covariance)
    free = variance > LEAST_WAVE * variance[-1]
    rotation = (vectors[:, free] / np.sqrt(variance[free])).T
    return WaveResponses(rotation @ waves.weights, rotation @ response)


def _samples(inference: Inference, samples: int) -> Iterator[RightSide[Array]]:
    """Yield a sample x of the prior as key, and b = (noise of the sites) - L x, of each sample of the posterior.

    L is the precision of the sites, and the covariance of their noise: x + A^-1 b is a sample of the posterior.
    """
    variance = joint_chains(inference).variance[: len(inference.chains.previous)]
    # performances have no prior: any value will do
    step_sd = np.sqrt(np.where(np.isfinite(variance), variance, 0.0))
    rng = np.random.default_rng(SEED)
    for _ in range(samples):
        x = _prior_sample(inference, step_sd, rng)
        yield RightSide(x, _site_noise_less_pull(inference, x, rng))


def _prior_sample(inference: Inference, step_sd: Array, rng: np.random.Generator) -> Array:
    """A sample of all variables less their means, (variables,): the sums of steps along chains."""
    newcomers = inference.newcomers
    previous = inference.chains.previous
    x = rng.standard_normal(len(previous))
    if newcomers:
        # in units of the sd of the first step, by which x is multiplied next
        x[newcomers.first] += newcomers.sample(rng) / newcomers.sd
    x *= step_sd
    accumulate(previous, x)
    return x


def _site_noise_less_pull(inference: Inference, x: Array, rng: np.random.Generator) -> Array:
    """A sample of the noise of the sites, of which L is the covariance, less L x, (variables,)."""
    link = inference.sites.link
    positivity = inference.sites.positivity
    own_margins = len(positivity) > 0
    links = inference.slice_state.links
    b = np.zeros(len(x))
    pull = kernels.pull_sides if own_margins else kernels.pull_skills
    noise = rng.standard_normal((len(link), 2 if own_margins else 1))
    pull(inference.merged.games, link, x, noise, b)
    if links:
        noise = rng.standard_normal(len(links.coupling))
        pull_sums(links.rows, links.sites.site, x, noise, b)
    if own_margins:
        margins = slice(len(positivity), None)  # they follow as many skills
        sd = np.sqrt(np.maximum(positivity[:, 0], 0.0))
        noise = sd * rng.standard_normal(len(positivity))
        b[margins] += noise - positivity[:, 0] * x[margins]
    return b


def _solve(
    inference: Inference,
    system: JointSystem,
    right_sides: Iterator[RightSide[Key]],
) -> Iterator[SampledSolution[Key]]:
    """Yield A^-1 b of each b, in order. Each thread solves for one of a batch while another makes the next batch."""
    systems = [system.for_another_solution() for _ in range(min(inference.threads, MOST_THREADS))]

    def next_batch() -> list[RightSide[Key]]:
        return [*islice(right_sides, len(systems))]

    def solve(system: JointSystem, right: RightSide[Key]) -> SampledSolution[Key]:
        return SampledSolution(right.key, system.solve(right.b, SAMPLE_TOLERANCE))

    with ThreadPoolExecutor(1 + len(systems)) as threads:
        coming = threads.submit(next_batch)
        while batch := coming.result():
            coming = threads.submit(next_batch)
            yield from threads.map(solve, systems, batch)


def solved_covariance(inference: Inference, contrasts: Array) -> Array:
    """Joint covariances (sums, sums) of sums of skills with weights (nodes, sums), points^2."""
    weights = np.zeros((len(inference.chains.previous), contrasts.shape[1]))
    weights[: len(contrasts)] = contrasts
    system = joint_system(inference, given_skills_of_others(inference))
    right_sides = (RightSide(number, column) for number, column in enumerate(weights.T))
    solved = _solve(inference, system, right_sides)
    return np.array([weights.T @ x for _, x in solved])
