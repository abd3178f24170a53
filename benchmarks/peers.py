"""This project beside trueskillthroughtime, kickscore and whr on the same artificial histories: time and memory.

Each system runs in a process of its own, one after the other and round after round (A B C A B C), so that whatever
else the machine does hits all alike. All work until every skill is within --tol points of the fixed point of their
model, which a fit of this project to 1e-9 points gives: this project stops by its own estimate, the others after the
first iteration that is good enough, which they could not know. Ratios are medians over the rounds.

The other packages live in a virtual environment of their own: the one told by --venv, made and filled where needed.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from measuring import alone, machine, markdown, options_of

from ttt_cli.inference.ep.parts import GAMES_EACH

SYSTEMS: Final = Path(__file__).with_name("peer_systems.py")
PACKAGES: Final = ("trueskillthroughtime", "kickscore", "whr")
PER_GAME: Final = 0.06  # players
YEARS: Final = 100
VIRTUAL_DRAWS: Final = 1.0
AT_ONCE: Final = ("whr",)  # its iterations are quicker in one call, so they are counted beforehand
HEAD: Final = (
    "system", "version", "iterations", "seconds", "ratio", "cpu seconds", "ratio", "peak MiB", "ratio", "true error",
)  # fmt: skip


class Entry(NamedTuple):
    """A row of the table: how it is called, the system (see `peer_systems.py`), and the one it is compared with."""

    label: str
    system: str
    against: str

    @property
    def package(self) -> str | None:
        """The package of others that it needs."""
        return self.system if self.system in PACKAGES else None


ENTRIES: Final = (
    Entry("TTT, this project, one thread", "ttt", "ttt"),
    Entry("TTT, this project, all processors", "ttt-threads", "ttt"),
    Entry("TTT, trueskillthroughtime", "trueskillthroughtime", "ttt"),
    Entry("TTT, kickscore", "kickscore", "ttt"),
    Entry("WHR, this project", "ttt-whr", "ttt-whr"),
    Entry("WHR, whr (C++)", "whr", "ttt-whr"),
)


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(
        __doc__, arguments,
        venv=Path, large=False, games={"type": int, "nargs": "+"}, rounds=3, tol=0.1, limit=1800.0, seed=1,
        only={"nargs": "+", "choices": [entry.system for entry in ENTRIES]},
    )  # fmt: skip
    sizes = options.games or [10_000, 100_000, *([1_000_000] if options.large else [])]
    chosen = [entry for entry in ENTRIES if not options.only or entry.system in options.only]
    packages = {entry.package for entry in chosen if entry.package}
    python, missing = (
        environment(options.venv, packages) if packages else (Path(sys.executable), set())
    )
    entries = [entry for entry in chosen if entry.package not in missing]
    print(f"{machine('numpy', 'numba')}\n")
    with tempfile.TemporaryDirectory() as folder:
        for games in sizes:
            history = Path(folder) / f"{games}.npz"
            nodes = alone(prepare, history, games, options.seed)
            running = [
                entry
                for entry in entries
                if entry.system != "ttt-threads" or games >= 2 * GAMES_EACH
            ]
            measured = rounds(running, python, history, options)
            rows = [row(entry, measured) for entry in running if measured.get(entry.system)]
            size = f"{games:,} games, {int(games * PER_GAME):,} players, {nodes:,} player-years, {YEARS} years"
            print(f"{size}:\n\n{markdown(HEAD, rows)}\n", flush=True)


def environment(place: Path | None, packages: set[str]) -> tuple[Path, set[str]]:
    """The interpreter that has the packages, and those that could not be installed."""
    folder = place or Path.home() / ".cache" / "ttt" / "peers"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        print(f"making {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
    return python, {
        package for package in ("numpy", *sorted(packages)) if not _has(python, package)
    }


def _has(python: Path, package: str) -> bool:
    asked = [str(python), "-c", f"import {package}"]
    if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
        return True
    print(f"installing {package}", file=sys.stderr)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{package} cannot be installed and is left out:\n{done.stderr}", file=sys.stderr)
    return done.returncode == 0


def prepare(path: Path, games: int, seed: int) -> int:
    """Draw a history and store it with the fixed points of both models on it; returns its player-years."""
    import numpy as np

    from ttt_cli.config.schema import SolverConfig
    from ttt_cli.evaluate.simulate import Plan, simulate
    from ttt_cli.systems.registry import load
    from ttt_cli.timeline import build_timeline

    drawn = Plan(games=games, players=int(games * PER_GAME), years=YEARS, seed=seed)
    points_per_elo = (
        math.sqrt(math.pi) * drawn.beta * math.log(10.0) / 400.0
    )  # equal slopes between equals
    keys = ("prior_mean", "prior_sd", "beta", "tau", "draw_probability")
    plan = {
        **{key: getattr(drawn, key) for key in keys},
        "draw_margin": drawn.margin,
        "points_per_elo": points_per_elo,
        "elo_tau": round(drawn.tau / points_per_elo, 1),
        "virtual_draws": VIRTUAL_DRAWS,
    }
    simulated = simulate(drawn)
    timeline = build_timeline(simulated.games())
    exact = SolverConfig(tol=1e-9, max_sweeps=5000, posterior="factorised")
    ttt, whr = load("ttt"), load("whr")
    params = ttt.Params.model_validate({key: plan[key] for key in (*keys[:-1], "draw_margin")})
    fitted = ttt.fit(timeline, params, exact)
    settings = {
        "prior_mean": 0.0,
        "virtual_draws": VIRTUAL_DRAWS,
        "tau": plan["elo_tau"],
        "draws": "halves",
    }
    rated = whr.fit(timeline, whr.Params.model_validate({**settings, "deviations": "own"}), exact)
    assert fitted.status.converged
    assert rated.status.converged
    np.savez(
        path,
        date=simulated.date, year=timeline.node_period[timeline.game_white],
        white=simulated.white, black=simulated.black, outcome=simulated.outcome,
        mean=fitted.mean, sd=fitted.sd, rating=rated.mean, plan=np.array(json.dumps(plan)),
    )  # fmt: skip
    return timeline.n_nodes


Measured = dict[str, list[dict[str, Any]]]


def rounds(
    entries: Sequence[Entry], python: Path, history: Path, options: argparse.Namespace
) -> Measured:
    """What each system took, per round; nothing of one that failed."""
    measured: Measured = {entry.system: [] for entry in entries}
    iterations: dict[str, int] = {}
    turns = [(entry, False) for entry in entries if entry.system in AT_ONCE]
    turns += [(entry, True) for _ in range(options.rounds) for entry in entries]
    for entry, counts in turns:
        if entry.system not in measured:
            continue
        found = run(entry, python, history, options, iterations.get(entry.system))
        if found is None:
            del measured[entry.system]
            continue
        iterations[entry.system] = found["iterations"]
        if counts:
            measured[entry.system].append(found)
    return measured


def run(
    entry: Entry, python: Path, history: Path, options: argparse.Namespace, iterations: int | None
) -> dict[str, Any] | None:
    """One system in a process of its own; None when that failed."""
    interpreter = python if entry.package else Path(sys.executable)
    command = [
        interpreter,
        SYSTEMS,
        entry.system,
        history,
        "--tol",
        options.tol,
        "--limit",
        options.limit,
    ]
    command += ["--iterations", iterations or 0]
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        print(f"{entry.label}: failed and is left out", file=sys.stderr, flush=True)
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    cost = f"{found['iterations']} iterations, {found['wall']:.2f} s, error {found['error']:.2g}"
    print(f"{entry.label}: {cost}", file=sys.stderr, flush=True)
    return found


def row(entry: Entry, measured: Measured) -> tuple[str, ...]:
    """A row of the table: medians over the rounds."""
    mine, others = measured[entry.system], measured.get(entry.against)
    reached = all(one["error"] <= one["tol"] for one in mine)

    def median(key: str) -> float:
        return float(statistics.median(one[key] for one in mine))

    def ratio(key: str) -> str:
        if not others:
            return ""
        value = statistics.median(a[key] / b[key] for a, b in zip(mine, others, strict=True))
        shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        return shown if reached or key == "peak" else f"> {shown}"

    return (
        entry.label, mine[0]["version"], f"{median('iterations'):.0f}",
        f"{median('wall'):,.3g}", ratio("wall"), f"{median('cpu'):,.3g}", ratio("cpu"),
        f"{median('peak'):,.0f}", ratio("peak"), f"{median('error'):.2g}{'' if reached else ', given up'}",
    )  # fmt: skip


if __name__ == "__main__":
    main()
