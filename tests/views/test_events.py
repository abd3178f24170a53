"""Lists of events, and one event."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.support.cases import each
from tests.views.report.site.conftest import TOLD, Told, run_of
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.event import event_game_rows, standing_rows
from ttt_cli.views.events import EventSelection, event_rows
from ttt_cli.views.history.performances import clean_score
from ttt_cli.views.rows import Rows


def column(rows: Rows, name: str) -> list:
    return [record[name] for record in rows.records()]


def test_events_have_dates_players_strength_and_winner() -> None:
    rows = list(event_rows(run_of(TOLD), EventSelection(by="date")).records())
    skills = run_of(TOLD).skills().set_index(["player", "period"])["mean"]
    assert rows[0] == {
        "event": "New York USA 1857", "from": "1857", "to": "1857", "games": 2, "players": 2,
        "strength": pytest.approx((skills["Morphy, Paul", "1857"] + skills["Paulsen, Louis", "1857"]) / 2),
        "winner": "Morphy, Paul", "site": "New York USA",
    }  # fmt: skip
    assert [(row["event"], row["from"], row["to"], row["winner"]) for row in rows[1:]] == [
        ("Paris m 1858", "1858-12-20", "1858-12-28", "Morphy, Paul"),
        ("London ENG 1861", "1861", "1861", "Paulsen, Louis"),
    ]


def test_those_of_equal_points_share_the_first_place_and_exhibitions_have_no_winner() -> None:
    told: list[Told] = [
        ("1900", "a", "b", "1/2-1/2", "Cup", "", ""),
        *[("1901", "a", name, "1-0", "Simul", "", "") for name in "bcd"],
    ]
    rows = event_rows(run_of(told), EventSelection(by="date"))
    assert column(rows, "winner") == ["a; b", ""]
    assert rows.title[1] == "without winner: games are missing here, or it is an exhibition"
    assert "winner" not in event_rows(run_of(told), EventSelection(pattern="cup")).title[1]


def test_friendly_games_of_a_year_are_no_contest() -> None:
    told: list[Told] = [
        ("1900", "a", "b", "1-0", event, "", "")
        for event in ("Friendly", "Casual games", "Friendly Cup")
    ]
    rows = event_rows(run_of(told), EventSelection(by="date"))
    winners = dict(zip(column(rows, "event"), column(rows, "winner"), strict=True))
    assert winners == {"Casual games 1900": "", "Friendly 1900": "", "Friendly Cup 1900": "a"}
    standings = standing_rows(run_of(told), "friendly", 1900)
    assert column(standings, "performance") == [None, None]
    assert standings.title[1].endswith("friendly: no performance; 2 players of mean skill 1000")


@each(
    "limits, expected",
    [
        ({}, ["Paris m 1858", "London ENG 1861", "New York USA 1857"]),
        ({"by": "date"}, ["New York USA 1857", "Paris m 1858", "London ENG 1861"]),
        (
            {"by": "strength", "min_players": 0},
            ["London ENG 1861", "Paris m 1858", "New York USA 1857"],
        ),
        ({"by": "strength"}, []),
        ({"min_players": 3}, ["London ENG 1861"]),
        ({"since": 1858}, ["Paris m 1858", "London ENG 1861"]),
        ({"since": 1858, "until": 1860}, ["Paris m 1858"]),
        ({"pattern": "LONDON"}, ["London ENG 1861"]),
        ({"pattern": "1857 york"}, ["New York USA 1857"]),
        ({"number": 1}, ["Paris m 1858"]),
    ],
)
def test_events_are_limited_and_ordered(limits: dict, expected: list[str]) -> None:
    rows = event_rows(run_of(TOLD), EventSelection(**limits))
    assert column(rows, "event") == expected


def test_an_order_by_strength_says_that_it_is_of_large_events() -> None:
    assert (
        event_rows(run_of(TOLD), EventSelection(by="strength")).title[0]
        == "0 of 0 events of at least 6 players, by strength"
    )


def test_a_round_robin_has_a_crosstable() -> None:
    rows = standing_rows(run_of(TOLD), "london")
    assert column(rows, "player") == ["Paulsen, Louis", "Anderssen, Adolf", "Kolisch, Ignaz"]
    assert column(rows, "results") == ["*1=", "0*1", "=0*"]
    assert column(rows, "points") == [1.5, 1.0, 0.5]
    assert column(rows, "rank") == [1, 2, 3]
    assert sum(column(rows, "expected")) == pytest.approx(3.0)
    assert rows.title[0] == "London ENG 1861"
    assert rows.title[1:3] == (
        "1861; 3 games; 3 players of mean skill 1007",
        "performance: the skill at which these points would be expected",
    )


def test_a_match_has_its_games_in_the_order_of_rounds() -> None:
    rows = standing_rows(run_of(TOLD), "paris")
    assert column(rows, "results") == ["*   110", "001 *"]
    games = list(event_game_rows(run_of(TOLD), "paris").records())
    assert [(game["round"], game["date"], game["white"], game["result"]) for game in games] == [
        ("1", "1858-12-20", "Anderssen, Adolf", "0-1"),
        ("2", "1858-12-28", "Anderssen, Adolf", "0-1"),
        ("10", "1858-12-27", "Anderssen, Adolf", "1-0"),
    ]
    assert 0.0 < games[0]["expected"] < 1.0


def test_where_few_met_results_are_by_rounds_and_missing_games_leave_no_places() -> None:
    names = "abcdef"
    told: list[Told] = [
        ("1900", names[i], names[(i + 1) % 6], "1-0", "Open", "", str(i)) for i in range(5)
    ]
    rows = standing_rows(run_of(told), "open")
    assert column(rows, "results")[0] == "+2"
    assert column(rows, "results")[1] == "-1 +3"
    assert column(rows, "rank") == [None] * 6
    assert rows.title[0] == "Open 1900 (no places)"
    assert "no places" in rows.title[1]


def test_of_a_pair_that_did_not_meet_the_crosstable_says_so() -> None:
    told: list[Told] = [
        ("1900", first, second, "1-0", "Cup", "", "")
        for first, second in [*combinations("abcd", 2)][:-1]
    ]
    assert column(standing_rows(run_of(told), "cup"), "results") == ["*111", "0*11", "00*.", "00.*"]


@each("points, games, word", [(3, 3, "all won"), (0, 2, "all lost"), (2.5, 3, None), (0, 0, None)])
def test_full_and_empty_scores_are_said(points: float, games: float, word: str | None) -> None:
    assert clean_score(points, games) == word


def test_an_event_is_named_by_words_and_year() -> None:
    told: list[Told] = [
        ("1900", "a", "b", "1-0", "London", "", ""),
        ("1901", "a", "b", "1-0", "London", "", ""),
        *[("1901", "a", "b", "1-0", "London final", "", "")] * 2,
        *[("1902", "a", "b", "1-0", "Paris", "", "")] * 10,
        ("1903", "a", "b", "1-0", "Paris", "", ""),
    ]
    run = run_of(told)
    assert standing_rows(run, "london", 1901).title[0] == "London 1901"
    assert standing_rows(run, "LONDON 1901").title[0] == "London 1901"
    assert standing_rows(run, "final").title[0] == "London final 1901"
    assert not any("also" in line for line in standing_rows(run, "final").title)
    missed = standing_rows(
        run_of([*told, ("1904", "a", "b", "1-0", "London final", "", "")]), "london 1904"
    )
    assert missed.title[0] == "London final 1904"
    assert "no event is called 'london 1904', but one is in 1900, 1901" in missed.title
    others = "also with these words: London final 1901 (2 games)"
    assert others in standing_rows(run, "london 1901").title
    assert "also with these words: Paris 1903 (1 game)" in standing_rows(run, "paris").title
    assert standing_rows(run, "paris").title[0] == "Paris 1902"  # ten times the games
    with pytest.raises(
        LookupFailed, match="2 events are meant by 'london':\n  London 1900"
    ) as several:
        standing_rows(run, "london")
    assert several.value.hint == "give more of the name, or --at YEAR"
    with pytest.raises(LookupFailed, match="no event 'london' of 1950 in this run") as other_year:
        standing_rows(run, "london", 1950)
    assert other_year.value.hint == "`ttt events london` lists 3 events"
    for name, hint in {
        "pariss 1902": "did you mean `ttt event paris 1902`?",
        "final 1902": "`ttt events final` lists 1 event",
        "paris 1999": "`ttt events paris` lists 2 events",
        "xyz": "`ttt events` lists them",
    }.items():
        with pytest.raises(LookupFailed, match="no event") as unknown:
            standing_rows(run, name)
        assert unknown.value.hint == hint
