"""The loop over sweeps: it owns the tolerance, the cap and the estimate of the error that remains."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit, Status

if TYPE_CHECKING:
    from ttt_cli.inference.ep.apart.fit import Place

OnSweep = Callable[[int, float, float], None]  # sweep, largest change, estimated remaining error (points)


class Given(TypedDict, total=False):
    """What a fit may be given: whom to tell of its sweeps, a fit of the same timeline to start from, and a place.

    `notes` is what to say of a joint posterior, given the sds (sums,) that it has of sums of skills with weights
    (nodes, sums). With `evidence_only`, joint sds of which the evidence knows nothing are left out. `place` is where
    slices of the timeline are to be; None: here, as a whole.
    """

    on_sweep: OnSweep | None
    start: Fit | None
    notes: Callable[[Callable[[Array], Array]], tuple[str, ...]]
    evidence_only: bool
    place: "Place | None"


# assumed at least, if a model knows no better: the first rates seen are better than the last
LEAST_RATE = 0.1
SAFETY = 1.1  # on the estimate: a measured rate still creeps up
UNSTEADY = 2.5  # the same while rates still move, or where changes have grown
SPREAD = 1.35  # of three rates that are steady: the largest over the smallest
DOUBT = 0.9  # times the root of a rate: fast sweeps hide slow ones
FIRST_DOUBT = 1.5  # the same of the only rate of a fit that came from nowhere
RECENT = 4  # rates of which the largest counts
FAINT = 1e-3  # of the tolerance: where nothing moves as much, moves grow and shrink by what joint means leave open
STALLED = 0.95  # rate of sweeps, over a few of them, at which the next slower pace is taken
PATIENCE = 4
LOOSER = 50.0  # times the tolerance, where only evidence or predictions count
CIRCLES = 50  # plain sweeps, of which one must have changed less than all before them, by a hundredth


def rough_enough(solver: SolverConfig) -> SolverConfig:
    """The solver for fits of which only evidence or predictions count, which change in the second order of errors."""
    return solver.model_copy(update={"tol": LOOSER * solver.tol})


class Pace(IntEnum):
    """How far a sweep goes beyond the messages: the faster, the more may go round in circles."""

    PLAIN = 0  # messages only, each once
    JOINT = 1  # then the joint means
    FAST = 2  # and equal games repeated until they agree with themselves


@dataclass(frozen=True)
class Sweep:
    """What one sweep did.

    `change`: the largest move of a mean or sd, by the messages alone or in all; `distance`: how far the means may be
    from the joint solution; `ahead`: how far the slowest mean or sd has to go at its own rate; all in points.
    `skipped`: how many sites could not be updated.
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
    settling: int = 0,
) -> tuple[Status, tuple[tuple[float, float], ...]]:
    """Sweep until the estimated remaining error of every mean and sd is below `solver.tol`.

    With changes c_k over whole sweeps and their rate r, the error left is c r / (1 - r). The rate is the largest of
    the last few, and `least_rate` at least. As slow modes hide behind fast ones, small rates are doubted, the same
    sum is taken for every mean and sd by its own rate (`ahead`), and the distance from the joint solution is added.
    Until three rates agree, and where changes have grown, more than twice of it is taken. Unless a fit is `warm`,
    and starts where rates are near their last, its first change makes no rate, and the next `settling` rates alone
    tell too little.
    Where a pace goes round in circles the next slower one takes over; where plain sweeps do, or all that are
    left could not go a tenth of the distance, nothing is left to try.
    Returns the status and (change, remaining error) per sweep.
    """
    trace: list[tuple[float, float]] = []
    rates: list[float] = []
    plain: list[float] = []
    last = math.nan
    pace, since = (Pace.FAST if solver.accelerate else Pace.PLAIN), 0
    skipped = 0
    remaining = math.inf
    while len(trace) < solver.max_sweeps and (remaining >= solver.tol or skipped):
        result = sweep(pace)
        if result.change < FAINT * solver.tol:
            result = replace(result, ahead=0.0)
        skipped = result.skipped
        if trace:
            rates.append(result.change / last if last > 0.0 else 0.0)
        known = rates if warm else rates[1:]
        remaining = _remaining(result, known, least_rate, None if warm else settling)
        trace.append((result.change, remaining))
        if on_sweep:
            on_sweep(len(trace), result.change, remaining)
        since += 1
        if pace and since > PATIENCE + 1 and math.prod(rates[-PATIENCE:]) > STALLED**PATIENCE:
            pace, since = Pace(pace - 1), 0
        last = result.change
        plain.append(result.change if pace is Pace.PLAIN else math.inf)
        within_reach = result.change * (solver.max_sweeps - len(trace))
        if min(plain[-CIRCLES:]) > 0.99 * min(plain[:-CIRCLES], default=math.inf):
            break
        if len(plain) > CIRCLES and within_reach < 0.1 * result.distance:
            break
    converged = remaining < solver.tol and skipped == 0
    return Status(converged, len(trace), remaining, skipped), tuple(trace)


def _remaining(sweep: Sweep, rates: list[float], least_rate: float, settling: int | None) -> float:
    """The estimate; `settling` of a fit that came from nowhere, None of a warm one."""
    if sweep.change == 0.0:
        return sweep.distance
    if len(rates) <= (settling or 0):
        return math.inf
    last, seen = rates[-3:], max(rates[-RECENT:])
    steady = settling is None or (len(last) == 3 and max(last) <= SPREAD * min(last))
    doubt = FIRST_DOUBT if settling is not None and len(rates) == settling + 1 else DOUBT
    rate = max(least_rate, seen, doubt * math.sqrt(seen))
    ahead = sweep.change * rate / (1.0 - rate) if rate < 1.0 else math.inf
    return (SAFETY if steady and max(rates) < 1.0 else UNSTEADY) * max(ahead, sweep.ahead) + sweep.distance


def largest(values: Array) -> float:
    """The largest absolute value, 0 of none."""
    return float(np.max(np.abs(values), initial=0.0))
