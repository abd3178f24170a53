"""Loop over sweeps with its tolerance, limit and error estimate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ttt_cli.fitted import Fit, Status
from ttt_cli.support.arrays import Array

if TYPE_CHECKING:
    from ttt_cli.config.schema import SolverConfig

# Called with the number of the sweep, the largest change and the estimated remaining error, points
OnSweep = Callable[[int, float, float], None]
NotesOf = Callable[[Callable[[Array], Array]], tuple[str, ...]]  # see `Given.notes`


class Given(TypedDict, total=False):
    """Options of a fit.

    - `on_sweep`: callback after each sweep
    - `start`: fit of the same timeline for a warm start
    - `notes`: makes notes from a function for the joint covariances (sums, sums) of sums of skills with weights
      (nodes, sums)
    - `evidence_only`: omit joint sds
    - `placement`: where slices of the timeline are to be (`ep/transport.Placement`); None: in memory, as one
    """

    on_sweep: OnSweep | None
    start: Fit | None
    notes: NotesOf
    evidence_only: bool
    placement: Any


# smallest assumed rate unless the model sets one: the first rates are better than the last
LEAST_RATE = 0.1
SAFETY = 1.1  # on the estimate: a measured rate still creeps up
UNSTEADY = 2.5  # the same while rates still move, or where changes have grown
SPREAD = 1.35  # of three rates that are steady: the largest over the smallest
DOUBT = 0.9  # times the root of a rate: fast sweeps hide slow ones
FIRST_DOUBT = 1.5  # the same for the only rate of a cold fit
RECENT = 4  # rates of which the largest counts
FAINT = 1e-3  # of the tolerance: smaller moves depend on the residual of the joint means
STALLED = 0.95  # rate of sweeps, over a few of them, at which the next slower pace is taken
PATIENCE = 4
LOOSER = 50.0  # times the tolerance, where only evidence or predictions count
# Plain sweeps, of which one must have changed less than all before them, by a hundredth
CIRCLES = 50


def rough_enough(solver: SolverConfig) -> SolverConfig:
    """Solver for fits that only need evidence or predictions, whose errors are of second order."""
    return solver.model_copy(update={"tol": LOOSER * solver.tol})


class Pace(IntEnum):
    """Work of a sweep beyond messages; faster paces cycle sooner."""

    PLAIN = 0  # messages only, each once: the joint means are found for the error estimate alone
    JOINT = 1  # then messages move to the joint means
    FAST = 2  # and equal games repeated until they agree with themselves


@dataclass(frozen=True)
class Sweep:
    """Result of one sweep.

    `change`: largest move of a mean or sd; `distance`: bound on the distance of the means from the joint solution;
    `ahead`: remaining move of the slowest mean or sd at its own rate; all in points. `skipped`: number of sites not
    updated.
    """

    change: float
    distance: float = 0.0
    skipped: int = 0
    ahead: float = 0.0


def iterate(
    sweep: Callable[[Pace], Sweep],
    solver: SolverConfig,
    on_sweep: OnSweep | None,
    least_rate: float = LEAST_RATE,
    *,
    warm: bool = False,
    too_early: int = 0,
) -> tuple[Status, tuple[tuple[float, float], ...]]:
    """Sweep until the estimated remaining error of every mean and sd is below `solver.tol`.

    With changes c_k and their rate r, the remaining error is c r / (1 - r); r is the largest of the last few rates,
    at least `least_rate`. Fast modes hide slow ones, so small rates are increased, each mean and sd is extrapolated
    at its own rate (`ahead`), and the distance from the joint solution is added. Until three rates agree, and after
    changes have grown, the estimate is more than doubled. A fit that is not `warm` has no estimate from its first rate
    and the `too_early` rates after it.

    A pace that cycles is replaced by the next slower one; the loop ends where plain sweeps cycle or cannot reach a
    tenth of the distance. Returns the status and (change, remaining error) per sweep.
    """
    trace: list[tuple[float, float]] = []
    stopping = Stopping(solver, least_rate, warm=warm, too_early=too_early)
    skipped = 0
    while len(trace) < solver.max_sweeps and (stopping.remaining >= solver.tol or skipped):
        result = sweep(stopping.pace)
        skipped = result.skipped
        stopping.follow(result)
        trace.append((result.change, stopping.remaining))
        if on_sweep:
            on_sweep(len(trace), result.change, stopping.remaining)
        if stopping.is_circling or stopping.is_out_of_reach(result):
            break
    converged = stopping.remaining < solver.tol and skipped == 0
    return Status(converged, len(trace), stopping.remaining, skipped), tuple(trace)


class Stopping:
    """What the changes of sweeps tell: the remaining error, the pace of the next sweep, and whether more are of use.

    All rates of a warm fit count. The first rate of any other says nothing, and from the `too_early` rates after it no
    error is estimated yet, though they count when later ones are there.

    | name | unit | |
    |---|---|---|
    | pace | | of the next sweep |
    | remaining | points | estimated remaining error |
    """

    def __init__(
        self, solver: SolverConfig, least_rate: float, *, warm: bool, too_early: int
    ) -> None:
        self.pace = Pace.FAST if solver.accelerate else Pace.PLAIN
        self.remaining = math.inf
        self._solver = solver
        self._least_rate = least_rate
        self._is_warm = warm
        self._too_early = 0 if warm else too_early
        self._sweeps = 0
        self._sweeps_at_pace = 0
        self._last_change = math.nan
        self._rates: list[float] = []
        # of the sweep that ended all faster paces, and those at the slowest
        self._plain_changes: list[float] = []

    def follow(self, result: Sweep) -> None:
        """Estimate the remaining error after a sweep, and choose the pace of the next one."""
        if self._sweeps:
            self._rates.append(
                result.change / self._last_change if self._last_change > 0.0 else 0.0
            )
        if result.change < FAINT * self._solver.tol:
            result = replace(result, ahead=0.0)
        self.remaining = self._remaining_error(result)
        self._last_change = result.change
        self._sweeps += 1
        self._sweeps_at_pace += 1
        if self.pace is not Pace.PLAIN and self._is_stalled:
            self.pace = Pace(self.pace - 1)
            self._sweeps_at_pace = 0
        if self.pace is Pace.PLAIN:
            self._plain_changes.append(result.change)

    @property
    def _is_stalled(self) -> bool:
        """Whether the last few sweeps, all at this pace, have hardly shrunk the change."""
        is_long_at_pace = self._sweeps_at_pace > PATIENCE + 1
        return is_long_at_pace and math.prod(self._rates[-PATIENCE:]) > STALLED**PATIENCE

    @property
    def is_circling(self) -> bool:
        """Whether the best of the last plain sweeps is not 1 % better than the best before them."""
        if len(self._plain_changes) <= CIRCLES:
            return False
        best_before = min(self._plain_changes[:-CIRCLES])
        return min(self._plain_changes[-CIRCLES:]) > 0.99 * best_before

    def is_out_of_reach(self, result: Sweep) -> bool:
        """Whether all sweeps that are left, at the change of this one, do not reach a tenth of the distance."""
        within_reach = result.change * (self._solver.max_sweeps - self._sweeps)
        return self._sweeps > CIRCLES and within_reach < 0.1 * result.distance

    def _remaining_error(self, sweep: Sweep) -> float:
        """Error estimate of `iterate`."""
        if sweep.change == 0.0:
            return sweep.distance
        rates = self._rates if self._is_warm else self._rates[1:]
        if len(rates) <= self._too_early:
            return math.inf
        last = rates[-3:]
        largest_recent = max(rates[-RECENT:])
        is_steady = self._is_warm or (len(last) == 3 and max(last) <= SPREAD * min(last))
        is_first_estimate = not self._is_warm and len(rates) == self._too_early + 1
        doubt = FIRST_DOUBT if is_first_estimate else DOUBT
        rate = max(self._least_rate, largest_recent, doubt * math.sqrt(largest_recent))
        ahead = sweep.change * rate / (1.0 - rate) if rate < 1.0 else math.inf
        safety = SAFETY if is_steady and max(rates) < 1.0 else UNSTEADY
        return safety * max(ahead, sweep.ahead) + sweep.distance


def largest(values: Array) -> float:
    """Largest absolute value; 0 of none."""
    return float(np.max(np.abs(values), initial=0.0))
