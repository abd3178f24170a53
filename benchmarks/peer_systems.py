"""One rating system on one history, for `peers.py`, which runs this file by the interpreter that has the package.

Prints what it took as JSON. The clock runs from the games as the package wants them, in lists or arrays, to skills;
loading and compiling come before it, on a few games, and the look at the error is not counted.
"""

import json
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measuring import Clock, options_of, peak_memory
from numpy.typing import NDArray

Skills = tuple[
    NDArray[np.float64], NDArray[np.float64] | None
]  # mean, sd; by year, then player; points
Loaded = tuple[Callable[[int], Any], Callable[[], Skills]]  # iterations to do; skills
System = Callable[["History", float], Callable[[], Loaded]]  # of games, within an error


class History(NamedTuple):
    """Games in the order of time, `outcome` White's (0 loss, 1 draw, 2 win), and what they were drawn from, points."""

    date: NDArray[np.int32]
    year: NDArray[np.int32]
    white: NDArray[np.int32]
    black: NDArray[np.int32]
    outcome: NDArray[np.int8]
    plan: dict[str, float]

    def rows(self) -> list[tuple[int, int, int, int]]:
        """Year, White, Black, outcome of each game."""
        columns = self.year, self.white, self.black, self.outcome
        return list(zip(*(column.tolist() for column in columns), strict=True))


def ours(
    history: History, tol: float, name: str = "ttt", threads: int | None = 1
) -> Callable[[], Loaded]:
    """TTT or WHR of this project, which stop by their own estimates of the error.

    WHR as the package `whr` has it: draws as two halves, one's own deviations.
    """
    from ttt_cli.config.schema import SolverConfig
    from ttt_cli.games.table import Games
    from ttt_cli.systems.registry import load
    from ttt_cli.timeline import build_timeline

    n, plan = len(history.date), history.plan
    zeros, players = np.zeros(n), int(max(history.white.max(), history.black.max())) + 1
    games = Games(
        date=history.date, date_precision=zeros.astype(np.int8), white=history.white, black=history.black,
        outcome=history.outcome, weight=np.ones(n), offset=zeros, source_file=zeros.astype(np.int32),
        source_line=np.arange(n), players=tuple(f"{k:09d}" for k in range(players)),
    )  # fmt: skip
    params: dict[str, Any] = {
        "prior_mean": 0.0,
        "virtual_draws": plan["virtual_draws"],
        "tau": plan["elo_tau"],
    }
    params |= {"draws": "halves", "deviations": "own"}
    if name == "ttt":
        params = {
            key: plan[key] for key in ("prior_mean", "prior_sd", "beta", "tau", "draw_margin")
        }
    solver = SolverConfig(tol=tol, max_sweeps=5000, threads=threads, posterior="factorised")
    found: list[Any] = []

    def begin() -> Loaded:
        timeline = build_timeline(games)

        def advance(_: int) -> int:
            model = load(name)
            found[:] = [model.fit(timeline, model.Params.model_validate(params), solver)]
            return int(found[0].status.sweeps)

        return advance, lambda: (found[0].mean, found[0].sd if name == "ttt" else None)

    return begin


def ours_threaded(history: History, tol: float) -> Callable[[], Loaded]:
    """The same with all processors."""
    return ours(history, tol, threads=None)


def ours_whr(history: History, tol: float) -> Callable[[], Loaded]:
    """Whole-History Rating of this project."""
    return ours(history, tol, "whr")


def trueskillthroughtime(history: History, tol: float) -> Callable[[], Loaded]:  # noqa: ARG001
    """The same model and messages, each once per iteration, in plain Python."""
    plan, rows = history.plan, history.rows()
    composition = [[[white], [black]] for _, white, black, _ in rows]
    results = [[float(outcome), 2.0 - outcome] for *_, outcome in rows]
    times = [year for year, *_ in rows]

    def begin() -> Loaded:
        made = import_module("trueskillthroughtime").History(
            composition, results, times, mu=plan["prior_mean"], sigma=plan["prior_sd"], beta=plan["beta"],
            gamma=plan["tau"], p_draw=plan["draw_probability"],
        )  # fmt: skip

        def skills() -> Skills:
            beliefs = [
                batch.posterior(name) for batch in made.batches for name in sorted(batch.skills)
            ]
            return np.array([one.mu for one in beliefs]), np.array([one.sigma for one in beliefs])

        return lambda iterations: [made.iteration() for _ in range(iterations)], skills

    return begin


def kickscore(history: History, tol: float) -> Callable[[], Loaded]:  # noqa: ARG001
    """The same model as a Gaussian process (Wiener kernel); every game's site is updated from the last posteriors."""
    plan, unit = (
        history.plan,
        np.sqrt(2.0) * history.plan["beta"],
    )  # its performances differ with sd 1
    rows = [
        (year, str(white), str(black), outcome) for year, white, black, outcome in history.rows()
    ]

    def begin() -> Loaded:
        package = import_module("kickscore")
        model = package.TernaryModel(margin=plan["draw_margin"] / unit)
        drift, spread = (plan["tau"] / unit) ** 2, (plan["prior_sd"] / unit) ** 2
        entered: dict[str, int] = {}
        for year, white, black, _ in rows:
            entered.setdefault(white, year)
            entered.setdefault(black, year)
        for player, year in entered.items():
            model.add_item(player, kernel=package.kernel.Wiener(var=drift, t0=year, var_t0=spread))
        for year, white, black, outcome in rows:
            winner, loser = (black, white) if outcome == 0 else (white, black)
            model.observe([winner], [loser], t=year, tie=outcome == 1)

        def skills() -> Skills:
            columns = []
            for name, item in model.item.items():
                years, means, variances = item.scores
                last = np.append(years[1:] != years[:-1], True)
                player = np.full(int(last.sum()), int(name))
                columns.append((years[last], player, means[last], np.sqrt(variances[last])))
            year, player, mean, sd = (
                np.concatenate(column) for column in zip(*columns, strict=True)
            )
            order = np.lexsort((player, year))
            return plan["prior_mean"] + unit * mean[order], unit * sd[order]

        return lambda iterations: model.fit(max_iter=iterations, tol=0.0), skills

    return begin


def whr(history: History, tol: float) -> Callable[[], Loaded]:  # noqa: ARG001
    """Whole-History Rating in C++, Newton's method for one player after the other."""
    plan = history.plan
    games = [
        [str(black), str(white), "BDW"[outcome], year]
        for year, white, black, outcome in history.rows()
    ]

    def begin() -> Loaded:
        virtual = int(2 * plan["virtual_draws"])
        base = import_module("whr").Base(w2=plan["elo_tau"] ** 2, virtual_games=virtual)
        base.create_games(games)

        def skills() -> Skills:
            players = {str(name) for black, white, *_ in games for name in (black, white)}
            rows = [
                (year, int(player), rating)
                for player in players
                for year, rating, _ in base.ratings_for_player(player)
            ]
            return np.array([rating for *_, rating in sorted(rows)]), None

        return base.iterate, skills

    return begin


SYSTEMS: dict[str, tuple[str, System]] = {  # the package, and the system
    "ttt": ("ttt-ratings", ours), "ttt-threads": ("ttt-ratings", ours_threaded), "ttt-whr": ("ttt-ratings", ours_whr),
    "trueskillthroughtime": ("trueskillthroughtime", trueskillthroughtime), "kickscore": ("kickscore", kickscore),
    "whr": ("whr", whr),
}  # fmt: skip


def main() -> None:
    names = {"choices": SYSTEMS}
    options = options_of(
        __doc__, system_=names, history_={"type": Path}, tol=0.1, limit=1800.0, iterations=0
    )
    with np.load(options.history) as file:
        plan = json.loads(str(file["plan"]))
        history = History(
            file["date"], file["year"], file["white"], file["black"], file["outcome"], plan
        )
        by_whr = options.system.endswith("whr")
        truth = (file["rating"], None) if by_whr else (file["mean"], file["sd"])
    tol = options.tol / plan["points_per_elo"] if by_whr else options.tol
    print(
        json.dumps(measure(options.system, history, truth, tol, options.limit, options.iterations))
    )


def measure(
    name: str, history: History, truth: Skills, tol: float, limit: float, iterations: int
) -> dict[str, Any]:
    """Run a system until it is within `tol` of the truth; `iterations`: so many at once, 0 one by one."""
    package, system = SYSTEMS[name]
    some: dict[str, Any] = {
        key: column[:100] for key, column in history._asdict().items() if key != "plan"
    }
    system(history._replace(**some), tol)()[0](1)
    begin, clock = system(history, tol), Clock()
    with clock.running():
        advance, skills = begin()
    done, error, peak = 0, np.inf, 0.0
    at_once = iterations > 0 or package == "ttt-ratings"
    while error > tol and clock.wall < limit and not (done and at_once):
        with clock.running():
            taken = advance(iterations or 1)
        done += taken if package == "ttt-ratings" else iterations or 1
        peak = peak_memory()
        pairs = zip(skills(), truth, strict=True)
        error = max(float(np.abs(a - b).max()) for a, b in pairs if a is not None and b is not None)
    cost = {"wall": clock.wall, "cpu": clock.cpu, "peak": peak}
    return {"version": version(package), "iterations": done, **cost, "error": error, "tol": tol}


if __name__ == "__main__":
    main()
