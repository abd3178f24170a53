"""Work on a Dask cluster of this machine: how long it takes beside processes, and that nothing is lost with workers.

`python benchmarks/cluster.py RUN [--rounds N] [--kills N] [--grid AXES] [--only WORK ...]`: RUN is any run of ttt. A
grid with `--jobs 2` and on `local:2` in turn, each in a fresh copy of the run; then a grid, tuning, a comparison and
fits again and again while workers are killed at random moments, until so many are, against what came of them
undisturbed.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped]
from measuring import machine

from ttt_cli.api import configure, open_run
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.evidence.grid import evidence_grid
from ttt_cli.evaluate.evidence.tune import tune
from ttt_cli.evaluate.forecast.compare import System, compare
from ttt_cli.inference.ep import slices
from ttt_cli.inference.ep.apart.places import fit_place
from ttt_cli.systems import ttt
from ttt_cli.timeline import Timeline, build_timeline

UP = 0.3  # seconds after which a worker has started
TOL = 1e-8  # points: of fits
SYSTEMS = "ttt", "whr", "trueskill"


def main() -> int:
    """Measure and kill as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--grid", default="beta=300:700:10,tau=20:100:10")
    parser.add_argument("--only", nargs="*", help="of grid, tuning, comparison, fit, moving; default all")
    args = parser.parse_args()
    print(machine("distributed"))
    with tempfile.TemporaryDirectory() as name:
        for number in range(args.rounds):
            for words in (["--jobs", "2"], ["--cluster", "local:2"]):
                timed(args.run, Path(name) / f"{number}{words[0]}.ttt", args.grid, words)
        return survived(args.run, Path(name), args.grid, args.kills, args.only) if args.kills else 0


def timed(run: Path, copy: Path, grid: str, words: list[str]) -> None:
    """One whole command, in seconds on the clock and of the processor with all that it began."""
    shutil.copy(run, copy)
    command = [
        sys.executable,
        "-m",
        "ttt_cli",
        "evidence",
        "--grid",
        grid,
        "-r",
        str(copy),
        "-q",
        "-o",
        os.devnull,
    ]
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    os.waitpid(os.posix_spawn(sys.executable, [*command, *words], os.environ), 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{' '.join(words):20} {time.perf_counter() - began:7.1f} s {cpu:7.1f} cpu-s", flush=True)


def survived(run: Path, folder: Path, grid: str, kills: int, only: list[str]) -> int:
    """Kill workers, again and again; 1 when any result is another."""
    opened = open_run(run)
    data = opened.meta.config["data"]
    timeline = build_timeline(opened.stored_games(), data["period"], data["colours"])
    work: dict[str, Callable[[int], Any]] = {
        "grid": lambda n: gridded(run, folder / f"grid{n}.ttt", grid),
        "tuning": lambda n: tuned(run, folder / f"tuning{n}.ttt"),
        "comparison": lambda _: compared(timeline),
        "fit": lambda _: fitted(timeline, 0.0, 0.0),
        "moving": lambda _: fitted(timeline, 0.04, 0.15),
    }
    os.environ.pop("TTT_CLUSTER", None)
    work = {name: work[name] for name in only or work}
    slices.GAMES_EACH = min(slices.GAMES_EACH, timeline.n_games // 3)  # type: ignore[misc]
    expected = {name: do(-1) for name, do in work.items()}
    os.environ["TTT_CLUSTER"] = "local:2"
    wrong = killed = number = 0
    while killed < kills:
        for name, do in work.items():
            with killing() as count:
                found = do(number)
            killed += count[0]
            far = float(np.abs(np.asarray(found) - np.asarray(expected[name])).max())
            wrong += far > 1e-6
            print(
                f"{name}: {count[0]} workers killed, {killed} in all; largest difference {far:.1e}",
                flush=True,
            )
        number += 1
    return int(wrong > 0)


def gridded(run: Path, copy: Path, grid: str) -> list[float]:
    """The log-evidence of every point."""
    shutil.copy(run, copy)
    return [point.log_evidence for point in evidence_grid(open_run(copy), grid).points]


def tuned(run: Path, copy: Path) -> list[float]:
    """The log-evidence that was found, and the parameters in tenths of a thousandth of their standard errors."""
    shutil.copy(run, copy)
    found = tune(open_run(copy))
    return [found.log_evidence, *(one.value / (one.standard_error or 1.0) * 1e-3 for one in found.parameters)]


def compared(timeline: Timeline) -> list[float]:
    """The probabilities of all games, by all systems."""
    systems = [System.of(name, configure(model=name)) for name in SYSTEMS]
    found = compare(timeline, systems, every=4)
    return [p for entry in found.entries for p in entry.probabilities.ravel().tolist()]


def fitted(timeline: Timeline, drift: float, strength: float) -> list[float]:
    """Log-evidence and skills of a fit, with margins that move."""
    solver = SolverConfig(posterior="factorised", tol=TOL)
    params = ttt.Params(draw_margin_drift=drift, draw_margin_strength=strength)
    with fit_place(solver, timeline, "ttt", quantities=1) as place:
        found = ttt.fit(timeline, params, solver, place=place)
    return [found.log_evidence, *found.mean.tolist(), *found.sd.tolist()]


def _at_work() -> list[Any]:
    """The workers that have come up: what began them began the scheduler first."""
    found = []
    for one in psutil.Process().children():
        with suppress(psutil.Error):
            workers = sorted(one.children(), key=lambda process: process.create_time())[1:]
            found += [worker for worker in workers if time.time() - worker.create_time() > UP]
    return found


@contextmanager
def killing() -> Iterator[list[int]]:
    """Kill one of the workers there are, now and then; how many."""
    ended, count = Event(), [0]

    def kill() -> None:
        while not ended.wait(random.uniform(0.5, 3.0)):
            if busy := _at_work():
                random.choice(busy).kill()
                count[0] += 1

    killer = Thread(target=kill)
    killer.start()
    try:
        yield count
    finally:
        ended.set()
        killer.join()


if __name__ == "__main__":
    sys.exit(main())
