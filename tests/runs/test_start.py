"""What a run says of the nodes of another timeline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.cases import each
from tests.support.handmade import CONFIG, RECORDS, fit_of, games_of, write_small_run
from ttt_cli.fitted import Fit, Line
from ttt_cli.periods import period_of
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import memory_run
from ttt_cli.timeline import Timeline, build_timeline
from ttt_cli.updating import _first_day, start_from

OTHERS = (
    ("1850", "Morphy, Paul", "Anderssen, Adolf", "1-0"),
    ("1857", "Morphy, Paul", "Newcomer, A", "1-0"),
    ("1860", "Anderssen, Adolf", "Paulsen, Louis", "1-0"),
    ("1900", "Paulsen, Louis", "Émile, É", "1-0"),
)


def run_of(further: str | None = None, period: str = "year") -> tuple[Run, Timeline, Fit]:
    games = games_of((*RECORDS, ("1863", "Émile, É", "Öst, O", "1-0")))
    timeline = build_timeline(games, period)  # type: ignore[arg-type]
    fit = fit_of(timeline, further=further)
    return memory_run(games, timeline, fit, CONFIG), timeline, fit


def believed(fit: Fit, timeline: Timeline) -> dict[tuple[str, int], tuple[float, float]]:
    nodes = zip(timeline.node_player, timeline.node_period.tolist(), fit.mean, fit.sd, strict=True)
    return {(timeline.players[player], period): (mean, sd) for player, period, mean, sd in nodes}


def test_the_nodes_of_the_run_itself_have_its_skills() -> None:
    run, timeline, fit = run_of("draw_margin")
    start = start_from(run, timeline)
    assert start.chains.keys() == {"skill", "draw_margin"}
    for name, chain in start.chains.items():
        assert np.array_equal(chain.mean, fit.chains[name].mean)
        assert np.array_equal(chain.sd, fit.chains[name].sd)


def test_other_nodes_have_the_nearest_period_and_strangers_nothing() -> None:
    run, timeline, fit = run_of()
    known = believed(fit, timeline)
    others = build_timeline(games_of(OTHERS))
    found = believed(start_from(run, others), others)
    rows = run.select("SELECT mean, sd FROM skills WHERE player = 'Anderssen, Adolf' AND period = '1860'")[1]
    assert found["Morphy, Paul", 1850] == known["Morphy, Paul", 1857]
    assert found["Anderssen, Adolf", 1850] == known["Anderssen, Adolf", 1858]
    assert found["Anderssen, Adolf", 1860] == rows[0]
    assert found["Paulsen, Louis", 1900] == known["Paulsen, Louis", 1862]
    assert found["Émile, É", 1900] == known["Émile, É", 1863]
    assert np.isnan(found["Newcomer, A", 1857]).all()


def test_periods_of_another_kind_are_found_by_their_middles() -> None:
    run, timeline, fit = run_of(period="month")
    by_year = build_timeline(games_of(RECORDS))
    found = believed(start_from(run, by_year), by_year)
    known = believed(fit, timeline)
    assert found["Morphy, Paul", 1857] == known["Morphy, Paul", 12 * 1857 + 6]
    assert found["Morphy, Paul", 1858] == known["Morphy, Paul", 12 * 1858 + 6]
    years, by_years, yearly = run_of()
    found = believed(start_from(years, timeline), timeline)
    assert found["Morphy, Paul", 12 * 1858 + 11] == believed(yearly, by_years)["Morphy, Paul", 1858]


@each("period", ["year", "quarter", "month", "week", "day"])
def test_first_days_are_the_first_of_their_periods(period: str) -> None:
    numbers = period_of(np.array([-99_999, -1, 0, 1, 20_000], np.int32), period)  # type: ignore[arg-type]
    first = _first_day(numbers, period).astype(np.int32)  # type: ignore[arg-type]
    assert np.array_equal(period_of(first, period), numbers)  # type: ignore[arg-type]
    assert np.array_equal(period_of(first - 1, period), numbers - 1)  # type: ignore[arg-type]


def test_beliefs_are_in_points_whatever_the_scale_of_the_run(tmp_path: Path) -> None:
    timeline = build_timeline(write_small_run(tmp_path / "a.ttt", further="draw_margin"))
    run = open_run(tmp_path / "a.ttt", scale=["Morphy @ 1858 = 2700", "Paulsen @ 1862 = 2710", "matched"])
    assert run.skills()["mean"].min() > 2000
    start = start_from(run, timeline)
    for name, chain in fit_of(timeline, further="draw_margin").chains.items():
        assert start.chains[name].mean == pytest.approx(chain.mean)
        assert start.chains[name].sd == pytest.approx(chain.sd)


def test_a_system_without_uncertainty_gives_means_alone() -> None:
    games = games_of(RECORDS)
    timeline = build_timeline(games)
    fit = fit_of(timeline)
    fit.chains["skill"] = Line(fit.mean, np.full(timeline.n_nodes, np.nan))
    start = start_from(memory_run(games, timeline, fit, CONFIG), timeline)
    assert np.array_equal(start.mean, fit.mean)
    assert np.isnan(start.sd).all()
