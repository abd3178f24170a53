"""Choose and find the posterior of Gaussian systems: factorised, joint sds, or joint expectation propagation."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import ExtraBeliefs, Fit, Links, OffsetLinks, Status, SumLinks
from ttt_cli.gaussian.factor import affordable
from ttt_cli.inference.ep.inference import Inference, SlicedInference
from ttt_cli.inference.ep.link_games import JOINT_SITE, SITE
from ttt_cli.inference.ep.moving_margins import INITIAL
from ttt_cli.inference.ep.start import sites_name
from ttt_cli.inference.ep.transport import SitesLost
from ttt_cli.inference.joint.links import NO_SITES, sums_of_links
from ttt_cli.inference.joint.samples import SAMPLES, sampled_histories, solved_covariance
from ttt_cli.inference.joint.shape import Shape, beginnings, joint_chains, shape_of
from ttt_cli.inference.joint.sites import (
    FACTORISED_PREFIX,
    JOINT_PREFIX,
    JointInference,
    JointSites,
    factorised_sites,
)
from ttt_cli.inference.model import Evidence, SweepRates
from ttt_cli.inference.solver import Given, NotesOf, OnSweep, iterate
from ttt_cli.kernels.ep.structures import Chains, Pairings
from ttt_cli.support.arrays import Array, Ids, Mask

# Columns of a site of one difference: q and q times mean. With draw margins of players there are 5, of two sums: first
# q11, q12 and q22.
PLAIN_SITE: Final = 2
ROUGH: Final = 0.1  # points: tolerance of factorised propagation before joint propagation
PATIENCE: Final = 5.0  # seconds for more than the factorised posterior under `auto`
ROUNDS: Final = 6  # of joint propagation, as a rule
SPEED: Final = 1e10  # operations of a factor in a second, its inverse included
SAMPLE_COST: Final = 1e-7  # seconds that a sample takes for every node and distinct game
# Distinct games and nodes up to which `auto` looks for an order of elimination
LARGE: Final = 300_000
HUGE: Final = 4_000_000  # the same for `joint`: beyond it the search takes longer than samples

Trace = tuple[tuple[float, float], ...]
MakeFit = Callable[..., Fit]


class PosteriorKind(StrEnum):
    """Kinds of posteriors, as a Fit calls them."""

    FACTORISED = "factorised"
    JOINT_SDS = "joint sds"  # the joint Gaussian of factorised sites
    JOINT = "joint"


class Choice(NamedTuple):
    """A kind of posterior, and the shape of its factor.

    Joint sds without a shape are sampled, as no factor can be afforded.
    """

    kind: PosteriorKind
    shape: Shape | None


def infer(
    inference: Inference,
    solver: SolverConfig,
    options: Given,
    start: Fit | None,
    make_fit: MakeFit,
    rates: SweepRates,
) -> Fit:
    """Sweep to the fixed point of `solver.posterior`; returns the Fit that `make_fit` makes of it.

    Factorised sites are found first. Joint sds are those of their joint Gaussian, from a factor or, where none can be
    afforded, from samples. Joint propagation goes on from there.

    The log-evidence and leave-one-out probabilities are of joint sites where these were found (`joint`), else of the
    factorised ones, also with joint sds.
    """
    choice = choose(inference, solver)
    evidence_only = options.get("evidence_only", False)
    on_sweep = options.get("on_sweep")
    if choice.kind is PosteriorKind.FACTORISED or (
        choice.kind is PosteriorKind.JOINT_SDS and evidence_only
    ):
        return fit_factorised(inference, solver, on_sweep, make_fit, rates)
    factorised_solver = solver
    if choice.kind is PosteriorKind.JOINT:
        factorised_solver = solver.model_copy(update={"tol": max(solver.tol, ROUGH)})
    status, trace = _iterate_sweeps(inference, factorised_solver, on_sweep, rates)
    notes_of = options.get("notes")
    if choice.shape is None:
        return _fit_sampled(inference, status, trace, notes_of, make_fit)
    # moving margins as factorised propagation leaves them: a warm start shifts them as it does the sites
    factorised_margins = {
        f"{INITIAL} {name}": value for name, value in inference.moving.state.items()
    }
    if choice.kind is PosteriorKind.JOINT_SDS:
        joint = JointInference(inference, choice.shape)
        joint.believe()
    else:
        joint = JointInference(inference, choice.shape, _warm_start_sites(inference, start))
        status, trace = _iterate_joint(
            joint, solver, on_sweep, status, trace, evidence_only=evidence_only
        )
    return _fit_by_factor(joint, choice.kind, factorised_margins, status, trace, notes_of, make_fit)


def _fit_by_factor(
    joint: JointInference,
    kind: PosteriorKind,
    factorised_margins: dict[str, Array],
    status: Status,
    trace: Trace,
    notes_of: NotesOf | None,
    make_fit: MakeFit,
) -> Fit:
    """The fit of a joint Gaussian at its present sites, joint or factorised ones by `kind`."""
    inference = joint.inference
    notes = notes_of(joint.covariance) if notes_of else ()
    links = _links_of(inference, joint.chains, joint.sites)
    draws = joint.draws()
    evidence = joint.log_evidence() if kind is PosteriorKind.JOINT else inference.log_evidence()
    return make_fit(
        posterior=kind.value,
        **_evidence_fields(evidence),
        status=status,
        trace=trace,
        notes=(*inference.moving.notes, *notes),
        state=inference.saved_state | joint.saved_state | factorised_margins,
        chains=joint.histories(),
        newcomers=joint.newcomer_curve(),
        draws=draws,
        links=links,
        **_extra_fields(joint if inference.slice_state.links else None),
    )


def fit_factorised(
    inference: SlicedInference,
    solver: SolverConfig,
    on_sweep: OnSweep | None,
    make_fit: MakeFit,
    rates: SweepRates,
) -> Fit:
    """The fit of the factorised posterior; where its sites are lost with slices, sweeps find them again."""
    while True:
        status, trace = _iterate_sweeps(inference, solver, on_sweep, rates)
        with suppress(SitesLost):
            return _factorised_fit(inference, status, trace, make_fit)


def _iterate_sweeps(
    inference: SlicedInference, solver: SolverConfig, on_sweep: OnSweep | None, rates: SweepRates
) -> tuple[Status, Trace]:
    """Sweep until the factorised posterior has converged."""
    return iterate(
        inference.sweep,
        solver,
        on_sweep,
        rates.least,
        warm=inference.warm,
        too_early=rates.too_early,
    )


def _factorised_fit(
    inference: SlicedInference, status: Status, trace: Trace, make_fit: MakeFit
) -> Fit:
    """The fit at the present sites. Raises SitesLost."""
    with_links = (
        inference if isinstance(inference, Inference) and inference.slice_state.links else None
    )
    chains = inference.histories()
    newcomers = inference.newcomer_curve()
    draws = inference.draws()
    return make_fit(
        posterior=PosteriorKind.FACTORISED.value,
        **_evidence_fields(inference.log_evidence()),
        status=status,
        trace=trace,
        notes=inference.moving.notes,
        state=inference.saved_state,
        chains=chains,
        newcomers=newcomers,
        draws=draws,
        **_extra_fields(with_links),
    )


def _fit_sampled(
    inference: Inference,
    status: Status,
    trace: Trace,
    notes_of: NotesOf | None,
    make_fit: MakeFit,
) -> Fit:
    """The fit of joint sds by samples."""
    sampled = sampled_histories(inference)
    error = f"{100 * sampled.error:.2g} %"
    note = f"sds are those of the joint posterior by {SAMPLES} samples: standard error {error}"
    notes = notes_of(lambda contrasts: solved_covariance(inference, contrasts)) if notes_of else ()
    links = _links_of(inference, joint_chains(inference), factorised_sites(inference))
    draws = inference.draws()
    return make_fit(
        posterior=PosteriorKind.JOINT_SDS.value,
        **_evidence_fields(inference.log_evidence()),
        status=status,
        trace=trace,
        notes=(*inference.moving.notes, note, *notes),
        state=inference.saved_state,
        chains=sampled.chains,
        newcomers=sampled.newcomers,
        draws=draws,
        links=links,
        extra=sampled.extra,
    )


def _extra_fields(posterior: Inference | JointInference | None) -> dict[str, ExtraBeliefs]:
    """Fields of a Fit with games as links of any number of variables, by its posterior; none for other fits."""
    if posterior is None:
        return {}
    mean, sd, covariance = posterior.extra_beliefs()
    return {"extra": ExtraBeliefs(mean, sd, covariance, posterior.reported_covariances())}


def _evidence_fields(evidence: Evidence) -> dict[str, float]:
    """Fields of a Fit with the log-evidence and the leave-one-out log probability."""
    return evidence._asdict()


def _iterate_joint(
    joint: JointInference,
    solver: SolverConfig,
    on_sweep: OnSweep | None,
    status: Status,
    trace: Trace,
    *,
    evidence_only: bool,
) -> tuple[Status, Trace]:
    """Joint propagation after the factorised one.

    Where no sweep is left, the Gaussian of the factorised sites, whose status is not converged.
    """
    if len(trace) < solver.max_sweeps:
        return joint.solve(solver, on_sweep, trace, evidence_only=evidence_only)
    joint.believe()
    return replace(status, converged=False, remaining_error=math.inf), trace


def at_fit(inference: Inference, fit: Fit) -> Inference | JointInference:
    """The posterior of a fit, rebuilt from its sites; `inference` has the factorised ones, also those of joint sds."""
    if fit.posterior != PosteriorKind.JOINT:
        return inference
    sites = _stored_sites(inference, fit, JOINT_PREFIX, JOINT_SITE)
    joint = JointInference(inference, shape_of(inference), sites)
    joint.believe()
    # A fit does not store the strengths of players in games, since they follow from beliefs.
    inference.moving.follow_strength(joint)
    return joint


def choose(inference: Inference, solver: SolverConfig) -> Choice:
    """The kind of posterior that `solver.posterior` asks for, as far as it can be afforded.

    | wanted | a factor takes little time | some time | too much |
    |---|---|---|---|
    | joint | joint | joint | joint sds by samples |
    | auto | joint | joint sds by a factor, or by samples if these are faster | joint sds by samples, else factorised |
    | factorised | factorised | factorised | factorised |
    """
    wanted = solver.posterior
    links = inference.slice_state.links
    games = len(inference.merged) + (len(links.coupling) if links else 0)
    if wanted == "factorised" or not games:
        return Choice(PosteriorKind.FACTORISED, None)
    size = games + len(inference.chains.previous)
    sampling = SAMPLES * SAMPLE_COST * size  # seconds
    if size <= (HUGE if wanted == "joint" else LARGE):
        shape = shape_of(inference)
        round_time = shape.pattern.flops / SPEED
        if affordable(shape.pattern) and (wanted == "joint" or ROUNDS * round_time <= PATIENCE):
            return Choice(PosteriorKind.JOINT, shape)
        if wanted == "auto" and round_time <= min(sampling, PATIENCE):
            return Choice(PosteriorKind.JOINT_SDS, shape)
    if wanted == "joint" or sampling <= PATIENCE:
        return Choice(PosteriorKind.JOINT_SDS, None)
    return Choice(PosteriorKind.FACTORISED, None)


def _warm_start_sites(inference: Inference, start: Fit | None) -> JointSites | None:
    """Initial joint sites: the factorised ones shifted as in an earlier fit. Moving margins are shifted so, too."""
    joint = _stored_sites(inference, start, JOINT_PREFIX, JOINT_SITE)
    factorised = _stored_sites(inference, start, FACTORISED_PREFIX, SITE)
    if start is None or joint is None or factorised is None:
        return None
    inference.moving.extrapolate(inference.propagation.margins, start)
    present = factorised_sites(inference)
    return JointSites(
        _shifted(present.link, joint.link, factorised.link),
        _shifted(present.positivity, joint.positivity, factorised.positivity),
        _shifted(present.sums, joint.sums, factorised.sums),
    )


def _shifted(present: Array, joint: Array, factorised: Array) -> Array:
    """Sites of an earlier joint fit, moved as the factorised ones have moved since; the present where that is none."""
    sites = joint + (present - factorised)
    return np.where(_definite(sites)[:, None], sites, present)


def _definite(sites: Array) -> Mask:
    """Mask of sites with a positive definite precision: q > 0, or q11 > 0 and q11 q22 > q12^2."""
    definite: Mask = sites[:, 0] > 0.0
    if sites.shape[1] > PLAIN_SITE:
        definite &= sites[:, 0] * sites[:, 2] > sites[:, 1] ** 2
    return definite


def _stored_sites(
    inference: Inference, start: Fit | None, prefix: str, of_links: str
) -> JointSites | None:
    """Sites in the state of an earlier fit of the same games, None where it has none.

    `prefix` of their names: JOINT_PREFIX or FACTORISED_PREFIX; `of_links`: the name of those of links.
    """
    name = sites_name(inference.merged)
    state = start.state if start else {}
    link = state.get(f"{prefix} {name}")
    positivity = state.get(f"{prefix} positivity")
    sums = state.get(of_links, NO_SITES)
    if link is None or positivity is None:
        return None
    sites = JointSites(link, positivity, sums)
    present = factorised_sites(inference)
    if any(then.shape != now.shape for then, now in zip(sites, present, strict=True)):
        return None
    return sites


def _links_of(inference: Inference, chains: Chains, sites: JointSites) -> Links:
    """The precision matrix of a joint Gaussian, as a fit stores it; `chains` are those of all variables."""
    games = inference.merged.games
    node_variables = inference.slice_state.parts.node_variables
    nodes = node_variables // len(inference.priors)
    pairs = _sum_by_pair(games, _precisions_from_lower_node(games, sites.link), nodes)
    step_variance = _step_variances(inference, chains, slice(node_variables))
    positivity = sites.positivity
    return Links(
        first=pairs.first,
        second=pairs.second,
        precision=pairs.precision,
        variance=step_variance.reshape(-1, nodes),
        positive=positivity[:, 0].copy() if len(positivity) else np.full(nodes, np.nan),
        offsets=_offset_links(inference, chains, sites),
        sums=_sum_links(inference, sites),
    )


def _precisions_from_lower_node(games: Pairings, link: Array) -> Array:
    """Precisions (kinds, games) of all equal games together, as if the node with the smaller number came first.

    There is one kind, q, or with draw margins of players there are three, q11, q12 and q22 of the sums x1 and x2.
    Exchanging the nodes exchanges x1 and x2, and so q11 and q22.
    """
    kinds = 1 if link.shape[1] == PLAIN_SITE else 3
    precision = link[:, :kinds].T
    exchanged = precision[::-1]
    return games.weight * np.where(games.first > games.second, exchanged, precision)


def _step_variances(inference: Inference, chains: Chains, variables: slice) -> Array:
    """Variances of the steps to some variables, points^2; 0 inside a group of variables that are one (`Shape`).

    Where newcomers' mean moves, `chains` lead from it to the first nodes of players, who begin groups nevertheless.
    """
    is_first_of_player = inference.chains.previous[variables] < 0
    begins_group = beginnings(chains.previous, chains.variance)[variables] | is_first_of_player
    return np.where(begins_group, chains.variance[variables], 0.0)


class _PairPrecisions(NamedTuple):
    """Precisions of games by pairs of variables, the one with the smaller number first.

    | name | shape | |
    |---|---|---|
    | first, second | (pairs,) | variables |
    | precision | (kinds, pairs) | sums over the games of each pair |
    """

    first: Ids
    second: Ids
    precision: Array


def _sum_by_pair(games: Pairings, precision: Array, variables: int) -> _PairPrecisions:
    """Sum precisions (kinds, games) over the games of each pair; numbers of variables are below `variables`."""
    low = np.minimum(games.first, games.second).astype(np.int64)
    high = np.maximum(games.first, games.second)
    distinct, pair = np.unique(low * variables + high, return_inverse=True)
    first, second = np.divmod(distinct, max(variables, 1))
    sums = np.array([np.bincount(pair, of_kind, len(distinct)) for of_kind in precision])
    return _PairPrecisions(first.astype(np.int32), second.astype(np.int32), sums)


def _offset_links(inference: Inference, chains: Chains, sites: JointSites) -> OffsetLinks | None:
    """The offsets of categories, None without any; without games where these are among `SumLinks`.

    That is where sides are sums, and where offsets have shared parts.
    """
    links = inference.slice_state.links
    if links is None:
        return None
    begin, end = links.extra.chained
    if begin == end:
        return None
    step_variance = _step_variances(inference, chains, slice(begin, end))
    if links.categories is None or links.loadings is not None:
        nothing = np.empty(0, np.int32)
        return OffsetLinks(nothing, nothing, np.empty(0), step_variance)
    games = links.categories.games.merged.games
    precision = games.weight * sites.sums[:, 0]
    pairs = _sum_by_pair(games, precision[np.newaxis], end - begin)
    return OffsetLinks(pairs.first, pairs.second, pairs.precision[0], step_variance)


def _sum_links(inference: Inference, sites: JointSites) -> SumLinks | None:
    """Games of teams and orders of finish, and with shared parts of offsets; None without any."""
    links = inference.slice_state.links
    if links is None or (links.categories is not None and links.loadings is None):
        return None
    return SumLinks(sums_of_links(links.rows), links.rows.weight * sites.sums[:, 0])
