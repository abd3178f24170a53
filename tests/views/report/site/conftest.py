from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.handmade import CONFIG, fit_of, games_of
from ttt_cli.config.schema import Period
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import memory_run
from ttt_cli.timeline import build_timeline
from ttt_cli.views.report.site import write_site

Told = tuple[str, str, str, str, str, str, str]  # date, white, black, result, event, site, round

TOLD: tuple[Told, ...] = (
    ("1857", "Morphy, Paul", "Paulsen, Louis", "1-0", "New York", "New York USA", "2"),
    ("1857", "Paulsen, Louis", "Morphy, Paul", "1/2-1/2", "New York", "New York USA", "1"),
    ("1858-12-20", "Anderssen, Adolf", "Morphy, Paul", "0-1", "Paris m", "", "1"),
    ("1858-12-27", "Anderssen, Adolf", "Morphy, Paul", "1-0", "Paris m", "", "10"),
    ("1858-12-28", "Anderssen, Adolf", "Morphy, Paul", "0-1", "Paris m", "", "2"),
    ("1859", "Paulsen, Louis", "Kolisch, Ignaz", "1-0", "?", "", "-"),
    ("1861", "Anderssen, Adolf", "Paulsen, Louis", "0-1", "London", "London ENG", ""),
    ("1861", "Anderssen, Adolf", "Kolisch, Ignaz", "1-0", "London", "London ENG", ""),
    ("1861", "Paulsen, Louis", "Kolisch, Ignaz", "1/2-1/2", "London", "London ENG", ""),
)


def run_of(
    told: Sequence[Told],
    period: Period = "year",
    *,
    spellings: tuple[tuple[str, str], ...] = (),
    scale: Sequence[str] = (),
) -> Run:
    """A run in memory of games with event, site and round."""
    columns = {}
    for place, name in enumerate(("event", "site", "round"), 4):
        values, codes = np.unique([row[place] for row in told], return_inverse=True)
        columns[name] = CodedColumn(codes.astype(np.int32), values.tolist())
    games = replace(games_of([row[:4] for row in told]), spellings=spellings, **columns)  # type: ignore[arg-type]
    timeline = build_timeline(games, period)
    return memory_run(games, timeline, fit_of(timeline), CONFIG, scale)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small site."""
    place = tmp_path_factory.mktemp("site") / "site"
    write_site(run_of(TOLD), place)
    return place
