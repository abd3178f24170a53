"""Joint means within a slice: the steps of a solution of A x = b (`kernels/ep/joint_means.py`) between two exchanges.

A = T + L: T is the precision of the chains with their priors, L that of the games. Solutions are preconditioned with
M = T + diag(L), whose inverse goes along chains. The order of the steps is in `joint_solution.py`; the buffers are
those of `Workspace`. A map of a segment is eight numbers that turn what arrives at one end into what leaves the other
(`messages.precision_maps`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ttt_cli.inference.ep.messages import gather_sites, precision_maps, smooth_and_compare
from ttt_cli.inference.ep.newcomers import DebutSums
from ttt_cli.inference.ep.parts import VariableRange
from ttt_cli.inference.ep.state import SliceState
from ttt_cli.inference.newcomers import LevelCorrection, SliceLevels
from ttt_cli.inference.solver import largest
from ttt_cli.kernels.ep import chains as chain_kernels
from ttt_cli.kernels.ep import joint_means
from ttt_cli.kernels.ep.games import residual_of_chains
from ttt_cli.kernels.ep.structures import Descent, Part
from ttt_cli.support.arrays import Array, Ids


class Prepared(NamedTuple):
    """What is needed of a slice to couple its chains with those of others.

    | name | shape | |
    |---|---|---|
    | maps | (segments, 8) | maps of precisions through segments, where diag(L) is added |
    | largest_sum | | the largest row sum of T^-1 diag(L) of a chain, as far as it is in this slice |
    | sums | (segments,) | the row sum at the end of each segment |

    T^-1 is the covariance before games: of two variables of a chain the variance of the earlier one. So the last row
    of a chain has the largest sum: of diag(L) times the variance before games, over the chain.
    """

    maps: Array
    largest_sum: float
    sums: Array


class SmoothedAndPrepared(NamedTuple):
    """The largest move of a mean or sd in this sweep, points, and what couples the chains with those of others."""

    move: float
    prepared: Prepared


class Products(NamedTuple):
    """r'z and z'(A - M)z of a slice, and the sums of newcomers, if their mean moves."""

    residual: float
    coupling: float
    newcomers: DebutSums | None


class Finished(NamedTuple):
    """The largest correction, points, or 0 if the means moved there; maps of messages if they moved, else NO_MAPS."""

    largest: float
    maps: Array


NO_MAPS = np.empty((0, 8))


def smooth_and_prepare(state: SliceState, arrived: Array) -> SmoothedAndPrepared:
    """Smooth what has arrived, and prepare the joint solution."""
    move = smooth_and_compare(state, arrived)
    return SmoothedAndPrepared(move, prepare(state))


def prepare(state: SliceState) -> Prepared:
    """Fill the workspace for a solution; returns what couples the chains with those of other slices.

    Filled are the means s of this sweep, the couplings (L off its diagonal), diag(L), and the residual b - A s.
    """
    work = state.workspace

    def fill(part: Part) -> None:
        residual_of_chains(
            part,
            state.messages,
            state.pairs.sites.positivity,
            work.means,
            work.diagonal,
            work.residual,
        )
        if state.links:
            state.links.fill_chain_residual(
                part, state.messages, work.means, work.diagonal, work.residual
            )
        for games in state.games:
            games.add_residual(part, work.means, work.diagonal, work.residual)

    state.parts.run(fill, state.parts.parts)
    sums = work.row_sums
    np.multiply(work.diagonal, state.prior_variance, out=sums)
    if state.links:
        state.links.share_row_sums(sums)
    # along chains: at the last variable of each is its row sum
    chain_kernels.accumulate(state.chains.previous, sums)
    maps = precision_maps(state, work.diagonal)
    return Prepared(maps, float(sums.max(initial=0.0)), sums[state.segments.last])


def factor(state: SliceState, precision: Array) -> None:
    """Fill the factor of M, and the columns of M^-1 at the ends of segments.

    `precision` (segments, 2): what arrives at both ends of segments, which is added to `diagonal`. The columns come
    last, since solving for them overwrites `diagonal` and `filtered`; `Workspace` says which buffers are shared.
    """
    work = state.workspace
    np.add.at(work.diagonal, state.segments.first, precision[:, 0])
    np.add.at(work.diagonal, state.segments.last, precision[:, 1])

    def factor_chains(variables: VariableRange) -> None:
        joint_means.factor(
            *variables,
            state.chains,
            work.diagonal,
            work.filtered,
            work.scale,
            work.gain,
            work.gain_away,
        )

    state.parts.run(factor_chains, state.parts.ranges)
    if len(state.segments.number):
        _fill_column(state, work.from_first, state.segments.first)
        _fill_column(state, work.from_last, state.segments.last)
    work.correction[:] = 0.0


def _fill_column(state: SliceState, column: Array, ends: Ids) -> None:
    """Fill the column with M^-1 times the sum of the unit vectors of all `ends`, one of each segment.

    Segments are independent under M, so that one solution gives the columns of all. Solving overwrites z, A z, p and
    A p; with `alpha` 0 neither x nor the column, which is the residual here, moves.
    """
    work = state.workspace
    column[:] = 0.0
    column[ends] = 1.0
    solve_chains(state, beta=0.0, alpha=0.0, descent=work.descent._replace(residual=column))
    column[:] = work.z


def solve_own_chains(
    state: SliceState, beta: float, alpha: float, correction: LevelCorrection | None
) -> Array:
    """Take a step of conjugate gradients and solve M z = r for the chains of this slice alone.

    `correction`: what newcomers' mean adds to the last z and A z before the step.

    Returns what leaves the first and the last variable of segments, (segments, 2), for `ChainsAcrossSlices.arrived`:
    the precision times the mean of a variable with mean z_i and variance (M^-1)_ii. Column `first` of M^-1 has this
    variance in row `first`, and column `last` in row `last`.
    """
    _correct(state, correction)
    work = state.workspace
    solve_chains(state, beta, alpha, work.descent)
    first = state.segments.first
    last = state.segments.last
    variance_of_first = work.from_first[first]
    variance_of_last = work.from_last[last]
    return np.stack([work.z[first] / variance_of_first, work.z[last] / variance_of_last], axis=1)


def _correct(state: SliceState, correction: LevelCorrection | None) -> None:
    if correction and state.newcomers:
        state.newcomers.correct(correction, state.workspace.z, state.workspace.image)


def solve_chains(state: SliceState, beta: float, alpha: float, descent: Descent) -> None:
    """Take a step of conjugate gradients with the last z, then solve M z = r for the new residual r.

        p <- z + beta p,  A p <- A z + beta A p,  x <- x + alpha p,  r <- r - alpha A p

    `work.image` is then M z = r, to which couplings are still to be added for A z, and `work.product` is r'z.
    """
    work = state.workspace

    def solve(variables: VariableRange) -> float:
        return float(
            joint_means.solve(
                *variables, state.chains, work.gain, work.gain_away, work.scale, beta, alpha, work.z,
                work.image, descent,
            )
        )  # fmt: skip

    work.product = math.fsum(state.parts.run(solve, state.parts.ranges))


def add_what_crosses(state: SliceState, arrived: Array) -> Products:
    """Add to z of this slice alone what follows from what has arrived at the ends of segments.

    Then `image`, which is M z, becomes A z.
    """
    work = state.workspace
    product = work.product  # without anything that arrives
    if len(state.segments.number):
        product = chain_kernels.answer(
            state.segments.number, work.from_first, work.from_last, np.ascontiguousarray(arrived),
            work.z, work.image,
        )  # fmt: skip
    coupling = add_couplings(state, work.z, work.image)
    sums = state.newcomers.sums(work.residual, work.z, work.image) if state.newcomers else None
    return Products(float(product), coupling, sums)


def add_couplings(state: SliceState, z: Array, az: Array) -> float:
    """Add (L - diag(L)) z to `az`; the product of z and what was added."""

    def add(part: Part) -> float:
        return math.fsum(games.add_couplings(part, z, az) for games in state.games)

    return math.fsum(state.parts.run(add, state.parts.parts))


def finish(
    state: SliceState, beta: float, alpha: float, correction: LevelCorrection | None, move: bool
) -> Finished:
    """Take the last step of the solution; with `move`, move the means and the sites there."""
    _correct(state, correction)
    work = state.workspace

    def finish_chains(variables: VariableRange) -> None:
        joint_means.finish(*variables, beta, alpha, work.z, work.direction, work.correction)

    state.parts.run(finish_chains, state.parts.ranges)
    if not np.isfinite(alpha):
        # After an overflow: another solution multiplies these by 0, which would leave NaN.
        for vector in (work.z, work.image, work.direction, work.direction_image):
            vector[:] = 0.0
    if not move:
        return Finished(largest(work.correction), NO_MAPS)
    work.means += work.correction

    def move_sites(part: Part) -> None:
        for games in state.games:
            games.move_sites(part, work.means)

    state.parts.run(move_sites, state.parts.parts)
    return Finished(0.0, gather_sites(state))


def newcomer_levels(state: SliceState) -> SliceLevels:
    """Newcomers of this slice by year, and its part of the precision of the years' levels."""
    assert state.newcomers is not None
    return state.newcomers.levels()
