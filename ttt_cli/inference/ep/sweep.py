"""Sweeps over all slices: the order of the steps of Gaussian expectation propagation.

Half a sweep in every slice, messages exchanged at the borders, the other half; all messages smoothed; then the joint
means, draw margins that move, and the end of the sweep. The steps are the same wherever the slices are: every slice
returns maps of the messages along its segments, these are composed along the players' chains from slice to slice, and
each slice continues by itself. Smoothing and the joint means are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.fitted import Fit
from ttt_cli.inference.ep import messages
from ttt_cli.inference.ep.cutting import SliceInputs
from ttt_cli.inference.ep.joint_means import smooth_and_prepare
from ttt_cli.inference.ep.joint_solution import JointSolver
from ttt_cli.inference.ep.messages import Moves, Swept
from ttt_cli.inference.ep.moving_margins import (
    MarginsMove,
    MovingMargins,
    YearScores,
    YearStrengths,
)
from ttt_cli.inference.ep.state import SliceState
from ttt_cli.inference.ep.transport import Exchange, Slices
from ttt_cli.inference.links import LinkedGames
from ttt_cli.inference.model import Play
from ttt_cli.inference.newcomers import NewcomerMessages, Newcomers
from ttt_cli.inference.solver import Pace, Sweep
from ttt_cli.support.arrays import Array

ROUNDING: Final = 1e-13  # moves below this part of the widest prior are rounding
EARLY: Final = 3  # sweeps, in which margins of all games follow half a sweep, too
# A mean or sd that moves by d in a sweep, and moved by e before, is estimated to move by d r / (1 - r) yet, r = d / e
# (`chains.moves_to_come`). A move that was small by chance would make r too large, so e is at least SMALL times the
# largest move of the sweep before, and at least DECAY times the e of the sweep before.
SMALL: Final = 0.02
DECAY: Final = 0.3


class MeansMove(NamedTuple):
    """What a sweep and the joint means have done to beliefs.

    | name | unit | |
    |---|---|---|
    | largest | points | largest move of a mean or sd in the sweep |
    | distance | points | bound on the distance of the means from the joint ones |
    | unsmoothed | | maps of the sites of all slices if these have moved and are still to be smoothed, else None |
    """

    largest: float
    distance: float
    unsmoothed: list[Array] | None


class MarginsStep(NamedTuple):
    """How far margins have moved; `unsmoothed` as in `MeansMove`, after their move."""

    move: MarginsMove
    unsmoothed: list[Array] | None


class MarginsOfAllSlices:
    """Draw margins of all slices, as `MovingMargins` moves them."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def apply_margins(self, by_year: Array) -> float:
        """Set the draw margins; the largest move, points."""
        return max(self._exchange.broadcast(SliceState.apply_margins, by_year))

    def follow_strength(self, level: Array, by_year: Array) -> float:
        """Update the strengths of games; the largest move of a margin, points."""
        return max(self._exchange.broadcast(SliceState.follow_strength, level, by_year))

    def strengths(self) -> YearStrengths:
        """Strengths of all games."""
        return YearStrengths(*np.sum(self._exchange.broadcast(SliceState.strengths), axis=0))

    def margin_scores(self, by_year: Array) -> YearScores:
        """Scores of all games or newcomers."""
        return YearScores(
            *np.sum(self._exchange.broadcast(SliceState.margin_scores, by_year), axis=0)
        )


class Propagation:
    """Sweeps over slices of a timeline, from the sites there are.

    `margins_from`: a fit of the same timeline, whose moving margins are the first ones here.

    | name | |
    |---|---|
    | exchange | does steps in all slices |
    | newcomers | newcomers' mean, if it moves |
    | margins | draw margins of all slices |
    | moving | how these follow the years and the players' strength |
    | solver | of the joint means |
    """

    def __init__(
        self,
        slices: Slices,
        slice_inputs: SliceInputs,
        play: Play,
        newcomers: Newcomers | None,
        margins_from: Fit | None,
        links: LinkedGames | None = None,
    ) -> None:
        self.exchange = Exchange(slices, slice_inputs.borders)
        self.newcomers = newcomers
        self.margins = MarginsOfAllSlices(self.exchange)
        self.moving = MovingMargins(slice_inputs.timeline, play, margins_from)
        self.solver = JointSolver(self.exchange, newcomers, slice_inputs.largest_prior_sd)
        self._offsets = play.offsets
        self._rounding = ROUNDING * slice_inputs.largest_prior_sd
        self._with_games = slice_inputs.timeline.n_games > 0 or links is not None
        self._sweeps = 0
        self._last_move = 0.0
        self._decay = 0.0

    def begin(self) -> list[bool]:
        """Smooth the sites as they are, with the margins as they are; which slices had any."""
        self.moving.apply(self.margins)
        begun = self.exchange.broadcast(messages.begin, self._offsets)
        self._smooth([part.maps for part in begun])
        have_sites = [part.have_sites for part in begun]
        if any(have_sites):
            self.moving.follow_strength(self.margins)
        return have_sites

    def sweep(self, pace: Pace) -> Sweep:
        """Every slice forward and backward; then the joint means, to which slices move unless the pace is PLAIN."""
        swept = self._pass_messages(pace)
        arrived = self._arrivals([part.maps for part in swept])
        means = self._move_to_joint_means(arrived, pace)
        margins = self._follow_margins(means.unsmoothed)
        ends = self._end(margins.unsmoothed)
        moved = max(*(end.largest for end in ends), margins.move.largest)
        ahead = max(*(end.ahead for end in ends), margins.move.ahead)
        # for the end of the next sweep
        has_earlier_moves = self._last_move != 0.0
        self._decay = DECAY if has_earlier_moves else 0.0
        self._last_move = moved
        change = max(means.largest, moved)
        return Sweep(
            change=change if change > self._rounding else 0.0,
            distance=means.distance,
            skipped=sum(part.skipped for part in swept),
            ahead=ahead,
        )

    def _pass_messages(self, pace: Pace) -> list[Swept]:
        """Both halves of a sweep, with an exchange between them."""
        sent = np.concatenate(self.exchange.broadcast(messages.half_sweep, pace))
        if self._sweeps < EARLY and not self.moving.of_newcomers:
            self.moving.update(self.margins)
        self._sweeps += 1
        return self.exchange.scatter(
            messages.other_half, self.exchange.borders.exchanged(sent), pace
        )

    def _arrivals(self, maps: Sequence[Array]) -> Array:
        """Messages that arrive at segments, by the maps of all slices composed along the chains.

        If the mean of newcomers moves, it comes first: all slices are smoothed, the mean and newcomers' priors are
        updated, and the maps gathered again.
        """
        if self.newcomers:
            self.exchange.scatter(
                messages.smooth, self.exchange.borders.smoothed(np.concatenate(maps))
            )
            self._update_newcomers(self.newcomers)
            maps = self.exchange.broadcast(messages.gather_sites)
        return self.exchange.borders.smoothed(np.concatenate(maps))

    def _update_newcomers(self, newcomers: Newcomers) -> None:
        """Update the mean by the smoothed messages of all newcomers, and set their priors by it."""
        reported = np.sum(self.exchange.broadcast(messages.newcomer_messages), axis=0)
        beliefs = newcomers.update(NewcomerMessages(*reported))
        newcomers.complete_evidence(
            math.fsum(self.exchange.broadcast(messages.receive_newcomers, beliefs))
        )

    def _smooth(self, maps: Sequence[Array]) -> None:
        """Smooth all slices; `maps`: of their sites."""
        self.exchange.scatter(messages.smooth, self._arrivals(maps))

    def _move_to_joint_means(self, arrived: Array, pace: Pace) -> MeansMove:
        """Smooth, and solve for the joint means; move there unless the pace is PLAIN, which only wants the distance.

        Without games they are the smoothed ones.
        """
        if not self._with_games:
            return MeansMove(
                max(self.exchange.scatter(messages.smooth_and_compare, arrived)), 0.0, None
            )
        prepared = self.exchange.scatter(smooth_and_prepare, arrived)
        coupled = self.solver.couple([part.prepared for part in prepared])
        solution = self.solver.solve(coupled, move=pace is not Pace.PLAIN)
        return MeansMove(max(part.move for part in prepared), solution.distance, solution.maps)

    def _follow_margins(self, unsmoothed: list[Array] | None) -> MarginsStep:
        """Move the draw margins of games or newcomers, if they move, by the smoothed messages."""
        if self.moving.still:
            return MarginsStep(MarginsMove(0.0, 0.0), unsmoothed)
        if unsmoothed:
            self._smooth(unsmoothed)
        move = self.moving.update(self.margins)
        if not self.moving.of_newcomers:  # margins of games move no site
            return MarginsStep(move, None)
        return MarginsStep(move, self.exchange.broadcast(messages.gather_sites))

    def _end(self, unsmoothed: list[Array] | None) -> list[Moves]:
        """Smooth what is left to be smoothed; how far all slices have moved."""
        least = SMALL * self._last_move
        if unsmoothed is None:
            return self.exchange.broadcast(messages.end_sweep, None, least, self._decay)
        return self.exchange.scatter(
            messages.end_sweep, self._arrivals(unsmoothed), least, self._decay
        )
