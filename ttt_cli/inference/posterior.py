"""Select and compute the posterior of Gaussian systems: factorised, joint sds, or joint expectation propagation."""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Final, TypeVar

import numpy as np

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Chain, Fit, Links, NewcomerCurve
from ttt_cli.games.groups import find_groups, find_loose_parts
from ttt_cli.games.table import Games
from ttt_cli.gaussian.factor import affordable
from ttt_cli.inference.ep.inference import Engine, Inference, SitesLost
from ttt_cli.inference.ep.slices import MOST
from ttt_cli.inference.ep.start import sites_name
from ttt_cli.inference.joint import JointInference, Shape, beginnings, joint_chains
from ttt_cli.inference.solver import Given, iterate
from ttt_cli.inference.years import INITIAL
from ttt_cli.kernels import joint as kernels
from ttt_cli.kernels.ep.chains import accumulate
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.support.arrays import Array, Mask
from ttt_cli.timeline import Timeline

Item = TypeVar("Item")

PLAIN: Final = 2  # numbers of a site of one skill difference; sites of more have a matrix
ROUGH: Final = 0.1  # points: tolerance of factorised propagation before joint propagation
PATIENCE: Final = 5.0  # seconds for more than the factorised posterior under `auto`
ROUNDS: Final = 6  # of joint propagation, as a rule
SPEED: Final = 1e10  # operations of a factor in a second, its inverse included
SAMPLE_COST: Final = 1e-7  # seconds that a sample takes for every node and distinct game
LARGE: Final = 300_000  # distinct games and nodes up to which `auto` looks for an order of elimination
HUGE: Final = 4_000_000  # the same for `joint`: beyond it the search takes longer than samples


def infer(
    inference: Engine,
    solver: SolverConfig,
    given: Given,
    start: Fit | None,
    made: Callable[..., Fit],
    **pace: Any,
) -> Fit:
    """Sweep to the fixed point of `solver.posterior`, and return the Fit that `made` makes of it.

    Of an Engine that is no Inference only `factorised` is possible.

    Posteriors are `factorised`; `joint sds`, the joint Gaussian of factorised sites (by samples where a factor is out
    of reach); or `joint`. The log-evidence and leave-one-out probabilities are those of the sites' own posterior.
    """
    kind, shape = _chosen(inference, solver)
    evidence_only = given.get("evidence_only", False)
    if kind == "joint sds" and evidence_only:
        kind = "factorised"
    on_sweep = given.get("on_sweep")
    notes_of = given.get("notes")
    rough = solver.model_copy(update={"tol": max(solver.tol, ROUGH)}) if kind == "joint" else solver
    status, trace = iterate(inference.sweep, rough, on_sweep, warm=inference.warm, **pace)

    def finished(by: Engine | JointInference, *notes: str, **found: Any) -> Fit:
        evidence, predicted = by.log_evidence()
        return made(
            posterior=kind, log_evidence=evidence, leave_one_out=predicted, status=status, trace=trace,
            notes=(*inference.moving.notes, *notes), **{"state": inference.state, **found},
        )  # fmt: skip

    while kind == "factorised":
        with suppress(SitesLost):
            chains = inference.histories()
            newcomers = inference.newcomer_curve()
            draws = inference.draws()
            return finished(inference, chains=chains, newcomers=newcomers, draws=draws)
        status, trace = iterate(inference.sweep, rough, on_sweep, warm=inference.warm, **pace)
    assert isinstance(inference, Inference)
    if shape is None:
        chains, newcomers, error = sampled_histories(inference)
        note = (
            f"sds are those of the joint posterior by {SAMPLES} samples: standard error {100 * error:.2g} %"
        )
        levels = notes_of(partial(solved_deviations, inference)) if notes_of else ()
        sites = inference.sites.link, inference.sites.positivity
        links = _links_of(inference, joint_chains(inference), *sites)
        beliefs = {"chains": chains, "newcomers": newcomers}
        return finished(inference, note, *levels, links=links, draws=inference.draws(), **beliefs)
    initial = {f"{INITIAL} {name}": value for name, value in inference.moving.state.items()}
    joint = JointInference(inference, shape, _near(inference, start) if kind == "joint" else None)
    if kind == "joint" and len(trace) < solver.max_sweeps:
        status, trace = joint.solve(solver, on_sweep, trace, evidence_only=evidence_only)
    else:
        joint.believe()
        if kind == "joint":
            status = replace(status, converged=False, remaining_error=math.inf)
    levels = notes_of(joint.deviations) if notes_of else ()
    links = _links_of(inference, joint.chains, joint.links, joint.positivity)
    beliefs = {"chains": joint.histories(), "newcomers": joint.newcomer_curve()}
    return finished(
        joint if kind == "joint" else inference, *levels,
        state=inference.state | joint.state | initial, links=links, draws=joint.draws(), **beliefs,
    )  # fmt: skip


def at_fit(inference: Inference, fit: Fit) -> Inference | JointInference:
    """Rebuild the posterior of a fit from its sites."""
    if fit.posterior != "joint":
        return inference
    joint = JointInference(inference, Shape(inference), _joint_sites(inference, fit))
    joint.believe()
    joint.moving.follow_strength(joint)
    return joint


def _chosen(inference: Engine, solver: SolverConfig) -> tuple[str, Shape | None]:
    """Kind of posterior, and the shape of its factor if one is made."""
    wanted = solver.posterior
    if wanted == "factorised" or not isinstance(inference, Inference) or not len(inference.merged):
        return "factorised", None
    size = len(inference.merged) + len(inference.chains.previous)
    sampled = SAMPLES * SAMPLE_COST * size
    if size <= (HUGE if wanted == "joint" else LARGE):
        shape = Shape(inference)
        each = shape.pattern.flops / SPEED
        if affordable(shape.pattern) and (wanted == "joint" or ROUNDS * each <= PATIENCE):
            return "joint", shape
        if wanted == "auto" and each <= min(sampled, PATIENCE):
            return "joint sds", shape
    return ("joint sds" if wanted == "joint" or sampled <= PATIENCE else "factorised"), None


def _near(inference: Inference, start: Fit | None) -> tuple[Array, Array] | None:
    """Initial joint sites: the factorised ones shifted as in an earlier fit."""
    joint = _joint_sites(inference, start)
    before = _joint_sites(inference, start, "links of")
    if start is None or joint is None or before is None:
        return None
    inference.moving.extrapolate(inference, start)
    found = []
    for then, new, old in zip(joint, inference.sites[1:], before, strict=True):
        sites = then + (new - old)
        definite = sites[:, 0] > 0.0
        if sites.shape[1] > PLAIN:
            definite &= sites[:, 0] * sites[:, 2] > sites[:, 1] ** 2
        found.append(np.where(definite[:, None], sites, new))
    return found[0], found[1]


def _joint_sites(inference: Inference, start: Fit | None, kind: str = "joint") -> tuple[Array, Array] | None:
    """Sites of games and of draw margins in an earlier fit of the same games."""
    name = sites_name(inference.merged.colours)
    (_, link, positivity) = inference.sites
    state = start.state if start else {}
    links = state.get(f"{kind} {name}")
    margins = state.get(f"{kind} positivity")
    if links is None or margins is None or (links.shape, margins.shape) != (link.shape, positivity.shape):
        return None
    return links, margins


def _links_of(inference: Inference, chains: Chains, link: Array, positivity: Array) -> Links:
    """Precisions of sites by pairs of nodes, with the steps of chains."""
    games = inference.merged.games
    previous = inference.chains.previous
    variance = chains.variance
    nodes = len(previous) // len(inference.priors)
    kinds = 3 if len(positivity) else 1
    sites = link[:, :kinds].T
    turned = games.first > games.second
    precision = games.weight * np.where(turned, sites[::-1], sites)
    low = np.minimum(games.first, games.second)
    high = np.maximum(games.first, games.second)
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


SAMPLES: Final = 100
SEED: Final = 20070
# Of samples and solutions, in the energy norm; 1e-2 gives sds of weak ties with 3 % error.
EXACT: Final = 5e-3
CLOSE: Final = 1e-6  # the same of waves of newcomers' mean
WAVES: Final = 30  # such waves
STILL: Final = 1e-10  # of the largest variance of a wave: smaller ones are rounding
SAMPLED: Final = 0.3  # of a variance, of which more is solved for, for as many variables as there are samples


def sampled_histories(
    inference: Inference, samples: int = SAMPLES
) -> tuple[dict[str, Chain], NewcomerCurve | None, float]:
    """Chains and newcomers' mean with sampled sds of the joint Gaussian, and their rms relative error."""
    previous = inference.chains.previous
    chains = inference.histories()
    nodes = slice(len(previous))
    inference.factor_joint()
    alone, alone_shared = inference.slice.chain_variances()
    waves, known = _waves(inference)
    of_years = inference.newcomers.alone if inference.newcomers else np.empty(0)
    alone = np.append(alone, of_years) + (known**2).sum(axis=0)
    alone_shared = alone_shared + np.einsum("ki,ki->i", known[:, nodes], known[:, previous])
    moved = np.zeros(len(alone))
    moved_shared = np.zeros(len(previous))
    for x, solved in _solved(inference, _samples(inference, samples)):
        u = _by_others(inference, x + solved)
        u -= (waves @ u[len(previous) :]) @ known
        moved += u * u
        moved_shared += u[nodes] * u[previous]
    found = alone + moved / samples
    shared = alone_shared + moved_shared / samples
    share = (1.0 - alone / found)[nodes]
    vague = np.argsort(-share, kind="stable")[:samples]
    vague = vague[share[vague] > SAMPLED]
    share[vague] = 0.0
    for node, column in _solved(inference, ((node, np.eye(1, len(previous), node)[0]) for node in vague)):
        found[node] = column[node]
        shared[node] = column[previous[node]]
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


def _by_others(inference: Inference, x: Array) -> Array:
    """Conditional means: of variables given other players, and of newcomers' means given all skills."""
    u = inference.slice.conditional_means(x, inference.newcomers)
    return np.append(u, inference.newcomers.by_skills(x)) if inference.newcomers else u


def _waves(inference: Inference) -> tuple[Array, Array]:
    """Weights (waves, years) of independent sums of newcomers' means with variance 1, and the response of all
    variables.
    """
    if not (newcomers := inference.newcomers):
        return np.empty((0, 0)), np.empty((0, len(inference.chains.previous)))
    weights, rights = newcomers.waves(WAVES, len(inference.chains.previous))
    known = np.array([_by_others(inference, inference.solve_joint(right, CLOSE)) for right in rights])
    variance, turned = np.linalg.eigh(known[:, len(inference.chains.previous) :] @ weights.T)
    free = variance > STILL * variance[-1]
    scaled = (turned[:, free] / np.sqrt(variance[free])).T
    return scaled @ weights, scaled @ known


def _samples(inference: Inference, samples: int) -> Iterator[tuple[Array, Array]]:
    """Yield samples of all chains, with noise of the sites added."""
    games = inference.merged.games
    previous = inference.chains.previous
    newcomers = inference.newcomers
    variance = joint_chains(inference).variance[: len(previous)]
    link = inference.sites.link
    positivity = inference.sites.positivity
    margins = len(positivity) > 0
    pull = kernels.pull_sides if margins else kernels.pull_skills
    rng = np.random.default_rng(SEED)
    for _ in range(samples):
        x = rng.standard_normal(len(previous))
        right = np.zeros(len(previous))
        if newcomers:
            x[newcomers.first] += newcomers.sample(rng) / newcomers.sd
        x *= np.sqrt(variance)
        accumulate(previous, x)
        pull(games, link, x, rng.standard_normal((len(link), 1 + margins)), right)
        if margins:
            own = slice(len(positivity), None)
            noise = np.sqrt(np.maximum(positivity[:, 0], 0.0)) * rng.standard_normal(len(positivity))
            right[own] += noise - positivity[:, 0] * x[own]
        yield x, right


def _solved(inference: Inference, items: Iterator[tuple[Item, Array]]) -> Iterator[tuple[Item, Array]]:
    """Yield each item with A^-1 b of its b: one is solved in each thread, while the next are computed."""
    each = [inference.beside() for _ in range(min(inference.threads, MOST))]

    def drawn() -> list[tuple[Item, Array]]:
        return [*islice(items, len(each))]

    def solve(solver: Inference, item: tuple[Item, Array]) -> tuple[Item, Array]:
        return item[0], solver.solve_joint(item[1], EXACT)

    with ThreadPoolExecutor(1 + len(each)) as threads:
        coming = threads.submit(drawn)
        while batch := coming.result():
            coming = threads.submit(drawn)
            yield from threads.map(solve, each, batch)


def solved_deviations(inference: Inference, contrasts: Array) -> Array:
    """Joint sds (sums,) of sums of skills with weights (nodes, sums), points."""
    weights = np.zeros((len(inference.chains.previous), contrasts.shape[1]))
    weights[: len(contrasts)] = contrasts
    inference.factor_joint()
    return np.sqrt([c @ x for c, x in _solved(inference, zip(weights.T, weights.T, strict=True))])


LEAST_PLAYERS: Final = 5  # players of a reported group
MOST_GROUPS: Final = 20  # reported groups, the largest


def level_notes(games: Games, timeline: Timeline, deviations: Callable[[Array], Array]) -> tuple[str, ...]:
    """Notes with the sd of the level of each group that few or no games link to the others.

    `deviations`: the sds (sums,) of sums of skills with weights (nodes, sums).
    """
    parts = _loose_parts(games)
    if not parts:
        return ()
    # of the mean skills of both sides, in common periods if there are any
    contrasts = []
    sentences = []
    for _, inside, others in parts:
        period = np.repeat(np.arange(len(timeline.periods)), np.diff(timeline.node_start))
        own = inside[timeline.node_player]
        other = others[timeline.node_player]
        if not np.any(np.bincount(period, own) * np.bincount(period, other)):
            period = np.zeros_like(period)
        among = np.bincount(period, own)
        against = np.bincount(period, other)
        both = (among > 0) & (against > 0)
        share = np.where(both, among, 0.0) / among[both].sum()
        weights = own / np.maximum(among, 1.0)[period] - other / np.maximum(against, 1.0)[period]
        contrasts.append(share[period] * weights)
    for (words, *_), sd in zip(parts, deviations(np.array(contrasts).T), strict=True):
        sentences.append(f"{words} (+-{sd:.0f} points)")
    return (f"common level uncertain: {'; '.join(sentences)}",)


def _loose_parts(games: Games) -> list[tuple[str, Mask, Mask]]:
    """Descriptions of weakly linked groups, their players and their opponents, largest first."""
    groups = find_groups(games)
    found = []
    for part in find_loose_parts(games, players=LEAST_PLAYERS):
        inside = np.zeros(len(games.players), bool)
        inside[part.members] = True
        count = "1 game" if part.games == 1 else f"{part.games} games"
        link = f"linked to the rest by {count} with {part.linked_through}"
        words = f"{part.players} players around {part.leading}, {link}"
        found.append((words, inside, ~inside & (groups.label == groups.label[part.members[0]])))
    for number, group in enumerate(groups.groups[1:], 1):
        if group.players >= LEAST_PLAYERS:
            words = f"{group.players} players around {group.leading[0]}, linked to the rest by no game"
            found.append((words, groups.label == number, groups.label == 0))
    return sorted(found, key=lambda part: -int(part[1].sum()))[:MOST_GROUPS]
