"""Filters: what each leaves out and under which reason; ready-made sets of events; records of the same game."""

from __future__ import annotations

from pathlib import Path
from typing import Final, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.collected import game, reasons, records_of
from tests.support.strategies import examples
from ttt_cli.config.event_set_names import EVENT_SETS
from ttt_cli.config.schema import DataConfig, EventSet, FilterConfig
from ttt_cli.games.duplicates import find_duplicates
from ttt_cli.games.event_sets import event_text_is_in_set, time_control_is_in_set, variant_is_in_set
from ttt_cli.games.read import read_games
from ttt_cli.games.selection import matching_players
from ttt_cli.games.table import Records
from ttt_cli.storage import MEMORY, ArrayFiles
from ttt_cli.support.errors import ConfigError, DataError
from ttt_cli.support.folding import fold

EVENTS = [
    game("A", "B", event="Hastings 1895"),
    game("A", "B", event="Café de la Régence", site="Paris"),
    game("A", "B", event="m", site="Hastings ENG"),
    game("A", "B", event="Hastingsia"),
    game("A", "B"),
]
SETS = [
    game("A", "B", event="Blindfold simul"),
    game("A", "B", site="telex"),
    game("A", "B", round="blitz 3"),
    game("A", "B", variant="Chess960"),
    game("A", "B", variant="set-up"),
    game("A", "B", odds="pawn and move"),
    game("A/C", "B"),
    game("A", "B", odds="none", variant="standard"),
]
NAMES = [
    "blindfold",
    "simul",
    "correspondence",
    "blitz",
    "variants",
    "set-up",
    "odds",
    "consultation",
]
EXHIBITED = [
    game("A", "B", event="Paris sim"),
    game("A/C", "B"),
    game("A", "B", event="Handicap"),
    game("A", "B", event="Handicap", odds="knight"),
    game("A", "B", event="rapid"),
    *(game("A", black, event="Paris blindfold") for black in "BCD"),
    *(game("A", "B", event="Blindfold match", round=number) for number in "12"),
    *(game(white, black, event="Amber blindfold") for white, black in ("AB", "BC", "CA")),
    *(game("A", "BCD"[number], event="Blindfold cup", round=str(number)) for number in range(3)),
]
MORPHYS = [
    game("Morphy, Paul", "B"),
    game("B", "Morphy, P"),
    game("Morphy, Paul", "Morphy, P"),
    game("B", "C"),
]
PATH = [
    game("A", "B"),
    game("B", "A"),
    game("A", "C"),
    game("C", "D"),
]  # C has one game once D is gone
PARTS = [game("A", "B"), *[game("C", "D")] * 3, game("E", "F"), game("F", "G"), game("B", "A")]
CHAIN = [game("A", "B"), game("B", "C", date="1900"), game("C", "D"), game("D", "E")]
YEARS = [game("A", "B", date=str(year)) for year in (1849, 1850, 1900, 1901)]
OUT_OF_YEARS, OTHER, EXCLUDED, OTHERS = (
    "other years",
    "other event",
    "excluded event",
    "other players",
)
FEW, OUTSIDE = "too few games", "outside the largest group"


@each(
    "rows, wanted, expected",
    [
        (YEARS, {"years": "1850-1900"}, [OUT_OF_YEARS, None, None, OUT_OF_YEARS]),
        (YEARS, {"years": "1900-"}, [OUT_OF_YEARS, OUT_OF_YEARS, None, None]),
        (YEARS, {"years": "-1850"}, [None, None, OUT_OF_YEARS, OUT_OF_YEARS]),
        (YEARS, {"years": 1850}, [OUT_OF_YEARS, None, OUT_OF_YEARS, OUT_OF_YEARS]),
        (YEARS, {"years": [1849, 1850]}, [None, None, OUT_OF_YEARS, OUT_OF_YEARS]),
        (EVENTS, {"events": ["hastings"]}, [None, OTHER, None, OTHER, OTHER]),
        (
            EVENTS,
            {"events": ["cafe de la regence", "Hastingsia"]},
            [OTHER, None, OTHER, None, OTHER],
        ),
        (EVENTS, {"events": ["/^hastings/"]}, [None, OTHER, None, None, OTHER]),
        (EVENTS, {"exclude_events": ["HASTINGS"]}, [EXCLUDED, None, EXCLUDED, None, None]),
        (EVENTS, {"exclude_events": ["/\\d{4}/", "Paris"]}, [EXCLUDED, EXCLUDED, None, None, None]),
        (SETS, {"exclude": NAMES}, [NAMES[0], *NAMES[2:], None]),
        (SETS, {"exclude": ["rapid"]}, [None] * 8),
        # of chess exhibitions are left out by default
        (
            EXHIBITED,
            {},
            ["simul", "consultation", "odds", None, None, *["blindfold"] * 3, *[None] * 8],
        ),
        (EXHIBITED, {"exclude": []}, [None] * 16),
        (EXHIBITED, {"exclude": ["rapid"]}, [*[None] * 4, "rapid", *[None] * 11]),
        (MORPHYS, {"players": ["morphy"]}, [None, None, None, OTHERS]),
        (MORPHYS, {"players": ["Paul Morphy"]}, [None, OTHERS, None, OTHERS]),
        (MORPHYS, {"players": ["morphy"], "among": True}, [OTHERS, OTHERS, None, OTHERS]),
        (MORPHYS, {"players": ["/^[BC]/"]}, [None, None, OTHERS, None]),
        (PATH, {"min_games": 2}, [None, None, FEW, FEW]),
        (PATH, {"min_games": 1}, [None] * 4),
        (PATH, {"min_games": 4}, [FEW] * 4),
        (
            [game("A", "B", games="3"), game("A", "C")],
            {"min_games": 3},
            [None, FEW],
        ),  # a match is many games
        # the largest group has most players, then games, of those that are left
        (PARTS, {"largest_group": True}, [OUTSIDE] * 4 + [None, None, OUTSIDE]),
        (PARTS[:4], {"largest_group": True}, [OUTSIDE] + [None] * 3),
        (CHAIN, {"largest_group": True}, [None] * 4),
        (CHAIN, {"largest_group": True, "years": "-1899"}, [OUTSIDE, OUT_OF_YEARS, None, None]),
    ],
)
def test_filters(
    rows: list[dict[str, object]], wanted: dict[str, object], expected: list[str | None]
) -> None:
    records = records_of(rows, data=DataConfig.model_validate({"filter": wanted}))
    assert reasons(records) == expected


def test_of_other_sports_nothing_is_left_out_by_default(tmp_path: Path) -> None:
    for header, used in (("white,black", 1), ("home_team,away_team", 3)):
        (tmp_path / "a.csv").write_text(
            f"date,{header},result,event\n1990,Ajax,B,1-0,\n1991,Brighton & Hove,C,1-0,\n1992,B,C,0-1,Simul\n"
        )
        assert read_games([tmp_path / "a.csv"]).report.used == used


CLUB: Final = "Brighton & Hove Albion"


@pytest.mark.parametrize(
    ("header", "result"),
    [("white,black,white_goals,black_goals", "2,1"), ("white,black,neutral,result", "true,1-0")],
)
def test_a_table_with_goals_or_neutral_ground_is_not_of_chess(
    tmp_path: Path, header: str, result: str
) -> None:
    (tmp_path / "a.csv").write_text(f"date,{header}\n1990,{CLUB},Ajax,{result}\n")
    report = read_games([tmp_path / "a.csv"]).report
    assert (report.used, report.chess) == (1, False)


@pytest.mark.parametrize(
    ("name", "rows", "used"),
    [(CLUB, 20, 20), (CLUB, 19, 0), ("Allies and Smith", 30, 0)],
)
def test_a_name_of_two_with_many_rows_of_a_table_is_a_club(
    tmp_path: Path, name: str, rows: int, used: int
) -> None:
    table = "date,white,black,result\n1990,Ajax,Bohemians,1-0\n"
    (tmp_path / "a.csv").write_text(table + f"1990,{name},Ajax,1-0\n" * rows)
    assert read_games([tmp_path / "a.csv"]).report.used == used + 1


def test_a_name_of_two_in_pgn_is_of_consultants(tmp_path: Path) -> None:
    game = f'[Date "1890"]\n[White "{CLUB}"]\n[Black "Bird"]\n[Result "1-0"]\n\n1. e4 1-0\n\n'
    other = game.replace(CLUB, "Lasker")
    (tmp_path / "a.pgn").write_text(game * 20 + other)
    assert read_games([tmp_path / "a.pgn"]).report.dropped == {"consultation": 20}


def test_a_player_who_is_not_there_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"there is no player 'Morphi, Paul'") as caught:
        matching_players(["Morphy, Paul"], ["Morphi, Paul"])
    assert caught.value.hint == "did you mean 'Morphy, Paul'?"


def test_teams_and_engines() -> None:
    rows = [game("A/B", "C"), game("C", "Fritz 6"), game("C", "D")]
    whole = records_of(rows, data=DataConfig(drop=[], filter=FilterConfig(exclude=[])))
    assert (reasons(whole), whole.report.noticed) == ([None] * 3, {"team": 1, "engine": 1})
    both = records_of(rows, data=DataConfig(drop=["teams", "engines"]))
    assert (reasons(both), both.report.noticed) == (["team", "engine", None], {})


def test_games_with_computers_are_left_out_of_those_of_people() -> None:
    people = [game("Fritz", "Genius, X"), *[game("C", "D")] * 4]
    typed = [
        game("C", "Abc", white_type="human", black_type="program"),
        game("Abc", "C", white_title="BOT", black_title="GM"),
    ]
    rows = [*people, game("C", "Comp Hirn"), game("Fritz 6", "Deep Blue"), *typed]
    engine = ["engine"] * 4
    assert reasons(records_of(rows)) == [*[None] * 5, *engine]
    assert reasons(records_of(rows, data=DataConfig(drop=[]))) == [None] * 9
    assert reasons(records_of(rows, data=DataConfig(drop=["engines"]))) == [*[None] * 5, *engine]


def test_games_of_computers_stay_in_their_own_collections() -> None:
    match = [game("Kasparov, Garry", "Deep Blue"), game("Deep Blue", "Kasparov, Garry")]
    typed = [game("A", "B", white_type="program", black_type="program")]
    for rows in (match, [game("Fritz 6", "Deep Blue")], typed):
        assert reasons(records_of(rows)) == [None] * len(rows)
        assert reasons(records_of(rows, data=DataConfig(drop=["engines"]))) == ["engine"] * len(
            rows
        )


def test_computers_of_some_years_are_those_of_all(tmp_path: Path) -> None:
    """Whether a collection is of people is found out from all its years, also where games are sorted in files."""
    rows = ["1990,A,B,1-0"] * 9 + ["1997,A,Deep Blue,1-0"]
    (tmp_path / "a.csv").write_text("\n".join(["date,white,black,result", *rows, ""]))
    for storage in (MEMORY, ArrayFiles(tmp_path)):
        assert read_games([tmp_path / "a.csv"], storage=storage).report.dropped == {"engine": 1}


def test_nothing_is_left_but_games_with_computers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "date,white,black,result\n" + "1990,A,B,1-0\n" * 9 + "1997,A,Deep Blue,1-0\n"
    )
    with pytest.raises(DataError) as caught:
        read_games([tmp_path / "a.csv"], DataConfig.model_validate({"filter": {"years": 1997}}))
    assert caught.value.hint == "data.drop: [] keeps games with computers"


def test_variants_but_chess960_are_left_out_by_default() -> None:
    kept = [
        "",
        "Standard",
        "Chess960",
        "chess 960",
        "Fischerandom",
        "Freestyle",
        "From Position",
        "set-up",
    ]
    variants = [
        "Crazyhouse",
        "Horde",
        "Atomic",
        "Antichess",
        "Three-check",
        "King of the Hill",
        "Bughouse",
        "Duck",
    ]
    rows = [game("A", "B", variant=variant) for variant in kept + variants]
    assert reasons(records_of(rows)) == [None] * len(kept) + ["variants"] * len(variants)
    everything = DataConfig(filter=FilterConfig(exclude=[]))
    assert reasons(records_of(rows, data=everything)) == [None] * len(rows)


def test_duplicates_are_noticed_or_dropped() -> None:
    rows = [game("A", "B", moves=7), game("A", "B", moves=7), game("A", "B", moves=8)]
    assert records_of(rows).report.noticed == {"duplicate": 1}
    kept = records_of(rows, data=DataConfig.model_validate({"filter": {"dedupe": True}}))
    assert reasons(kept) == [None, "duplicate", None]
    assert kept.report.noticed == {}


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


IN = {
    "simul": ["New York sim", "Simultan Wien", "simultaneous exhibition", "Simultánea", "clock simul", "Blindsimultan",
              "Сеанс одновременной игры"],
    "blindfold": ["Amber-blind 2nd", "Blindfold World Cup", "Blindsimultan", "Paris blind-simul", "sans voir",
                  "a la ciega", "alla cieca", "вслепую"],
    "correspondence": ["corr", "Correspondence", "Fernschach-Olympiade", "Fernpartie 1935", "telex", "URS-USA telex",
                       "e-mail", "ICCF WC 20", "par correspondance", "korrespondence", "По переписке"],
    "consultation": ["Consultation game", "Beratungspartie", "Prague consult", "Allies"],
    "odds": ["Odds match", "Essen Handicap", "Vorgabepartie", "pawn and move", "pawn & two"],
    "rapid": ["World Rapid 2015", "Oviedo rapid45", "Amber Rapidplay", "Schnellschach", "TCh-FRA rpd", "Active Chess",
              "Aktivschach", "Быстрые шахматы"],
    "blitz": ["World Blitz", "Blitzturnier", "lightning", "Bullet Arena", "Armageddon", "Snelschaak", "Блиц"],
    "variants": ["Chess960", "Fischer Random", "Mainz 960", "Freestyle Chess", "Bughouse"],
    "set-up": ["set-up position", "From Position"],
}  # fmt: skip
OUT = {
    "simul": ["Simferopol", "Simonson mem", "Nassim"],
    "blindfold": ["World Blind-ch", "Olympiad for the blind", "Blind olympiad"],
    "correspondence": [
        "Gibtelecom Masters",
        "Correze m",
        "San Fernando op",
        "Cerveny Kostelec",
        "cable match",
    ],
    "consultation": ["Constantinople"],
    "odds": ["Oddsson mem"],
    "rapid": ["Grand Rapids", "Rapid City op", "Interactive"],
    "blitz": ["St Petersburg"],
    "variants": ["Hastings5960", "French variation", "Randers"],
    "set-up": ["Setubal"],
}


def test_the_sets_are_those_of_the_config_and_the_reasons() -> None:
    assert get_args(EventSet) == EVENT_SETS == tuple(IN)


@each("name", IN)
def test_what_belongs_to_a_set(name: str) -> None:
    assert [text for text in IN[name] if not event_text_is_in_set(fold(text), name)] == []
    assert [text for text in OUT[name] if event_text_is_in_set(fold(text), name)] == []


def test_variants_of_the_tag() -> None:
    texts = ["", "standard", "chess 960", "atomic", "set up", "from position"]
    found = {
        name: [text for text in texts if variant_is_in_set(text, name)]
        for name in ("variants", "set-up", "blitz")
    }
    assert found == {"variants": texts[2:4], "set-up": texts[4:], "blitz": []}


@each(
    "name, texts",
    [
        (
            "blitz",
            [
                "60",
                "60+0",
                "180+2",
                "300+3",
                "300+5",
                "5+3",
                "*180",
                "40/540:300",
                "Blitz",
                "bullet",
            ],
        ),
        ("rapid", ["600", "600+0", "900+10", "15+10", "1800", "25 + 10", "rapid"]),
        ("correspondence", ["1/86400", "1/259200", "daily"]),
        (
            None,
            [
                "90+30",
                "5400+30",
                "3600",
                "40/7200:3600",
                "40/7200:20/3600:900+30",
                "-",
                "?",
                "",
                "classical",
            ],
        ),
    ],
)
def test_the_set_of_a_time_control(name: str | None, texts: list[str]) -> None:
    for text in texts:
        assert [one for one in EVENT_SETS if time_control_is_in_set(text, one)] == (
            [name] if name else []
        ), text


PLACE = {"event": "London", "round": "3"}


def repeated(*rows: dict[str, object]) -> list[tuple[int, int]]:
    """Pairs of a duplicate and its original."""
    return list(map(tuple, find_duplicates(records_of(rows)).tolist()))


@each(
    "one, other",
    [
        (game("A", "B", moves=7, round="1"), game("A", "B", moves=7, round="2")),
        (
            game("A", "B", date="1858.06.17", round="03"),
            game("A", "B", date="1858.06.17", round="(3)"),
        ),
        (game("A", "B", **PLACE), game("A", "B", date="1858.06.17", **PLACE)),
        (game("A", "B", **PLACE), game("A", "B", round="3", event="LONDON", moves=7)),
        (game("Morphy, P", "B", moves=7), game("Morphy, P.", "B", moves=7)),
    ],
)
def test_the_same_game(one: dict[str, object], other: dict[str, object]) -> None:
    assert len(repeated(one, other)) == len(repeated(other, one)) == 1


@each(
    "one, other",
    [
        (game("A", "B", moves=7), game("B", "A", "0-1", moves=7)),  # colours
        (game("A", "B", round="?", event="London"), game("A", "B", round="?", event="London")),
        (game("A", "B", **PLACE), game("A", "B", event="London", round="4")),
        (game("A", "B", **PLACE), game("A", "B", event="Paris", round="3")),
        (game("A", "B", "2-0", games="2", **PLACE), game("A", "B", "2-0", games="2", **PLACE)),
    ],
)
def test_different_games(one: dict[str, object], other: dict[str, object]) -> None:
    assert repeated(one, other) == repeated(other, one) == []


def test_the_original_has_moves_and_the_most_exact_date() -> None:
    rows = [
        game("A", "B", **PLACE),
        game("A", "B", moves=7, **PLACE),
        game("A", "B", date="1858.06.17", moves=7),
        game("A", "B", date="1858.06.17", moves=7),
    ]
    assert repeated(*rows) == [(0, 2), (1, 2), (3, 2)]
    assert repeated(*rows[:2]) == [(0, 1)]


def test_unused_records_are_not_compared() -> None:
    unnamed, unfinished = game("A", "NN", moves=7), game("A", "B", "*")
    assert repeated(unnamed, unnamed, unfinished, unfinished) == []


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "white": st.sampled_from("AB"),
            "black": st.sampled_from("CD"),
            "result": st.sampled_from(["1-0", "0-1"]),
            "date": st.sampled_from(
                ["1858", "1858.06", "1858.06.17", "1858.06.18", "1858.07", "1859"]
            ),
            "moves": st.sampled_from([0, 0, 7, 8]),
            "round": st.sampled_from(["", "1", "2"]),
            "event": st.sampled_from(["", "x"]),
        }
    ),
    max_size=14,
)


def same_game(records: Records, one: int, other: int) -> bool:
    """The rule, for two records, as the documentation has it."""
    if any(
        column[one] != column[other]
        for column in (records.white_written, records.black_written, records.result)
    ):
        return False
    parts = [records.date[row].split(".") for row in (one, other)]
    if any(mine != theirs for mine, theirs in zip(*parts, strict=False)):
        return False
    moves = records.moves[one], records.moves[other]
    if all(moves):
        return bool(moves[0] == moves[1])
    if not records.round[one] or records.round[one] != records.round[other]:
        return False
    full = len(parts[0]) == len(parts[1]) == 3
    return full or bool(records.event[one] and records.event[one] == records.event[other])


@pytest.mark.slow
@examples(30)
@given(ROWS)
def test_by_comparing_all_with_all(rows: list[dict[str, object]]) -> None:
    """Every duplicate is of the same game as another record, and no two that are kept are."""
    if not rows:
        return
    records = records_of(rows)
    found = find_duplicates(records)
    again = set(found[:, 0].tolist())
    kept = [row for row in range(len(records)) if row not in again]
    for row in again:
        assert any(same_game(records, row, other) for other in range(len(records)) if other != row)
    assert set(found[:, 1].tolist()) <= set(kept)
    assert not any(
        same_game(records, one, other) for i, one in enumerate(kept) for other in kept[i + 1 :]
    )
