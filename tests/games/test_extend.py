"""Games added to others: as one reading of all, but for what a table of games does not tell."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.support.cases import each
from tests.support.collected import game, records_of
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games.extend import extend_games
from ttt_cli.games.read import read_games
from ttt_cli.games.table import GAME_COLUMNS, Games, games_of
from ttt_cli.reading.text_columns import TEXT_COLUMNS

OLD = [
    game(
        "Morphy, Paul",
        "Anderssen, Adolf",
        "1-0",
        "1858.12.20",
        event="Paris m",
        site="Paris",
        round="2.1",
    ),
    game("Löwenthal, Johann", "Morphy, Paul", "1/2-1/2", "1858"),
    game("Anderssen, Adolf", "Paulsen, Louis", "0-1", "1862.11.01"),
]
MATCH = [game("Anderssen, Adolf", "Harrwitz, Daniel", "2-1", "1848", games="3")]
NEW = [
    game("Paul Morphy", "LOWENTHAL, Johann", "0-1", "1858.07.02", event="London m", round="1"),
    game("Adolf Anderssen", "Kolisch, Ignatz", "1-0", "1850.01.01"),
    game("Kolisch, Ignatz", "Morphy, Paul", "1-0", "1861.06.01"),
]


def read(*files: list[dict[str, object]], data: DataConfig | None = None) -> Games:
    return games_of(records_of(*files, data=data))


def rows_of(games: Games) -> list[tuple[object, ...]]:
    names = [games.players[player] for player in games.white.tolist()]
    opponents = [games.players[player] for player in games.black.tolist()]
    rest = (
        getattr(games, name).tolist() for name in GAME_COLUMNS if name not in ("white", "black")
    )
    return list(zip(names, opponents, *rest, strict=True))


def test_all_games_are_those_of_one_reading() -> None:
    together = read(MATCH, OLD, NEW)
    extended = extend_games(read(MATCH, OLD), read(NEW))
    assert rows_of(extended.games) == rows_of(together)
    assert extended.games.players == together.players
    for name in GAME_COLUMNS:
        column = getattr(extended.games, name)
        assert column.dtype == getattr(together, name).dtype
        assert np.array_equal(column, getattr(together, name))
    for name in TEXT_COLUMNS:
        assert list(getattr(extended.games, name)) == list(getattr(together, name))
    assert extended.games.spellings == together.spellings != ()
    assert [file.used for file in extended.games.report.files] == [1, 3, 3]
    assert [file.rows for file in extended.added.report.files] == [3]
    assert rows_of(extended.added)[1][:2] == ("Morphy, Paul", "Löwenthal, Johann")
    narrow = extend_games(read(OLD), read(NEW), DataConfig(names="clean"))
    assert {"LOWENTHAL, Johann", "Löwenthal, Johann"} <= set(narrow.games.players)


def test_numbered_namesakes_and_names_that_look_like_nobody_stay_as_they_are() -> None:
    old = read([game("Ivanov, A (101)", "Ivanov, A (102)")])
    new = read([game("Ivanov, A (101)", "Xx")])
    old = Games(
        **{name: getattr(old, name) for name in GAME_COLUMNS},
        players=("Ivanov, A (101)", "NN"),
        report=old.report,
    )
    extended = extend_games(old, new)
    assert extended.games.players == ("Ivanov, A (101)", "NN", "Xx")


def test_a_game_against_himself_is_dropped_and_told() -> None:
    old = read([game("Paul Morphy", "Morphy Paul"), game("Paul Morphy", "Xx")])
    extended = extend_games(old, read([game("Morphy, Paul", "Xx")]))
    assert extended.games.players == ("Morphy, Paul", "Xx")
    first, second = extended.games.report.files
    assert (first.rows, first.used, first.dropped) == (2, 1, {"same player twice": 1})
    assert (second.rows, second.used, second.dropped) == (1, 1, {})
    (problem,) = extended.games.report.problems
    assert (problem.file, problem.line, problem.reason, problem.action) == (
        "file0", 1, "same player twice", "dropped",
    )  # fmt: skip


FULL = game("Morphy, Paul", "Anderssen, Adolf", "1-0", "1858.12.20")


@each(
    "old, new, repeats",
    [
        ([FULL], [FULL], 1),
        ([FULL], [FULL, FULL], 1),
        ([FULL, FULL], [FULL, FULL, FULL], 2),
        ([FULL], [{**FULL, "white": "Paul Morphy"}], 1),
        ([FULL], [{**FULL, "result": "0-1"}], 0),
        ([FULL], [{**FULL, "date": "1858.12.21"}], 0),
        ([FULL], [game("Anderssen, Adolf", "Morphy, Paul", "1-0", "1858.12.20")], 0),
        ([{**FULL, "date": "1858.07.02"}], [{**FULL, "date": "1858"}], 0),
        ([{**FULL, "date": "1858"}], [{**FULL, "date": "1858.07.02"}], 0),
        ([{**FULL, "date": "1858"}], [{**FULL, "date": "1858"}], 0),
        ([FULL], [{**FULL, "weight": "2"}], 0),
        ([FULL, {**FULL, "result": "0-1"}], [{**FULL, "result": "1-1", "games": "2"}], 0),
    ],
)
def test_new_records_repeat_old_ones_of_the_same_day(
    old: list[dict[str, object]], new: list[dict[str, object]], repeats: int
) -> None:
    kept = extend_games(read(old), read(new))
    assert kept.repeats == repeats
    assert kept.games.report.files[1].noticed.get("duplicate", 0) >= repeats
    assert kept.added.report.used == len(new)
    apart = DataConfig(filter=FilterConfig(dedupe=True))
    dropped = extend_games(read(old), read(new), apart)
    assert dropped.repeats == repeats
    assert dropped.added.report.used == len(new) - repeats
    assert dropped.added.report.dropped == ({"duplicate": repeats} if repeats else {})
    assert len(dropped.games) == len(kept.games) - repeats


def test_games_of_no_file_can_be_added_to() -> None:
    old, new = read(OLD), read(NEW)
    bare = Games(**{name: getattr(old, name) for name in GAME_COLUMNS}, players=old.players)
    assert len(extend_games(bare, new).games) == len(old) + len(new)


def test_a_line_limited_to_years_holds_for_teams_by_their_first_game(tmp_path: Path) -> None:
    """The team has White first, and Black many years later."""
    (tmp_path / "aliases.csv").write_text("Smythe,Smith,years=1890-1910\n")
    (tmp_path / "old.csv").write_text(
        "date,white,black,result\n1900,A / Smith,B / C,1-0\n1930,B / C,A / Smith,1-0\n"
    )
    (tmp_path / "new.csv").write_text("date,white,black,result\n1931,B / C,A / D,1-0\n")
    data = DataConfig(team_separator=" / ")
    old, new = (read_games([tmp_path / name], data) for name in ("old.csv", "new.csv"))
    named = data.model_copy(update={"aliases": str(tmp_path / "aliases.csv")})
    assert "Smythe" in extend_games(old, new, named).games.players
