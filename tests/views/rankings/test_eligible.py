"""Who is eligible: the limits, their defaults, and how many they leave out."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import pytest

from tests.support.builders import fit_rows, make_games
from tests.support.handmade import CONFIG, GAPS, run_by
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import memory_run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.rankings.dominance import leads_of
from ttt_cli.views.rankings.eligible import (
    ACTIVE_YEARS,
    ENOUGH,
    FEWEST,
    MIN_GAMES,
    MIN_OPPONENTS,
    Eligible,
    eligible,
    periods_of,
)
from ttt_cli.views.rankings.leaders import leaders, number_ones
from ttt_cli.views.rankings.peaks import best_years, most_dominant, peaks
from ttt_cli.views.rankings.period import ranking


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run(*GAPS)


def names(run: Run, limits: Eligible, year: int) -> list[str]:
    found = run.select(f"SELECT player FROM ({limits.skills(run, year, year)}) ORDER BY player")[1]
    return [player for (player,) in found]


def test_who_is_eligible_in_a_period(run: Run) -> None:
    found = dict(run.select("SELECT player, opponents FROM players")[1])
    assert found == {"A": 2, "B": 3, "C": 3, "D": 2}
    assert names(run, Eligible(), 1855) == ["A", "B", "C"]
    assert names(run, Eligible(), 1859) == ["A", "B", "C", "D"]
    assert names(run, Eligible(2), 1855) == ["B", "C"]
    assert names(run, Eligible(4), 1855) == ["A", "B", "C"]
    assert names(run, Eligible(0), 1855) == []
    assert names(run, Eligible(0), 1856) == ["A", "C"]
    assert names(run, Eligible(2), 1859) == ["B", "C", "D"]
    assert [names(run, Eligible(None, min_games=4), year) for year in (1856, 1859)] == [[], ["C"]]
    assert names(run, Eligible(None, min_opponents=3), 1856) == ["B", "C"]


@pytest.mark.parametrize("limits", [
    Eligible(), Eligible(0), Eligible(1), Eligible(2), Eligible(4), Eligible(2, 3), Eligible(2, 0, 51.0)
])  # fmt: skip
@pytest.mark.slow
def test_many_periods_are_every_one_by_itself(run: Run, limits: Eligible) -> None:
    for first, last in ((1850, 1859), (1852, 1856), (1840, 1851)):
        rows = limits.skills(run, first, last)
        found = run.select(f"SELECT period_number, player FROM ({rows}) ORDER BY ALL")[1]
        years = range(max(first, 1850), last + 1)
        assert found == [(year, player) for year in years for player in names(run, limits, year)]


def test_years_are_steps_of_the_run(run: Run) -> None:
    assert periods_of(run, 2) == 2
    assert periods_of(run_by("month"), 2) == 24
    assert periods_of(run_by("month"), 0.5) == 6


def test_limits_in_words() -> None:
    assert Eligible(2).words() == "active within 2 years"
    words = "with games in the period, at least 10 games, at least 3 opponents, uncertainty at most +-90"
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
    limits = Eligible(ACTIVE_YEARS, MIN_GAMES, eligible(large).max_sd, MIN_OPPONENTS, FEWEST)
    assert eligible(large) == limits
    virtual = {"virtual_draws": 0.5}  # of WHR
    for params, sd in (({"prior_sd": 400.0}, 400.0), (virtual, 800.0 / math.log(10.0)), ({}, None)):
        large.meta.params.clear()
        large.meta.params.update(params)
        assert eligible(large).max_sd == (sd and round(0.45 * sd, 1))
    assert eligible(small) == Eligible(ACTIVE_YEARS)
    assert eligible(large, everyone=True) == Eligible()
    assert eligible(large, everyone=True, min_games=5) == Eligible(min_games=5)
    assert eligible(small, min_opponents=2, active=1.0) == Eligible(1.0, min_opponents=2)
    assert eligible(
        large, max_sd=math.inf, active=math.inf, min_games=0, min_opponents=0
    ) == Eligible(fewest=FEWEST)


def test_who_is_left_out_and_why(run: Run) -> None:
    title = ranking(run, "1859", Eligible(2, 3, None, 3), None).title
    assert title[1] == "eligible: active within 2 years, at least 3 games, at least 3 opponents"
    assert title[2] == "2 left out: 1 with fewer games, 1 without a game so recently"
    assert ranking(run, "1859", Eligible(), None).title[0] == "The best of 1859: 4 eligible players"
    assert (
        Eligible(None, 3, None, 3).left_out(run)
        == "2 left out: 1 with fewer games, 1 with fewer opponents"
    )
    assert Eligible(None, 0, 49.0).left_out(run) == "4 left out: 4 with a larger sd"
    assert Eligible().left_out(run) == ""


def test_a_period_counts_where_the_player_has_played_enough_by_then() -> None:
    """An early lead of few games is none, however many follow; nor is one over nobody."""
    rows = [(1850, "boy", "old", 2)] * 3 + [
        (1855, x, y, 1) for x, y in permutations("abcdef", 2)
    ] * 2
    rows += [(1855, "boy", x, k % 2) for x in "abcdef" for k in range(4)] + [(1857, "a", "b", 1)]
    timeline, fit = fit_rows(rows)
    run = memory_run(make_games(rows), timeline, fit, CONFIG)
    limits = Eligible(2.0, min_games=10)
    with pytest.raises(LookupFailed, match="in 1850; 2 left out: 2 with fewer games"):
        ranking(run, "1850", limits, 1)
    assert min(one.period for one in leaders(run, limits)[0]) == "1855"
    for by in ("mean", "lower"):
        assert dict(row[1:3] for row in peaks(run, limits, None, by).rows)["boy"] == "1855"
        assert dict(row[1:3] for row in peaks(run, Eligible(), None, by).rows)["boy"] == "1850"
    assert {row[2] for row in most_dominant(run, limits, None).rows if row[1] == "boy"} == {"1855"}
    assert {one.period for one in leads_of(run, limits, ["boy"])[0]} == {"1855"}
    assert "boy" not in {row[1] for row in best_years(run, limits, 2, None).rows}


def test_nobody_leads_alone(run: Run) -> None:
    alone = Eligible(2, min_opponents=3)
    rows = ranking(run, "1859", replace(alone, min_games=4), None)
    assert [row[6] for row in rows.rows] == [None]
    assert "p_best: none where nobody else is eligible" in rows.title
    found, remarks = leaders(run, replace(alone, min_games=4))
    assert {one.p_best for one in found if one.field == 1} == {None}
    assert remarks[-1] == "p_best: none where nobody else is eligible"
    few = replace(alone, fewest=2)
    assert {one.field for one in leaders(run, few)[0]} == {2}
    assert [one[0] for one in number_ones(run, few)] == [
        one.period_number for one in leaders(run, few)[0]
    ]
    title = peaks(run, few, None).title
    assert "; years with at least 2 eligible players" in title[1]
    assert {row[2] for row in peaks(run, few, None).rows} <= {
        one.period for one in leaders(run, few)[0]
    }
