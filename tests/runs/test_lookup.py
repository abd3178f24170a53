from collections.abc import Callable

import pytest

from tests.support.handmade import CONFIG, GAPS, Record, fit_of, games_of, run_by
from ttt_cli.config.schema import Period
from ttt_cli.errors import LookupFailed
from ttt_cli.runs.lookup import Found, find_period
from ttt_cli.runs.run import Run, memory_run
from ttt_cli.timeline import build_timeline

Finder = Callable[[str], Found]


def finder(**games: int) -> Finder:
    """Look-up in a run where each player has played so many games in 1900, against `Opponent`."""
    records: list[Record] = []
    for player, count in games.items():
        records += [("1900", player, "Opponent", "1-0")] * count
    table = games_of(records)
    timeline = build_timeline(table)
    return memory_run(table, timeline, fit_of(timeline), CONFIG).find_player


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


@pytest.mark.parametrize(
    ("typed", "meant"),
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
        ("Capablanca Raul", "Capablanca, Jose Raul"),
        ("capablanca j", "Capablanca, Jose Raul"),
        ("nn", "NN"),
        ("Thomas", "Thomas, George Alan"),
    ],
)
def test_a_name_that_means_one_player_finds_him_silently(find: Finder, typed: str, meant: str) -> None:
    assert find(typed) == Found(meant)


def test_ten_times_the_games_of_the_others_together_decide_a_shared_surname(find: Finder) -> None:
    found = find("morphy")
    assert found.player == "Morphy, Paul"
    assert "Morphy, Alonzo (3 games, 1900)" in found.note
    assert "Morphy, Ernest (1 game, 1900)" in found.note


@pytest.mark.parametrize(("games", "decided"), [(40, True), (39, False)])
def test_just_less_than_ten_times_does_not(games: int, decided: bool) -> None:
    look_up = finder(**{"Morphy, Paul": games, "Morphy, Alonzo": 3, "Morphy, Ernest": 1})
    if decided:
        assert look_up("Morphy").player == "Morphy, Paul"
    else:
        with pytest.raises(LookupFailed, match="3 players"):
            look_up("Morphy")


def test_candidates_are_listed_with_games_and_years(find: Finder) -> None:
    with pytest.raises(LookupFailed) as caught:
        find("Tal")
    assert caught.value.exit_code == 2
    assert caught.value.message.splitlines()[1:] == [
        "  Tal, Mihail (9 games, 1900)",
        "  Tal, Boris (1 game, 1900)",
    ]


def test_a_shared_first_name_is_never_decided_by_games() -> None:
    look_up = finder(**{"Smith, Thomas": 1, "Jones, Thomas": 30})
    with pytest.raises(LookupFailed, match="Jones, Thomas"):
        look_up("Thomas")


def test_initials_choose_among_namesakes(find: Finder) -> None:
    assert find("Morphy, E").player == "Morphy, Ernest"
    assert find("A. Morphy").player == "Morphy, Alonzo"


def test_each_word_typed_needs_a_word_of_its_own(find: Finder) -> None:
    with pytest.raises(LookupFailed, match="no player"):
        find("Capablanca Capablanca")
    with pytest.raises(LookupFailed, match="no player"):
        find("Capablanca, J J")


@pytest.mark.parametrize("typed", ["Morph", "Pau Morphy", "Morphy, Pa"])
def test_parts_of_words_are_not_taken(find: Finder, typed: str) -> None:
    with pytest.raises(LookupFailed, match="no player"):
        find(typed)


def test_initials_alone_are_not_a_name(find: Finder) -> None:
    with pytest.raises(LookupFailed, match="no player"):
        find("P M")


@pytest.mark.parametrize("typed", ["Morfy", "paul morfy", "Mophry, Paul"])
def test_near_spellings_are_suggested_and_not_taken(find: Finder, typed: str) -> None:
    with pytest.raises(LookupFailed, match="no player") as caught:
        find(typed)
    assert "did you mean 'Morphy, Paul'" in (caught.value.hint or "")


@pytest.mark.parametrize("typed", ["xyzzyx", "?", ""])
def test_nothing_near_suggests_nothing(find: Finder, typed: str) -> None:
    with pytest.raises(LookupFailed) as caught:
        find(typed)
    assert "did you mean" not in (caught.value.hint or "")


def test_a_long_list_is_cut_and_says_so() -> None:
    look_up = finder(**{f"Smith, A{i}": 1 for i in range(15)})
    with pytest.raises(LookupFailed, match="and 5 more"):
        look_up("Smith")


def test_a_bare_surname_in_the_data_is_exact_but_its_bearers_are_named() -> None:
    look_up = finder(**{"Morphy": 2, "Morphy, Paul": 40})
    found = look_up("Morphy")
    assert found.player == "Morphy"
    assert "Morphy, Paul (40 games" in found.note


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
    assert find_period(run, None) == ("1859", 1859)
    assert find_period(run, None, "A") == ("1856", 1856)


def test_a_label_may_be_cut_short_or_finer() -> None:
    months = run_by("month")
    assert find_period(months, "1858")[0] == "1858-12"
    assert find_period(months, "1858-08")[0] == "1858-08"
    assert find_period(months, "1858-08-20")[0] == "1858-08"
    with pytest.raises(LookupFailed, match="'185' is no period"):
        find_period(months, "185")


@pytest.mark.parametrize(
    ("period", "at", "meant"),
    [
        ("quarter", "1858", "1858-Q4"),
        ("quarter", "1858-06", "1858-Q2"),
        ("quarter", "1858-10-01", "1858-Q4"),
        ("week", "1858-06-15", "1858-W24"),
        ("week", "1858-06", "1858-W25"),
        ("week", "1858-01-01", "1857-W53"),
        ("day", "1858-06", "1858-06-30"),
    ],
)
def test_a_day_or_month_is_in_a_quarter_and_in_a_week(period: Period, at: str, meant: str) -> None:
    assert find_period(run_by(period), at)[0] == meant


def test_a_period_without_anybody_says_what_there_is(run: Run) -> None:
    with pytest.raises(LookupFailed, match="covers 1900") as caught:
        find_period(run, "1900")
    assert caught.value.hint == "the run goes from 1850 to 1859, by the year"
    for year in ("1856", "1900"):
        with pytest.raises(LookupFailed, match=f"D has no skill at {year}") as caught:
            find_period(run, year, "D")
        assert caught.value.hint == "the history goes from 1857 on, the run to 1859"


def test_a_players_periods_go_on_after_the_last_game(run: Run) -> None:
    assert find_period(run, "1859", "A") == ("1859", 1859)
