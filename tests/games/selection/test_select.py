"""Filters: what each leaves out, under which reason, and in which order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.collected import collector_of, game, reasons, records_of
from tests.support.strategies import examples
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games.read import read_games
from ttt_cli.games.selection import matching_players
from ttt_cli.support.errors import ConfigError


def dropped(rows: list[dict[str, object]], **wanted: object) -> list[str | None]:
    return reasons(records_of(rows, data=DataConfig.model_validate({"filter": wanted})))


@each(
    "years, kept",
    [
        ("1850-1900", [1850, 1900]),
        ("1900-", [1900, 1901]),
        ("-1850", [1849, 1850]),
        ("1850", [1850]),
        (1850, [1850]),
        ([1849, 1850], [1849, 1850]),
    ],
)
def test_years(years: object, kept: list[int]) -> None:
    played = [1849, 1850, 1900, 1901]
    found = dropped([game("A", "B", date=str(year)) for year in played], years=years)
    assert found == [None if year in kept else "other years" for year in played]


EVENTS = [
    game("A", "B", event="Hastings 1895"),
    game("A", "B", event="Café de la Régence", site="Paris"),
    game("A", "B", event="m", site="Hastings ENG"),
    game("A", "B", event="Hastingsia"),
    game("A", "B"),
]


def test_events_that_are_wanted() -> None:
    other = "other event"
    assert dropped(EVENTS, events=["hastings"]) == [None, other, None, other, other]
    assert dropped(EVENTS, events=["cafe de la regence", "Hastingsia"]) == [other, None, other, None, other]
    assert dropped(EVENTS, events=["/^hastings/"]) == [None, other, None, None, other]


def test_events_that_are_not() -> None:
    out = "excluded event"
    assert dropped(EVENTS, exclude_events=["HASTINGS"]) == [out, None, out, None, None]
    assert dropped(EVENTS, exclude_events=["/\\d{4}/", "Paris"]) == [out, out, None, None, None]


def test_ready_made_sets_are_reasons_of_their_own() -> None:
    rows = [
        game("A", "B", event="Blindfold simul"),
        game("A", "B", site="telex"),
        game("A", "B", round="blitz 3"),
        game("A", "B", variant="Chess960"),
        game("A", "B", variant="set-up"),
        game("A", "B", odds="pawn and move"),
        game("A/C", "B"),
        game("A", "B", odds="none", variant="standard"),
    ]
    names = ["blindfold", "simul", "correspondence", "blitz", "variants", "set-up", "odds", "consultation"]
    assert dropped(rows, exclude=names) == [
        "blindfold", "correspondence", "blitz", "variants", "set-up", "odds", "consultation", None,
    ]  # fmt: skip
    assert dropped(rows, exclude=["rapid"]) == [None] * 8


def test_exhibitions_of_chess_are_left_out_by_default() -> None:
    rows = [
        game("A", "B", event="Paris sim"),
        game("A/C", "B"),
        game("A", "B", event="Handicap"),
        game("A", "B", event="Handicap", odds="knight"),
        game("A", "B", event="rapid"),
        *(game("A", black, event="Paris blindfold") for black in "BCD"),
        *(game("A", "B", event="Blindfold match", round=number) for number in "12"),
        *(game(white, black, event="Amber blindfold") for white, black in ("AB", "BC", "CA")),
        *(
            game("A", black, event="Blindfold cup", round=number)
            for black, number in zip("BCD", "123", strict=True)
        ),
    ]
    left_out = ["simul", "consultation", "odds", None, None, *["blindfold"] * 3, *[None] * 8]
    assert dropped(rows) == left_out
    assert dropped(rows, exclude=[]) == [None] * len(rows)
    assert dropped(rows, exclude=["rapid"])[:5] == [None, None, None, None, "rapid"]


def test_of_other_sports_nothing_is_left_out_by_default(tmp_path: Path) -> None:
    for header, used in (("white,black", 1), ("home_team,away_team", 3)):
        (tmp_path / "a.csv").write_text(
            f"date,{header},result,event\n1990,Ajax,B,1-0,\n1991,Brighton & Hove,C,1-0,\n1992,B,C,0-1,Simul\n"
        )
        assert read_games([tmp_path / "a.csv"]).report.used == used


@pytest.mark.slow
def test_exhibitions_of_historical_games(data: Path) -> None:
    games = read_games([data / "historical.csv.gz"])
    assert games.report.dropped == {"simul": 2288, "odds": 101, "blindfold": 5, "consultation": 5}


def test_players() -> None:
    rows = [
        game("Morphy, Paul", "B"),
        game("B", "Morphy, P"),
        game("Morphy, Paul", "Morphy, P"),
        game("B", "C"),
    ]
    other = "other players"
    assert dropped(rows, players=["morphy"]) == [None, None, None, other]
    assert dropped(rows, players=["Paul Morphy"]) == [None, other, None, other]
    assert dropped(rows, players=["morphy"], among=True) == [other, other, None, other]
    assert dropped(rows, players=["/^[BC]/"]) == [None, None, other, None]


def test_a_player_who_is_not_there_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"there is no player 'Morphi, Paul'") as caught:
        matching_players(["Morphy, Paul"], ["Morphi, Paul"])
    assert caught.value.hint == "did you mean 'Morphy, Paul'?"


def test_teams_and_engines() -> None:
    rows = [game("A/B", "C"), game("C", "Fritz 6"), game("C", "D")]
    assert dropped(rows) == ["consultation", None, None]
    whole = records_of(rows, data=DataConfig(filter=FilterConfig(exclude=[])))
    assert reasons(whole) == [None, None, None]
    assert whole.report.noticed == {"team": 1, "engine": 1}
    both = records_of(rows, data=DataConfig(drop=["teams", "engines"]))
    assert reasons(both) == ["team", "engine", None]
    assert both.report.noticed == {}


def test_players_with_few_games_go_until_all_have_enough() -> None:
    """C has two games, but only one once D, who has one, is gone."""
    rows = [game("A", "B"), game("B", "A"), game("A", "C"), game("C", "D")]
    few = "too few games"
    assert dropped(rows, min_games=2) == [None, None, few, few]
    assert dropped(rows, min_games=1) == [None] * 4
    assert dropped(rows, min_games=4) == [few] * 4


def test_matches_count_as_many_games() -> None:
    assert dropped([game("A", "B", games="3"), game("A", "C")], min_games=3) == [None, "too few games"]


def test_the_largest_group_has_most_players_then_games() -> None:
    rows = [game("A", "B"), *[game("C", "D")] * 3, game("E", "F"), game("F", "G"), game("B", "A")]
    outside = "outside the largest group"
    assert dropped(rows, largest_group=True) == [outside] * 4 + [None, None, outside]
    assert dropped(rows[:4], largest_group=True) == [outside] + [None] * 3


def test_groups_are_those_of_the_games_that_are_left() -> None:
    rows = [game("A", "B"), game("B", "C", date="1900"), game("C", "D"), game("D", "E")]
    assert dropped(rows, largest_group=True) == [None] * 4
    assert dropped(rows, largest_group=True, years="-1899") == [
        "outside the largest group", "other years", None, None,
    ]  # fmt: skip


def test_duplicates_are_noticed_or_dropped() -> None:
    rows = [game("A", "B", moves=7), game("A", "B", moves=7), game("A", "B", moves=8)]
    assert records_of(rows).report.noticed == {"duplicate": 1}
    kept = records_of(rows, data=DataConfig.model_validate({"filter": {"dedupe": True}}))
    assert reasons(kept) == [None, "duplicate", None]
    assert kept.report.noticed == {}


def test_everything_may_be_left_out() -> None:
    games = collector_of(
        [game("A", "B")], data=DataConfig.model_validate({"filter": {"years": 1900}})
    ).games()
    assert (len(games), games.players, games.report.dropped) == (0, (), {"other years": 1})


PAIRS = st.lists(st.tuples(st.sampled_from("ABCDEF"), st.sampled_from("ABCDEF")), max_size=12)


@examples(20)
@given(PAIRS.filter(bool), st.integers(2, 4))
def test_enough_games_by_the_slow_way(pairs: list[tuple[str, str]], least: int) -> None:
    """Take away one player with too few games at a time: the same rows are left."""
    rows = [game(white, black, date=str(1800 + i)) for i, (white, black) in enumerate(pairs)]
    left = [i for i, (white, black) in enumerate(pairs) if white != black]
    while True:
        played = [player for i in left for player in pairs[i]]
        few = sorted(player for player in set(played) if played.count(player) < least)
        if not few:
            break
        left = [i for i in left if few[0] not in pairs[i]]
    records = records_of(rows, data=DataConfig.model_validate({"filter": {"min_games": least}}))
    assert np.flatnonzero(records.used).tolist() == left
