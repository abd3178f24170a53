"""Sweeps until every skill is right to 0.01 points: with the joint means, and by messages alone.

The truth is the fixed point itself, from a fit to 1e-9 points. Takes the folder that holds
smallchessbase/SmallChessBase.csv, historical_pre1942.csv.gz and historical.csv.gz.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.games.read import read_games
from ttt_cli.systems import ttt
from ttt_cli.timeline import Timeline, build_timeline

TOL = 0.01  # points
CASES: dict[str, tuple[tuple[float, float], ...]] = {  # (beta, tau)
    "smallchessbase/SmallChessBase.csv": ((600, 40), (240, 40)),
    "historical_pre1942.csv.gz": ((480, 60), (240, 60)),
    "historical.csv.gz": ((480, 60),),
}
HEADER = (
    "data",
    "beta",
    "tau",
    "sweeps",
    "reached",
    "stopped",
    "true error",
    "estimate",
    "at a small change",
)
ROW = "{:<20}{:>6}{:>5}  {:<7}{:>8}{:>9}{:>12}{:>10}{:>19}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(arguments).folder
    print(f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print("reached: the sweep from which every mean and sd is within 0.01 points of the fixed point;")
    print("stopped: the sweep at which the solver says so, with the true error and its estimate there;")
    print("at a small change: the true error when a sweep first moves nothing by 0.01 points\n")
    print(ROW.format(*HEADER), flush=True)
    for name, parameters in CASES.items():
        timeline = build_timeline(read_games([folder / name]))
        for beta, tau in parameters:
            params = ttt.Params.model_validate({"beta": beta, "tau": tau})
            truth = ttt.fit(timeline, params, SolverConfig(tol=1e-9, max_sweeps=5000))
            assert truth.status.converged
            for accelerate in (True, False):
                _measure(Path(name).name.split(".")[0], timeline, params, truth, accelerate=accelerate)


def _measure(name: str, timeline: Timeline, params: ttt.Params, truth: Fit, *, accelerate: bool) -> None:
    solver = SolverConfig(tol=TOL, max_sweeps=5000, accelerate=accelerate)
    fitted = ttt.fit(timeline, params, solver)
    reached, small = _follow(timeline, params, truth, fitted.status.sweeps, accelerate=accelerate)
    row = (
        name,
        f"{params.beta:g}",
        f"{params.tau:g}",
        "joint" if accelerate else "plain",
        reached,
        fitted.status.sweeps,
        f"{_error(fitted, truth):.1e}",
        f"{fitted.status.remaining_error:.1e}",
        "-" if math.isnan(small) else f"{small:.1e}",
    )
    print(ROW.format(*row), flush=True)


def _follow(
    timeline: Timeline, params: ttt.Params, truth: Fit, most: int, *, accelerate: bool
) -> tuple[int, float]:
    """Go `most` sweeps, one at a time: the sweep from which the true error stays below TOL, and the true error
    after the first that moves nothing by TOL."""
    once = SolverConfig(tol=1e-12, max_sweeps=1, accelerate=accelerate)
    last: Fit | None = None
    reached, small = 1, math.nan
    for sweep in range(1, most + 1):
        last = ttt.fit(timeline, params, once, start=last)
        error = _error(last, truth)
        if error >= TOL:
            reached = sweep + 1
        if math.isnan(small) and last.trace[-1][0] < TOL:
            small = error
    return reached, small


def _error(fitted: Fit, truth: Fit) -> float:
    """The largest error of a mean or sd, points."""
    return float(max(np.abs(fitted.mean - truth.mean).max(), np.abs(fitted.sd - truth.sd).max()))


def _processor() -> str:
    """The processor's name, where the system tells."""
    info = Path("/proc/cpuinfo")
    names = info.read_text().splitlines() if info.exists() else []
    found = [line.partition(":")[2].strip() for line in names if line.startswith("model name")]
    return found[0] if found else platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
