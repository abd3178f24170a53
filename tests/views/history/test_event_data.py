"""The events of a run: which games they have, whether all are known, and who met whom."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.views.report.site.conftest import Told, run_of
from ttt_cli.views.history.crosstables import by_round, make_crosstable
from ttt_cli.views.history.events import Events, find_events
from ttt_cli.views.history.played import PlayedGames, played_games

PLAYERS = ("Chigorin", "Lasker", "Pillsbury", "Tarrasch", "Teichmann")


def round_robin(event: str, names: tuple[str, ...] = PLAYERS, cycles: int = 1) -> list[Told]:
    """All games of a tournament; the one who is named first wins."""
    return [
        ("1895", white, black, "1-0", event, "Hastings", str(number))
        for number in range(cycles)
        for white, black in combinations(names, 2)
    ]


def events_of(told: list[Told]) -> Events:
    run = run_of(told)
    return find_events(played_games(run))


def test_of_a_whole_round_robin_points_decide_on_places() -> None:
    events = events_of(round_robin("Masters"))
    event = events.rows[0]
    assert (event.games, event.possible, event.missing, event.is_complete) == (10, 10, 0, True)
    assert events.entries.rank.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("cycles", [1, 2])
def test_a_round_robin_with_holes_has_possible_games_and_no_places(cycles: int) -> None:
    games = round_robin("Masters", cycles=cycles)[1:]
    event = events_of(games).rows[0]
    assert (event.games, event.possible, event.missing, event.is_complete) == (
        10 * cycles - 1, 10 * cycles, 1, False,
    )  # fmt: skip
    assert set(events_of(games).entries.rank.tolist()) == {0}


def test_a_play_off_is_no_hole() -> None:
    games = [
        *round_robin("Masters"),
        ("1895", "Lasker", "Chigorin", "1-0", "Masters", "Hastings", "9"),
    ]
    assert events_of(games).rows[0][5:] == (11, 0, True)


def test_where_few_pairs_met_everybody_needs_equally_many_games_for_places() -> None:
    names = tuple("ABCDEFGH")
    swiss = [
        ("1895", names[i], names[(i + step) % 8], "1-0", "Open", "Hastings", "")
        for step in (1, 2)
        for i in range(8)
    ]
    assert events_of(swiss).rows[0][5:] == (0, 0, True)
    assert events_of(swiss[1:]).rows[0][5:] == (0, 0, False)
    pairs = [
        ("1895", names[i], names[i + 1], "1-0", "Open", "Hastings", "") for i in range(0, 8, 2)
    ]
    assert (
        events_of(pairs).rows[0].is_complete is False
    )  # of one game each nobody knows what it was


def test_a_match_has_places() -> None:
    games: list[Told] = [
        ("1894", "Lasker", "Steinitz", "1-0", "Match", "", str(game)) for game in range(3)
    ]
    assert events_of(games).rows[0][5:] == (3, 0, True)


def test_an_event_that_moves_from_site_to_site_is_one() -> None:
    """As a world cup; tournaments of the same name at several sites are several."""
    names = tuple("ABCD")
    cup: list[Told] = [
        ("2026", white, black, "1-0", "World Cup", city, "")
        for (white, black), city in zip(combinations(names, 2), "UVWXYZ", strict=True)
    ]
    assert [event.name for event in events_of(cup).rows] == ["World Cup"]
    tour = [
        (*game[:5], city, "")
        for city in ("Brussels", "Belfort")
        for game in round_robin("Grand Prix")
    ]
    assert [event.name for event in events_of(tour).rows] == [
        "Grand Prix, Belfort",
        "Grand Prix, Brussels",
    ]
    pairs = ("AB", "AB", "CD", "CD", "AE", "AE")
    cities = ("Paris", "Paris", "London", "London", "London", "London")
    casual: list[Told] = [
        ("1858", first, second, "1-0", "Casual", city, "")
        for (first, second), city in zip(pairs, cities, strict=True)
    ]
    assert [event.name for event in events_of(casual).rows] == ["Casual, London", "Casual, Paris"]


def test_an_event_with_groups_at_several_sites_at_the_same_time_is_one() -> None:
    """Few then play at several sites; sites that follow one another are events of their own."""
    group_games: list[Told] = [
        (f"1962-06-0{day}", first, second, "1-0", "World Cup", city, "")
        for names, city in (("ABCD", "Arica"), ("EFGH", "Rancagua"))
        for day, (first, second) in enumerate(combinations(names, 2), 1)
    ]
    semifinals: list[Told] = [
        ("1962-06-13", "A", "F", "1-0", "World Cup", "Arica", ""),
        ("1962-06-13", "B", "E", "1-0", "World Cup", "Rancagua", ""),
    ]
    at_once = sorted([*group_games, *semifinals])
    assert [event.name for event in events_of(at_once).rows] == ["World Cup"]
    later = [
        (game[0].replace("-06-", "-09-") if game[5] == "Rancagua" else game[0], *game[1:])
        for game in at_once
    ]
    assert [event.name for event in events_of(sorted(later)).rows] == [
        "World Cup, Arica",
        "World Cup, Rancagua",
    ]


def test_a_crosstable_has_results_of_both_sides_in_the_order_of_rounds() -> None:
    told: list[Told] = [
        ("1858", "Morphy", "Anderssen", "1-0", "Match", "", "10"),
        ("1858", "Anderssen", "Morphy", "1/2-1/2", "Match", "", "2"),
        ("1858", "Anderssen", "Morphy", "1-0", "Match", "", "1"),
    ]
    run = run_of(told)
    played: PlayedGames = played_games(run)
    games = np.arange(3)
    assert [played.texts[played.round[game]] for game in by_round(played, games)] == [
        "1",
        "2",
        "10",
    ]
    anderssen = 0  # in order of names
    morphy = 1
    table = make_crosstable(played, np.array([morphy, anderssen]), games)
    assert table.results == {(morphy, anderssen): [0, 1, 2], (anderssen, morphy): [2, 1, 0]}


def test_some_events_are_as_they_are_among_all() -> None:
    told = [
        *round_robin("Masters"),
        *round_robin("Minor", PLAYERS[1:], cycles=2)[:-1],
        ("1896", "Lasker", "Steinitz", "1-0", "", "", ""),
        ("1896", "Lasker", "Steinitz", "1/2-1/2", "Match", "", "1"),
    ]
    played = played_games(run_of(told))
    whole = find_events(played)
    order = np.array([2, 0])
    some = find_events(played, whole.named.take(order))
    assert some.rows == [whole.rows[event] for event in order]
    for position, event in enumerate(order):
        assert some.games_of(position).tolist() == whole.games_of(event).tolist()
        for name in ("player", "points", "rank", "skills", "expected", "is_contest"):
            of_some = getattr(some.entries, name)[some.entries.of(position)]
            of_all = getattr(whole.entries, name)[whole.entries.of(event)]
            assert of_some.tolist() == of_all.tolist()
    games = np.arange(len(told))
    assert {*whole.named.titles_of(games)} == {
        "",
        "Masters, Hastings 1895",
        "Minor, Hastings 1895",
        "Match 1896",
    }
    assert some.named.titles_of(games)[:11] == ["Masters, Hastings 1895"] * 10 + [""]
