"""One rating system on one history, for `peers.py`, which runs this file by the interpreter that has the package.

Prints what it took as JSON. The clock runs from the games as the package wants them, in lists or arrays, to skills;
loading and compiling come before it, on a few games, and the look at the error is not counted.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from measuring import Clock, peak_memory
from numpy.typing import NDArray

Skills = tuple[NDArray[np.float64], NDArray[np.float64] | None]  # mean, sd; by year, then player; points


@dataclass(frozen=True)
class History:
    """Games in the order of time, `outcome` White's (0 loss, 1 draw, 2 win), and what they were drawn from, points."""

    date: NDArray[np.int32]
    year: NDArray[np.int32]
    white: NDArray[np.int32]
    black: NDArray[np.int32]
    outcome: NDArray[np.int8]
    plan: dict[str, float]

    def first(self, games: int) -> History:
        """The history of the first games."""
        part = slice(games)
        return History(
            self.date[part],
            self.year[part],
            self.white[part],
            self.black[part],
            self.outcome[part],
            self.plan,
        )

    def rows(self) -> Iterator[tuple[int, int, int, int]]:
        """Year, White, Black, outcome of each game."""
        return zip(
            self.year.tolist(), self.white.tolist(), self.black.tolist(), self.outcome.tolist(), strict=True
        )


class System(Protocol):
    """A system that has its games in hand."""

    def load(self) -> None:
        """Take them in."""

    def advance(self, iterations: int) -> int:
        """Go on for so many iterations; returns how many were done."""

    def skills(self) -> Skills:
        """Skills as they are now."""


class Ours:
    """TTT of this project, which stops by its own estimate of the error."""

    package = "ttt-ratings"
    threads: int | None = 1

    def __init__(self, history: History, tol: float) -> None:
        from ttt_cli.config.schema import SolverConfig
        from ttt_cli.games.table import Games

        n = len(history.date)
        zeros = np.zeros(n)
        players = int(max(history.white.max(), history.black.max())) + 1
        self._games = Games(
            date=history.date, date_precision=zeros.astype(np.int8), white=history.white, black=history.black,
            outcome=history.outcome, weight=np.ones(n), offset=zeros, source_file=zeros.astype(np.int32),
            source_line=np.arange(n), players=tuple(f"{k:09d}" for k in range(players)),
        )  # fmt: skip
        self._plan = history.plan
        self._solver = SolverConfig(tol=tol, max_sweeps=5000, threads=self.threads, posterior="factorised")

    def model(self) -> tuple[str, dict[str, Any]]:
        """Its name and its parameters."""
        keys = ("prior_mean", "prior_sd", "beta", "tau", "draw_margin")
        return "ttt", {key: self._plan[key] for key in keys}

    def load(self) -> None:
        from ttt_cli.timeline import build_timeline

        self._timeline = build_timeline(self._games)

    def advance(self, iterations: int) -> int:  # noqa: ARG002
        from ttt_cli.systems.registry import load

        name, params = self.model()
        model = load(name)
        self._fit = model.fit(self._timeline, model.Params.model_validate(params), self._solver)
        return self._fit.status.sweeps

    def skills(self) -> Skills:
        return self._fit.mean, self._fit.sd


class OursThreaded(Ours):
    """The same with all processors."""

    threads = None


class OursWhr(Ours):
    """Whole-History Rating of this project as the package `whr` has it: draws as two halves, one's own deviations."""

    def model(self) -> tuple[str, dict[str, Any]]:
        return "whr", {
            "prior_mean": 0.0,
            "virtual_draws": self._plan["virtual_draws"],
            "tau": self._plan["elo_tau"],
            "draws": "halves",
            "deviations": "own",
        }

    def skills(self) -> Skills:
        return self._fit.mean, None


class Trueskillthroughtime:
    """The same model and messages, each once per iteration, in plain Python."""

    package = "trueskillthroughtime"

    def __init__(self, history: History, tol: float) -> None:  # noqa: ARG002
        self._plan = history.plan
        rows = list(history.rows())
        self._composition = [[[white], [black]] for _, white, black, _ in rows]
        self._results = [[float(outcome), 2.0 - outcome] for *_, outcome in rows]
        self._times = [year for year, *_ in rows]

    def load(self) -> None:
        plan = self._plan
        self._history = import_module(self.package).History(
            self._composition, self._results, self._times,
            mu=plan["prior_mean"], sigma=plan["prior_sd"], beta=plan["beta"], gamma=plan["tau"],
            p_draw=plan["draw_probability"],
        )  # fmt: skip

    def advance(self, iterations: int) -> int:
        for _ in range(iterations):
            self._history.iteration()
        return iterations

    def skills(self) -> Skills:
        posteriors = [
            batch.posterior(name) for batch in self._history.batches for name in sorted(batch.skills)
        ]
        return np.array([belief.mu for belief in posteriors]), np.array(
            [belief.sigma for belief in posteriors]
        )


class Kickscore:
    """The same model as a Gaussian process (Wiener kernel); every game's site is updated from the last posteriors."""

    package = "kickscore"

    def __init__(self, history: History, tol: float) -> None:  # noqa: ARG002
        self._plan = history.plan
        self._unit = np.sqrt(2.0) * history.plan["beta"]  # its performances differ with sd 1
        self._rows = [
            (year, str(white), str(black), outcome) for year, white, black, outcome in history.rows()
        ]

    def load(self) -> None:
        package, plan, unit = import_module(self.package), self._plan, self._unit
        self._model = package.TernaryModel(margin=plan["draw_margin"] / unit)
        drift, spread = (plan["tau"] / unit) ** 2, (plan["prior_sd"] / unit) ** 2
        entered: dict[str, int] = {}
        for year, white, black, _ in self._rows:
            entered.setdefault(white, year)
            entered.setdefault(black, year)
        for player, year in entered.items():
            self._model.add_item(player, kernel=package.kernel.Wiener(var=drift, t0=year, var_t0=spread))
        for year, white, black, outcome in self._rows:
            winner, loser = (black, white) if outcome == 0 else (white, black)
            self._model.observe([winner], [loser], t=year, tie=outcome == 1)

    def advance(self, iterations: int) -> int:
        self._model.fit(max_iter=iterations, tol=0.0)
        return iterations

    def skills(self) -> Skills:
        columns = []
        for name, item in self._model.item.items():
            years, means, variances = item.scores
            last = np.append(years[1:] != years[:-1], True)
            columns.append(
                (years[last], np.full(int(last.sum()), int(name)), means[last], np.sqrt(variances[last]))
            )
        year, player, mean, sd = (np.concatenate(column) for column in zip(*columns, strict=True))
        order = np.lexsort((player, year))
        return self._plan["prior_mean"] + self._unit * mean[order], self._unit * sd[order]


class Whr:
    """Whole-History Rating in C++, Newton's method for one player after the other."""

    package = "whr"

    def __init__(self, history: History, tol: float) -> None:  # noqa: ARG002
        self._plan = history.plan
        self._games: list[list[Any]] = [
            [str(black), str(white), "BDW"[outcome], year] for year, white, black, outcome in history.rows()
        ]

    def load(self) -> None:
        plan = self._plan
        virtual = int(2 * plan["virtual_draws"])
        self._base = import_module(self.package).Base(w2=plan["elo_tau"] ** 2, virtual_games=virtual)
        self._base.create_games(self._games)

    def advance(self, iterations: int) -> int:
        self._base.iterate(iterations)
        return iterations

    def skills(self) -> Skills:
        players = {name for black, white, *_ in self._games for name in (black, white)}
        rows = sorted(
            (year, int(player), rating)
            for player in players
            for year, rating, _ in self._base.ratings_for_player(player)
        )
        return np.array([rating for *_, rating in rows]), None


SYSTEMS: dict[str, type[Any]] = {
    "ttt": Ours,
    "ttt-threads": OursThreaded,
    "trueskillthroughtime": Trueskillthroughtime,
    "kickscore": Kickscore,
    "ttt-whr": OursWhr,
    "whr": Whr,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("history", type=Path, help="as `peers.py` writes it")
    parser.add_argument("--tol", type=float, required=True, help="points, of every mean and sd")
    parser.add_argument("--limit", type=float, required=True, help="seconds after which it is given up")
    parser.add_argument("--iterations", type=int, help="so many at once; else one by one until within --tol")
    options = parser.parse_args()
    with np.load(options.history) as file:
        plan = json.loads(str(file["plan"]))
        history = History(file["date"], file["year"], file["white"], file["black"], file["outcome"], plan)
        whr = options.system.endswith("whr")
        truth = (file["rating"], None) if whr else (file["mean"], file["sd"])
    tol = options.tol / plan["points_per_elo"] if whr else options.tol
    print(
        json.dumps(measure(SYSTEMS[options.system], history, truth, tol, options.limit, options.iterations))
    )


def measure(
    kind: type[Any], history: History, truth: Skills, tol: float, limit: float, iterations: int | None
) -> dict[str, Any]:
    """Run a system until it is within `tol` of the truth."""
    warm: System = kind(history.first(100), tol)
    warm.load()
    warm.advance(1)
    del warm
    system: System = kind(history, tol)
    clock = Clock()
    with clock.running():
        system.load()
    done, error, peak = 0, np.inf, 0.0
    at_once = iterations is not None or issubclass(kind, Ours)
    while error > tol and clock.wall < limit and not (done and at_once):
        with clock.running():
            done += system.advance(iterations or 1)
        peak = peak_memory()
        error = error_of(system.skills(), truth)
    return {
        "version": version(kind.package),
        "iterations": done,
        "wall": clock.wall,
        "cpu": clock.cpu,
        "peak": peak,
        "error": error,
        "tol": tol,
    }


def error_of(skills: Skills, truth: Skills) -> float:
    """The largest error of a mean or sd."""
    pairs = [
        (mine, true)
        for mine, true in zip(skills, truth, strict=True)
        if mine is not None and true is not None
    ]
    return max(float(np.abs(mine - true).max()) for mine, true in pairs)


if __name__ == "__main__":
    main()
