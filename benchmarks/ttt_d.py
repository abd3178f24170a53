"""What a draw margin per player costs: fits of the same games with TTT and TTT-D side by side, and their ratio.

Takes files of games, for instance historical.csv.gz. Every model is fitted several times in turn and its fastest
fit counts, as other work on the machine only ever slows a fit down.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.simulate.plan import Plan
from ttt_cli.evaluate.simulate.simulate import simulate
from ttt_cli.fitted import Fit
from ttt_cli.games.read import read_games
from ttt_cli.systems.registry import load
from ttt_cli.timeline import Timeline, build_timeline

MODELS = ("ttt", "ttt-d")
ROW = "{:<14}{:>8}{:>12}{:>10}{:>12}{:>18}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--white-advantage", type=float, default=0.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    timeline = build_timeline(read_games(options.files))
    for name in MODELS:  # load the kernels
        _fit(name, build_timeline(simulate(Plan(games=1000)).games()), options.white_advantage)
    print(f"{timeline.n_games:,} games, {timeline.n_nodes:,} player-years\n")
    print(ROW.format("model", "sweeps", "s a sweep", "s", "ratio", "log-evidence"))
    fits = [
        {name: _fit(name, timeline, options.white_advantage) for name in MODELS}
        for _ in range(options.rounds)
    ]
    fastest = {name: min((fit[name] for fit in fits), key=lambda timed: timed[1]) for name in MODELS}
    for name, (fitted, seconds) in fastest.items():
        sweeps = fitted.status.sweeps
        ratio = seconds / fastest["ttt"][1]
        print(
            ROW.format(
                name, sweeps, f"{seconds / sweeps:.3f}", f"{seconds:.2f}", f"{ratio:.2f}",
                f"{fitted.log_evidence:.3f}",
            )
        )  # fmt: skip


def _fit(name: str, timeline: Timeline, white_advantage: float) -> tuple[Fit, float]:
    module = load(name)
    params = module.Params.model_validate({"white_advantage": white_advantage})
    start = time.perf_counter()
    fitted = module.fit(timeline, params, SolverConfig())
    return fitted, time.perf_counter() - start


if __name__ == "__main__":
    main()
