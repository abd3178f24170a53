"""The scale of a run, from its config or asked for, in every command: the same ratings, no points."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import duckdb
import pytest

from tests.support.handmade import CONFIG, REPORT, fit_of, games_of
from ttt_cli.cli.main import run as ttt
from ttt_cli.config.documents import Document
from ttt_cli.config.schema import ScaleConfig
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import memory_run, write_run
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import build_timeline
from ttt_cli.views.figures.figure import FigureOptions, make_figure
from ttt_cli.views.players import player_games
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import leader_rows, reign_rows
from ttt_cli.views.rankings.peaks import peaks
from ttt_cli.views.rankings.period import ranking
from ttt_cli.views.report.page import report_data, report_page
from ttt_cli.views.superiority import superiority_of_names
from ttt_cli.views.versus import versus_view

RECORDS = (
    ("1857", "Morphy, Paul", "Paulsen, Louis", "1-0"),
    ("1858", "Anderssen, Adolf", "Morphy, Paul", "0-1"),
    ("1860", "Anderssen, Adolf", "Paulsen, Louis", "0-1"),
    ("1862", "Paulsen, Louis", "Anderssen, Adolf", "1/2-1/2"),
)
ANCHOR = "Morphy @ 1858 = 2600"
UNIT = 2.5
Skills = dict[tuple[str, str], tuple[float, float]]


@pytest.fixture(scope="module", params=["config", "option"])
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a command is given so that it shows ratings."""
    place = tmp_path_factory.mktemp("scale") / "a.ttt"
    games = games_of(RECORDS, report=REPORT)
    timeline = build_timeline(games)
    anchors = [ANCHOR] if request.param == "config" else []
    config = CONFIG.model_copy(update={"scale": ScaleConfig(anchors=anchors)})
    write_run(place, games, timeline, replace(fit_of(timeline), elo_unit=UNIT), config)
    return ["-r", str(place), *([] if anchors else ["--scale", ANCHOR])]


@pytest.fixture(scope="module")
def right(asked: list[str]) -> Skills:
    """The ratings: from the points as they are stored."""
    with duckdb.connect(asked[1], read_only=True) as database:
        rows = database.execute(
            "SELECT player, period, mean, sd FROM skills_within(NULL, NULL, NULL)"
        ).fetchall()
    base = next(
        mean for player, period, mean, _ in rows if (player, period) == ("Morphy, Paul", "1858")
    )
    return {
        (player, period): (2600 + (mean - base) / UNIT, sd / UNIT)
        for player, period, mean, sd in rows
    }


@pytest.mark.parametrize(
    "command",
    ["export skills", "player Anderssen", "top --at 1860 --everyone", "top --peak --everyone", "top --leaders --each",
     "players", "export players"],
)  # fmt: skip
def test_every_command_shows_ratings(
    command: str, asked: list[str], right: Skills, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ttt([*command.split(), *asked, "-f", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows
    peaks = "peak_mean" in rows[0]
    period, mean, sd = (
        ("peak_period", "peak_mean", "peak_sd") if peaks else ("period", "mean", "sd")
    )
    for row in rows:
        player = row["player"]
        expected = right[player, row[period]]
        assert float(row[mean]) == pytest.approx(expected[0])
        if sd in row:
            assert float(row[sd]) == pytest.approx(expected[1])


@pytest.mark.parametrize(
    "command", ["player Anderssen", "players", "top --everyone", "versus Morphy Paulsen"]
)
def test_tables_and_their_titles_agree(
    command: str, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ttt([*command.split(), *asked, "-f", "table"]) == 0
    out = capsys.readouterr().out
    assert "Elo scale (Morphy in 1858 = 2600" in " ".join(out.split())
    assert not re.search(r"\b10\d\d(\.\d+)?\b", out)  # points are 1000, 1001, ...


def test_python_and_the_page_show_ratings(asked: list[str], right: Skills) -> None:
    run = open_run(asked[1], asked[3:])
    for row in run.skills().itertuples():
        assert (row.mean, row.sd) == pytest.approx(right[row.player, row.period])
    for row in run.players().itertuples():
        assert row.peak_mean == pytest.approx(right[row.player, row.peak_period][0])
    _, streamed = run.stream("SELECT player, period, mean, sd FROM skills_within(NULL, NULL, NULL)")
    assert {row[:2]: row[2:] for row in streamed} == {
        key: pytest.approx(value) for key, value in right.items()
    }
    data = report_data(run)
    text = json.dumps(data["players"])
    assert "2600" in text
    assert not re.search(r"\b10\d\d(\.\d+)?\b", text)


def fitted(anchors: list[str]) -> Run:
    games = games_of(RECORDS)
    timeline = build_timeline(games)
    resolved = resolve(Document(values={"model": {"beta": 300, "draw_margin": 100}}))
    fit = resolved.model.fit(timeline, resolved.params, resolved.config.solver)
    config = resolved.config.model_copy(update={"scale": ScaleConfig(anchors=anchors)})
    return memory_run(games, timeline, replace(fit, elo_unit=UNIT), config)


def test_orders_and_chances_do_not_depend_on_the_scale() -> None:
    points, elo = fitted([]), fitted([ANCHOR])
    one, other = (versus_view(run, "Anderssen", "Morphy", games=7).report for run in (points, elo))
    facts, scaled = (dict(zip(rows.columns, rows.rows[0], strict=True)) for rows in (one, other))
    for key in ("stronger", "win", "draw", "loss", "expected", "match_win", "match_low_80"):
        assert scaled[key] == pytest.approx(facts[key], abs=1e-9), key
    for key in ("lead", "sd_a", "sd_b"):
        assert scaled[key] == pytest.approx(facts[key] / UNIT), key
    for view in (
        lambda run: ranking(run, "1862", Eligible(2), None),
        lambda run: leader_rows(run, Eligible(0)),
        lambda run: player_games(run, "Anderssen, Adolf")[0],
    ):
        here, there = (view(run) for run in (points, elo))
        column = here.columns.index("expected" if "expected" in here.columns else "p_best")
        assert [row[1] for row in here.rows] == [row[1] for row in there.rows]
        chances = [row[column] for row in here.rows]
        assert chances == pytest.approx([row[column] for row in there.rows], abs=1e-6)
    names = ["Anderssen", "Morphy", "Paulsen"]
    here, there = (superiority_of_names(run, names, 1862).rows for run in (points, elo))
    for row, scaled_row in zip(here.rows, there.rows, strict=True):
        assert row[-3:] == pytest.approx(scaled_row[-3:], abs=1e-9, nan_ok=True)
    for rows in (reign_rows(elo, Eligible(0)), peaks(elo, Eligible(2), 3)):
        assert "Morphy in 1858 = 2600; 200 points are 76 %" in rows.title[-1]
    assert "skill, points" in str(make_figure(points, "skills", FigureOptions(["Anderssen"])).spec)
    assert '"title":"rating, Elo (' in report_page(elo)
