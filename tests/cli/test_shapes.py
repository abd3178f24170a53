"""Files of games as they come, of chess and of other sports: each is fitted without a word of configuration."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.support.commands import Ran
from ttt_cli.cli import main
from ttt_cli.runs.run import open_run

CSV = "games.csv"
# name of the file, its text, the first and the last game as date, players and result
SHAPES = {
    "weeks": (
        CSV,
        "week,home,away,homepoints,awaypoints\n1,Jets,Bills,20,20\n2,Bills,Jets,31,7\n",
        ("2000-01-06 Jets-Bills 1/2-1/2", "2000-01-13 Bills-Jets 1-0"),
    ),
    "winners and losers": (
        CSV,
        "tourney_name,tourney_date,winner_name,loser_name,score\nOpen,20190114,A,B,6-4 6-3\nOpen,20190115,B,A,W/O\n"
        "Cup,20190301,B,A,7-6(4) RET\n",
        ("2019-01-14 A-B 1-0", "2019-03-01 B-A 1-0"),
    ),
    "football": (
        CSV,
        "Div,Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR\nE0,14/08/2010,Villa,West Ham,3,0,H\n"
        "E0,15/08/2010,Arsenal,Villa,1,1,D\nE0,16/08/2010,Villa,Arsenal,0,2,A\n",
        ("2010-08-14 Villa-West Ham 1-0", "2010-08-16 Villa-Arsenal 0-1"),
    ),
    "dates of a server": (
        "games.pgn",
        '[White "A"]\n[Black "B"]\n[Result "1-0"]\n[UTCDate "2017.03.31"]\n\n1. e4 1-0\n\n'
        '[White "B"]\n[Black "A"]\n[Date "????.??.??"]\n[Result "1-0"]\n[UTCDate "2017.04.01"]\n\n1. e4 1-0\n',
        ("2017-03-31 A-B 1-0", "2017-04-01 B-A 1-0"),
    ),
}  # fmt: skip


def shown(run: str = "games.ttt") -> list[str]:
    _, rows = open_run(run).select("SELECT date, white, black, result FROM games")
    return [f"{date} {white}-{black} {result}" for date, white, black, result in rows]


@pytest.mark.parametrize("shape", SHAPES)
def test_fitted_as_it_comes(folder: Path, shape: str) -> None:
    name, text, (first, last) = SHAPES[shape]
    (folder / name).write_text(text)
    assert main.run(["fit", name, "-q"]) == 0
    games = shown()
    assert (games[0], games[-1]) == (first, last)
    assert len(games) == (text.count("[White") or text.count("\n") - 1 - text.count("W/O"))


@pytest.mark.parametrize(
    ("date", "hint", "way", "read"),
    [
        (
            "14/08/93",
            "data.dates: dmy, mdy or ymd tells the order, data.century the century: 1900",
            ("data.dates=dmy", "data.century=1900"),
            "1993-08-14",
        ),
        (
            "17",
            "data.dates: number takes them as numbers of periods",
            ("data.dates=number",),
            "2016",
        ),
    ],
)
def test_dates_that_are_refused_come_with_the_way_out(
    folder: Path, ran: Ran, date: str, hint: str, way: tuple[str, ...], read: str
) -> None:
    (folder / CSV).write_text(f"date,white,black,result\n{date},A,B,1-0\n")
    assert f"hint: {hint}: {date} 1" in ran(["fit", CSV], 3).err
    assert main.run(["fit", CSV, "-q", *(word for setting in way for word in ("-s", setting))]) == 0
    assert shown() == [f"{read} A-B 1-0"]


@pytest.mark.slow
def test_dates_that_may_be_two_days_are_used_where_the_year_is_enough(
    folder: Path, ran: Ran
) -> None:
    (folder / CSV).write_text(
        "date,white,black,result\n03/02/1921,A,B,1-0\n04/05/1921,B,A,1-0\n1922,A,B,1-0\n"
    )
    told = f"day or month first ({CSV}:2): only the year is certain, data.dates: dmy or mdy tells the order: 03/02"
    assert f"kept: {told}" in ran(["fit", CSV]).err
    assert shown() == ["1921 A-B 1-0", "1921 B-A 1-0", "1922 A-B 1-0"]
    assert f"dropped: {told}" in ran(["fit", CSV, "-s", "data.period=month"]).err
    assert shown() == ["1922 A-B 1-0"]
    assert main.run(["fit", CSV, "-q", "-s", "data.period=month", "-s", "data.dates=mdy"]) == 0
    assert shown() == ["1921-03-02 A-B 1-0", "1921-04-05 B-A 1-0", "1922 A-B 1-0"]


@pytest.mark.slow
def test_sides_have_their_names_in_views(folder: Path, ran: Ran) -> None:
    name, text, _ = SHAPES["football"]
    (folder / name).write_text(text)
    assert (
        main.run(
            ["fit", name, "-q", "-s", "data.sides=[home, away]", "-s", "model.white_advantage=60"]
        )
        == 0
    )
    for command in (["player", "Villa", "--record"], ["versus", "Villa", "Arsenal", "--record"]):
        rows = list(csv.DictReader(io.StringIO(ran([*command, "-f", "csv"]).out)))
        assert [row["side"] for row in rows] == ["both", "home", "away"]
    shown = ran("player Villa --record -f table").out
    assert "at_home" in shown
    assert "white" not in shown
    assert main.run(["report", "site/", "-r", "games.ttt", "-q"]) == 0
    page = (folder / "site" / "players" / "villa.html").read_text(encoding="utf-8")
    assert "\thome\t" in page
    assert "\twhite\t" not in page.lower()


@pytest.mark.parametrize("sides", ["[home]", "[home, Home]", "[home, '']"])
def test_sides_have_two_names(folder: Path, sides: str) -> None:
    (folder / CSV).write_text("date,white,black,result\n1999,A,B,1-0\n")
    assert main.run(["fit", CSV, "-s", f"data.sides={sides}"]) == 2
