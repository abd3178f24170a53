"""Ratings instead of points: anchors set the level, 76 % or the anchors the slope."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.handmade import CONFIG, fit_of, games_of, put_small_run
from ttt_cli.config.schema import ScaleConfig
from ttt_cli.runs.lookup import Anchor, Scale, parse_anchor
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import memory_run
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.timeline import build_timeline

RECORDS = (
    ("1850", "Anderssen, Adolf", "Dufresne, Jean", "1-0"),
    ("1852", "Anderssen, Adolf", "Kieseritzky, Lionel", "1-0"),
    ("1852", "Kieseritzky, Lionel", "Dufresne, Jean", "1/2-1/2"),
)
UNIT = 2.5
ALL = "SELECT player, period, mean, sd FROM skills"


def run_of(anchors: list[str] | None = None, slope: str = "elo", further: str | None = None) -> Run:
    games = games_of(RECORDS)
    timeline = build_timeline(games)
    fit = replace(fit_of(timeline, further=further), elo_unit=UNIT)
    scale = ScaleConfig(anchors=anchors or [], slope=slope)  # type: ignore[arg-type]
    return memory_run(games, timeline, fit, CONFIG.model_copy(update={"scale": scale}))


def rows(run: Run) -> dict[tuple[str, str], tuple[float, float]]:
    return {row[:2]: row[2:] for row in run.select(ALL)[1]}


def test_one_anchor_sets_the_level_and_leads_keep_their_meaning() -> None:
    assert (run_of().scale, run_of().scale.unit) == (Scale(), "points")
    points, elo = rows(run_of()), rows(run_of(["Anderssen @ 1852 = 2600"]))
    assert elo["Anderssen, Adolf", "1852"][0] == pytest.approx(2600)
    base = points["Anderssen, Adolf", "1852"][0]
    for key, (mean, sd) in points.items():
        assert elo[key] == pytest.approx((2600 + (mean - base) / UNIT, sd / UNIT))


@pytest.mark.parametrize("slope", ["elo", "matched"])
def test_several_anchors_are_met_on_average_and_by_a_matched_slope(slope: str) -> None:
    run = run_of(["Anderssen @ 1852 = 2600", "Dufresne @ 1850 = 2400"], slope)
    found = rows(run)
    missed = found["Anderssen, Adolf", "1852"][0] - 2600, found["Dufresne, Jean", "1850"][0] - 2400
    assert sum(missed) == pytest.approx(0)
    assert (run.scale.slope == 1 / UNIT) == (slope == "elo")
    assert (missed == pytest.approx((0, 0))) == (slope == "matched")


@pytest.mark.parametrize(
    "anchors", [["Anderssen @ 1852 = 2600"], ["Anderssen @ 1852 = 2400", "Dufresne @ 1850 = 2600"]]
)
def test_no_slope_to_be_matched(anchors: list[str]) -> None:
    with pytest.raises(ConfigError, match="no slope"):
        _ = run_of(anchors, "matched").scale


def test_peaks_and_margins_are_on_the_scale_and_counts_are_not() -> None:
    points, elo = run_of(further="draw_margin"), run_of(["Anderssen @ 1852 = 2600"], further="draw_margin")
    sql = "SELECT peak_mean, peak_sd, games, wins FROM players WHERE surname = 'anderssen'"
    ((peak, sd, *counts),), ((peak_elo, sd_elo, *counts_elo),) = points.select(sql)[1], elo.select(sql)[1]
    assert (peak_elo, sd_elo) == pytest.approx((elo.scale.slope * peak + elo.scale.shift, sd / UNIT))
    assert counts_elo == counts
    margins = "SELECT draw_margin, draw_margin_sd, games, period_number FROM skills"
    for (margin, margin_sd, *rest), (elo_margin, elo_sd, *elo_rest) in zip(
        points.select(margins)[1], elo.select(margins)[1], strict=True
    ):
        assert (elo_margin, elo_sd) == pytest.approx((margin / UNIT, margin_sd / UNIT))
        assert elo_rest == rest
    assert list(points.skills().columns) == list(elo.skills().columns)


def test_back_in_points() -> None:
    run = run_of(["Anderssen @ 1852 = 2600"], further="draw_margin")
    sql = "SELECT s FROM skills s ORDER BY player, period"
    plain = [row for (row,) in run_of(further="draw_margin").select(sql)[1]]
    for one, (other,) in zip(plain, run.select(sql)[1], strict=True):
        exact = {
            key: pytest.approx(value) if isinstance(value, float) else value for key, value in one.items()
        }
        assert run.scale.points(other) == exact


def test_a_stored_run_is_opened_on_any_scale(tmp_path: Path) -> None:
    put_small_run(tmp_path / "a.ttt", RECORDS)
    run = open_run(tmp_path / "a.ttt", ["Anderssen @ 1852 = 2600"])
    assert rows(run)["Anderssen, Adolf", "1852"][0] == pytest.approx(2600)
    with run:
        assert rows(run)["Anderssen, Adolf", "1852"][0] == pytest.approx(2600)
        assert rows(run) == rows(run)
    assert rows(open_run(tmp_path / "a.ttt"))["Anderssen, Adolf", "1852"][0] < 1100
    assert math.isclose(open_run(tmp_path / "a.ttt", ["points"]).scale.slope, 1.0)
    with pytest.raises(ConfigError, match="points or anchors, not both"):
        _ = open_run(tmp_path / "a.ttt", ["points", "Anderssen @ 1852 = 2600"]).scale


def test_games_are_the_same_on_any_scale() -> None:
    run, elo = run_of(), run_of(["Anderssen @ 1852 = 2600"])
    rows = run.select("SELECT * FROM games")[1]
    assert len(rows) == 3
    assert elo.select("SELECT * FROM games")[1] == rows
    assert elo.stored_games().players == run.stored_games().players


def test_anchors_as_they_are_written() -> None:
    assert parse_anchor(" Lasker, Emanuel@1900=2720.5 ") == Anchor("Lasker, Emanuel", "1900", 2720.5)
    assert str(parse_anchor("A @ B @ 1900-Q1 = -3")) == "A @ B in 1900-Q1 = -3"
    for wrong in ("Lasker = 2720", "Lasker @ 1900", "@ 1900 = 2720", "Lasker @ 1900 = high"):
        with pytest.raises(ConfigError, match="not an anchor"):
            parse_anchor(wrong)


def test_an_anchor_must_have_a_skill_then() -> None:
    with pytest.raises(LookupFailed, match="no skill in 1900") as caught:
        _ = run_of(["Anderssen @ 1900 = 2600"]).scale
    assert caught.value.hint == "there are skills from 1850 to 1852"
    with pytest.raises(LookupFailed, match="no player"):
        _ = run_of(["Morphy @ 1852 = 2600"]).scale
