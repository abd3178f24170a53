"""The loop over sweeps: it owns the tolerance, the cap and the estimate of the error that remains."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Status

OnSweep = Callable[[int, float, float], None]
LEAST_RATE = (
    0.1  # assumed at least, if a model knows no better: the first rates seen are better than the last ones
)
SAFETY = 1.1  # on the estimate: a measured rate still creeps up
STALLED = 0.95  # rate of sweeps, over a few of them, at which the next slower pace is taken
PATIENCE = 4


class Pace(IntEnum):
    """How far a sweep goes beyond the messages: the faster, the more may go round in circles."""

    PLAIN = 0  # messages only, each once
    JOINT = 1  # then the joint means
    FAST = 2  # and equal games repeated until they agree with themselves


@dataclass(frozen=True)
class Sweep:
    """What one sweep did.

    `change`: the largest move of a mean or sd, by the messages alone or in all; `distance`: how far the means may be
    from the joint solution; both in points. `skipped`: how many sites could not be updated.
    """

    change: float
    distance: float = 0.0
    skipped: int = 0


def iterate(
    sweep: Callable[[Pace], Sweep],
    solver: SolverConfig,
    on_sweep: OnSweep | None,
    least_rate: float = LEAST_RATE,
) -> tuple[Status, tuple[tuple[float, float], ...]]:
    """Sweep until the estimated remaining error of every mean and sd is below `solver.tol`.

    `sweep(pace)` does one forward-backward sweep. With changes c_k over whole sweeps and their rate r, the error left
    is c r / (1 - r), the sum of the changes to come; the size of the last change alone says little. The rate is the
    largest of the last few, and `least_rate` at least; modes too slow to be seen in it are in the distance from the
    joint solution, which is added. Where a pace goes round in circles the next slower one takes over; plain sweeps
    end everywhere.
    Returns the status and (change, remaining error) per sweep.
    """
    trace: list[tuple[float, float]] = []
    rates: list[float] = []
    last = math.inf
    pace, since = (Pace.FAST if solver.accelerate else Pace.PLAIN), 0
    skipped = 0
    remaining = math.inf
    while len(trace) < solver.max_sweeps and (remaining >= solver.tol or skipped):
        result = sweep(pace)
        skipped = result.skipped
        rates.append(result.change / last if last > 0.0 else 0.0)
        remaining = _remaining(result.change, rates, least_rate) + result.distance
        trace.append((result.change, remaining))
        if on_sweep:
            on_sweep(len(trace), result.change, remaining)
        since += 1
        if pace and since > PATIENCE + 1 and math.prod(rates[-PATIENCE:]) > STALLED**PATIENCE:
            pace, since = Pace(pace - 1), 0
        last = result.change
    converged = remaining < solver.tol and skipped == 0
    return Status(converged, len(trace), remaining, skipped), tuple(trace)


def _remaining(change: float, rates: list[float], least_rate: float) -> float:
    if change == 0.0:
        return 0.0
    if len(rates) < 2:
        return math.inf
    rate = max(least_rate, *rates[-3:])
    return SAFETY * change * rate / (1.0 - rate) if rate < 1.0 else math.inf
