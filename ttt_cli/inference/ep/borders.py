"""What crosses the borders between slices of time: messages along the chain that a player's segments make."""

from dataclasses import dataclass

import numpy as np

from ttt_cli.support.arrays import Array, Ids


@dataclass(frozen=True)
class Borders:
    """Segments with a neighbour, in the order of their slices.

    | name | shape | unit | |
    |---|---|---|---|
    | start | (slices + 1,) | | first segment of each slice, and the end of the last |
    | before | (segments,) | | the player's segment before, -1 at the first |
    | mean, variance | (segments,) | points, points^2 | of the step from that one's last node to this one's first |

    Messages that arrive at segments have the columns precision and precision times mean from the past, then from the
    future.
    """

    start: Ids
    before: Ids
    mean: Array
    variance: Array

    def split(self, values: Array) -> list[Array]:
        """What belongs to each slice, of what belongs to all segments."""
        return np.split(values, self.start[1:-1])

    def _steps(self) -> list[tuple[Ids, Ids]]:
        """Of each slice the segments with one before, and these."""
        found = []
        for begin, end in zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True):
            later = begin + np.flatnonzero(self.before[begin:end] >= 0)
            found.append((later, self.before[later]))
        return found

    def exchanged(self, sent: Array) -> Array:
        """What arrives from the neighbours; `sent`: of first nodes to the past, of last ones to the future."""
        arrived = np.zeros_like(sent)
        later = np.flatnonzero(self.before >= 0)
        earlier = self.before[later]
        mean, variance = self.mean[later], self.variance[later]
        arrived[later, :2] = _stepped(sent[earlier, 2], sent[earlier, 3], mean, variance)
        arrived[earlier, 2:] = _stepped(sent[later, 0], sent[later, 1], -mean, variance)
        return arrived

    def smoothed(self, maps: Array) -> Array:
        """What arrives from all of the past and all of the future, exactly."""
        arrived = np.zeros((len(maps), 4))
        steps = self._steps()
        for later, earlier in steps:
            a, b, c, k, e, f, _, _ = maps[earlier].T
            p, h = arrived[earlier, :2].T
            whole = 1.0 / (c * p + 1.0)
            mean, variance = self.mean[later], self.variance[later]
            arrived[later, :2] = _stepped((a * p + b) * whole, (k * h + e * p + f) * whole, mean, variance)
        for later, earlier in reversed(steps):
            a, b, c, k, _, _, e, f = maps[later].T
            p, h = arrived[later, 2:].T
            whole = 1.0 / (c * p + a)
            mean, variance = -self.mean[later], self.variance[later]
            arrived[earlier, 2:] = _stepped((p + b) * whole, (k * h + e * p + f) * whole, mean, variance)
        return arrived

    def sums(self, parts: Array) -> Array:
        """Sums over the segments of a player so far."""
        total = parts.copy()
        for later, earlier in self._steps():
            total[later] += total[earlier]
        return total


class Coupling:
    """The inverse of the chains across borders, given the `maps` of their factors."""

    def __init__(self, borders: Borders, maps: Array) -> None:
        self._steps = borders._steps()
        self.precision = borders.smoothed(maps)[:, ::2]
        a, b, c, k = maps[:, :4].T
        past, future = self.precision.T
        onward, back = 1.0 / (c * past + 1.0), 1.0 / (c * future + a)
        self._onward, self._back = k * onward, k * back
        self._kept, self._kept_back = np.ones((2, len(maps)))
        for later, earlier in self._steps:
            variance = borders.variance[later]
            self._kept[later] = 1.0 / (1.0 + variance * ((a * past + b) * onward)[earlier])
            self._kept_back[later] = 1.0 / (1.0 + variance * ((future + b) * back)[later])

    def arrived(self, sent: Array) -> Array:
        """What arrives at both ends (segments, 2), given what leaves each by itself."""
        arrived = np.zeros_like(sent)
        for later, earlier in self._steps:
            arrived[later, 0] = self._kept[later] * (
                sent[earlier, 1] + self._onward[earlier] * arrived[earlier, 0]
            )
        for later, earlier in reversed(self._steps):
            arrived[earlier, 1] = self._kept_back[later] * (
                sent[later, 0] + self._back[later] * arrived[later, 1]
            )
        return arrived


def _stepped(precision: Array, weighted: Array, mean: Array, variance: Array) -> Array:
    """Messages after Gaussian steps, (segments, 2)."""
    shrink = 1.0 / (1.0 + variance * precision)
    return np.stack([precision * shrink, (weighted + precision * mean) * shrink], axis=1)
