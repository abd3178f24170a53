"""Messages within a slice: sweeps that update the sites of games, and exact smoothing along the chains.

Each step is done in all slices between two exchanges. What has arrived is by segment (`cutting.Segments`): from the
past, then from the future, precision and precision times mean, (segments, 4). What leaves are messages, or maps of
messages from one end of a segment to the other.

Threads share a step: by `parts.parts`, ranges of periods with their games; by `parts.variables`, where each variable is
for itself; by `parts.ranges`, all variables of a quantity, where messages go along whole chains.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ttt_cli.inference.ep.borders import FUTURE, PAST
from ttt_cli.inference.ep.parts import VariableRange
from ttt_cli.inference.ep.state import SliceState
from ttt_cli.inference.model import Offsets
from ttt_cli.inference.newcomers import MeanBeliefs, NewcomerMessages
from ttt_cli.inference.solver import Pace
from ttt_cli.kernels.arrays import Rows
from ttt_cli.kernels.ep import chains as chain_kernels
from ttt_cli.kernels.ep import ttt_d
from ttt_cli.kernels.ep.games import fill_with_positivity
from ttt_cli.kernels.ep.structures import Part
from ttt_cli.support.arrays import Array, Ids

REPEATS: Final = 50  # of equal games in a fast sweep


class Begun(NamedTuple):
    """Whether a slice had sites, and their maps of messages."""

    have_sites: bool
    maps: Array


class Swept(NamedTuple):
    """How many sites could not be updated in a sweep, and the maps of messages of all."""

    skipped: int
    maps: Array


class Moves(NamedTuple):
    """The largest move of a mean or sd in a sweep, and the estimated remaining move of the slowest, points."""

    largest: float
    ahead: float


class Arrival(NamedTuple):
    """Messages at ends of segments: where they are stored, at which variables, and what has arrived there."""

    messages: Rows
    variables: Ids
    arrived: Array


def begin(state: SliceState, offsets: Offsets) -> Begun:
    """Start with these offsets, from the sites there are or from the sites of a guess."""
    for games in state.games:
        games.set_offsets(offsets)
    if state.guess is not None:
        state.messages.marginal[:] = state.guess
        state.messages.backward[:] = 0.0  # the pass that makes sites goes back, and reads no others
        state.guess = None

        def make_sites(part: Part) -> None:
            for games in state.games:
                games.fill_sites_from_marginals(part, state.chains, state.messages)

        state.parts.run(make_sites, state.parts.parts)
    return Begun(any(games.have_sites for games in state.games), gather_sites(state))


def half_sweep(state: SliceState, pace: Pace) -> Array:
    """The first half of a sweep; returns the messages that leave the ends of segments, (segments, 4).

    What leaves is what a variable at the end believes, but for what came from there: that of first variables goes to
    the past, that of last ones to the future.
    """
    _remember_beliefs(state)
    _pass_through(state, 0, pace)
    if len(state.parts.between):
        chain_kernels.exchange(state.parts.between, state.chains, state.messages)
    forward, backward, marginal = state.messages
    first = state.segments.first
    last = state.segments.last
    return np.hstack([marginal[first] - forward[first], marginal[last] - backward[last]])


def other_half(state: SliceState, arrived: Array, pace: Pace) -> Swept:
    """The second half of a sweep."""
    marginal = state.messages.marginal
    for end in _ends(state, arrived):
        marginal[end.variables] += end.arrived - end.messages[end.variables]
        end.messages[end.variables] = end.arrived
    skipped = _pass_through(state, 1, pace)
    if state.own_margins and pace is not Pace.PLAIN:
        _settle_margins(state)
    return Swept(skipped, gather_sites(state))


def _remember_beliefs(state: SliceState) -> None:
    if not len(state.beliefs):
        state.beliefs = np.empty(state.moves.shape)

    def fill(variables: VariableRange) -> None:
        chain_kernels.believe(*variables, state.messages.marginal, state.beliefs)

    state.parts.run(fill, state.parts.variables)


class _Pass(NamedTuple):
    """A pass through a part of a slice, `back` in time or not."""

    part: Part
    back: bool


def _pass_through(state: SliceState, half: int, pace: Pace) -> int:
    """The first (`half` 0) or second (1) pass of a sweep; returns how many sites had to be skipped."""
    repeats = REPEATS if pace is Pace.FAST else 0
    passes = [
        _Pass(part, _goes_back(state, half, number))
        for number, part in enumerate(state.parts.parts)
    ]

    def sweep(way: _Pass) -> int:
        return sum(
            games.sweep(way.part, way.back, repeats, state.chains, state.messages)
            for games in state.games
        )

    return sum(state.parts.run(sweep, passes))


def _goes_back(state: SliceState, half: int, number: int) -> bool:
    """Whether the pass through the part of this number goes back in time in this half of a sweep.

    Neighbouring parts, also of different slices, go in opposite directions; but with draw margins of players, where
    that is not as good, all go forward and then back.
    """
    if state.own_margins:
        return half == 1
    return (half + state.number + number) % 2 == 1


def _settle_margins(state: SliceState) -> None:
    """Both passes through the draw margins alone, while the sites of games stay."""
    positivity = state.pairs.sites.positivity

    def settle(way: _Pass) -> None:
        ttt_d.settle_margins(
            way.part, way.back, state.chains, state.pairs.rule.origin, state.messages, positivity
        )

    for back in (False, True):
        state.parts.run(settle, [_Pass(part, back) for part in state.parts.parts])


def _ends(state: SliceState, arrived: Array) -> tuple[Arrival, Arrival]:
    """What has arrived from the past and from the future."""
    past = state.segments.past
    future = state.segments.future
    return (
        Arrival(state.messages.forward, state.segments.first[past], arrived[past, PAST]),
        Arrival(state.messages.backward, state.segments.last[future], arrived[future, FUTURE]),
    )


def gather_sites(state: SliceState) -> Array:
    """Fill marginals with the sites alone, until `smooth` adds the messages; their maps of messages, (segments, 8)."""
    marginal = state.messages.marginal

    def fill(part: Part) -> None:
        # it overwrites, so it comes first
        fill_with_positivity(part, state.pairs.sites.positivity, marginal)
        for games in state.games:
            games.add_sites(part, marginal)

    state.parts.run(fill, state.parts.parts)
    return _segment_maps(state, *marginal.T)


def precision_maps(state: SliceState, precision: Array) -> Array:
    """Maps of precisions, with these ones of sites, (segments, 8): only A, B, C and K have a meaning."""
    any_means = precision  # which the kernel must have; those four columns do not depend on them
    return _segment_maps(state, precision, any_means)


def _segment_maps(state: SliceState, precision: Array, weighted: Array) -> Array:
    """Maps of messages through segments with these sites of variables, (segments, 8)."""
    maps = np.empty((len(state.segments.first), 8))
    if len(maps):
        chain_kernels.summarise(state.segments.number, state.chains, precision, weighted, maps)
    return maps


def smooth(state: SliceState, arrived: Array) -> None:
    """All messages along the chains, exactly, from marginals that have the sites alone (`gather_sites`).

    What arrives counts as sites until the messages are complete.
    """
    marginal = state.messages.marginal
    ends = _ends(state, arrived)
    for end in ends:
        marginal[end.variables] += end.arrived

    def smooth_chains(variables: VariableRange) -> None:
        chain_kernels.smooth(*variables, state.chains, state.messages)

    state.parts.run(smooth_chains, state.parts.ranges)
    for end in ends:
        end.messages[end.variables] = end.arrived


def smooth_and_compare(state: SliceState, arrived: Array) -> float:
    """Smooth; the largest move of a mean or sd in this sweep, points."""
    smooth(state, arrived)

    def largest_move(variables: VariableRange) -> float:
        return float(chain_kernels.largest_move(*variables, state.messages.marginal, state.beliefs))

    return max(state.parts.run(largest_move, state.parts.variables))


def end_sweep(state: SliceState, arrived: Array | None, least: float, decay: float) -> Moves:
    """Smooth what has arrived, if anything moved; save the sites. Raises SetupError.

    `arrived`: None where nothing moved. A variable that has moved by d moves by about d r / (1 - r) more, where
    r = d / e is the ratio to its earlier move e (`chains.moves_to_come`). After a sweep e is the move there, but at
    least `decay` times e before; it counts as `least` points where it is smaller.
    """
    if arrived is not None:
        smooth(state, arrived)

    def moves_to_come(variables: VariableRange) -> Moves:
        return Moves(
            *chain_kernels.moves_to_come(
                *variables, state.messages.marginal, state.beliefs, state.moves, least, decay
            )
        )

    largest, ahead = np.max(state.parts.run(moves_to_come, state.parts.variables), axis=0)
    if state.frees_beliefs:
        state.beliefs = np.empty((0, 2))  # until the next sweep
    if state.folder:
        for games in state.games:
            games.save(state.folder, state.number)
    return Moves(float(largest), float(ahead))


def newcomer_messages(state: SliceState) -> NewcomerMessages:
    """The smoothed messages of newcomers on their mean."""
    assert state.newcomers is not None
    return state.newcomers.messages()


def receive_newcomers(state: SliceState, beliefs: MeanBeliefs) -> float:
    """Set the priors of newcomers by their mean; -2 times their share of log Z."""
    assert state.newcomers is not None
    return state.newcomers.set_priors(beliefs)
