"""Small games, fits and runs made by hand, for tests of what comes after inference."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from ttt_cli.config.schema import Config, ModelConfig, Period
from ttt_cli.fitted import Fit, Status, Walk
from ttt_cli.games.table import Games
from ttt_cli.reading.reports import FileReport, Problem, ReadReport
from ttt_cli.runs.checks import CHECKED, Catalog
from ttt_cli.runs.database import signature
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import memory_run, write_run
from ttt_cli.timeline import Timeline, build_timeline

Record = tuple[str, str, str, str]  # date, white, black, result

RECORDS: tuple[Record, ...] = (
    ("1857", "Morphy, Paul", "Paulsen, Louis", "1-0"),
    ("1857", "Morphy, Paul", "Paulsen, Louis", "1/2-1/2"),
    ("1858", "Anderssen, Adolf", "Morphy, Paul", "0-1"),
    ("1858-12", "Morphy, Paul", "Anderssen, Adolf", "1-0"),
    ("1858-12-27", "Anderssen, Adolf", "Morphy, Paul", "1-0"),
    ("1861", "Anderssen, Adolf", "Paulsen, Louis", "0-1"),
    ("1862", "Paulsen, Louis", "Anderssen, Adolf", "1/2-1/2"),
)
# Players with years without games.
GAPS: tuple[Record, ...] = (
    ("1850", "A", "B", "1-0"),
    ("1851", "A", "C", "1-0"),
    ("1853", "B", "C", "1-0"),
    ("1856", "A", "C", "0-1"),
    ("1857", "B", "D", "0-1"),
    ("1859", "D", "C", "1/2-1/2"),
)
NO_REPORT = ReadReport()
REPORT = ReadReport(
    files=(
        FileReport(
            "a.pgn", "pgn", "00ff", 100, 5, 3, {"no result": 1, "bad date": 1}, {"duplicate": 2}
        ),
        FileReport("b.csv", "csv", "11ee", 200, 4, 4, {}),
    ),
    problems=(
        Problem("a.pgn", 12, "no result", "*", "dropped"),
        Problem("a.pgn", 40, "bad date", "18??", "dropped"),
        Problem("a.pgn", 60, "duplicate tag", "White", "kept"),
    ),
)


def games_of(
    records: Sequence[Record],
    weights: Iterable[float] | None = None,
    report: ReadReport = NO_REPORT,
) -> Games:
    """Games in the order given (by date). The first three rows come from file 0, the others from file 1."""
    players = tuple(sorted({name for _, white, black, _ in records for name in (white, black)}))
    days, precisions = zip(*(_day(text) for text, *_ in records), strict=True)
    return Games(
        date=np.array(days, np.int32),
        date_precision=np.array(precisions, np.int8),
        white=np.array([players.index(white) for _, white, _, _ in records], np.int32),
        black=np.array([players.index(black) for _, _, black, _ in records], np.int32),
        outcome=np.array(
            [("0-1", "1/2-1/2", "1-0").index(result) for *_, result in records], np.int8
        ),
        weight=np.ones(len(records)) if weights is None else np.array(list(weights), np.float64),
        offset=np.resize([0.0, -50.0, 0.0, 100.0], len(records)),
        source_file=np.array([0 if i < 3 else 1 for i in range(len(records))], np.int32),
        source_line=np.arange(1, len(records) + 1) * 10,
        players=players,
        report=report,
    )


def fit_of(timeline: Timeline, *, converged: bool = True, further: str | None = None) -> Fit:
    """A fit with numbers that tell nodes apart: means 1000, 1001, ... by node, sd 50, forward sd 60."""
    n = timeline.n_nodes
    mean = 1000.0 + np.arange(n)
    chains = {"skill": Walk(mean, np.full(n, 50.0), np.full(n, 1500.0), 60.0)}
    if further:
        chains[further] = Walk(mean / 10, np.full(n, 5.0), np.full(n, 15.0), 1.0)
    return Fit(
        model="ttt",
        kind="smoothed",
        params={"beta": np.float64(480.0), "tau": 60.0, "draw_margin": 123.25},
        chains=chains,
        log_evidence=-4.0000000000000001 / 3,
        status=Status(converged, 7, 0.004, 2),
        trace=((12.5, float("inf")), (0.25, 0.004)),
    )


_WRITTEN: dict[tuple[Hashable, ...], tuple[bytes, Catalog]] = {}
CONFIG = Config(model=ModelConfig(name="ttt", beta=480.0, tau=60, draw_margin="auto"))  # type: ignore[call-arg]


def write_small_run(
    path: Path,
    records: Sequence[Record] = RECORDS,
    *,
    converged: bool = True,
    further: str | None = None,
) -> Games:
    """Write a run of these records, and give back its games."""
    games = games_of(records, report=REPORT)
    timeline = build_timeline(games)
    write_run(path, games, timeline, fit_of(timeline, converged=converged, further=further), CONFIG)
    return games


def put_small_run(
    path: Path, records: Sequence[Record] = RECORDS, *, further: str | None = None
) -> Path:
    """As `write_small_run`, for tests of what comes after writing."""
    return written(path, lambda: write_small_run(path, records, further=further), *records, further)


def written(path: Path, write: Callable[[], object], *key: Hashable) -> Path:
    """A new run, written; one of the same key is a copy of the first of this process, as sound as that one.

    A file that stands there is written over in truth.
    """
    if key in _WRITTEN and not path.exists():
        content, catalog = _WRITTEN[key]
        path.write_bytes(content)
        CHECKED[signature(path)] = catalog, True
    else:
        write()
        with open_run(path) as run:
            assert run.select("FROM meta")[1]  # looks at all numbers
            _WRITTEN[key] = path.read_bytes(), run._connection.catalog
    return path


def run_of(
    games: Games, place: Path | None = None, *, period: Period = "year", **changes: Any
) -> Run:
    """A run of games, in memory or at a place; `changes` of the fit of `fit_of`."""
    timeline = build_timeline(games, period)
    fit = replace(fit_of(timeline), **changes)
    if place is None:
        return memory_run(games, timeline, fit, CONFIG)
    write_run(place, games, timeline, fit, CONFIG)
    return open_run(place)


def run_by(period: Period) -> Run:
    """A run of RECORDS in memory."""
    return run_of(games_of(RECORDS), period=period)


def _day(text: str) -> tuple[int, int]:
    """Days since 1970 of the middle of what is known, and the precision."""
    known = [int(part) for part in text.split("-")]
    year, month, day = [[*known, 7, 2], [*known, 16], known][len(known) - 1]
    return (date(year, month, day) - date(1970, 1, 1)).days, len(known) - 1
