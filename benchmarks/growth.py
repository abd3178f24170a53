"""How time and memory of a TTT fit grow with games, players, time steps and sweeps, on artificial histories.

Every point is measured in a process of its own that finds its games in a file; points come one after the other and
round after round, and medians over the rounds are printed as CSV. Time and memory are those of laying out the games
in time and of the fit; memory is the most that the process held, less what it held before.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from measuring import Clock, alone, machine, peak_memory

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period

PLAYERS_PER_GAME: Final = 0.06
PERIODS: Final[tuple[Period, ...]] = ("year", "quarter", "month", "week", "day")
SWEEPS: Final = (1, 2, 4, 8, 16)
ENDLESS: Final = 1e-300  # a tolerance that no sweep reaches
PANELS: Final = {
    "games": "games",
    "players": "players",
    "period": "nodes, in steps of a year to a day",
    "sweeps": "sweeps",
}


@dataclass(frozen=True)
class Point:
    """What is fitted: a history and how; `series` is what varies."""

    series: str
    games: int
    players: int
    period: Period = "year"
    sweeps: int | None = None


@dataclass(frozen=True)
class Measured:
    """What a fit took."""

    nodes: int
    pairs: int
    done: int
    converged: bool
    timeline_seconds: float
    fit_seconds: float
    cpu_seconds: float
    sweep_seconds: float
    memory_mib: float


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    print(machine("numpy", "numba"), file=sys.stderr)
    points = [point for point in plan_points(options.games, options.most) if point.series in options.series]
    measured: dict[Point, list[Measured]] = {point: [] for point in points}
    with tempfile.TemporaryDirectory() as folder:
        for point in points:
            if not place(folder, point).exists():
                alone(prepare, place(folder, point), point, options.years, options.seed)
        for _ in range(options.rounds):
            for point in points:
                measured[point].append(alone(measure, place(folder, point), point, options.threads))
    rows = [{**asdict(point), **medians(found)} for point, found in measured.items()]
    write(rows)
    if options.figure:
        options.figure.write_bytes(figure(rows, options.figure.suffix[1:]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=1_000_000, help="where something else varies")
    parser.add_argument(
        "--most", type=int, default=1_000_000, help="games, ten times fewer at each step below"
    )
    parser.add_argument("--series", nargs="+", choices=PANELS, default=list(PANELS))
    parser.add_argument("--years", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, help="of a fit, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, help="draw it there: .png, .svg, .pdf or .html")
    return parser


def plan_points(games: int, most: int) -> Iterator[Point]:
    """All points, those of one history beside each other."""
    decades = int(math.log10(most / 1e4) + 1e-9)
    for size in sorted(most // 10**step for step in range(decades + 1)):
        yield Point("games", size, int(size * PLAYERS_PER_GAME))
    for share in (0.002, 0.006, 0.02, 0.06, 0.2):
        yield Point("players", games, max(int(games * share), 2))
    for period in PERIODS:
        yield Point("period", games, int(games * PLAYERS_PER_GAME), period)
    for sweeps in SWEEPS:
        yield Point("sweeps", games, int(games * PLAYERS_PER_GAME), sweeps=sweeps)


def place(folder: str, point: Point) -> Path:
    """Where the games of a point are."""
    return Path(folder) / f"{point.games}-{point.players}.npz"


def prepare(path: Path, point: Point, years: int, seed: int) -> None:
    """Draw a history with full dates and store its games."""
    import numpy as np

    from ttt_cli.evaluate.simulate.plan import Plan
    from ttt_cli.evaluate.simulate.simulate import simulate

    drawn = simulate(Plan(games=point.games, players=point.players, years=years, dates="day", seed=seed))
    np.savez(path, **{name: getattr(drawn, name) for name in ("date", "white", "black", "outcome")})


def measure(path: Path, point: Point, threads: int | None) -> Measured:
    """Fit the games of a file."""
    import numpy as np

    from ttt_cli.config.schema import SolverConfig
    from ttt_cli.evaluate.simulate.plan import Plan
    from ttt_cli.evaluate.simulate.simulate import simulate
    from ttt_cli.games.table import Games
    from ttt_cli.inference.ep.merged import merge_games
    from ttt_cli.systems import ttt
    from ttt_cli.timeline import build_timeline

    limits = {} if point.sweeps is None else {"tol": ENDLESS, "max_sweeps": point.sweeps}
    solver = SolverConfig.model_validate({**limits, "threads": threads})
    ttt.fit(build_timeline(simulate(Plan(games=100)).games()), ttt.Params(), solver)  # load the kernels
    with np.load(path) as file:
        columns = {name: file[name] for name in file.files}
    n = point.games
    games = Games(
        **columns, date_precision=np.full(n, 2, np.int8), weight=np.broadcast_to(1.0, n),
        offset=np.broadcast_to(0.0, n), source_file=np.broadcast_to(np.int32(0), n), source_line=np.arange(n),
        players=tuple(f"{number:09d}" for number in range(point.players)),
    )  # fmt: skip
    before = peak_memory()
    laying, fitting = Clock(), Clock()
    with laying.running():
        timeline = build_timeline(games, point.period)
    with fitting.running():
        fitted = ttt.fit(timeline, ttt.Params(), solver)
    peak = peak_memory()
    return Measured(
        nodes=timeline.n_nodes,
        pairs=len(merge_games(timeline, colours=False)),
        done=fitted.status.sweeps,
        converged=fitted.status.converged,
        timeline_seconds=laying.wall,
        fit_seconds=fitting.wall,
        cpu_seconds=laying.cpu + fitting.cpu,
        sweep_seconds=fitting.wall / fitted.status.sweeps,
        memory_mib=peak - before,
    )


def medians(found: Sequence[Measured]) -> dict[str, Any]:
    """The middle of each figure over the rounds."""
    return {
        field.name: statistics.median_low(getattr(one, field.name) for one in found)
        for field in fields(Measured)
    }


def write(rows: Iterable[dict[str, Any]]) -> None:
    """The rows as CSV, with a column of bytes per game, on standard output."""
    names = [field.name for kind in (Point, Measured) for field in fields(kind)]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([f"{row[name]:.4g}" if isinstance(row[name], float) else row[name] for name in names])


def figure(rows: Sequence[dict[str, Any]], fmt: str) -> bytes:
    """Seconds and memory over each of what varies, as an image."""
    import altair as alt

    from ttt_cli.views.charts.figure import render

    panels = [(name, [row for row in rows if row["series"] == name]) for name in PANELS]
    panels = [(name, found) for name, found in panels if found]
    seconds = [_panel(name, found, {"on the clock": _wall, "of processors": _cpu}) for name, found in panels]
    memory = [_panel(name, found, {"memory": _memory}) for name, found in panels]
    chart: Any = alt.vconcat(alt.hconcat(*seconds), alt.hconcat(*memory)).resolve_scale(color="independent")
    chart = chart.configure(background="white")
    return render(chart.to_dict(), fmt)


def _wall(row: dict[str, Any]) -> float:
    return float(row["timeline_seconds"] + row["fit_seconds"])


def _cpu(row: dict[str, Any]) -> float:
    return float(row["cpu_seconds"])


def _memory(row: dict[str, Any]) -> float:
    return float(row["memory_mib"])


def _panel(series: str, rows: Sequence[dict[str, Any]], lines: dict[str, Callable[..., float]]) -> Any:
    """Lines over what varies; both axes are logarithmic, so that a straight line is a power."""
    import altair as alt

    from ttt_cli.views.charts.style import COLOURS, chart_of

    across = {"period": "nodes", "sweeps": "done"}.get(series, series)
    points = [
        {"at": row[across], "value": of(row), "line": name} for row in rows for name, of in lines.items()
    ]
    alike = len(lines) == 1
    x = alt.X(
        "at:Q", scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=4, format="~s"), title=PANELS[series]
    )
    y = alt.Y("value:Q", scale=alt.Scale(type="log"), title="MiB" if alike else "seconds")
    colours = alt.Scale(domain=list(lines), range=list(COLOURS[: len(lines)]))
    legend = None if alike else alt.Legend(title=None, orient="top-left")
    line = chart_of(points).mark_line(point=True)
    return line.encode(x=x, y=y, color=alt.Color("line:N", scale=colours, legend=legend)).properties(
        width=260, height=200
    )


if __name__ == "__main__":
    main()
