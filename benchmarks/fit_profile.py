"""Where the time of a whole `ttt fit` goes, for the same artificial games as CSV and as PGN.

Each command runs in a process of its own. The seconds of a part exclude those of the parts that it calls.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from measuring import MIB, Clock, alone, machine, markdown, peak_memory

READING, TIMELINE, MERGING = "reading", "timeline", "merging equal games"
SWEEPS, CHAINS, JOINT, EVIDENCE = "sweeps", "messages along chains", "joint solution", "evidence"
WRITING, REST = "writing", "the rest"
PARTS: Final = (READING, TIMELINE, MERGING, SWEEPS, CHAINS, JOINT, EVIDENCE, WRITING, REST)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    print(f"{machine('numpy', 'numba', 'duckdb')}\n")
    with tempfile.TemporaryDirectory() as folder:
        for form in ("csv", "pgn"):
            path = Path(folder) / f"games.{form}"
            alone(simulate, path, options)
            show(alone(profile, path, options.threads, options.period), form.upper())
            path.unlink()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--players", type=int, default=60_000)
    parser.add_argument("--years", type=int, default=157)
    parser.add_argument("--movetext", type=int, default=500, help="bytes of moves in a PGN game")
    parser.add_argument("--period", default="year", help="the time step")
    parser.add_argument("--threads", type=int, default=1, help="of the fit")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def simulate(path: Path, options: argparse.Namespace) -> None:
    """Write the games."""
    from ttt_cli.evaluate.simulate import Plan, save, simulate

    given = {name: getattr(options, name) for name in ("games", "players", "years", "seed")}
    plan = Plan(**given, dates="day")
    save(simulate(plan), path, movetext=options.movetext if path.suffix == ".pgn" else 0)


class Watch:
    """Seconds of the parts of some work, each without the parts that it calls; their numbers of calls and results."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self.calls: dict[str, int] = {}
        self.results: dict[str, Any] = {}
        self._inside = [Clock()]  # of the parts called so far, for each part under way

    def on(self, label: str, owner: Any, name: str) -> None:
        """Count the calls of a function or method as a part."""
        function = getattr(owner, name)
        setattr(owner, name, lambda *args, **kwargs: self.part(label, lambda: function(*args, **kwargs)))

    def part(self, label: str, work: Callable[[], Any]) -> Any:
        """Do some work as a part."""
        clock = Clock()
        self._inside.append(Clock())
        with clock.running():
            result = self.results[label] = work()
        inside = self._inside.pop()
        self._inside[-1].wall += clock.wall
        self._inside[-1].cpu += clock.cpu
        self.seconds[label] = self.seconds.get(label, 0.0) + clock.wall - inside.wall
        self.cpu[label] = self.cpu.get(label, 0.0) + clock.cpu - inside.cpu
        self.calls[label] = self.calls.get(label, 0) + 1
        return result


@dataclass(frozen=True)
class Profile:
    """Seconds of the parts of one `ttt fit`, on the clock and of the processors."""

    title: str
    seconds: dict[str, float]
    cpu: dict[str, float]


def profile(path: Path, threads: int, period: str) -> Profile:
    """Run `ttt fit` on a file with its parts watched, after once unwatched, so that all is loaded and compiled."""
    run = path.with_suffix(".ttt")
    fit(path, run, threads, period)
    watch = Watch()
    set_up(watch)
    start = time.perf_counter()
    watch.part(REST, lambda: fit(path, run, threads, period))
    spent = time.perf_counter() - start
    for seconds in (watch.seconds, watch.cpu):
        seconds[REST] += seconds.pop("inference")
    pairs, nodes = watch.results[MERGING], watch.results[TIMELINE].n_nodes
    title = (
        f"{len(watch.results[READING]):,} games, {path.stat().st_size / MIB:,.0f} MiB, {nodes:,} nodes, "
        f"{len(pairs):,} distinct pairs; {spent:.2f} s in all, peak memory {peak_memory():,.0f} MiB"
    )
    return Profile(title, watch.seconds, watch.cpu)


def fit(path: Path, run: Path, threads: int, period: str) -> None:
    """`ttt fit` in this process."""
    from ttt_cli.cli.main import run as command

    settings = "-s", f"solver.threads={threads}", "-s", f"data.period={period}"
    code = command(["fit", str(path), "-q", "-o", str(run), *settings])
    assert code == 0


def set_up(watch: Watch) -> None:
    """Watch the parts of `ttt fit`."""
    from ttt_cli import api
    from ttt_cli.games import read
    from ttt_cli.inference.ep import through_time
    from ttt_cli.inference.ep.inference import Inference
    from ttt_cli.inference.ep.slices import Slice
    from ttt_cli.systems import ttt

    watch.on(READING, read, "read_games")
    watch.on(TIMELINE, api, "build_timeline")
    watch.on("inference", ttt, "fit")
    watch.on(MERGING, through_time, "merge_games")
    watch.on(SWEEPS, Inference, "sweep")
    watch.on(CHAINS, Slice, "smooth")
    watch.on(JOINT, Inference, "_joint_means")
    watch.on(EVIDENCE, Inference, "log_evidence")
    watch.on(WRITING, api, "write_run")


def show(found: Profile, form: str) -> None:
    """The profile as a table."""
    total = sum(found.cpu.values())
    rows = [
        (part, f"{found.seconds[part]:.3f}", f"{found.cpu[part]:.3f}", f"{found.cpu[part] / total:.0%}")
        for part in PARTS
        if part in found.seconds
    ]
    print(f"{form}: {found.title}\n")
    print(markdown(("part", "seconds", "cpu seconds", "share"), rows) + "\n", flush=True)


if __name__ == "__main__":
    main()
