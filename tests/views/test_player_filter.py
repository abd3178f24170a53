"""Players who meet a condition in a period: spans against ages one by one, and the columns and rankings of people."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.support.builders import make_games
from tests.support.cases import each
from ttt_cli import api
from ttt_cli.periods import label
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.views.figures.figure import FigureOptions, make_figure
from ttt_cli.views.people import age_in, first_period_at, with_fields
from ttt_cli.views.player_filter import find_filter, people_rows
from ttt_cli.views.players import player_view, players_rows
from ttt_cli.views.rankings.eligible import eligible
from ttt_cli.views.rankings.leaders import number_ones
from ttt_cli.views.rankings.peaks import best_years
from ttt_cli.views.rankings.period import ranking
from ttt_cli.views.run import table_rows

BIRTHS = {"Ann": date(1880, 3, 1), "Bob": date(1890, 11, 30), "Cid": date(1885, 7, 2)}
PEOPLE = """name,born,federation
Ann,1880-03-01,SUI
Bob,1890-11-30,GER
Cid,1885-07-02,SUI
"""
GAMES = "date,white,black,result\n" + "".join(
    f"{year}-{month:02d}-15,{white},{black},1-0\n"
    for year in range(1900, 1912)
    for month, white, black in ((1, "Ann", "Bob"), (6, "Cid", "Dot"), (12, "Dot", "Ann"))
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people")
    (path / "games.csv").write_text(GAMES, encoding="utf-8")
    (path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return fitted(folder, "year")


def fitted(folder: Path, period: str) -> Run:
    keys = [f"data.people={folder / 'people.csv'}", f"data.period={period}"]
    return api.fit(str(folder / "games.csv"), api.configure(model="elo", overrides=keys))


def middle_of(number: int, period: str) -> date:
    """The day in the middle of a year or month."""
    if period == "year":
        return date(number, 7, 2)
    return date(number // 12, number % 12 + 1, 15)


def completed_years(birth: date, day: date) -> int:
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


@pytest.mark.parametrize("period", ["year", "month"])
@each(
    "condition, holds",
    [
        ("age < 20", lambda age: age < 20),
        ("age = 20", lambda age: age == 20),
        ("age != 20", lambda age: age != 20),
        ("age >= 20.5", lambda age: age >= 21),
        ("age > 18 and age <= 24 or age = 27", lambda age: 18 < age <= 24 or age == 27),
        ("not age in (17, 19)", lambda age: age not in (17, 19)),
        ("age < -1 or age > 1000", lambda _: False),
    ],
)
def test_periods_of_a_condition_are_those_in_which_the_age_meets_it(
    condition: str, holds, period: str, folder: Path
) -> None:
    run = fitted(folder, period)
    chosen = find_filter(run, condition)
    query = f"SELECT player, period FROM skills WHERE {chosen.rows()} ORDER BY ALL"
    all_rows = run.select("SELECT player, period, period_number FROM skills ORDER BY ALL")[1]
    expected = [
        (player, name)
        for player, name, number in all_rows
        if player in BIRTHS and holds(completed_years(BIRTHS[player], middle_of(number, period)))
    ]
    assert run.select(query)[1] == expected


def test_the_age_of_a_year_of_birth_is_the_difference_of_years() -> None:
    assert [age_in(1837.5, year, "year") for year in (1857, 1858)] == [20, 21]
    for period in ("year", "quarter", "month", "week", "day"):
        number = first_period_at(1837.5, 20, period)
        assert [age_in(1837.5, number + step, period) for step in (-1, 0)] == [19, 20], label(
            number, period
        )


def test_unknown_players_meet_no_condition_but_those_on_what_is_unknown(run: Run) -> None:
    def chosen(condition: str) -> list[str]:
        return [row[0] for row in players_rows(run, where=condition).rows]

    assert sorted(chosen("federation = 'SUI'")) == ["Ann", "Cid"]
    assert sorted(chosen("not federation = 'SUI'")) == ["Bob"]
    assert chosen("federation is null") == ["Dot"]
    assert chosen("age is null") == ["Dot"]
    assert sorted(chosen("age is not null")) == ["Ann", "Bob", "Cid"]
    assert chosen("player = 'dot'") == ["Dot"]
    assert chosen("age = 9") == ["Bob"]
    assert chosen("age = 60") == []


def test_rankings_and_number_ones_are_of_those_who_meet_it(run: Run) -> None:
    limits = eligible(run, where="age < 20", everyone=True)
    rows = ranking(run, 1904, limits, None)
    assert [row[1] for row in rows.rows] == ["Cid", "Bob"]
    assert rows.title[1] == "eligible: age < 20"
    leaders = [(one.period, one.player) for one in number_ones(run, limits)]
    assert leaders == [(str(year), "Cid") for year in range(1900, 1905)] + [
        (str(year), "Bob") for year in range(1905, 1911)
    ]
    with pytest.raises(LookupFailed, match="nobody is eligible in 1911"):
        ranking(run, 1911, limits, None)
    rows = best_years(run, limits, 3, None).rows
    assert {row[1]: row[2:4] for row in rows if row[1] == "Cid"} == {"Cid": ("1902", "1904")}


def test_who_is_left_out_is_counted_among_those_who_meet_it(run: Run) -> None:
    limits = eligible(run, where="federation = 'SUI'", min_games=30)
    with pytest.raises(LookupFailed, match="; 2 left out: 2 with fewer games"):
        ranking(run, 1905, limits, None)
    fewer = eligible(run, where="federation = 'SUI'", min_games=20)
    assert fewer.left_out(run) == "1 left out: 1 with fewer games"


def test_fields_are_the_last_columns_and_the_age_is_that_of_the_row(run: Run) -> None:
    rows = with_fields(
        run, ranking(run, 1905, eligible(run, everyone=True), None), ["age", "federation"]
    )
    assert rows.columns[-2:] == ("age", "federation")
    assert {row[1]: row[-2:] for row in rows.rows} == {
        "Ann": (25, "SUI"), "Bob": (14, "GER"), "Cid": (20, "SUI"), "Dot": (None, None),
    }  # fmt: skip
    streamed = with_fields(run, table_rows(run, "skills", "player = 'Bob'"), ["age"])
    assert [(row[1], row[-1]) for row in streamed.rows][:2] == [("1900", 9), ("1901", 10)]
    with pytest.raises(LookupFailed, match="no field 'agee'") as caught:
        with_fields(run, rows, ["agee"])
    assert caught.value.hint == "did you mean 'age'?"
    with pytest.raises(ConfigError, match="a column federation already"):
        with_fields(run, rows, ["federation"])
    with pytest.raises(ConfigError, match="an age needs a period"):
        with_fields(run, people_rows(run), ["age"])


def test_a_history_says_what_is_known_of_the_player(run: Run) -> None:
    assert player_view(run, "Ann").rows.title[1] == "born 1880-03-01, federation SUI"
    assert player_view(run, "Dot").rows.title[1].startswith("1900-1911")


def test_people_are_exported_by_a_condition(run: Run) -> None:
    assert [row[0] for row in people_rows(run).rows] == ["Ann", "Bob", "Cid"]
    assert list(people_rows(run, "born > 1884 and federation = 'SUI'").rows) == [
        ("Cid", "1885-07-02", "SUI")
    ]


def test_a_field_that_the_run_does_not_have_is_refused(run: Run) -> None:
    with pytest.raises(LookupFailed, match="no field 'fed'"):
        find_filter(run, "fed = 'SUI'")
    with pytest.raises(ConfigError, match="age is a number, and 'old' is a text"):
        find_filter(run, "age = 'old'")
    bare = api.fit(make_games([(1900, "Ann", "Bob", 2)]), model="elo")
    with pytest.raises(LookupFailed) as caught:
        find_filter(bare, "age < 20")
    assert "--people" in str(caught.value.hint)


def test_curves_by_age_begin_at_the_age_of_the_first_game(run: Run) -> None:
    figure = make_figure(run, "ages", FigureOptions(["Ann", "Bob"]))
    first = {}
    for record in figure.spec["datasets"]["points"]:
        first.setdefault(record["player"], (record["period"], record["year"]))
    assert first["Ann"] == ("20, in 1900", pytest.approx(1900.5 - (1880 + 60 / 365.2425)))
    assert first["Bob"][0] == "9, in 1900"
    assert make_figure(run, "ages", FigureOptions(["Ann", "Dot"])).notes == (
        "the birth of Dot is not known",
    )
    with pytest.raises(LookupFailed, match="births of these players are not known"):
        make_figure(run, "ages", FigureOptions(["Dot"]))
