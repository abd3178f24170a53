import json
from pathlib import Path

import pytest

from tests.support.commands import Ran
from tests.support.handmade import RECORDS, put_small_run


def test_words_of_the_name_are_joined_and_rows_are_tsv(here: Path, ran: Ran) -> None:
    assert ran("player paul morphy") == (
        "player\tperiod\tmean\tsd\tgames\n"
        "Morphy, Paul\t1857\t1000.0\t50.0\t2\nMorphy, Paul\t1858\t1003.0\t50.0\t3\n",
        "a.ttt: 7 games 1857-1862\n",
    )


def test_a_shared_surname_is_decided_with_a_line_on_stderr(here: Path, ran: Ran) -> None:
    brother = [("1862", "Morphy, Alonzo", "Paulsen, Louis", "0-1")]
    put_small_run(here / "b.ttt", [*RECORDS[:2] * 6, *brother])
    out, err = ran("player morphy -r b.ttt")
    assert "Alonzo" not in out
    assert "not Morphy, Alonzo (1 game, 1862)" in err
    assert ran("player morphy -r b.ttt -q").err == ""


def test_a_table_is_followed_by_record_and_upsets(here: Path, ran: Ran) -> None:
    out = ran("player morphy -f table").out
    assert out.startswith("Morphy, Paul\n")
    assert "\nMorphy, Paul: +3 =1 -1\n" in out
    assert "\nWins against the odds\n" in out
    assert "a.pgn" not in out


@pytest.mark.slow
def test_record_and_upsets_as_rows(here: Path, ran: Ran) -> None:
    rows = json.loads(ran("player morphy --record -f json").out)
    assert [(row["period"], row["colour"], row["wins"]) for row in rows] == [
        ("1857", "both", 1), ("1857", "white", 1), ("1858", "both", 2), ("1858", "white", 1), ("1858", "black", 1),
    ]  # fmt: skip
    header, *wins = ran("player morphy --upsets -f csv").out.splitlines()
    assert header == "player,date,opponent,p_win,colour,mean,opponent_mean,file,line"
    assert len(wins) == 1
    assert "as_white" in ran("player morphy --record -f table").out


@pytest.mark.slow
def test_the_history_is_drawn_and_told(here: Path, ran: Ran) -> None:
    out, err = ran("player Anderssen -f csv --plot a.svg")
    assert out.startswith("player,period,mean,sd,games")
    assert "a.svg written" in err
    assert "Anderssen, Adolf" in (here / "a.svg").read_text(encoding="utf-8")
