"""One run has one number one in a period, whoever asks: the command line, figures, pages, Python."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

import ttt_cli
from tests.conftest import ROOT
from ttt_cli.cli import main
from ttt_cli.runs.run import Run, open_run
from ttt_cli.views.figures.figure import FigureOptions, make_figure
from ttt_cli.views.rankings.eligible import eligible
from ttt_cli.views.rankings.period import ranking
from ttt_cli.views.report.book import BookSettings, make_book
from ttt_cli.views.report.markup import assets
from ttt_cli.views.report.page import DATA_SCRIPTS, report_data

pytestmark = pytest.mark.slow

NODE = shutil.which("node")
ASKED: tuple[dict[str, Any], ...] = (
    {},
    {"min_games": 5, "active": 0.0},
    {"everyone": True, "min_opponents": 2},
    {"max_sd": 110.0, "active": 10.0},
)
LARGE: Final = [pytest.param(limits, marks=pytest.mark.large) for limits in ASKED[1:]]
# What the page does when it is opened, without the page.
LEADERS = """
const filter = { minGames: D.limits.min_games, minOpponents: D.limits.min_opponents,
                 maxSd: D.limits.max_sd ?? Infinity, active: D.limits.active ?? Infinity };
const firsts = D.labels.map((label, t) => [label, ranking(t, filter)])
  .filter(([, rows]) => rows.length >= Math.max(D.limits.fewest, 1))
  .map(([label, rows]) => [label, rows[0].player.name]);
const reigning = reigns(filter).flatMap(({ player, from, to }) =>
  D.labels.slice(from, to + 1).map((label) => [label, player.name]));
console.log(JSON.stringify({ firsts, reigning }));
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    path = tmp_path_factory.mktemp("sample") / "classics.ttt"
    assert (
        main.run(
            ["fit", str(ROOT / "sample_pgn" / "classics.pgn"), "-c", "ttt", "-o", str(path), "-q"]
        )
        == 0
    )
    with open_run(path) as held:
        yield held


def command_line(
    run: Run, capsys: pytest.CaptureFixture[str], limits: dict[str, Any]
) -> dict[str, str]:
    flags = [
        part
        for key, value in limits.items()
        for part in ([f"--{key.replace('_', '-')}"] + ([] if value is True else [str(value)]))
    ]
    assert main.run(["top", "-r", str(run.path), "--leaders", "--each", "-f", "csv", *flags]) == 0
    return {
        row["period"]: row["player"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))
    }


def on_the_page(run: Run, limits: dict[str, Any], folder: Path) -> dict[str, dict[str, str]]:
    assert NODE
    data = json.dumps(report_data(run, eligible(run, **limits)))
    page = (
        f"const document = {{ getElementById: () => ({{ textContent: {json.dumps(data)} }}) }};\n"
    )
    script = folder / "leaders.js"
    script.write_text(page + assets(*DATA_SCRIPTS) + LEADERS, encoding="utf-8")
    done = subprocess.run(
        [NODE, script], capture_output=True, text=True, encoding="utf-8", check=True
    )
    return {key: dict(pairs) for key, pairs in json.loads(done.stdout).items()}


@pytest.mark.parametrize("limits", [ASKED[0], *LARGE])
def test_every_view_names_the_same_number_one(
    run: Run, limits: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = command_line(run, capsys, limits)
    assert len(found) > 70
    asked = eligible(run, **limits)
    changed = (year for before, year in pairwise(found) if found[before] != found[year])
    for year in {*changed, *[*found][::5]}:
        assert next(iter(ranking(run, year, asked, 1).rows))[1] == found[year]
    python = ttt_cli.leaders(run, **limits)
    assert dict(zip(python["period"], python["player"], strict=True)) == found
    assert ttt_cli.top(run, "1900", 1, **limits)["player"].tolist() == [found["1900"]]
    text = json.dumps(make_figure(run, "top", FigureOptions(limits=asked)).spec)
    drawn = re.findall(
        r'"period": "(\d+)", "value": [\d.]+, "of": "number one", "player": "([^"]+)"', text
    )
    assert dict(drawn) == found
    bars = re.findall(
        r'"period": "(\d+)", "player": "([^"]+)", "led": "[^"]*", "p": [^,]+, "of": "number one"',
        json.dumps(make_figure(run, "leaders", FigureOptions(limits=asked)).spec),
    )
    assert dict(bars) == found
    book = make_book(BookSettings(run, asked, "", 0))
    everybody, of_site = book.people.rows, book.rankings.by_year
    assert {
        str(year): everybody[one.id[0]].name
        for year, one in of_site.items()
        if len(one.id) >= asked.fewest
    } == found
    if NODE:
        assert on_the_page(run, limits, tmp_path) == {"firsts": found, "reigning": found}


def test_the_number_ones_of_the_sample_are_sensible(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eichborn beat one opponent many times, Daniuszewski played two games in 1907: neither led the world."""
    led = command_line(run, capsys, {})
    assert {name.partition(",")[0] for name in led.values()} == {
        "Staunton", "Morphy", "Paulsen", "Steinitz", "Zukertort", "Lasker", "Capablanca", "Alekhine", "Botvinnik",
        "Fine", "Kieseritzky",
    }  # fmt: skip
    assert [led[year].partition(",")[0] for year in ("1852", "1857", "1907")] == [
        "Staunton",
        "Morphy",
        "Lasker",
    ]
