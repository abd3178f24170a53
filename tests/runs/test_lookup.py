from collections.abc import Callable

import pytest

from tests.support.cases import each
from tests.support.handmade import GAPS, Record, games_of, run_by, run_of
from ttt_cli.config.schema import Period
from ttt_cli.runs.lookup import Found
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed

Finder = Callable[[str], Found]


def finder(**games: int) -> Finder:
    """Look-up in a run where each player has played so many games in 1900, against `Opponent`."""
    records: list[Record] = []
    for player, count in games.items():
        records += [("1900", player, "Opponent", "1-0")] * count
    return run_of(games_of(records)).find_player


@pytest.fixture(scope="module")
def find() -> Finder:
    return finder(
        **{
            "Morphy, Paul": 40,
            "Morphy, Alonzo": 3,
            "Morphy, Ernest": 1,
            "Müller, Hans": 5,
            "Mueller, Hans": 5,
            "Tal, Mihail": 9,
            "Tal, Boris": 1,
            "Thomas, George Alan": 2,
            "Smith, Thomas": 1,
            "Jones, Thomas": 30,
            "de la Bourdonnais, Louis": 4,
            "O'Kelly de Galway, Alberic": 2,
            "Capablanca, Jose Raul": 7,
            "NN": 1,
        }
    )


@each(
    "typed, meant",
    [
        ("Morphy, Paul", "Morphy, Paul"),
        ("morphy,PAUL ", "Morphy, Paul"),
        ("Muller, Hans", "Müller, Hans"),
        ("Paul Morphy", "Morphy, Paul"),
        ("Bourdonnais", "de la Bourdonnais, Louis"),
        ("de la bourdonnais", "de la Bourdonnais, Louis"),
        ("okelly", "O'Kelly de Galway, Alberic"),
        ("Capablanca, J R", "Capablanca, Jose Raul"),
        ("J.R. Capablanca", "Capablanca, Jose Raul"),
        ("Capablanca, Jo", "Capablanca, Jose Raul"),
        ("Thomas, Geor A", "Thomas, George Alan"),
        ("bori tal", "Tal, Boris"),
        ("Morphy, Pa", "Morphy, Paul"),
        ("Capablanca Raul", "Capablanca, Jose Raul"),
        ("capablanca j", "Capablanca, Jose Raul"),
        ("nn", "NN"),
        ("Thomas", "Thomas, George Alan"),
        ("/^tal, m/", "Tal, Mihail"),
        ("Morphy, E", "Morphy, Ernest"),
        ("A. Morphy", "Morphy, Alonzo"),
    ],
)
def test_a_name_that_means_one_player_finds_him_silently(find: Finder, typed: str, meant: str) -> None:
    assert find(typed) == Found(meant)


def test_the_others_of_a_shared_surname_are_noted(find: Finder) -> None:
    found = find("morphy")
    assert found.player == "Morphy, Paul"
    assert "Morphy, Alonzo (3 games, 1900)" in found.note
    assert "Morphy, Ernest (1 game, 1900)" in found.note


@pytest.mark.parametrize(("games", "decided"), [(30, True), (29, False)])
def test_ten_times_the_games_of_the_next_decide(games: int, decided: bool) -> None:
    look_up = finder(**{"Morphy, Paul": games, "Morphy, Alonzo": 3, "Morphy, Ernest": 2})
    if decided:
        assert look_up("Morphy").player == "Morphy, Paul"
    else:
        with pytest.raises(LookupFailed, match="3 players"):
            look_up("Morphy")


@pytest.mark.slow
@each(
    "typed, meant",
    [
        ("Bobby Fischer", "Fischer, Robert James"),
        ("Bob J Fischer", "Fischer, Robert James"),
        ("fischer, bobby", "Fischer, Robert James"),
        ("Misha Tal", "Tal, Mihail"),
        ("Mikhail Tal", "Tal, Mihail"),
    ],
)
def test_short_forms_find_their_player(typed: str, meant: str) -> None:
    look_up = finder(**{"Fischer, Robert James": 30, "Fischer, Daniel": 4, "Tal, Mihail": 5})
    assert look_up(typed) == Found(meant)


def test_ambiguous_short_forms_and_shared_first_names_are_refused() -> None:
    look_up = finder(**{"Fischer, Robert James": 30, "Fischer, Rob": 4})
    assert look_up("Robert Fischer").player == "Fischer, Robert James"
    with pytest.raises(LookupFailed, match="2 players"):
        look_up("Bobby Fischer")
    with pytest.raises(LookupFailed, match="Jones, Thomas"):
        finder(**{"Smith, Thomas": 1, "Jones, Thomas": 30})("Thomas")


def test_candidates_are_listed_with_games_and_years(find: Finder) -> None:
    with pytest.raises(LookupFailed) as caught:
        find("Tal")
    assert caught.value.exit_code == 2
    assert caught.value.message.splitlines()[1:] == [
        "  Tal, Mihail (9 games, 1900)",
        "  Tal, Boris (1 game, 1900)",
    ]


@each(
    "typed, message, hint",
    [
        ("/xyz/", "no player matches", "regular expression"),
        ("/(/", "regular expression", ""),
        ("/Thomas/", "3 players", ""),
        # Each word typed needs a word of its own, parts of surnames are not taken, initials alone are no name
        *((typed, "no player", "") for typed in ("Capablanca Capablanca", "Capablanca, J J", "P M")),
        *((typed, "no player", "") for typed in ("Morph", "Morp, Paul", "Morphy, Pax")),
        *(
            (typed, "no player", "did you mean 'Morphy, Paul'")
            for typed in ("Morfy", "paul morfy", "Mophry, Paul")
        ),
        *((typed, "no player", "") for typed in ("xyzzyx", "?", "")),
    ],
)
def test_a_name_that_nobody_or_several_have_is_refused(
    find: Finder, typed: str, message: str, hint: str
) -> None:
    with pytest.raises(LookupFailed, match=message) as caught:
        find(typed)
    assert hint in (caught.value.hint or "")
    if typed in ("xyzzyx", "?", ""):
        assert "did you mean" not in (caught.value.hint or "")


def test_a_long_list_is_cut_and_says_so() -> None:
    look_up = finder(**{f"Smith, A{i}": 1 for i in range(15)})
    with pytest.raises(LookupFailed, match="and 5 more"):
        look_up("Smith")


def test_a_bare_surname_is_decided_by_games_even_where_a_player_is_spelled_so() -> None:
    look_up = finder(**{"Morphy": 2, "Morphy, Paul": 40, "Lange": 5, "Lange, Max": 40})
    assert look_up("Morphy").player == "Morphy, Paul"
    assert "Morphy (2 games" in look_up("morphy").note
    assert look_up("=Morphy") == Found("Morphy")
    with pytest.raises(LookupFailed, match="2 players") as caught:
        look_up("Lange")
    assert "'=Lange' selects" in (caught.value.hint or "")
    with pytest.raises(LookupFailed, match="no player is spelled"):
        look_up("=morphy")


def test_two_spellings_of_one_name_are_told_apart_by_the_exact_one() -> None:
    look_up = finder(**{"Müller, Hans": 3, "Muller, Hans": 2})
    assert look_up("Müller, Hans").player == "Müller, Hans"
    assert look_up("Muller, Hans").player == "Muller, Hans"
    with pytest.raises(LookupFailed, match="2 players"):
        look_up("muller hans")


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run(*GAPS)


def test_the_last_period_is_meant_by_default(run: Run) -> None:
    assert run.find_period(None) == ("1859", 1859)
    assert run.find_period(None, "A") == ("1856", 1856)
    assert run.find_period("1859", "A") == ("1859", 1859)


@pytest.mark.slow
@each(
    "period, at, meant",
    [
        ("year", "1858", "1858"),
        ("month", "1858", "1858-12"),
        ("month", " 1858.08 ", "1858-08"),
        ("month", "1858-Q3", "1858-09"),
        ("quarter", "1858", "1858-Q4"),
        ("quarter", "1858-Q2", "1858-Q2"),
        ("week", "1858-06", "1858-W25"),
        ("week", "1858-W23", "1858-W23"),
        ("day", "1858-06", "1858-06-30"),
        ("day", "1858-W23", "1858-06-13"),
    ],
)
def test_a_longer_period_is_its_last_one(period: Period, at: str, meant: str) -> None:
    assert run_by(period).find_period(at)[0] == meant


@pytest.mark.slow
@each(
    "period, at, containing",
    [
        ("year", "1858-08", "1858"),
        ("year", "1858.08.20", "1858"),
        ("quarter", "1858-06", "1858-Q2"),
        ("month", "1858-08-20", "1858-08"),
        ("month", "1858-W05", "1858-02"),
        ("week", "1858-01-01", "1857-W53"),
    ],
)
def test_a_shorter_period_is_refused_with_the_one_that_contains_it(
    period: Period, at: str, containing: str
) -> None:
    with pytest.raises(LookupFailed, match=f"the run is by the {period}: .* is shorter") as caught:
        run_by(period).find_period(at)
    assert caught.value.hint == f"use {containing}, which contains it"


def test_no_calendar_has_these() -> None:
    run = run_by("day")
    for at in ("185", "1858-13", "1858-02-30", "1858-W60", "0000", "1858-Q5", "x"):
        with pytest.raises(LookupFailed, match="is not a period"):
            run.find_period(at)


def test_a_period_without_anybody_says_what_there_is(run: Run) -> None:
    with pytest.raises(LookupFailed, match="no player has a skill at 1900") as caught:
        run.find_period("1900")
    assert caught.value.hint == "the run covers 1850 to 1859, by the year"
    for year in ("1856", "1900"):
        with pytest.raises(LookupFailed, match=f"D has no skill at {year}") as caught:
            run.find_period(year, "D")
        assert caught.value.hint == "the history starts in 1857, the run ends in 1859"
