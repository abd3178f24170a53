from pathlib import Path

import pytest
from handmade import CONFIG, RECORDS, fit_of, games_of, write_small_run

from ttt_cli.errors import LookupFailed
from ttt_cli.runs.run import Run, memory_run, open_run
from ttt_cli.timeline import build_timeline
from ttt_cli.views.field import Filters, find_period, steps

GAPS = (
    ("1850", "A", "B", "1-0"),
    ("1851", "A", "C", "1-0"),
    ("1853", "B", "C", "1-0"),
    ("1856", "A", "C", "0-1"),
    ("1857", "B", "D", "0-1"),
    ("1859", "D", "C", "1/2-1/2"),
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    write_small_run(tmp_path / "a.ttt", GAPS)
    return open_run(tmp_path / "a.ttt")


def monthly() -> Run:
    games = games_of(RECORDS)
    timeline = build_timeline(games, "month")
    return memory_run(games, timeline, fit_of(timeline), CONFIG)


def test_the_last_period_is_meant_by_default(run: Run) -> None:
    assert find_period(run, None) == ("1859", 1859)
    assert find_period(run, None, "A") == ("1856", 1856)


def test_a_label_may_be_cut_short_or_finer() -> None:
    months = monthly()
    assert find_period(months, "1858")[0] == "1858-12"
    assert find_period(months, "1858-08")[0] == "1858-08"
    assert find_period(months, "1858-08-20")[0] == "1858-08"
    with pytest.raises(LookupFailed, match="covers 185"):
        find_period(months, "185")


def test_a_period_without_anybody_says_what_there_is(run: Run) -> None:
    with pytest.raises(LookupFailed, match="covers 1900") as caught:
        find_period(run, "1900")
    assert caught.value.hint == "the run goes from 1850 to 1859, by the year"
    with pytest.raises(LookupFailed, match="A has no skill at 1859") as caught:
        find_period(run, "1859", "A")
    assert caught.value.hint == "the history goes from 1850 to 1856"


def counting(run: Run, filters: Filters, year: int) -> list[str]:
    counting, values = filters.between(run, year, year)
    rows = run.query(f"SELECT player FROM ({counting}) ORDER BY player", values)[1]
    return [player for (player,) in rows]


def test_who_counts_in_a_period(run: Run) -> None:
    assert counting(run, Filters(None), 1855) == ["A", "B", "C"]
    assert counting(run, Filters(), 1855) == ["B", "C"]
    assert counting(run, Filters(4), 1855) == ["A", "B", "C"]
    assert counting(run, Filters(0), 1855) == []
    assert counting(run, Filters(0), 1856) == ["A", "C"]
    assert counting(run, Filters(None, min_games=4), 1856) == ["C"]


@pytest.mark.parametrize("filters", [
    Filters(None), Filters(0), Filters(1), Filters(2), Filters(4), Filters(2, 3), Filters(2, 0, 51.0)
])  # fmt: skip
def test_many_periods_are_every_one_by_itself(run: Run, filters: Filters) -> None:
    for first, last in ((1850, 1859), (1852, 1856), (1840, 1851)):
        rows, values = filters.between(run, first, last)
        found = run.query(f"SELECT period_number, player FROM ({rows}) ORDER BY ALL", values)[1]
        years = range(max(first, 1850), last + 1)
        assert found == [(year, player) for year in years for player in counting(run, filters, year)]


def test_years_are_steps_of_the_run(run: Run) -> None:
    assert steps(run, 2) == 2
    assert steps(monthly(), 2) == 24
    assert steps(monthly(), 0.5) == 6


def test_filters_in_words() -> None:
    assert Filters().words() == "active within 2 years"
    assert Filters(0, 10, 90.0).words() == "with games in the period, at least 10 games in all, sd up to 90"
    assert Filters(None).words() == ""
