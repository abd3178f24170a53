"""Where the time of a whole `ttt fit` goes, for the same artificial games as CSV and as PGN.

Each command runs in a process of its own. The seconds of a part exclude those of the parts that it calls.
"""

import argparse
import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from measuring import MIB, Clock, alone, machine, markdown, options_of, peak_memory

READING, TIMELINE, MERGING = "reading", "timeline", "merging equal games"
SWEEPS, CHAINS, JOINT, EVIDENCE = "sweeps", "messages along chains", "joint solution", "evidence"
WRITING, REST = "writing", "the rest"
PARTS: Final = (READING, TIMELINE, MERGING, SWEEPS, CHAINS, JOINT, EVIDENCE, WRITING, REST)


def main(arguments: Sequence[str] | None = None) -> None:
    sizes = {"games": 1_000_000, "players": 60_000, "years": 157, "movetext": 500}
    options = options_of(__doc__, arguments, **sizes, period="year", threads=1, seed=1)
    print(f"{machine('numpy', 'numba', 'duckdb')}\n")
    with tempfile.TemporaryDirectory() as folder:
        for form in ("csv", "pgn"):
            path = Path(folder) / f"games.{form}"
            alone(simulate, path, options)
            print(
                f"{form.upper()}: {alone(profile, path, options.threads, options.period)}",
                flush=True,
            )
            path.unlink()


def simulate(path: Path, options: argparse.Namespace) -> None:
    """Write the games."""
    from ttt_cli.evaluate.simulate import Plan, simulate
    from ttt_cli.evaluate.simulated_files import save

    given = {name: getattr(options, name) for name in ("games", "players", "years", "seed")}
    plan = Plan(**given, dates="day")
    save(simulate(plan), path)
    if path.suffix == ".pgn":
        add_moves(path, options.movetext)


def add_moves(path: Path, size: int) -> None:
    """Add about `size` bytes of moves of knights back and forth to every game."""
    rounds = (f"{k}. Nf3 Nf6 {k + 1}. Ng1 Ng8" for k in range(1, size // 9, 2))
    moves = textwrap.fill(" ".join(rounds)[:size].rpartition(" ")[0], width=79)
    whole = path.with_suffix(".whole")
    with path.open(encoding="ascii") as games, whole.open("w", encoding="ascii") as filled:
        filled.writelines(f"{moves}\n{line}" if line[0].isdigit() else line for line in games)
    whole.replace(path)


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
        setattr(
            owner, name, lambda *args, **kwargs: self.part(label, lambda: function(*args, **kwargs))
        )

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


def profile(path: Path, threads: int, period: str) -> str:
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
    size = f"{len(watch.results[READING]):,} games, {path.stat().st_size / MIB:,.0f} MiB, {nodes:,} nodes"
    cost = f"{spent:.2f} s in all, peak memory {peak_memory():,.0f} MiB"
    total, parts = sum(watch.cpu.values()), [part for part in PARTS if part in watch.seconds]
    cells = ((part, watch.seconds[part], watch.cpu[part]) for part in parts)
    rows = [(part, f"{wall:.3f}", f"{cpu:.3f}", f"{cpu / total:.0%}") for part, wall, cpu in cells]
    table = markdown(("part", "seconds", "cpu seconds", "share"), rows)
    return f"{size}, {len(pairs):,} distinct pairs; {cost}\n\n{table}\n"


def fit(path: Path, run: Path, threads: int, period: str) -> None:
    """`ttt fit -c ttt` in this process."""
    from ttt_cli.cli.main import run as command

    settings = "-s", f"solver.threads={threads}", "-s", f"data.period={period}"
    code = command(["fit", str(path), "-q", "-c", "ttt", "-o", str(run), *settings])
    assert code == 0


def set_up(watch: Watch) -> None:
    """Watch the parts of `ttt fit`."""
    from ttt_cli import fitting
    from ttt_cli.games import read
    from ttt_cli.inference.ep import messages, through_time
    from ttt_cli.inference.ep.inference import Inference
    from ttt_cli.inference.ep.joint_solution import JointSolver
    from ttt_cli.systems import ttt

    watch.on(READING, read, "read_games")
    watch.on(TIMELINE, fitting, "build_timeline")
    watch.on("inference", ttt, "fit")
    watch.on(MERGING, through_time, "merge_games")
    watch.on(SWEEPS, Inference, "sweep")
    watch.on(CHAINS, messages, "smooth")
    watch.on(JOINT, JointSolver, "solve")
    watch.on(EVIDENCE, Inference, "log_evidence")
    watch.on(WRITING, fitting, "write_run")


if __name__ == "__main__":
    main()
