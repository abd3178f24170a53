"""What a fit takes from a slice after its sweeps: its share of the evidence, and beliefs about its nodes.

T is the precision of the chains with their priors, L that of the games. A = T + L is the joint precision, and
M = T + diag(L) that of the chains with the diagonal of L alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ttt_cli.inference.ep.joint_means import add_couplings, prepare, solve_chains
from ttt_cli.inference.ep.parts import VariableRange
from ttt_cli.inference.ep.state import SliceState
from ttt_cli.inference.links import handicap_slopes
from ttt_cli.inference.model import Evidence
from ttt_cli.inference.newcomers import Newcomers
from ttt_cli.inference.victory import interval_slopes
from ttt_cli.kernels.ep import chains as chain_kernels
from ttt_cli.kernels.ep import ttt_d
from ttt_cli.kernels.ep.structures import Messages, Part, PositivityEvidence
from ttt_cli.storage import Shared
from ttt_cli.support.arrays import Array


class ChainVariances(NamedTuple):
    """Diagonal of M^-1, and its entries with the variable before, (variables,), points^2."""

    variance: Array
    covariance: Array


def evidence(state: SliceState) -> Evidence:
    """The shares of log Z, and of the log probability of all games without their own sites."""
    marginal = state.messages.marginal

    def of_part(part: Part) -> list[Evidence]:
        return [games.evidence(part, marginal) for games in state.games]

    def of_chains(variables: VariableRange) -> float:
        return float(chain_kernels.chain_evidence(*variables, state.messages))

    shares = [
        share for of_games in state.parts.run(of_part, state.parts.parts) for share in of_games
    ]
    total = math.fsum(share.log_evidence for share in shares)
    total += math.fsum(state.parts.run(of_chains, state.parts.with_prior))
    total += positivity_evidence(state).log_evidence
    return Evidence(total, math.fsum(share.leave_one_out for share in shares))


def offset_slopes(state: SliceState) -> Array:
    """Slopes of log Z in White's advantage, covariates, the lapse and steps between wins, (2 + terms + steps,)."""
    pairs = state.pairs
    games = len(pairs.pairings.first)
    by_margin = np.empty(games)
    by_offset = np.empty(games)
    of_games = pairs.kernels.gradient(
        pairs.pairings, pairs.balance, pairs.rule, state.cavities(), by_margin, by_offset
    )
    of_handicaps = handicap_slopes(pairs.handicap, by_offset, pairs.play.elo_unit)
    steps = len(pairs.steps)
    of_intervals = interval_slopes(pairs.interval, steps, by_margin, by_offset) if steps else None
    by_step = of_intervals.steps if of_intervals else ()
    return np.array([of_games.advantage, *of_handicaps.covariates, of_games.lapse, *by_step])


def positivity_evidence(state: SliceState) -> PositivityEvidence:
    """The share of log Z that keeps draw margins positive."""
    if not state.own_margins:
        return PositivityEvidence(0.0, 0.0)
    skills, margins = state.parts.quantities
    precision, weighted = state.messages.marginal[margins.begin : margins.end].T
    positivity = state.pairs.sites.positivity[skills.begin :]
    share: PositivityEvidence = ttt_d.positivity_evidence(
        state.rule.origin, weighted / precision, 1.0 / precision, positivity
    )
    return share


def node_beliefs(state: SliceState) -> Array:
    """Mean, sd, and covariance with the node before, (3, quantities, nodes), means from the origin."""
    quantities = state.parts.quantities
    beliefs = _variable_beliefs(state, quantities)
    # The node before is in another slice. With the variances v here, q of the step and u there without this node and
    # what follows, the covariance is v u / (u + q). The message after the step, forward, has the precision 1 / (u + q):
    # so u / (u + q) is 1 - q forward.
    first = state.segments.first[state.segments.past]
    share = 1.0 - state.chains.variance[first] * state.messages.forward[first, 0]
    beliefs[2, first] = share * beliefs[1, first] ** 2
    return beliefs.reshape(3, len(quantities), -1)[:, :, quantities[0].begin :]


def extra_beliefs(state: SliceState) -> Array:
    """Mean, sd, and covariance with the variable before, (3, extra variables), of a whole timeline."""
    return _variable_beliefs(state, state.parts.ranges)[:, state.parts.node_variables :]


def _variable_beliefs(state: SliceState, ranges: Sequence[VariableRange]) -> Array:
    """Mean, sd, and covariance with the variable before, (3, variables), from the first variable to the last range."""
    beliefs = np.zeros((3, ranges[-1].end))
    for begin, end in ranges:
        chain_kernels.smoothed(begin, state.chains, state.messages, *beliefs[:, begin:end])
    return beliefs


def write_node_beliefs(state: SliceState, into: Shared[Array]) -> None:
    """Write `node_beliefs` into an array that the fit shares with its slices."""
    into.what[:] = node_beliefs(state)


def marginals(state: SliceState) -> Array:
    """Means from their origins, and sds, of all variables of a whole timeline, (2, variables), points."""
    precision, weighted = state.messages.marginal.T
    return np.array([weighted / precision, precision**-0.5])


def conditional_means(state: SliceState, x: Array, newcomers: Newcomers | None) -> Array:
    """Mean of each player's skills given the skills x of all others, (variables,), points, of a whole timeline.

    It is M^-1 (M - A) x by the last factor of the chains; in A newcomers' mean is integrated out. Overwrites the
    residual of a solution.
    """
    image = np.zeros_like(x)  # (A - M) x
    add_couplings(state, x, image)
    if newcomers and state.newcomers:
        state.newcomers.add_newcomers_precision(
            newcomers.shared(state.newcomers.total(x)), x, image
        )
    np.negative(image, out=state.workspace.residual)
    # without a step of conjugate gradients before: z = M^-1 residual
    solve_chains(state, beta=0.0, alpha=0.0, descent=state.workspace.descent)
    return np.array(state.workspace.z)


def chain_variances(state: SliceState) -> ChainVariances:
    """Variances and covariances by the chains with diag(L) alone, of a whole timeline.

    It takes the buffers of the joint means of `state`, so a factor of these must come later.
    """
    prepare(state)
    messages = Messages(*np.zeros((3, len(state.prior_variance), 2)))
    messages.marginal[:, 0] = state.workspace.diagonal

    def smooth(variables: VariableRange) -> None:
        chain_kernels.smooth(*variables, state.chains, messages)

    state.parts.run(smooth, state.parts.ranges)
    mean, sd, covariance = np.empty((3, len(state.prior_variance)))
    chain_kernels.smoothed(0, state.chains, messages, mean, sd, covariance)
    return ChainVariances(sd**2, covariance)
