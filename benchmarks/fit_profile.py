"""Where the time of a whole `ttt fit` goes, for the same artificial games as CSV and as PGN, beside the floor.

Each command runs in a process of its own. A part's seconds are its own: what it calls counts in the rows of that. The
floor, in processor seconds, is what no program could leave out on this machine: of reading, the file read and
digested; of a sweep, two passes (`floor.py`: the bytes moved, or the exponentials and divisions done, whichever lasts
longer); of the joint solution, the bytes moved by its steps; of writing, the bytes of the run.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from measuring import MIB, Clock, alone, machine, markdown, peak_memory

PASSES: Final = 2  # of a sweep
BLOCK: Final = 1 << 20
READING, TIMELINE, MERGING = "reading", "timeline", "merging equal games"
SWEEPS, CHAINS, JOINT, EVIDENCE = "sweeps", "messages along chains", "joint solution", "evidence"
WRITING, REST = "writing", "the rest"
PARTS: Final = (READING, TIMELINE, MERGING, SWEEPS, CHAINS, JOINT, EVIDENCE, WRITING, REST)
STEPS: Final = "steps of the joint solution"


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
    parser.add_argument("--threads", type=int, default=1, help="of the fit; the floor is that of one")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def simulate(path: Path, options: argparse.Namespace) -> None:
    """Write the games."""
    from ttt_cli.evaluate.simulate.files import save
    from ttt_cli.evaluate.simulate.plan import Plan
    from ttt_cli.evaluate.simulate.simulate import simulate

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

    def merge(self, label: str, into: str) -> None:
        """Let the seconds of a part be those of another."""
        for seconds in (self.seconds, self.cpu):
            seconds[into] += seconds.pop(label)


@dataclass(frozen=True)
class Profile:
    """What one `ttt fit` took: seconds of its parts and of their floors, and notes on how these are computed."""

    title: str
    seconds: dict[str, float]
    cpu: dict[str, float]
    floors: dict[str, float]
    notes: dict[str, str]


def profile(path: Path, threads: int, period: str) -> Profile:
    """Run `ttt fit` on a file with its parts watched, after once unwatched, so that all is loaded and compiled."""
    run = path.with_suffix(".ttt")
    fit(path, run, threads, period)
    watch = Watch()
    set_up(watch)
    start = time.perf_counter()
    watch.part(REST, lambda: fit(path, run, threads, period))
    spent = time.perf_counter() - start
    watch.merge("inference", REST)
    watch.merge(STEPS, JOINT)
    pairs, nodes = watch.results[MERGING], watch.results[TIMELINE].n_nodes
    title = (
        f"{len(watch.results[READING]):,} games, {path.stat().st_size / MIB:,.0f} MiB, {nodes:,} nodes, "
        f"{len(pairs):,} distinct pairs; {spent:.2f} s in all, peak memory {peak_memory():,.0f} MiB"
    )
    floors, notes = inference_floors(watch, nodes)
    floors[READING], notes[READING] = seconds_of(lambda: digest(path)), "the file read, SHA-256 of it taken"
    floors[WRITING] = seconds_of(lambda: copy(run, path.with_suffix(".copy")))
    notes[WRITING] = f"{run.stat().st_size / MIB:.1f} MiB written"
    return Profile(title, watch.seconds, watch.cpu, floors, notes)


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
    from ttt_cli.inference.ep.inference import Inference
    from ttt_cli.kernels.ep import joint_means as joint
    from ttt_cli.systems import ttt

    watch.on(READING, read, "read_games")
    watch.on(TIMELINE, api, "build_timeline")
    watch.on("inference", ttt, "fit")
    watch.on(MERGING, ttt, "merge_games")
    watch.on(SWEEPS, Inference, "sweep")
    watch.on(CHAINS, Inference, "_smooth")
    watch.on(JOINT, Inference, "_towards_joint_means")
    watch.on(STEPS, joint, "join")
    watch.on(EVIDENCE, Inference, "log_evidence")
    watch.on(WRITING, api, "write_run")


def inference_floors(watch: Watch, nodes: int) -> tuple[dict[str, float], dict[str, str]]:
    """Floors of the sweeps and of the joint solution, and how they are computed."""
    import floor

    pairs, speeds = watch.results[MERGING], floor.Speeds.measured()
    n, passes, steps = len(pairs), PASSES * watch.calls[SWEEPS], watch.calls[STEPS]
    exponentials, divisions = floor.exponentials(pairs, watch.results["inference"]), floor.divisions(pairs)
    moved = n * floor.PAIR_BYTES + nodes * floor.NODE_BYTES
    moving = floor.seconds_to_move(moved)
    calculating = n * (exponentials * speeds.exponential + divisions * speeds.division)
    stepped = n * floor.PAIR_STEP_BYTES + nodes * floor.NODE_STEP_BYTES
    stepping = floor.seconds_to_move(stepped)
    floors = {SWEEPS: passes * max(moving, calculating), JOINT: steps * stepping}
    notes = {
        SWEEPS: f"{passes} passes, each of {moved / MIB:.0f} MiB at {moved / moving / 1e9:.1f} GB/s "
        f"({moving * 1e3:.1f} ms) and, per pair, {exponentials:.2f} exponentials of {speeds.exponential * 1e9:.1f} ns "
        f"and {divisions:.2f} divisions and roots of {speeds.division * 1e9:.1f} ns ({calculating * 1e3:.1f} ms)",
        JOINT: f"{steps} steps, each of {stepped / MIB:.0f} MiB at {stepped / stepping / 1e9:.1f} GB/s",
    }
    return floors, notes


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


def copy(source: Path, target: Path) -> None:
    """Write what is in a file to another."""
    target.write_bytes(source.read_bytes())


def seconds_of(work: Callable[[], object]) -> float:
    """Processor seconds that some work takes."""
    clock = Clock()
    with clock.running():
        work()
    return clock.cpu


def show(found: Profile, form: str) -> None:
    """The profile as a table."""
    total = sum(found.cpu.values())
    rows = [
        (
            part,
            f"{found.seconds[part]:.3f}",
            f"{found.cpu[part]:.3f}",
            f"{found.cpu[part] / total:.0%}",
            f"{found.floors[part]:.3f}" if part in found.floors else "",
            found.notes.get(part, ""),
        )
        for part in PARTS
    ]
    print(f"{form}: {found.title}\n")
    print(
        markdown(("part", "seconds", "cpu seconds", "share", "floor", "how the floor is computed"), rows)
        + "\n",
        flush=True,
    )


if __name__ == "__main__":
    main()
