from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.handmade import CONFIG, fit_of, games_of
from ttt_cli.config.schema import Period
from ttt_cli.games.people import PeopleTable
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
    people: PeopleTable | None = None,
) -> Run:
    """A run in memory of games with event, site and round."""
    columns = {}
    for place, name in enumerate(("event", "site", "round"), 4):
        values, codes = np.unique([row[place] for row in told], return_inverse=True)
        columns[name] = CodedColumn(codes.astype(np.int32), values.tolist())
    games = replace(games_of([row[:4] for row in told]), spellings=spellings, **columns)  # type: ignore[arg-type]
    games = replace(games, people=people or PeopleTable())
    timeline = build_timeline(games, period)
    return memory_run(games, timeline, fit_of(timeline), CONFIG, scale)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small site."""
    place = tmp_path_factory.mktemp("site") / "site"
    write_site(run_of(TOLD), place)
    return place


@pytest.fixture(scope="session")
def axe(request: pytest.FixtureRequest) -> Path:
    """axe-core from npm, kept in pytest's cache."""
    npm, cache = shutil.which("npm"), getattr(request.config, "cache", None)
    if npm is None or cache is None:
        pytest.skip("axe-core is not here: no npm")
    folder = Path(cache.mkdir("axe"))
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "axe-core@4"]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=120)
        except (subprocess.SubprocessError, OSError) as error:
            pytest.skip(f"axe-core is not here: npm cannot install it ({error})")
    return script


def judge(site: Path, axe: Path, pages: Iterable[str]) -> None:
    """Put axe-core into pages of a site, with a script that writes down what it finds."""
    for script in (axe, Path(__file__).with_name("drive_axe.js")):
        shutil.copy(script, site)
    for name in pages:
        page = site / name
        up = "../" * (len(Path(name).parts) - 1)
        scripts = "".join(
            f"<script src={up}{script}></script>" for script in ("axe.min.js", "drive_axe.js")
        )
        text = page.read_text(encoding="utf-8").replace(
            "script-src 'unsafe-inline'", "script-src 'unsafe-inline' file:"
        )
        page.write_text(text + scripts, encoding="utf-8")
