"""Margins of victory: how wide a win was is more intervals of the difference of two performances.

With the draw margin eps and steps s_1, s_2, ... a win whose margin is below the first threshold says that d is between
eps and eps + s_1, one below the second between eps + s_1 and eps + s_1 + s_2, and so on; a win by the last threshold or
more that d is above the last of these ends. Losses mirror wins. Without a known margin a win is d > eps.

For kernels a win between two ends is a draw: |d - centre| <= half. Its draw margin is half the step, and the centre is
taken from the strength of the winner. So nothing but the outcome, the draw margin and the handicap of a game changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.table import DRAW
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import ConfigError
from ttt_cli.timeline import Timeline

if TYPE_CHECKING:
    from ttt_cli.config.margin_steps import StepPoints, StepSettings

# Of the wins with a margin: those below, between and above estimated thresholds
LEAST_SHARE: Final = 0.1
PRIOR_MEAN: Final = 0.5  # of a step, in performances' sd
LEAST: Final = 1e-3  # of a step where it is estimated, in the same
MOST: Final = 10.0

Intervals = NDArray[np.int8]
NO_INTERVALS: Final[Intervals] = np.empty(0, np.int8)


class WinStep(NamedTuple):
    """A step to wins by a margin or more, points; None: it is estimated."""

    margin: int
    points: float | None

    @property
    def key(self) -> str:
        """The key of the parameter."""
        from ttt_cli.config.margin_steps import step_key

        return step_key(self.margin)


def find_steps(settings: StepSettings, timeline: Timeline) -> tuple[WinStep, ...]:
    """The steps as configured. Raises ConfigError where no game has a margin of victory.

    Where all are estimated, thresholds divide the wins so that each class has a tenth of them at least.
    """
    if not settings:
        return ()
    if timeline.victory_margin is None:
        raise ConfigError(
            "model.margin_steps: the games have no margins of victory",
            hint="data.margin: score takes them from scores such as 3-1, data.margin: COLUMN from a column",
        )
    if isinstance(settings, dict):
        return tuple(WinStep(int(margin), _number(points)) for margin, points in settings.items())
    return tuple(WinStep(margin, None) for margin in _thresholds(timeline))


def _number(points: StepPoints) -> float | None:
    return None if isinstance(points, str) else points


def _thresholds(timeline: Timeline) -> list[int]:
    """Margins at which classes begin that have `LEAST_SHARE` of the wins with a margin, counted from the narrowest."""
    margin = timeline.victory_margin
    assert margin is not None
    known = margin > 0.0
    margins, index = np.unique(np.floor(margin[known]), return_inverse=True)
    weight = np.bincount(index, timeline.weight[known])
    least = LEAST_SHARE * float(weight.sum())
    thresholds: list[int] = []
    below = 0.0
    above = float(weight.sum())
    for value, wins in zip(margins.tolist(), weight.tolist(), strict=True):
        if below >= least and above >= least and value >= 2.0:
            thresholds.append(int(value))
            below = 0.0
        below += wins
        above -= wins
    return thresholds


def intervals_of(timeline: Timeline, thresholds: Sequence[int]) -> Intervals:
    """The interval of each game of White, (games,): 0 for draws and unknown margins, k of a win, -k of a loss.

    k is 1 below the first threshold, and one more for each threshold that the margin reaches. None without thresholds.
    """
    if not thresholds or timeline.victory_margin is None:
        return NO_INTERVALS
    margin = timeline.victory_margin
    number = 1 + np.searchsorted(np.array(thresholds), margin, side="right")
    sign = timeline.outcome.astype(np.int8) - DRAW
    return np.where(margin > 0.0, sign * number, 0).astype(np.int8)


def shares_of_intervals(timeline: Timeline, thresholds: Sequence[int]) -> Array:
    """The share of wins in the interval of each game among all wins with known margins, (games,); 1 without one."""
    interval = np.abs(intervals_of(timeline, thresholds))
    if not len(interval):
        return np.ones(timeline.n_games)
    weight = np.bincount(interval, timeline.weight, len(thresholds) + 2)
    share = weight / (weight[1:].sum() or 1.0)
    share[0] = 1.0
    return np.asarray(share[interval])


def outcomes_for_kernels(
    outcome: NDArray[np.integer], interval: NDArray[np.number], steps: int
) -> NDArray[np.integer]:
    """Outcomes as kernels take them: those between two ends are draws."""
    between = (interval != 0) & (np.abs(interval) <= steps)
    return np.where(between, np.int8(DRAW), outcome)


@dataclass(frozen=True)
class Ends:
    """Ends of the intervals, points: `low` of each, which has the draw margin first, and the steps between them."""

    low: Array
    step: Array

    @property
    def centre(self) -> Array:
        """Middle of each interval between two ends."""
        centre: Array = self.low[:-1] + 0.5 * self.step
        return centre


def ends_of(draw_margin: float, steps: Sequence[float]) -> Ends:
    """The ends for a draw margin and steps, points."""
    step = np.array(steps, np.float64)
    return Ends(draw_margin + np.append(0.0, np.cumsum(step)), step)


def margins_for_kernels(interval: Intervals, ends: Ends) -> Array:
    """Draw margins (games,) with which kernels see the intervals, points."""
    of_class = np.concatenate([ends.low[:1], 0.5 * ends.step, ends.low[-1:]])
    margins: Array = of_class[np.abs(interval)]
    return margins


def centres_given(interval: Intervals, ends: Ends) -> Array:
    """What is added to the strength of the player named first, so that intervals between two ends are draws, points."""
    of_class = np.concatenate([[0.0], ends.centre, [0.0]])
    given: Array = -np.sign(interval) * of_class[np.abs(interval)]
    return given


class IntervalSlopes(NamedTuple):
    """Slopes of the log-evidence in the draw margin and in all steps, (steps,), per point."""

    draw_margin: float
    steps: tuple[float, ...]


def interval_slopes(
    interval: Intervals, steps: int, by_margin: Array, by_offset: Array
) -> IntervalSlopes:
    """The slopes from those of kernels in each game's draw margin and in what is added to the first player's strength.

    An end that rises takes the centres of all intervals above it along, and widens or narrows those that it bounds.
    """
    number = np.abs(interval)
    is_between = (number > 0) & (number <= steps)
    by_centre = -np.sign(interval) * by_offset
    by_low = np.where(is_between, by_centre, by_margin)  # where the whole interval rises
    of_steps = []
    for step in range(1, steps + 1):
        whole = float(by_low[number > step].sum())
        own = number == step
        of_steps.append(whole + 0.5 * float((by_centre[own] + by_margin[own]).sum()))
    return IntervalSlopes(float(by_low.sum()), tuple(of_steps))


@dataclass(frozen=True)
class StepPrior:
    """Prior of a step where it is estimated: exponential, its mean half the sd of a performance, points."""

    performance_sd: float
    key: str

    @property
    def unit(self) -> float:
        """Points in one unit of its coordinate."""
        return self.performance_sd

    @property
    def bounds(self) -> tuple[float, float]:
        """Coordinates between which it is searched."""
        return LEAST, MOST

    @property
    def begin(self) -> float:
        """The coordinate at which the search begins."""
        return PRIOR_MEAN

    @property
    def sd(self) -> float:
        """Sd of the prior, points."""
        return PRIOR_MEAN * self.performance_sd

    def log_density(self, step: float) -> float:
        """Log density at a step relative to that of none, nats."""
        return -step / self.sd

    def gradient(self, step: float) -> dict[str, float]:
        """Derivatives of `log_density` in the step and in beta, nats per point."""
        return {self.key: -1.0 / self.sd, "beta": step / (self.sd * self.performance_sd)}
