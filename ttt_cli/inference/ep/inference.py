"""The fixed point of expectation propagation over slices, and what a fit takes from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ttt_cli.fitted import Chain, DrawCurve, Fit, NewcomerCurve
from ttt_cli.inference.ep import results
from ttt_cli.inference.ep.cutting import Cutter, SliceInputs, StartSites
from ttt_cli.inference.ep.joint_means import prepare
from ttt_cli.inference.ep.joint_solution import CoupledChains, JointSolver
from ttt_cli.inference.ep.link_games import (
    link_state,
    links_gradient,
    started_link_sites,
    with_links,
)
from ttt_cli.inference.ep.moving_margins import MovingMargins, SliceMargins
from ttt_cli.inference.ep.start import beliefs_of_start, sites_name, sites_of_start
from ttt_cli.inference.ep.state import SliceState, make_state
from ttt_cli.inference.ep.sweep import Propagation
from ttt_cli.inference.ep.transport import Recovery, SliceHere, Slices
from ttt_cli.inference.links import LinkedGames, MergedGames
from ttt_cli.inference.model import Evidence, EvidenceGradient, Play
from ttt_cli.inference.newcomers import Newcomers
from ttt_cli.inference.prior import RandomWalk, histories, prior_slopes
from ttt_cli.inference.solver import Pace, Sweep
from ttt_cli.kernels.ep.structures import Chains, Rule, Sites
from ttt_cli.parallel.processes import available_cores
from ttt_cli.storage import Shared
from ttt_cli.support.arrays import Array
from ttt_cli.timeline import Timeline


class SlicedInference:
    """Sweeps over slices, repeated where slices are lost, and their results.

    `priors`: of each quantity of a node, `skill` and perhaps `draw_margin`. `margins_from`: a fit of the same timeline
    whose moving margins are the initial ones. Slices begin with the sites that they have: `warm` tells whether any has,
    by which the error is estimated. With `cold` that is false, whatever they have.
    """

    def __init__(
        self,
        slices: Slices,
        slice_inputs: SliceInputs,
        priors: Mapping[str, RandomWalk],
        play: Play,
        margins_from: Fit | None = None,
        links: LinkedGames | None = None,
        *,
        cold: bool = False,
    ) -> None:
        self.priors = priors
        propagation = Propagation(
            slices, slice_inputs, play, priors["skill"].newcomers, margins_from, links
        )
        self.propagation = propagation
        self._timeline = slice_inputs.timeline
        self._cuts = slice_inputs.cuts
        self._slices = slices

        # holds the propagation and not the inference, so that this is freed without the garbage collector
        def begin_again() -> bool:
            """Smooth the sites that slices have, set margins by them; whether every slice still has its sites."""
            return all(propagation.begin())

        self._recovery = Recovery(slices, begin_again)
        have_sites = self._recovery.run(self.propagation.begin)
        self.warm = any(have_sites) and not cold
        self._recovery.run(self.propagation.solver.prepare_levels)

    @property
    def newcomers(self) -> Newcomers | None:
        """Newcomers' mean, if it moves."""
        return self.propagation.newcomers

    @property
    def moving(self) -> MovingMargins:
        """How draw margins move."""
        return self.propagation.moving

    @property
    def steps(self) -> int:
        """Steps of conjugate gradients so far."""
        return self.propagation.solver.steps

    def sweep(self, pace: Pace) -> Sweep:
        """Every slice forward and backward; then the joint means, to which slices move unless the pace is PLAIN."""
        return self._recovery.run(lambda: self.propagation.sweep(pace))

    def log_evidence(self) -> Evidence:
        """log Z of the sites, and the log probability of games without their own. Raises SitesLost, as all below."""
        shares = self._recovery.run_with_sites(
            lambda: self.propagation.exchange.broadcast(results.evidence)
        )
        total = math.fsum(share.log_evidence for share in shares)
        total += self._recovery.run_with_sites(
            lambda: self.moving.log_evidence(self.propagation.margins)
        )
        total += self.newcomers.log_evidence if self.newcomers else 0.0
        return Evidence(total, math.fsum(share.leave_one_out for share in shares))

    def offset_slopes(self) -> Array:
        """Slopes of log Z in White's advantage, covariates, the lapse and steps between wins, (2 + terms + steps,)."""
        slopes = self._recovery.run_with_sites(
            lambda: self.propagation.exchange.broadcast(results.offset_slopes)
        )
        return np.asarray(np.sum(slopes, axis=0))

    def draws(self) -> DrawCurve | None:
        """Draw margins that move."""
        origin = self.priors["skill"].origin
        return self._recovery.run_with_sites(
            lambda: self.moving.curve(self.propagation.margins, origin)
        )

    def newcomer_curve(self) -> NewcomerCurve | None:
        """Newcomers' mean, if it moves."""
        return self.newcomers.curve(self.newcomers.beliefs) if self.newcomers else None

    @property
    def saved_state(self) -> dict[str, Array]:
        """What a later fit may start from."""
        return self.moving.state

    def node_beliefs(self) -> Array:
        """Mean from the origin, sd, and covariance with the node before, (3, quantities, nodes), of all nodes."""
        storage = self._timeline.storage
        if not self._slices.can_write(storage):
            parts = self._recovery.run_with_sites(
                lambda: self.propagation.exchange.broadcast(results.node_beliefs)
            )
            # a copy of one part alone would take memory
            return np.concatenate(parts, axis=2) if len(parts) > 1 else parts[0]
        beliefs = storage.zeros(
            "beliefs", (3, len(self.priors), self._timeline.n_nodes), np.float64
        )
        borders = self._timeline.node_start[self._cuts[1:-1]]
        shares = [(Shared[Array](part),) for part in np.split(beliefs, borders, axis=2)]
        self._recovery.run_with_sites(lambda: self._slices.run(results.write_node_beliefs, shares))
        return beliefs

    def histories(self) -> dict[str, Chain]:
        """Beliefs about the quantities of all nodes, points."""
        return histories(self.priors, self.node_beliefs())


class Inference(SlicedInference):
    """The fit of a whole timeline in memory: one slice, which threads share.

    `start`: a fit of the same timeline, perhaps with other parameters, or beliefs about its nodes.
    """

    def __init__(
        self,
        timeline: Timeline,
        merged: MergedGames,
        priors: Mapping[str, RandomWalk],
        play: Play,
        start: Fit | None = None,
        threads: int | None = None,
        links: LinkedGames | None = None,
    ) -> None:
        self.merged = merged
        self.threads = threads or available_cores()
        sites = sites_of_fit(timeline, merged, len(priors), start, links)
        guess = None
        if sites is None or not sites.message.any():
            guess = beliefs_of_start(start, priors, timeline)
        cutter = Cutter(
            timeline,
            None,
            [*priors.values()],
            colours=merged.colours,
            terms=merged.terms,
            thresholds=merged.thresholds,
            guess=guess,
        )
        slice_input = replace(cutter.as_one_slice(merged), sites=sites)
        if links:
            slice_input = with_links(slice_input, links, priors["skill"].origin)
        self.slice_state = make_state(slice_input, play, threads=self.threads)
        super().__init__(SliceHere(self.slice_state), cutter, priors, play, start, links)

    @property
    def chains(self) -> Chains:
        """Chains of all variables."""
        return self.slice_state.chains

    @property
    def sites(self) -> Sites:
        """Sites of all games, and those that keep draw margins positive."""
        return self.slice_state.pairs.sites

    @property
    def rule(self) -> Rule:
        """How games are played."""
        return self.slice_state.rule

    @property
    def margins(self) -> SliceMargins:
        """Draw margins of all games."""
        return self.slice_state.margins

    @property
    def saved_state(self) -> dict[str, Array]:
        """What a later fit may start from."""
        state = {sites_name(self.merged): self.sites.message}
        if len(self.sites.positivity):
            state["positivity"] = self.sites.positivity
        if self.slice_state.links:
            state |= link_state(self.slice_state.links.sites)
        return state | super().saved_state

    def gradient(self) -> EvidenceGradient:
        """Gradient of log Z at the fixed point."""
        by_strength, of_play = self.moving.gradient(
            self.slice_state, self.merged, self.slice_state.pairs.kernels.gradient
        )
        slopes = self.slice_state.chain_slopes()
        of_nodes = slice(self.slice_state.parts.node_variables)
        of_priors = prior_slopes(
            self.priors, slopes.by_mean[of_nodes], slopes.by_variance[of_nodes]
        )
        if self.newcomers:
            of_priors |= self.newcomers.gradient(self.newcomers.posterior.squares)
        of_priors["draw_margin_strength"] = by_strength
        # players' margins are deviations from a common one, so the sites that keep them positive depend on that, too
        by_positivity = results.positivity_evidence(self.slice_state).by_origin
        of_pairs = of_play._replace(margin=of_play.margin + by_positivity)
        links = self.slice_state.links
        if not links:
            return EvidenceGradient(of_priors, of_pairs, None)
        marginal = self.slice_state.messages.marginal
        of_links = links_gradient(
            links,
            links.cavities(marginal),
            slopes,
            self.slice_state.pairs.play,
            links.moments_of_shared(marginal),
        )
        of_games = of_pairs.plus(of_links.games) if of_links.games else of_pairs
        return EvidenceGradient(of_priors, of_games, of_links)

    def extra_beliefs(self) -> Array:
        """Mean, sd, and covariance with the variable before, (3, extra variables), of those of links, points."""
        return results.extra_beliefs(self.slice_state)

    def reported_covariances(self) -> Array:
        """Covariances of the pairs of variables that links ask for, (pairs,): 0, as chains are taken as independent."""
        links = self.slice_state.links
        return np.zeros(len(links.reported.first) if links else 0)


def sites_of_fit(
    timeline: Timeline,
    merged: MergedGames,
    quantities: int,
    start: Fit | None,
    links: LinkedGames | None,
) -> StartSites | None:
    """Sites of an earlier fit of the timeline or of its first periods, None where it has none."""
    name = sites_name(merged)
    if start is None or name not in start.state:
        return None
    nodes = timeline.n_nodes if quantities > 1 else 0
    return StartSites(
        sites_of_start((len(merged), 4 * quantities), start, name),
        sites_of_start((nodes, 2), start, "positivity"),
        started_link_sites(links, start) if links else None,
    )


class JointSystem:
    """Solutions of A x = b, A the joint precision at the present sites of a whole timeline.

    Newcomers' mean is integrated out, so that A joins the first nodes of all players. `chains` is the factor of the
    chains, which prepares solutions.
    """

    def __init__(
        self,
        state: SliceState,
        newcomers: Newcomers | None,
        solver: JointSolver,
        chains: CoupledChains,
    ) -> None:
        self._state = state
        self._newcomers = newcomers
        self._solver = solver
        self._chains = chains

    def solve(self, right: Array, relative: float) -> Array:
        """A^-1 b with a relative error of energy."""
        work = self._state.workspace
        work.residual[:] = right
        work.correction[:] = 0.0
        self._solver.solve(self._chains, move=False, tol=0.0, relative=relative)
        return np.array(work.correction)

    def conditional_means(self, x: Array) -> Array:
        """Conditional means at the skills x, (variables + years,), points.

        First that of each variable given the skills of all other players, newcomers' mean integrated out. If
        newcomers' mean moves, then that of each year given all skills.
        """
        means = results.conditional_means(self._state, x, self._newcomers)
        return np.append(means, self._newcomers.by_skills(x)) if self._newcomers else means

    def for_another_solution(self) -> JointSystem:
        """The same system, for solutions at the same time in another thread."""
        state = self._state.for_another_solution()
        return JointSystem(
            state, self._newcomers, self._solver.for_slices(SliceHere(state)), self._chains
        )


def given_skills_of_others(inference: Inference) -> SliceState:
    """The slice of `inference`, with chains given the skills of all other players.

    Without games, A couples players through newcomers' mean only, which is integrated out. The variance of a first node
    in the chains becomes that given all other skills, 1 / A_ii of A without games and steps (`Newcomers.conditioned`).
    All other arrays are those of `inference.slice_state`.
    """
    if not inference.newcomers:
        return inference.slice_state
    return inference.slice_state.with_chains(inference.newcomers.conditioned(inference.chains))


def joint_system(inference: Inference, state: SliceState) -> JointSystem:
    """The joint system of `state`, from `given_skills_of_others`, ready for solutions: the chains are factored.

    The buffers of `state` are in use from then on.
    """
    solver = inference.propagation.solver.for_slices(SliceHere(state))
    chains = solver.couple([prepare(state)])
    return JointSystem(state, inference.newcomers, solver, chains)
