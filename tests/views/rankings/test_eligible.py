"""Who is eligible: the limits, their defaults, and how many they leave out."""

import math
from collections.abc import Callable
from itertools import permutations

import pytest

from tests.support.builders import fit_rows, make_games
from tests.support.handmade import CONFIG, GAPS, run_by
from ttt_cli.runs.run import Run, memory_run
from ttt_cli.views.rankings.eligible import (
    ACTIVE_YEARS,
    ENOUGH,
    MIN_GAMES,
    MIN_OPPONENTS,
    Eligible,
    eligible,
    newcomer_sd,
    steps,
)
from ttt_cli.views.rankings.top import ranking


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run(*GAPS)


def names(run: Run, limits: Eligible, year: int) -> list[str]:
    rows, values = limits.between(run, year, year)
    found = run.query(f"SELECT player FROM ({rows}) ORDER BY player", values)[1]
    return [player for (player,) in found]


def test_who_is_eligible_in_a_period(run: Run) -> None:
    assert names(run, Eligible(), 1855) == ["A", "B", "C"]
    assert names(run, Eligible(), 1859) == ["A", "B", "C", "D"]
    assert names(run, Eligible(2), 1855) == ["B", "C"]
    assert names(run, Eligible(4), 1855) == ["A", "B", "C"]
    assert names(run, Eligible(0), 1855) == []
    assert names(run, Eligible(0), 1856) == ["A", "C"]
    assert names(run, Eligible(2), 1859) == ["B", "C", "D"]
    assert names(run, Eligible(None, min_games=4), 1856) == ["C"]
    assert names(run, Eligible(None, min_opponents=3), 1856) == ["B", "C"]


@pytest.mark.parametrize("limits", [
    Eligible(), Eligible(0), Eligible(1), Eligible(2), Eligible(4), Eligible(2, 3), Eligible(2, 0, 51.0)
])  # fmt: skip
@pytest.mark.slow
def test_many_periods_are_every_one_by_itself(run: Run, limits: Eligible) -> None:
    for first, last in ((1850, 1859), (1852, 1856), (1840, 1851)):
        rows, values = limits.between(run, first, last)
        found = run.query(f"SELECT period_number, player FROM ({rows}) ORDER BY ALL", values)[1]
        years = range(max(first, 1850), last + 1)
        assert found == [(year, player) for year in years for player in names(run, limits, year)]


def test_years_are_steps_of_the_run(run: Run) -> None:
    assert steps(run, 2) == 2
    assert steps(run_by("month"), 2) == 24
    assert steps(run_by("month"), 0.5) == 6


def test_limits_in_words() -> None:
    assert Eligible(2).words() == "active within 2 years"
    words = "with games in the period, at least 10 games, at least 3 opponents, sd up to 90"
    assert Eligible(0, 10, 90.0, 3).words() == words
    assert Eligible().words() == ""


def league(players: int) -> Run:
    """Everybody meets everybody else in ten years, with changing luck; a guest meets one of them in one."""
    pairs = list(permutations("abcdefghij"[:players], 2))
    rows = [(1900 + i % 10, x, y, i % 3) for i, (x, y) in enumerate(pairs * 7)]
    rows += [(1905, "a", "guest", 0)] * 30
    timeline, fit = fit_rows(rows)
    return memory_run(make_games(rows), timeline, fit, CONFIG)


def test_the_defaults_hold_where_enough_players_keep_to_them() -> None:
    large, small = league(ENOUGH), league(ENOUGH - 1)
    assert eligible(large) == Eligible(ACTIVE_YEARS, MIN_GAMES, eligible(large).max_sd, MIN_OPPONENTS)
    assert eligible(small) == Eligible(ACTIVE_YEARS)
    assert eligible(large, everyone=True) == Eligible()
    assert eligible(large, everyone=True, min_games=5) == Eligible(min_games=5)
    assert eligible(small, min_opponents=2, active=1.0) == Eligible(1.0, min_opponents=2)
    assert eligible(large, max_sd=math.inf, active=math.inf, min_games=0, min_opponents=0) == Eligible()


def test_nobody_leads_who_beat_a_single_opponent_many_times() -> None:
    run = league(ENOUGH)
    assert [row[1] for row in ranking(run, "1905", eligible(run, everyone=True), 1).rows] == ["guest"]
    assert {row[1] for row in ranking(run, "1905", eligible(run), None).rows} == set("abcdefghij")


def test_opponents_are_counted_once_each(run: Run) -> None:
    found = dict(run.query("SELECT player, opponents FROM players")[1])
    assert found == {"A": 2, "B": 3, "C": 3, "D": 2}


def test_who_is_left_out_and_why(run: Run) -> None:
    title = ranking(run, "1859", Eligible(2, 3, None, 3), None).title
    assert title[1] == "2 players are eligible: active within 2 years, at least 3 games, at least 3 opponents"
    assert title[2] == "2 left out: 1 with fewer games, 1 without a game so recently"
    assert ranking(run, "1859", Eligible(), None).title[1] == "4 players are eligible"
    assert (
        Eligible(None, 3, None, 3).left_out(run) == "2 left out: 1 with fewer games, 1 with fewer opponents"
    )
    assert Eligible(None, 0, 49.0).left_out(run) == "4 left out: 4 with a larger sd"
    assert Eligible().left_out(run) == ""


def test_whr_has_the_sd_of_its_virtual_games() -> None:
    assert newcomer_sd({"prior_sd": 400.0}) == 400.0
    assert newcomer_sd({"virtual_draws": 2.0}) == pytest.approx(400.0 / math.log(10.0))
    assert newcomer_sd({"k": 20.0}) is None
