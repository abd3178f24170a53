"""Borders between slices of time: what crosses them, from slice to slice along the players' chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.support.arrays import Array, Ids, Places

# columns of messages from and to the past, and from and to the future: precision, and precision times mean
PAST: Final = slice(0, 2)
FUTURE: Final = slice(2, 4)


class Message(NamedTuple):
    """Gaussian messages of segments, (segments,): precision, and precision times mean."""

    precision: Array
    weighted: Array


class SegmentMaps(NamedTuple):
    """Maps of messages through segments, (segments,) each: columns of `chains.summarise`, A to F'.

    The formulas are those at the head of `kernels/ep/chains.py`, p and h being precision and precision times mean.
    """

    a: Array
    b: Array
    c: Array
    k: Array
    e: Array
    f: Array
    e_back: Array
    f_back: Array

    def onward(self, from_past: Message) -> Message:
        """What leaves last variables to the future, given what arrives at first ones."""
        p, h = from_past
        scale = 1.0 / (self.c * p + 1.0)
        return Message((self.a * p + self.b) * scale, (self.k * h + self.e * p + self.f) * scale)

    def back(self, from_future: Message) -> Message:
        """What leaves first variables to the past, given what arrives at last ones."""
        p, h = from_future
        scale = 1.0 / (self.c * p + self.a)
        return Message((p + self.b) * scale, (self.k * h + self.e_back * p + self.f_back) * scale)


class Neighbours(NamedTuple):
    """Segments of a slice that have one before (`later`), and that one of each (`earlier`)."""

    later: Places
    earlier: Ids


class BorderSteps(NamedTuple):
    """Steps to the segments of a slice: fields of `Borders`."""

    before: Ids
    mean: Array
    variance: Array


@dataclass(frozen=True)
class Borders:
    """Segments with a neighbour, in the order of their slices.

    | name | shape | unit | |
    |---|---|---|---|
    | start | (slices + 1,) | | first segment of each slice, and the end of the last |
    | before | (segments,) | | the player's segment before, -1 at the first |
    | mean, variance | (segments,) | points, points^2 | of the step from that one's last node to this one's first |

    Messages that arrive at segments, (segments, 4), have the columns precision and precision times mean from the past,
    then from the future.
    """

    start: Ids
    before: Ids
    mean: Array
    variance: Array

    @cached_property
    def neighbours(self) -> list[Neighbours]:
        """Of each slice the segments with one before."""
        later = np.flatnonzero(self.before >= 0)
        of_slices = np.split(later, np.searchsorted(later, self.start[1:-1]))
        return [Neighbours(segments, self.before[segments]) for segments in of_slices]

    def exchanged(self, sent: Array) -> Array:
        """What arrives from the neighbours; `sent`: of first nodes to the past, of last ones to the future."""
        arrived = np.zeros_like(sent)
        later = np.flatnonzero(self.before >= 0)
        earlier = self.before[later]
        arrived[later, PAST] = self._step_onward(later, Message(*sent[earlier, FUTURE].T))
        arrived[earlier, FUTURE] = self._step_back(later, Message(*sent[later, PAST].T))
        return arrived

    def smoothed(self, maps: Array) -> Array:
        """What arrives from all of the past and all of the future, exactly, by the maps of all segments."""
        arrived = np.zeros((len(maps), 4))
        for later, earlier in self.neighbours:
            leaving = SegmentMaps(*maps[earlier].T).onward(Message(*arrived[earlier, PAST].T))
            arrived[later, PAST] = self._step_onward(later, leaving)
        for later, earlier in reversed(self.neighbours):
            leaving = SegmentMaps(*maps[later].T).back(Message(*arrived[later, FUTURE].T))
            arrived[earlier, FUTURE] = self._step_back(later, leaving)
        return arrived

    def sums(self, values: Array) -> Array:
        """Sums of each player's values over his segments up to each, (segments,)."""
        total = values.copy()
        for later, earlier in self.neighbours:
            total[later] += total[earlier]
        return total

    def _step_onward(self, later: Places, leaving: Message) -> Array:
        """What leaves the segments before the `later` ones, as it arrives at these, (segments, 2)."""
        return _after_step(leaving, self.mean[later], self.variance[later])

    def _step_back(self, later: Places, leaving: Message) -> Array:
        """What leaves the `later` segments, as it arrives at those before them, (segments, 2)."""
        return _after_step(leaving, -self.mean[later], self.variance[later])


def borders_of(steps: Sequence[BorderSteps]) -> Borders:
    """The borders between slices, given the steps to the segments of each."""
    return Borders(
        np.cumsum([0, *(len(step.before) for step in steps)]).astype(np.int32),
        np.concatenate([step.before for step in steps]),
        np.concatenate([step.mean for step in steps]),
        np.concatenate([step.variance for step in steps]),
    )


def no_borders(slices: int) -> Borders:
    """The borders of slices that no chain leaves."""
    return borders_of([BorderSteps(np.empty(0, np.int32), np.empty(0), np.empty(0))] * slices)


def _after_step(message: Message, mean: Array, variance: Array) -> Array:
    """Messages after Gaussian steps, (segments, 2)."""
    shrink = 1.0 / (1.0 + variance * message.precision)
    weighted = (message.weighted + message.precision * mean) * shrink
    return np.stack([message.precision * shrink, weighted], axis=1)


@dataclass(frozen=True)
class ChainsAcrossSlices:
    """The solution of M z = r for the chains M across borders, once each slice has solved for its segments.

    The precisions of messages do not depend on r, and their means start from 0. So what is left of a message is h,
    precision times mean, which segments and steps only scale. Where h arrives at a segment,

        w (s + u h)    with u = K / (C p + 1) to the next segment, K / (C p + A) to the one before
                       and w = 1 / (1 + variance P)

    arrives at the neighbour: s is what leaves the segment by itself, p the precision that arrives with h, and P the one
    that leaves, to which the variance of the step is added. Capital letters but P are those of `SegmentMaps`.

    | name | shape | |
    |---|---|---|
    | neighbours | | of each slice the segments with one before |
    | precision | (segments, 2) | what arrives at the first and last variable of each segment |
    | through, through_back | (segments,) | u of segments, onward and back |
    | shrink, shrink_back | (segments,) | w of the step from the segment before, and to it; 1 without |
    """

    neighbours: list[Neighbours]
    precision: Array
    through: Array
    through_back: Array
    shrink: Array
    shrink_back: Array

    def arrived(self, sent: Array) -> Array:
        """What arrives at both ends, (segments, 2), given what leaves each segment by itself."""
        arrived = np.zeros_like(sent)
        for later, earlier in self.neighbours:
            arrived[later, 0] = self.shrink[later] * (
                sent[earlier, 1] + self.through[earlier] * arrived[earlier, 0]
            )
        for later, earlier in reversed(self.neighbours):
            arrived[earlier, 1] = self.shrink_back[later] * (
                sent[later, 0] + self.through_back[later] * arrived[later, 1]
            )
        return arrived


def couple_chains(borders: Borders, maps: Array) -> ChainsAcrossSlices:
    """Couple the chains of slices, given the maps of their precisions, (segments, 8)."""
    precision = borders.smoothed(maps)[:, ::2]
    a, b, c, k = maps[:, :4].T
    past, future = precision.T
    scale_onward = 1.0 / (c * past + 1.0)
    scale_back = 1.0 / (c * future + a)
    leaves_onward = (a * past + b) * scale_onward
    leaves_back = (future + b) * scale_back
    shrink = np.ones(len(maps))
    shrink_back = np.ones(len(maps))
    for later, earlier in borders.neighbours:
        variance = borders.variance[later]
        shrink[later] = 1.0 / (1.0 + variance * leaves_onward[earlier])
        shrink_back[later] = 1.0 / (1.0 + variance * leaves_back[later])
    return ChainsAcrossSlices(
        borders.neighbours,
        precision,
        through=k * scale_onward,
        through_back=k * scale_back,
        shrink=shrink,
        shrink_back=shrink_back,
    )
