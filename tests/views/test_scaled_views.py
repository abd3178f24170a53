"""Every view on another scale, and of a system without uncertainty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.handmade import CONFIG, fit_of, games_of
from ttt_cli.config.load import Document
from ttt_cli.config.schema import ModelConfig, ScaleConfig
from ttt_cli.fitted import Line
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import memory_run
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import build_timeline
from ttt_cli.views.figures.figure import make_figure
from ttt_cli.views.players import player_chart, player_games, player_view, players_rows
from ttt_cli.views.rankings import Eligible, best_years, leader_rows, peaks, ranking, reign_rows
from ttt_cli.views.report.page import report_page
from ttt_cli.views.versus import versus_view

RECORDS = (
    ("1850", "Anderssen, Adolf", "Dufresne, Jean", "1-0"),
    ("1851", "Anderssen, Adolf", "Kieseritzky, Lionel", "1-0"),
    ("1852", "Kieseritzky, Lionel", "Anderssen, Adolf", "1/2-1/2"),
    ("1852", "Kieseritzky, Lionel", "Dufresne, Jean", "1/2-1/2"),
)
ANCHOR = "Anderssen @ 1852 = 2600"


def ttt_run(scale: ScaleConfig | None = None) -> Run:
    games = games_of(RECORDS)
    timeline = build_timeline(games)
    resolved = resolve(Document(values={"model": {"beta": 300, "draw_margin": 100}}))
    fit = resolved.model.fit(timeline, resolved.params, resolved.config.solver)
    config = resolved.config.model_copy(update={"scale": scale or ScaleConfig()})
    return memory_run(games, timeline, replace(fit, elo_unit=1.5), config)


@pytest.fixture(scope="module")
def points() -> Run:
    return ttt_run()


@pytest.fixture(scope="module")
def elo() -> Run:
    return ttt_run(ScaleConfig(anchors=[ANCHOR]))


def test_chances_do_not_depend_on_the_scale(points: Run, elo: Run) -> None:
    one, other = (versus_view(run, "Anderssen", "Dufresne", games=7).report for run in (points, elo))
    facts, scaled = (dict(zip(rows.columns, rows.rows[0], strict=True)) for rows in (one, other))
    for key in ("stronger", "win", "draw", "loss", "expected", "match_win", "match_low_80"):
        assert scaled[key] == pytest.approx(facts[key], abs=1e-9), key
    for key in ("lead", "sd_a", "sd_b"):
        assert scaled[key] == pytest.approx(facts[key] / 1.5), key


def test_records_and_rankings_keep_their_order_and_chances(points: Run, elo: Run) -> None:
    for view in (
        lambda run: ranking(run, "1852", Eligible(2), None),
        lambda run: leader_rows(run, Eligible(0)),
    ):
        one, other = list(view(points).rows), list(view(elo).rows)
        assert [row[1] for row in one] == [row[1] for row in other]
        assert [row[-1] for row in one] == pytest.approx([row[-1] for row in other], abs=1e-6)
    games, scaled = (player_games(run, "Anderssen, Adolf")[0].rows for run in (points, elo))
    assert [row[8] for row in games] == pytest.approx([row[8] for row in scaled])


def test_every_title_says_the_scale(elo: Run) -> None:
    for rows in (
        ranking(elo, None, Eligible(2), 3),
        reign_rows(elo, Eligible(0)),
        peaks(elo, Eligible(2), 3),
        players_rows(elo),
        player_view(elo, "Anderssen").rows,
        versus_view(elo, "Anderssen", "Dufresne").report,
    ):
        assert "Anderssen in 1852 = 2600; 200 points are 76 %" in rows.title[-2] + rows.title[-1]


def test_pictures_and_pages_say_elo(points: Run, elo: Run) -> None:
    assert "rating, Elo" in str(make_figure(elo, "skills", ["Anderssen"]).spec)
    assert "skill, points" in str(make_figure(points, "skills", ["Anderssen"]).spec)
    assert '"title":"rating, Elo (' in report_page(elo)
    assert "Elo scale (Anderssen in 1852 = 2600" in report_page(elo)


@pytest.fixture(scope="module")
def certain() -> Run:
    """A run of Elo, which gives no sd."""
    games = games_of(RECORDS)
    timeline = build_timeline(games)
    model = registry.load("elo")
    params = model.Params()
    fit = replace(
        fit_of(timeline),
        model="elo",
        params={**params.model_dump(), "draw_margin": 100.0},
        chains={"skill": Line(1500.0 + np.arange(timeline.n_nodes), np.full(timeline.n_nodes, np.nan))},
    )
    return memory_run(games, timeline, fit, CONFIG.model_copy(update={"model": ModelConfig(name="elo")}))


def test_without_uncertainty_nobody_is_surely_the_best(certain: Run) -> None:
    assert {row[6] for row in ranking(certain, "1852", Eligible(2), None).rows} == {None}
    assert {row[4] for row in ranking(certain, "1852", Eligible(2), None).rows} == {None}
    assert {row[5] for row in leader_rows(certain, Eligible(0)).rows} == {None}
    assert {row[4] for row in reign_rows(certain, Eligible(0)).rows} == {None}
    assert len(list(peaks(certain, Eligible(None, 0, 50.0), 5).rows)) == 3
    assert len(list(best_years(certain, Eligible(2), 2, 5).rows)) > 0


def test_without_uncertainty_games_can_be_foreseen(certain: Run) -> None:
    rows = versus_view(certain, "Anderssen", "Dufresne", games=5).report
    facts = dict(zip(rows.columns, rows.rows[0], strict=True))
    assert facts["stronger"] is None
    assert facts["win"] + facts["draw"] + facts["loss"] == pytest.approx(1.0)
    assert facts["match_win"] + facts["match_draw"] + facts["match_loss"] == pytest.approx(1.0)


def test_without_uncertainty_there_is_no_band(certain: Run) -> None:
    view = player_view(certain, "Anderssen")
    assert "±" not in view.rows.title[1]
    assert player_chart(view.rows, width=80)
    drawn = make_figure(certain, "skills", ["Anderssen"]).spec["datasets"]
    assert drawn["points"]
    assert not any(row.get("high", 0.0) > row.get("low", 0.0) for rows in drawn.values() for row in rows)
    assert '"hasSd":false' in report_page(certain)
