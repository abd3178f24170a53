"""Which posterior a fit of Gaussian systems ends with: that of factorised expectation propagation, or a joint one."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit, Links
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.ep.warm_start import sites_name
from ttt_cli.inference.joint.inference import JointInference
from ttt_cli.inference.joint.sampled import SAMPLES, sampled_histories, solved_deviations
from ttt_cli.inference.joint.shape import Shape, beginnings, joint_chains
from ttt_cli.inference.moving_margins import BEGAN
from ttt_cli.inference.solver import Given, iterate
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.sparse.factor import affordable

PLAIN: Final = 2  # numbers of a site that is of one difference of skills; those of more hold a matrix
ROUGH: Final = 0.1  # points: how far factorised propagation goes where joint propagation follows
PATIENCE: Final = 5.0  # seconds that more than the factorised posterior may take unasked
ROUNDS: Final = 6  # of joint propagation, as a rule
SPEED: Final = 1e10  # operations of a factor in a second, its inverse included
SAMPLED: Final = 1e-7  # seconds that a sample takes for every node and distinct game
LARGE: Final = 300_000  # distinct games and nodes: of more the order of elimination is not looked for unasked
HUGE: Final = (
    4_000_000  # nor is it if asked for: it takes longer than samples, to see that a factor is out of reach
)


def infer(
    inference: Inference,
    solver: SolverConfig,
    given: Given,
    start: Fit | None,
    made: Callable[..., Fit],
    **pace: Any,
) -> Fit:
    """Sweep to the fixed point that `solver.posterior` asks for; `made` makes a Fit of what is found, at this `pace`.

    Its posterior is `joint`; `joint sds`, of the joint Gaussian of factorised sites, exact or by samples, the latter
    with a note where the joint one is out of reach; or `factorised`. The log-evidence and the log probabilities of all
    games are those of the sites' own posterior.
    """
    kind, shape = _chosen(inference, solver)
    evidence_only = given.get("evidence_only", False)
    if kind == "joint sds" and evidence_only:
        kind = "factorised"
    on_sweep, notes_of = given.get("on_sweep"), given.get("notes")
    rough = solver.model_copy(update={"tol": max(solver.tol, ROUGH)}) if kind == "joint" else solver
    status, trace = iterate(inference.sweep, rough, on_sweep, warm=inference.warm, **pace)

    def told(by: Inference | JointInference, *notes: str, **found: Any) -> Fit:
        evidence, predicted = by.log_evidence()
        return made(
            posterior=kind, log_evidence=evidence, leave_one_out=predicted, status=status, trace=trace,
            notes=(*inference.moving.notes, *notes), **{"state": inference.state, **found},
        )  # fmt: skip

    if kind == "factorised":
        beliefs = {"chains": inference.histories(), "newcomers": inference.newcomer_curve()}
        return told(inference, draws=inference.draws(), **beliefs)
    if shape is None:
        chains, newcomers, error = sampled_histories(inference)
        note = (
            f"sds are those of the joint posterior by {SAMPLES} samples: standard error {100 * error:.2g} %"
        )
        levels = notes_of(partial(solved_deviations, inference)) if notes_of else ()
        sites = inference.sites.link, inference.sites.positivity
        links = _links_of(inference, joint_chains(inference), *sites)
        beliefs = {"chains": chains, "newcomers": newcomers}
        return told(inference, note, *levels, links=links, draws=inference.draws(), **beliefs)
    began = {f"{BEGAN} {name}": value for name, value in inference.moving.state.items()}
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
    return told(
        joint if kind == "joint" else inference, *levels,
        state=inference.state | joint.state | began, links=links, draws=joint.draws(), **beliefs,
    )  # fmt: skip


def at_fit(inference: Inference, fit: Fit) -> Inference | JointInference:
    """The posterior of a fit again, from its sites."""
    if fit.posterior != "joint":
        return inference
    joint = JointInference(inference, Shape(inference), _joint_sites(inference, fit))
    joint.believe()
    joint.moving.follow_strength(joint)
    return joint


def _chosen(inference: Inference, solver: SolverConfig) -> tuple[str, Shape | None]:
    """Which posterior there will be, and the shape of its factor if one is made."""
    asked, size = solver.posterior, len(inference.merged) + len(inference.chains.previous)
    sampled = SAMPLES * SAMPLED * size
    if asked == "factorised" or not len(inference.merged):
        return "factorised", None
    if size <= (HUGE if asked == "joint" else LARGE):
        shape = Shape(inference)
        each = shape.pattern.flops / SPEED
        if affordable(shape.pattern) and (asked == "joint" or ROUNDS * each <= PATIENCE):
            return "joint", shape
        if asked == "auto" and each <= min(sampled, PATIENCE):
            return "joint sds", shape
    return ("joint sds" if asked == "joint" or sampled <= PATIENCE else "factorised"), None


def _near(inference: Inference, start: Fit | None) -> tuple[Array, Array] | None:
    """Sites to begin with: as far from those of factorised propagation as they were in an earlier fit."""
    if (
        start
        and (joint := _joint_sites(inference, start))
        and (before := _joint_sites(inference, start, "links of"))
    ):
        now = inference.sites.link, inference.sites.positivity
        inference.moving.go_ahead(inference, start)
        links, positivity = (then + (new - old) for then, new, old in zip(joint, now, before, strict=True))
        return _definite(links, now[0]), _definite(positivity, now[1])
    return None


def _definite(sites: Array, otherwise: Array) -> Array:
    """The sites, and others in place of those whose precision is not positive."""
    kept = sites[:, 0] > 0.0
    if sites.shape[1] > PLAIN:
        kept &= sites[:, 0] * sites[:, 2] > sites[:, 1] ** 2
    return np.where(kept[:, None], sites, otherwise)


def _joint_sites(inference: Inference, start: Fit | None, kind: str = "joint") -> tuple[Array, Array] | None:
    """Those of a kind in an earlier fit of the same games and nodes: of games, and those of draw margins."""
    if start is None:
        return None
    _, link, positivity = inference.sites
    found = [
        start.state.get(f"{kind} {name}") for name in (sites_name(inference.merged.colours), "positivity")
    ]
    match found:
        case [np.ndarray() as links, np.ndarray() as margins] if (
            links.shape == link.shape and margins.shape == positivity.shape
        ):
            return links, margins
    return None


def _links_of(inference: Inference, chains: Chains, link: Array, positivity: Array) -> Links:
    """The precisions of these sites (`kernels/ep/structures.py`) by nodes, along the chains of nodes among these."""
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
