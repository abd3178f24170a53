"""The loop over sweeps: it owns the tolerance, the cap and the estimate of the error that remains."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Status

OnSweep = Callable[[int, float, float], None]
LEAST_RATE = 0.1  # the rate assumed at least: the first rates seen are better than the last ones
SAFETY = 1.1  # on the estimate: a measured rate still creeps up
PAUSE = 3  # plain sweeps after an accelerated one that made things worse


@dataclass(frozen=True)
class Sweep:
    """What one sweep left: `beliefs` (means and sds of all nodes), how far the means may be from the joint solution
    (`distance`), all in points, and how many sites could not be updated (`skipped`).
    """

    beliefs: NDArray[np.float64]
    distance: float = 0.0
    skipped: int = 0


def iterate(
    sweep: Callable[[bool], Sweep],
    beliefs: NDArray[np.float64],
    solver: SolverConfig,
    on_sweep: OnSweep | None,
) -> tuple[Status, tuple[tuple[float, float], ...]]:
    """Sweep until the estimated remaining error of every mean and sd is below `solver.tol`.

    `sweep(accelerate)` does one forward-backward sweep. With changes c_k of the beliefs over whole sweeps and their
    rate r, the error left is c r / (1 - r), the sum of the changes to come; the size of the last change alone says
    little. The rate is the largest of the last few; modes too slow to be seen in it are in the distance from the
    joint solution, which is added. Returns the status and (change, remaining error) per sweep.
    """
    trace: list[tuple[float, float]] = []
    rates: list[float] = []
    last = math.inf
    pause = 0
    skipped = 0
    remaining = math.inf
    for number in range(1, solver.max_sweeps + 1):
        result = sweep(solver.accelerate and pause == 0)
        change = float(np.max(np.abs(result.beliefs - beliefs), initial=0.0))
        beliefs = result.beliefs
        skipped = result.skipped
        rates.append(change / last if last > 0.0 else 0.0)
        remaining = _remaining(change, rates) + result.distance
        trace.append((change, remaining))
        if on_sweep:
            on_sweep(number, change, remaining)
        if remaining < solver.tol and skipped == 0:
            break
        pause = PAUSE if pause == 0 and number > 2 and change > 2.0 * last else max(pause - 1, 0)
        last = change
    converged = remaining < solver.tol and skipped == 0
    return Status(converged, len(trace), remaining, skipped), tuple(trace)


def _remaining(change: float, rates: list[float]) -> float:
    if change == 0.0:
        return 0.0
    if len(rates) < 2:
        return math.inf
    rate = max(LEAST_RATE, *rates[-3:])
    return SAFETY * change * rate / (1.0 - rate) if rate < 1.0 else math.inf
