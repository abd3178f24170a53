from pathlib import Path

import pytest

from tests.support.builders import make_games
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games import suspects as look_alikes
from ttt_cli.games.read import read_games
from ttt_cli.games.suspects import find_suspects
from ttt_cli.games.table import Games
from ttt_cli.reading.reports import FileReport, ReadReport
from ttt_cli.views.ingest import warning_lines

PLAIN = [(1857, "Morphy, Paul", "Paulsen, Louis", 2), (1858, "Anderssen, Adolf", "Morphy, Paul", 0)]


def noticed(**counts: int) -> Games:
    report = ReadReport((FileReport("a.pgn", "pgn", "", 0, 2, 2, {}, counts),))
    games = make_games(PLAIN)
    object.__setattr__(games, "report", report)
    return games


def test_good_games_leave_no_doubt() -> None:
    assert list(warning_lines(make_games(PLAIN))) == []
    assert list(warning_lines(make_games([]))) == []


def test_groups_are_not_comparable() -> None:
    (line,) = warning_lines(make_games([*PLAIN, (1860, "Boden, Samuel", "Bird, Henry", 1)]))
    assert line.startswith("2 groups of players without games between them: their levels are not comparable")
    assert line.endswith(
        "the largest has 3 players, 2 are outside it; -s data.filter.largest_group=true keeps it alone"
    )


def test_what_the_reading_noticed() -> None:
    (line,) = warning_lines(noticed(duplicate=1))
    assert line == "1 row repeats another and counts again: -s data.filter.dedupe=true uses one"
    (line,) = warning_lines(noticed(duplicate=1200))
    assert line.startswith("1,200 rows repeat another")
    (line,) = warning_lines(noticed(team=2, engine=3))
    assert line == "5 rows of teams or computers: data.drop can leave them out"


def test_names_of_two_people_and_two_names_of_one() -> None:
    long = [(year, f"P{i}, Q{i}", "Morphy, Paul", 1) for i in range(4) for year in (1800 + i, 1861 + 2 * i)]
    lines = list(warning_lines(make_games(long)))
    assert lines[0] == (
        "5 names with games over 60 years apart, perhaps two people: Morphy, Paul; P3, Q3; P2, Q2; ..."
    )
    (line,) = warning_lines(make_games([*PLAIN, (1859, "Anderssen, A", "Paulsen, Louis", 1)]))
    assert line == "1 pair of names may be one person's: review them with `ttt names FILE...`"
    assert (
        list(warning_lines(make_games([*PLAIN, (1859, "Anderssen, A", "Paulsen, Louis", 1)]), suspects=False))
        == []
    )


def test_names_that_were_not_compared_are_told(monkeypatch) -> None:
    games = make_games([*PLAIN, (1859, "Anderssen, A", "Paulsen, Louis", 1)])
    monkeypatch.setattr(look_alikes, "MOST", 0)
    assert list(warning_lines(games)) == ["2 names of frequent surnames not compared with all of their like"]


@pytest.mark.slow
def test_names_are_compared_however_many_there_are() -> None:
    many = [(1859, f"Player{i:05}, Xy", "Paulsen, Louis", 1) for i in range(12_000)]
    lines = list(warning_lines(make_games([*PLAIN, *many, (1859, "Anderssen, A", "Paulsen, Louis", 1)])))
    assert lines == ["1 pair of names may be one person's: review them with `ttt names FILE...`"]


def test_doubts_about_people_are_of_chess_alone(tmp_path: Path) -> None:
    rows = "".join(f"{year},Stockfish,A/B,1-0\n" for year in (1900, 1970))
    found = {}
    for header in ("date,white,black,result", "date,home_team,away_team,result"):
        (tmp_path / "a.csv").write_text(f"{header}\n{rows}")
        whole = DataConfig(filter=FilterConfig(exclude=[]))
        found[header[5:10]] = list(warning_lines(read_games([tmp_path / "a.csv"], whole)))
    assert found["home_"] == []
    assert [line.split(" of ")[0].split(" with ")[0] for line in found["white"]] == ["4 rows", "2 names"]


def test_a_country_is_not_another_one_whose_name_ends_alike(tmp_path: Path) -> None:
    rows = "".join(f"198{k},South Yemen,Oman {k},1-0\n198{k},Yemen,Oman {k},0-1\n" for k in range(5))
    for header, found in (("white,black", 1), ("home_team,away_team", 0)):
        (tmp_path / "a.csv").write_text(f"date,{header},result\n{rows}")
        assert len(find_suspects(read_games([tmp_path / "a.csv"]))) == found
