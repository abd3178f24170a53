"""Figures carry the values of the run, with names that do not overlap, and are valid in every format."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import EXACT, make_games
from tests.support.cases import each
from tests.support.handmade import CONFIG, RECORDS, Record, fit_of, games_of, put_small_run
from tests.support.handmade import run_of as small_run_of
from tests.support.joint_runs import run_of
from ttt_cli.config.documents import Document
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.forecast import CalibrationBin
from ttt_cli.periods import number_of, year_of
from ttt_cli.runs.evidence_points import EvidencePoint
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import memory_run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import build_timeline
from ttt_cli.views.figures import FIGURE_FORMATS
from ttt_cli.views.figures import histories as module
from ttt_cli.views.figures.figure import FigureOptions, make_figure
from ttt_cli.views.figures.histories import histories
from ttt_cli.views.figures.kinds.calibration import calibration_figure
from ttt_cli.views.figures.kinds.leaders import reigns_figure
from ttt_cli.views.figures.labels import (
    GAP,
    LINE,
    Label,
    Point,
    last_year,
    shorten,
    spread_labels,
    surnames,
    text_width,
    upright,
)
from ttt_cli.views.figures.reign_names import reigns_of, without_gaps
from ttt_cli.views.figures.render import render
from ttt_cli.views.figures.spec import colours_of, whole_years
from ttt_cli.views.rankings.dominance import leads_of
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.rankings.leaders import leaders
from ttt_cli.views.rankings.rows import Leader
from ttt_cli.views.report.page import pictures, report_page
from ttt_cli.views.report.site import write_site
from ttt_cli.views.run import table_rows


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run()


@pytest.fixture
def margins(small_run: Callable[..., Run]) -> Run:
    return small_run(further="draw_margin")


def assert_valid(spec: dict[str, Any]) -> None:
    """Against the schema of Vega-Lite, which takes a second to import."""
    import altair

    altair.LayerChart.from_dict(spec)


def layers(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    """The layers of one mark, their data put back in."""
    data = spec.get("datasets", {})
    return [
        {**layer, "values": source.get("values") or data.get(source.get("name"))}
        for layer in spec["layer"]
        for source in [layer.get("data") or spec["data"]]
        if layer["mark"]["type"] == mark
    ]


def drawn_with(spec: dict[str, Any], dash: list[int]) -> list[dict[str, Any]]:
    """The rows of all lines that are dashed so."""
    found = (one for one in layers(spec, "line") if one["mark"].get("strokeDash") == dash)
    return [row for one in found for row in one["values"]]


def test_curves_carry_the_runs_values(run: Run) -> None:
    figure = make_figure(run, "skills", FigureOptions(["Anderssen", "morphy", "adolf anderssen"]))
    (points,) = layers(figure.spec, "point")
    rows = run.select(
        "SELECT player, period, round(mean, 1), round(sd, 1), games FROM skills"
        " WHERE games > 0 AND player IN ('Anderssen, Adolf', 'Morphy, Paul')"
    )[1]
    found = [
        tuple(p[key] for key in ("player", "period", "value", "sd", "games"))
        for p in points["values"]
    ]
    assert sorted(found) == sorted(rows)
    assert figure.stem == "anderssen-morphy"
    assert '"skill, points"' in json.dumps(figure.spec)
    assert "a.ttt" in json.dumps(figure.spec)
    *_, names = layers(figure.spec, "text")
    assert [row["text"] for row in names["values"]] == ["Anderssen", "Morphy"]
    ends = dict(
        run.select("SELECT player, CAST(max(period) AS INTEGER) FROM skills GROUP BY player")[1]
    )
    assert all(row["year"] > ends[row["player"]] for row in names["values"])


def test_bands_reach_one_sd_and_gaps_are_paler(run: Run) -> None:
    spec = make_figure(run, "skills", FigureOptions(["Anderssen"])).spec
    idle, played = layers(spec, "area")
    assert idle["mark"]["opacity"] < played["mark"]["opacity"]
    assert {row["year"] for row in idle["values"]} == {1858, 1859, 1860, 1861}
    assert {row["year"] for row in played["values"]} == {1861, 1862}
    assert all(row["high"] - row["low"] == pytest.approx(100.0) for row in played["values"])
    thin, thick = layers(spec, "line")[:2]
    assert thin["mark"]["strokeWidth"] < thick["mark"]["strokeWidth"]


def test_a_single_period_has_its_sd_too_and_stands_off_the_axis(
    small_run: Callable[..., Run],
) -> None:
    run = small_run(
        ("1858", "Once, O", "Twice, T", "1-0"), ("1861", "Thrice, T", "Twice, T", "1-0")
    )
    for names, lone in ((["once"], 1), (["once", "twice", "thrice"], 2)):
        spec = make_figure(run, "skills", FigureOptions(names)).spec
        (bars,) = layers(spec, "rule")
        assert len(bars["values"]) == lone
        ((mean, sd),) = run.select("SELECT mean, sd FROM skills WHERE player = 'Once, O'")[1]
        (bar,) = [record for record in bars["values"] if record["player"] == "Once, O"]
        assert (bar["year"], bar["low"], bar["high"]) == (1858, mean - sd, mean + sd)
    (alone,) = layers(make_figure(run, "skills", FigureOptions(["once"])).spec, "rule")
    assert alone["encoding"]["x"]["scale"]["domain"][0] < 1858


def test_a_draw_margin_is_dashed_and_another_run_is_dotted(
    run: Run, margins: Run, tmp_path: Path
) -> None:
    spec = make_figure(margins, "skills", FigureOptions(["Anderssen"])).spec
    assert min(drawn_with(spec, [6, 4]), key=lambda row: row["year"])["margin"] == pytest.approx(
        1002.0 + 100.2
    )
    assert "dashed: skill + draw margin" in json.dumps(spec["title"])
    spec = make_figure(run, "skills", FigureOptions(["Anderssen"], second_run=margins)).spec
    assert {row["player"] for row in drawn_with(spec, [2, 3])} == {"Anderssen, Adolf"}
    assert "dotted: skill by d.ttt" in json.dumps(spec["title"])
    put_small_run(tmp_path / "b.ttt", [("1858", "Anderssen, Adolf", "Nobody", "1-0")])
    figure = make_figure(
        run,
        "skills",
        FigureOptions(["Anderssen", "Morphy"], second_run=open_run(tmp_path / "b.ttt")),
    )
    assert figure.notes == ("b.ttt does not have Morphy, Paul",)


def in_units(elo_unit: float, records: Sequence[Record] = RECORDS) -> Run:
    """A run in which so many points are an Elo point."""
    games = games_of(records)
    timeline = build_timeline(games)
    fit = fit_of(timeline)
    fit = replace(fit, elo_unit=elo_unit, params={**fit.params, "prior_mean": 1200.0})
    return memory_run(games, timeline, fit, CONFIG)


def test_another_run_in_other_units_is_drawn_in_those_of_the_first() -> None:
    figure = make_figure(
        in_units(2.0), "skills", FigureOptions(["Anderssen"], second_run=in_units(4.0))
    )
    mean_in = {row["year"]: row["value"] for row in drawn_with(figure.spec, [1, 0])}
    dotted = drawn_with(figure.spec, [2, 3])
    assert dotted
    for row in dotted:
        assert row["value"] == pytest.approx(1200 + (mean_in[row["year"]] - 1200) / 2, abs=0.01)
    assert "in points of memory" in json.dumps(figure.spec["title"])


def test_axes_say_how_many_points_are_100_elo() -> None:
    spec = make_figure(in_units(2.97), "skills", FigureOptions(["Anderssen"])).spec
    assert '"skill, points; 297 are 100 Elo"' in json.dumps(spec)


def test_without_names_the_leaders_are_shown(run: Run) -> None:
    """Those of the highest mean in the most periods."""
    # means rise with the node's number: Paulsen leads when he plays, else Morphy or Anderssen
    best = "SELECT arg_max(player, mean) FROM skills WHERE games > 0 GROUP BY period_number"
    led = Counter(player for (player,) in run.select(best)[1])
    figure = make_figure(run, options=FigureOptions(limits=Eligible(0)))
    (points,) = layers(figure.spec, "point")
    expected = sorted(led, key=lambda player: (-led[player], player))
    assert [*dict.fromkeys(row["player"] for row in points["values"])] == expected
    assert any("no names given" in note for note in figure.notes)


@each(
    "kind, names, message",
    [
        ("skills", ["Fischer"], "no player 'Fischer'"),
        ("difference", ["Anderssen", "adolf anderssen"], "both match Anderssen, Adolf"),
        ("top", [], "no year has 10 players"),
        ("evidence", [], "no evidence over two parameters"),
        ("draws", [], "one draw margin for all years"),
        ("newcomers", [], "newcomers are the same"),
        ("career", [], "has no careers"),
    ],
)
def test_what_is_not_there_makes_no_figure(
    kind: str, names: list[str], message: str, run: Run
) -> None:
    with pytest.raises(LookupFailed, match=message):
        make_figure(run, kind, FigureOptions(names))


def test_a_difference_needs_a_common_period(small_run: Callable[..., Run]) -> None:
    run = small_run(("1857", "Morphy", "Paulsen", "1-0"), ("1901", "Lasker", "Janowski", "1-0"))
    with pytest.raises(LookupFailed, match="no year in common"):
        make_figure(run, "difference", FigureOptions(["morphy", "lasker"]))


@each("model", ["joint", "factorised", "elo"])
def test_a_difference_has_the_sd_of_what_both_have_in_common(model: str) -> None:
    rows = [(1900, "a", "b", k % 3) for k in range(12)] + [(1903, "a", "b", 2), (1903, "b", "c", 1)]
    solver = SolverConfig(posterior="factorised" if model == "factorised" else "joint")
    _, run = run_of("elo" if model == "elo" else "ttt", solver, rows)
    spec = make_figure(run, "difference", FigureOptions(["a", "b"])).spec
    (points,) = layers(spec, "point")
    assert [row["period"] for row in points["values"]] == ["1900", "1903"]
    drawn = [row for layer in layers(spec, "area") for row in layer["values"]]
    assert {row["year"] for row in drawn} == {1900, 1901, 1902, 1903}
    for row in drawn:
        year = f"{row['year']:.0f}"
        skills = run.select(
            "SELECT mean, sd FROM skills WHERE period = ? AND player < 'c' ORDER BY player", [year]
        )[1]
        (a, sd_a), (b, sd_b) = skills
        assert (row["low"] + row["high"]) / 2 == pytest.approx(a - b, abs=0.01)
        variance = 0.0 if model == "elo" else sd_a**2 + sd_b**2
        if model == "joint":
            variance -= 2.0 * run.covariance([("a", year), ("b", year)]).iloc[0, 1]
        assert (row["high"] - row["low"]) / 2 == pytest.approx(variance**0.5, abs=0.01)
    said = {"joint": "from the joint posterior", "factorised": "skills taken as independent"}.get(
        model, ""
    )
    assert said in json.dumps(spec["title"])
    assert ("band" in json.dumps(spec["title"])) is (model != "elo")
    assert [row["text"] for row in layers(spec, "text")[-1]["values"]] == ["a minus b"]


def test_curves_of_dominance_are_the_leads_with_their_sds() -> None:
    players = "abcdefgh"
    rows = [
        (year, a, players[(k + year) % 8], k % 3)
        for year in (1901, 1902, 1905)
        for k, a in enumerate(players)
    ]
    _, run = run_of(rows=[row for row in rows if row[1] != row[2]])
    spec = make_figure(
        run, "skills", FigureOptions(["a", "c"], by="dominance", limits=Eligible())
    ).spec
    leads = {(one.player, one.period): one for one in leads_of(run, Eligible(), ["a", "c"])[0]}
    (points,) = layers(spec, "point")
    assert {(row["player"], row["period"]) for row in points["values"]} == {
        at for at, one in leads.items() if one.games
    }
    for row in points["values"]:
        one = leads[row["player"], row["period"]]
        assert (row["value"], row["sd"]) == pytest.approx((one.lead, one.sd), abs=0.051)
    assert "from the joint posterior" in json.dumps(spec["title"])
    with pytest.raises(LookupFailed, match="5 others who are eligible"):
        make_figure(
            run, "skills", FigureOptions(["a"], by="dominance", limits=Eligible(min_games=1000))
        )


def test_number_ones_are_as_high_as_they_are_certain() -> None:
    """Who may be number one instead, with at least a fifth, is below the line."""
    rows = [(1900, "a", "b", k % 3) for k in range(12)] + [(1900, "b", "c", 2), (1902, "c", "d", 1)]
    _, run = run_of(rows=[*rows, (1903, "d", "b", 2), (1903, "e", "f", 1, 9.0)])
    spec = make_figure(run, "leaders", FigureOptions(limits=Eligible())).spec
    (bars,) = layers(spec, "rect")
    assert {bar["end"] - bar["year"] for bar in bars["values"]} == {1.0}
    drawn = [(bar["period"], bar["player"], bar["low"], bar["high"]) for bar in bars["values"]]
    expected = []
    for one in leaders(run, Eligible())[0]:
        assert one.p_best is not None
        expected.append((one.period, one.player, 0.0, one.p_best))
        edge = 0.0
        for player, chance in one.rivals:
            if chance >= 0.2:
                expected.append((one.period, player, edge - chance, edge))
                edge -= chance
    assert [one[:2] for one in sorted(drawn)] == [one[:2] for one in sorted(expected)]
    assert [one[2:] for one in sorted(drawn)] == [
        pytest.approx(one[2:]) for one in sorted(expected)
    ]
    assert len({period for period, *_ in drawn}) == 4 < len(drawn)
    names, names_below = layers(spec, "text")
    assert {row["text"] for row in names["values"]} <= {
        player for _, player, _, high in drawn if high > 0.0
    }
    lowest = {(player, low) for _, player, low, _ in drawn if low < 0.0}
    assert {(row["text"], row["high"]) for row in names_below["values"]} <= lowest
    assert len(names_below["values"]) > 0
    assert max(row["low"] for row in names_below["values"]) < min(low for _, low in lowest)


def test_of_many_days_the_first_of_each_month_has_a_bar_of_a_month() -> None:
    first = date(1900, 1, 1)
    leaders_by_day = [
        Leader(number_of(day, "day"), str(day), "a", 1200.0, 100.0, 1.0, 0.9, 3)
        for day in (first + timedelta(days=after) for after in range(1001))
    ]
    (bars,) = layers(reigns_figure(leaders_by_day, "day", []), "rect")
    assert [bar["period"] for bar in bars["values"]][:3] == [
        "1900-01-01",
        "1900-02-01",
        "1900-03-01",
    ]
    assert [bar["end"] - bar["year"] for bar in bars["values"]] == pytest.approx([1 / 12] * 33)


def test_number_ones_without_sds_are_of_one_height() -> None:
    _, run = run_of("elo")
    (bars,) = layers(make_figure(run, "leaders", FigureOptions(limits=Eligible())).spec, "rect")
    assert {(bar["low"], bar["high"]) for bar in bars["values"]} == {(0.0, 1.0)}


def test_games_per_year_add_up(run: Run) -> None:
    (bars,) = layers(make_figure(run, "games").spec, "bar")
    assert {row["year"]: row["games"] for row in bars["values"]} == {
        1857: 2,
        1858: 3,
        1861: 1,
        1862: 1,
    }


def test_the_top_is_the_mean_of_the_best(run: Run) -> None:
    spec = make_figure(run, "top", FigureOptions(count=2)).spec
    (lines,) = layers(spec, "line")
    values = {(row["of"], row["period"]): row["value"] for row in lines["values"]}
    for period in ("1857", "1858"):
        means = sorted(
            (m for (m,) in run.select("SELECT mean FROM skills WHERE period = ?", [period])[1]),
            reverse=True,
        )
        assert values["mean of the top 2", period] == pytest.approx(sum(means[:2]) / 2, abs=0.05)
        assert values["number one", period] == pytest.approx(means[0], abs=0.05)
    (band,) = layers(spec, "area")
    sds = {one.period: one.sd for one in leaders(run, eligible(run))[0]}
    for side, sign in (("high", 1.0), ("low", -1.0)):
        found = {row["period"]: sign * (row[side] - row["value"]) for row in band["values"]}
        assert found == pytest.approx(sds, abs=0.11)
    (names,) = layers(spec, "text")
    assert {row["text"] for row in names["values"]} <= {
        row["player"].split(",")[0] for row in band["values"]
    }
    assert names["values"]


def test_a_stored_grid_is_drawn_and_its_best_marked(tmp_path: Path) -> None:
    """Of an incomplete grid the points that are there are drawn."""
    run = open_run(put_small_run(tmp_path / "a.ttt"))
    betas = (100.0, 200.0, 200.5, 600.0, 11_000.0)
    places = [(b, t) for b in betas for t in (10.0, 20.0) if (b, t) != (600.0, 20.0)]
    places.append((200.0, 80.0))  # alone with its tau
    run.store_evidence(
        EvidencePoint(
            {"beta": b, "tau": t}, {"beta": b, "tau": t}, -abs(b - 200) - t / 10, True, 3, 0.0
        )
        for b, t in places
    )
    spec = make_figure(run, "evidence").spec
    assert_valid(spec)
    (tiles,) = layers(spec, "rect")
    assert {(row["beta"], row["tau"]): (row["below"], row["step"]) for row in tiles["values"]} == {
        (100.0, 10.0): (100.0, "30 to 100"), (100.0, 20.0): (101.0, "100 to 300"), (200.0, 10.0): (0.0, "0 to 0.5"),
        (200.0, 20.0): (1.0, "0.5 to 2"), (200.5, 10.0): (0.5, "0 to 0.5"), (200.5, 20.0): (1.5, "0.5 to 2"),
        (11_000.0, 10.0): (10_800.0, "over 10000"), (11_000.0, 20.0): (10_801.0, "over 10000"),
    }  # fmt: skip
    axes = {channel: tiles["encoding"][channel]["scale"]["domain"] for channel in "xy"}
    assert axes == {"x": [100.0, 200.0, 200.5, 11_000.0], "y": [20.0, 10.0]}
    (best,) = layers(spec, "point")
    assert best["values"] == [{"beta": 200.0, "tau": 10.0}]


@pytest.mark.slow
def test_every_format_is_what_it_says(run: Run) -> None:
    spec = make_figure(run, "skills", FigureOptions(["Anderssen"])).spec
    content = {fmt: render(spec, fmt) for fmt in FIGURE_FORMATS}
    starts = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF", "html": b"<!DOCTYPE html>"}
    assert {fmt: content[fmt].lstrip()[: len(start)] for fmt, start in starts.items()} == starts
    for part in (
        b'"width":"container"',
        b'"height":"container"',
        b"<title>Skill of Anderssen, Adolf</title>",
    ):
        assert part in content["html"]
    assert b"<script src" not in content["html"]


@pytest.mark.parametrize("kind", ["skills", "leaders", "games", "top", "difference", "calibration"])
def test_figures_are_valid_descriptions(margins: Run, kind: str) -> None:
    names = ["Anderssen", "Morphy"] if kind == "difference" else []
    spec = make_figure(margins, kind, FigureOptions(names, count=2)).spec
    assert_valid(spec)


def test_bins_of_calibration_are_points_with_two_standard_errors(run: Run) -> None:
    bins = {
        "win": (CalibrationBin(0.30, 0.35, 400.0, 0.31, 0.4, 0.02),),
        "draw": (CalibrationBin(0.20, 0.25, 9.0, 0.2, 0.3, 0.1),),
        "loss": (CalibrationBin(0.95, 1.0, 50.0, 0.97, 0.99, 0.03),),
    }
    found: Any = SimpleNamespace(first="1850", every=5, games=1234.0, bins=bins)
    spec = calibration_figure(run, found)
    (points,) = layers(spec, "point")
    keys = ("outcome", "predicted", "observed", "low", "high", "games")
    assert [tuple(one[key] for key in keys) for one in points["values"]] == [
        ("White wins", 0.31, 0.4, 0.36, 0.44, 400.0), ("Black wins", 0.97, 0.99, 0.93, 1.0, 50.0),
    ]  # fmt: skip
    assert render(spec, "svg").startswith(b"<svg")
    assert spec["title"]["text"] == f"Calibration of {run.meta.model}"
    assert "1,234 games from 1850 on" in spec["title"]["subtitle"]
    assert "learning every 5 years" in spec["title"]["subtitle"]


def test_of_many_days_without_games_the_first_of_each_month_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    games = games_of([("1858-01-30", "A, a", "B, b", "1-0"), ("1858-03-20", "B, b", "A, a", "1-0")])
    run = small_run_of(games, period="day")
    assert len(histories(run, ["A, a"])["A, a"]) == 50
    monkeypatch.setattr(module, "MANY_DAYS", 49)
    assert [(point.period, point.games) for point in histories(run, ["A, a"])["A, a"]] == [
        ("1858-01-30", 1), ("1858-02-01", 0), ("1858-03-01", 0), ("1858-03-20", 1),
    ]  # fmt: skip


@each(
    "number, period, year",
    [
        (1858, "year", 1858.0),
        (4 * 1858 + 2, "quarter", 1858.5),
        (12 * 1858 + 6, "month", 1858.5),
        (365, "day", 1970.999),
        (52, "week", 1970.997),
    ],
)
def test_periods_as_years(number: int, period: str, year: float) -> None:
    assert year_of(number, period) == pytest.approx(year, abs=1e-3)


ROWS = [
    (1900 + k // 4, "abc"[k % 3], "abc"[(k + 1) % 3], (2, 1, 0, 1, 1)[k % 5]) for k in range(40)
]
ROWS += [(1904, "d", "a", 2), (1908, "e", "d", 0)]


def moving_run(**model: object) -> Run:
    games = make_games(ROWS)
    timeline = build_timeline(games)
    resolved = resolve(Document(values={"model": model}))
    return memory_run(
        games, timeline, resolved.model.fit(timeline, resolved.params, EXACT), resolved.config
    )


@each(
    "kind, name, across",
    [
        ("draws", "ttt", "year"),
        ("draws", "ttt-d", "year"),
        ("newcomers", "ttt", "year"),
        ("career", "ttt", "years since the debut"),
    ],
)
def test_curves_of_the_model_have_a_band_of_one_sd(kind: str, name: str, across: str) -> None:
    run = moving_run(
        name=name, growth=200.0, early=2.0, prior_mean_drift=30.0, draw_margin_drift=0.2
    )
    spec = make_figure(run, kind).spec
    records = [
        record for records in spec["datasets"].values() for record in records if "low" in record
    ]
    found = {record["year"]: (record["low"], record["high"]) for record in records}
    expected = {at: (mean - sd, mean + sd) for at, mean, sd, *_ in run.curve(kind)}
    assert found.keys() == expected.keys()
    for at, band in expected.items():
        assert found[at] == pytest.approx(band, abs=0.1)
    titles = {
        one["encoding"]["x"]["axis"]["title"] for one in spec["layer"] if "x" in one["encoding"]
    }
    assert titles == {across}
    assert "without games" not in json.dumps(spec["title"])


@each("name", ["draws", "newcomers", "career"])
def test_the_same_is_a_table_to_export(name: str) -> None:
    run = moving_run(name="ttt", growth=200.0, prior_mean_drift=30.0, draw_margin_drift=0.2)
    found = table_rows(run, name)
    assert list(found.columns) == list(getattr(run, name)())
    assert [*found.rows] == run.curve(name) != []


FIGURE = 440.0
LABELS = st.lists(
    st.builds(
        Label,
        st.text("abcdefghij", min_size=1, max_size=25),
        st.floats(0.0, 860.0),
        st.floats(-20.0, FIGURE + 20.0),
    ),
    min_size=1,
    max_size=12,
)


@given(LABELS)
def test_twelve_names_never_cover_each_other_and_stay_inside(labels: list[Label]) -> None:
    placed = spread_labels(labels, FIGURE)
    assert [label.text for label in placed] == [label.text for label in labels]
    assert [label.x for label in placed] == [label.x for label in labels]
    for i, one in enumerate(placed):
        assert LINE / 2 <= one.y <= FIGURE - LINE / 2
        assert not any(one.overlaps(other) for other in placed[i + 1 :])


def test_a_name_leaves_a_curve_that_it_would_cover() -> None:
    curve = [Point(float(x), 100.0) for x in range(0, 200, 4)]
    (moved,) = spread_labels([Label("Morphy", 10.0, 100.0)], FIGURE, curve)
    assert abs(moved.y - 100.0) >= LINE / 2
    everywhere = [Point(20.0, float(y)) for y in range(0, 440, 4)]
    assert spread_labels([Label("Morphy", 10.0, 100.0)], FIGURE, everywhere) == [
        Label("Morphy", 10.0, 100.0)
    ]


def test_curves_are_named_by_surnames_and_namesakes_by_their_whole_names() -> None:
    players = ["Polgar, Judit", "Polgar, Susan", "Short, Nigel", "Pele"]
    assert surnames(players) == ["Polgar, Judit", "Polgar, Susan", "Short", "Pele"]


def test_no_colour_is_drawn_twice() -> None:
    assert colours_of(3) == ["#0072B2", "#D55E00", "#009E73"]
    assert len(set(colours_of(44))) == 44


@each(
    "first, last, ticks",
    [
        (2020.0, 2021.0, [2020, 2021]),
        (2020.25, 2020.75, [2021]),
        (1999.5, 2003.0, [2000, 2001, 2002, 2003]),
        (1848.0, 2024.0, [1860, 1880, 1900, 1920, 1940, 1960, 1980, 2000, 2020]),
        (1.0, 2000.0, [200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000]),
    ],
)
def test_ticks_are_whole_years_of_the_data(first: float, last: float, ticks: list[int]) -> None:
    assert whole_years(first, last) == ticks


def test_the_line_of_number_ones_is_broken_at_every_reign(run: Run) -> None:
    spec = make_figure(run, "top", FigureOptions(count=1, limits=Eligible())).spec
    (lines,) = [layer for layer in layers(spec, "line") if layer["encoding"].get("detail")]
    firsts = [row for row in lines["values"] if row["of"] == "number one"]
    for row, after in pairwise(firsts):
        assert (row["piece"] == after["piece"]) == (row["player"] == after["player"])


def test_long_subtitles_are_broken_and_say_nothing_of_monte_carlo(run: Run) -> None:
    spec = make_figure(run, "leaders", FigureOptions(limits=Eligible(2.0, 1.0, 500.0, 1))).spec
    subtitle = spec["title"]["subtitle"]
    assert isinstance(subtitle, list)
    assert max(len(line) for line in subtitle) <= 145
    assert "Monte Carlo" not in str(subtitle)


def test_a_name_alone_stays_at_its_line() -> None:
    assert spread_labels([Label("Morphy", 10.0, 100.0)], FIGURE) == [Label("Morphy", 10.0, 100.0)]


@given(st.lists(st.tuples(st.floats(1800.0, 2020.0), st.text("ab", max_size=30)), min_size=1))
def test_the_axis_leaves_room_for_every_name(ends: list[tuple[float, str]]) -> None:
    width, first = 860.0, 1790.0
    last = last_year(ends, first, width)
    for year, text in ends:
        assert (year - first) / (last - first) * width + GAP + text_width(text) <= width + 1e-6


def test_long_names_are_cut() -> None:
    assert shorten("x" * 100).endswith("…")
    assert len(shorten("x" * 100)) == 34
    assert shorten("Morphy, Paul") == "Morphy, Paul"


def test_names_stand_upright_where_there_is_room_the_longest_spans_first() -> None:
    spans = [(0.0, 2.0), (2.0, 3.0), (3.0, 3.2), (3.2, 100.0)]
    assert upright(spans, 0.0, 100.0, 20 * LINE) == {3: 51.6, 0: 2.5}
    assert set(upright(spans, 0.0, 100.0, 1000 * LINE)) == {0, 1, 2, 3}


TITLES = ["draw margin", "newcomers above the prior mean", "gain since the debut"]
MOVING = {"growth": 200.0, "early": 2.0, "prior_mean_drift": 30.0, "draw_margin_drift": 0.2}


@pytest.fixture(scope="module")
def moving() -> Run:
    return moving_run(name="ttt", **MOVING)


def test_pictures_are_of_whole_years_with_their_band(moving: Run) -> None:
    found = dict(pictures(moving))
    assert list(found) == TITLES
    assert "years since the debut" in found["gain since the debut"]
    (data,) = re.findall(r"<script[^>]*>(.*)</script>", found["draw margin"])
    at, mean, sd, *_ = moving.curve("draws")[-1]
    last = json.loads(data)["datasets"]["active"][-1]
    assert (last["year"], last["low"], last["high"]) == pytest.approx(
        (at, mean - sd, mean + sd), abs=0.001
    )


def test_pages_and_sites_show_them_where_a_run_has_them(moving: Run, tmp_path: Path) -> None:
    still = moving_run(name="ttt")
    assert pictures(still) == []
    assert 'id="moving"' not in report_page(still)
    assert report_page(moving).count('class="chart career"') == 3
    for run, count in ((moving, 3), (still, 0)):
        write_site(run, tmp_path / f"site{count}")
        front = (tmp_path / f"site{count}" / "index.html").read_text(encoding="utf-8")
        assert front.count('class="chart career"') == count


def test_lines_and_names_of_number_ones_are_broken_at_years_without_one() -> None:
    played = [("a", 1848), ("a", 1849), ("b", 1850), ("b", 1854), ("b", 1855)]
    records = [{"player": player, "year": float(year)} for player, year in played]
    years = [[int(record["year"]) for record in reign] for reign in reigns_of(records)]
    assert years == [[1848, 1849], [1850], [1854, 1855]]
    months = [{"player": "a", "year": 1900 + month / 12.0} for month in range(5)]
    assert without_gaps(months) == [months]
    assert without_gaps([]) == []
