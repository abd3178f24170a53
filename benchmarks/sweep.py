"""How fast one forward-backward sweep of TTT is, and how many a fit takes, on an artificial history."""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final
from unittest.mock import patch

from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.simulate.plan import Plan
from ttt_cli.evaluate.simulate.simulate import simulate
from ttt_cli.fitted import Fit
from ttt_cli.inference.ep.merged import merge_games
from ttt_cli.kernels.ep import ttt as kernels
from ttt_cli.systems.registry import load
from ttt_cli.timeline import Timeline, build_timeline

PLAIN_SWEEPS: Final = 6


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    plan = Plan(
        players=options.players,
        years=options.years,
        games=options.games,
        beta=options.beta,
        tau=options.tau,
        seed=options.seed,
    )
    solver = SolverConfig(tol=options.tol, max_sweeps=options.max_sweeps, accelerate=not options.plain)

    clock = time.perf_counter()
    games = simulate(plan).games()
    _show("simulate", f"{time.perf_counter() - clock:.2f} s")
    clock = time.perf_counter()
    timeline = build_timeline(games)
    _show("timeline", f"{time.perf_counter() - clock:.2f} s")
    _show("games", f"{timeline.n_games:,}")
    _show("nodes", f"{timeline.n_nodes:,}")

    _timed_fit(build_timeline(simulate(Plan(games=1000)).games()), plan, solver)  # load the kernels
    _report_passes(timeline, _pass_seconds(timeline, plan))
    fitted, sweeps, seconds = _timed_fit(timeline, plan, solver)
    _report(timeline, fitted, sweeps, seconds)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--players", type=int, default=60_000)
    parser.add_argument("--years", type=int, default=157)
    parser.add_argument("--beta", type=float, default=480.0)
    parser.add_argument("--tau", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--max-sweeps", type=int, default=1000)
    parser.add_argument("--plain", action="store_true", help="sweeps without acceleration")
    return parser


def _timed_fit(timeline: Timeline, plan: Plan, solver: SolverConfig) -> tuple[Fit, list[float], float]:
    """The fit, the seconds of each sweep after the first, the seconds of all."""
    model = load("ttt")
    params = model.Params.model_validate({"beta": plan.beta, "tau": plan.tau})
    ends: list[float] = []
    start = time.perf_counter()
    fitted = model.fit(timeline, params, solver, on_sweep=lambda *_: ends.append(time.perf_counter()))
    total = time.perf_counter() - start
    return fitted, [after - before for before, after in pairwise(ends)] or [total], total


def _pass_seconds(timeline: Timeline, plan: Plan) -> float:
    """Processor seconds of one plain pass over all games, forward or backward: the median of those of a few sweeps."""
    spent: list[float] = []

    def timed(kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            clock = time.process_time()
            result = kernel(*arguments)
            spent.append(time.process_time() - clock)
            return result

        return call

    with patch.object(kernels, "sweep", timed(kernels.sweep)):
        plain = SolverConfig(tol=1e-300, max_sweeps=PLAIN_SWEEPS, accelerate=False, threads=1)
        _timed_fit(timeline, plan, plain)
    return statistics.median(spent[2:])  # the first sweep finds no sites yet


def _report_passes(timeline: Timeline, seconds: float) -> None:
    pairs = len(merge_games(timeline, colours=False))
    _show("merged pairs", f"{pairs:,}")
    _show("cpu seconds per plain pass", f"{seconds:.4f} (a sweep has two)")
    _show("ns per game and pass", f"{seconds / timeline.n_games * 1e9:.1f}")
    _show("ns per merged pair and pass", f"{seconds / pairs * 1e9:.1f}")


def _report(timeline: Timeline, fitted: Fit, sweeps: list[float], seconds: float) -> None:
    sweep = statistics.median(sweeps)
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss counts bytes there, kibibytes elsewhere
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    _show("seconds per sweep", f"{sweep:.4f} (median; {min(sweeps):.4f} to {max(sweeps):.4f})")
    _show("games per second and sweep", f"{timeline.n_games / sweep:,.0f}")
    _show("ns per game and sweep", f"{sweep / timeline.n_games * 1e9:.1f}")
    _show("sweeps", f"{fitted.status.sweeps}, {'converged' if fitted.status.converged else 'NOT converged'}")
    _show("remaining error", f"{fitted.status.remaining_error:.2g} points (estimate)")
    _show("fit", f"{seconds:.2f} s")
    _show("log-evidence", f"{fitted.log_evidence:.3f}")
    _show("peak memory", f"{peak / 2**20:,.0f} MiB")


def _show(name: str, value: str) -> None:
    print(f"{name:<28}{value}", flush=True)


if __name__ == "__main__":
    main()
