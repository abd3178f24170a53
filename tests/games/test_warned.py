"""What is read although it may be meant otherwise is counted, with an example."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.support.cases import each
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.games.table import Games
from ttt_cli.reading.reports import FUTURE_DATE, KEPT, RESULT_WORDS
from ttt_cli.support.errors import DataError

HEADER = "date,white,black,result\n"


def read(rows: str, **config: object) -> Games:
    return read_games([io.BytesIO(rows.encode())], DataConfig.model_validate(config))


def warned(games: Games, reason: str) -> list[tuple[int, str, str]]:
    return [(one.line, one.detail, one.action) for one in games.report.problems if one.reason == reason]


def test_dates_in_the_future() -> None:
    rows = HEADER + "1858,A,B,1-0\n2190.01.01,A,B,1-0\n2999,A,C,0-1\n"
    (line, detail, action) = warned(read(rows), FUTURE_DATE)[0]
    assert (line, action) == (3, KEPT)
    assert detail.endswith(": 2190.01.01 1, 2999 1")


def test_wins_and_losses_by_words_are_those_of_white() -> None:
    games = read(HEADER + "1858,A,B,win\n1859,A,B,loss\n1860,A,B,draw\n1861,A,B,1-0\n")
    assert games.outcome.tolist() == [2, 0, 1, 2]
    ((line, detail, action),) = warned(games, RESULT_WORDS)
    assert (line, action) == (2, KEPT)
    assert detail == "read as those of the player named first: win 1, loss 1"
    assert not warned(read(HEADER + "1858,A,B,1-0\n"), RESULT_WORDS)


@each("written", ["1504210000000", "1504210000000.0", "1.50421E+12", "1.50421e12"])
def test_milliseconds_since_1970(written: str) -> None:
    """As in tables of Lichess, where a column `created_at` holds them."""
    rows = f"id,created_at,winner,white_id,black_id\nx,{written},white,a,b\ny,{written},draw,b,a\n"
    games = read(rows)
    assert games.date.astype("datetime64[D]").astype(str).tolist() == ["2017-08-31"] * 2
    assert games.outcome.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.txt", "ID Number      Name                         Fed  Sex Tit  SRtng SGm SK Bday\n"
                     "1503014        Carlsen, Magnus              NOR  M   GM   2830  0   10 1990\n"),
        ("list.csv", "fideid,name,country,title,rating,games,k,birthday\n1503014,Carlsen,NOR,g,2830,0,10,1990\n"),
        ("list.xml", "<?xml version='1.0'?>\n<playerslist>\n<player>\n<fideid>1</fideid><rating>2830</rating>\n"),
    ],
)  # fmt: skip
def test_a_rating_list_is_no_file_of_games(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match="is a rating list, not games") as caught:
        read_games([tmp_path / name])
    assert "--beside" in str(caught.value.hint)
