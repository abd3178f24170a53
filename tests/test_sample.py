"""The games that come with the project: complete, well formed, and the famous ones playable to their end."""

from __future__ import annotations

import io
import re
import runpy
from collections import Counter
from datetime import date
from pathlib import Path

import chess.pgn
import numpy as np
import pytest

from ttt_cli import read_games
from ttt_cli.games.table import (
    GAME_COLUMNS,
    PRECISION_DAY,
    PRECISION_MONTH,
    PRECISION_YEAR,
    Games,
)

SAMPLE = Path(__file__).parents[1] / "sample_pgn"
ROSTER = ["Event", "Site", "Date", "Round", "White", "Black", "Result"]
GAME = re.compile(
    "".join(rf'\[{tag} "([^"\n]+)"\]\n' for tag in ROSTER) + r"\n(1-0|0-1|1/2-1/2)\n", re.MULTILINE
)

# White's surname: half-moves, whether the last one mates.
FAMOUS = {
    ("Anderssen", "1851"): (45, True),
    ("Anderssen", "1852"): (47, True),
    ("Morphy", "1858"): (33, True),
    ("Zukertort", "1883"): (65, False),
    ("Steinitz", "1895"): (49, False),
    ("Pillsbury", "1896"): (64, True),
    ("Rotlewi", "1907"): (50, False),
    ("Levitsky", "1912"): (46, False),
    ("Lasker", "1912"): (35, True),
    ("Capablanca", "1924"): (103, False),
    ("Reti", "1925"): (84, False),
    ("Botvinnik", "1938"): (81, False),
    ("Byrne", "1956"): (82, True),
}


@pytest.fixture(scope="module")
def classics() -> list[dict[str, str]]:
    games = (SAMPLE / "classics.pgn").read_text(encoding="ascii").split("\n\n[")
    rows = []
    for number, text in enumerate(games):
        match = GAME.fullmatch(("[" if number else "") + text.rstrip("\n") + "\n")
        assert match, text
        assert match[7] == match[8]
        rows.append(dict(zip(ROSTER, match.groups(), strict=False)))
    return rows


@pytest.fixture(scope="module")
def games() -> Games:
    return read_games(SAMPLE / "classics.pgn")


def test_classics_are_all_there(classics: list[dict[str, str]]) -> None:
    assert len(classics) == 16_850
    assert len({name for row in classics for name in (row["White"], row["Black"])}) == 622
    assert Counter(row["Result"] for row in classics) == {
        "1-0": 6_534,
        "0-1": 5_147,
        "1/2-1/2": 5_169,
    }


def test_classics_have_two_players_and_a_date_and_are_sorted(
    classics: list[dict[str, str]],
) -> None:
    for row in classics:
        assert row["White"] != row["Black"]
        assert "?" not in row["White"] + row["Black"]
        assert re.fullmatch(r"1[89]\d\d\.(\?\?\.\?\?|\d\d\.(\?\?|\d\d))", row["Date"])
        known = row["Date"].partition(".??")[0].split(".")
        assert date(*[*map(int, known), 1, 1][:3])
    dates = [row["Date"] for row in classics]
    assert dates == sorted(dates)
    assert (dates[0][:4], dates[-1][:4]) == ("1834", "1941")


def test_the_script_corrects_what_the_readme_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts, made = tmp_path / "results.csv", tmp_path / "made.pgn"
    facts.write_text(
        "date,white,black,result,event,site,round\n"
        '1851.??.??,"Anderssen, Adolf","Szen, Josef",1-0,,,\n'  # the same as the next
        '1851.??.??,"Anderssen, Adolf","Szen, Jozsef",1-0,London,London,1\n'
        '1851.??.??,"Anderssen, Adolf","Szen, Josef",0-1,,,\n'  # another game
        '1850.??.??,"Bird, Henry Edward","Boden, Samuel Standige",1-0,London,London,\n'
        '1931.??.??,Savielly Tartakower,"Sultan Khan, Mir",0-1,Semmering Match AUT,10,\n'
        '1926.06.31,"Reti, Richard","Steiner, Endre",1-0,Budapest,Budapest,6\n'
        '1932.??.??,"Sultan Khan, Mir",Fred Dewhirst Yates,1-0,London ENG,2,\n'
        '1867.??.??,"Anderssen, Adolf","Mieses, Jacques",1-0,Breslau m,Breslau,\n',
        encoding="utf-8",
    )
    monkeypatch.setattr("sys.argv", ["make_classics.py", str(facts), "-o", str(made)])
    runpy.run_path(str(SAMPLE / "make_classics.py"), run_name="__main__")
    rows = [
        [match[7], *match.group(3, 5, 6, 2, 4)]
        for match in GAME.finditer(made.read_text(encoding="ascii"))
    ]
    assert rows == [
        ["1-0", "1850.??.??", "Bird, Henry Edward", "Boden, Samuel Standidge", "London", "?"],
        ["1-0", "1851.??.??", "Anderssen, Adolf", "Szen, Jozsef", "London", "1"],
        ["0-1", "1851.??.??", "Anderssen, Adolf", "Szen, Jozsef", "?", "?"],
        ["1-0", "1867.??.??", "Anderssen, Adolf", "Mieses, Samuel", "Breslau", "?"],
        ["1-0", "1926.06.??", "Reti, Richard", "Steiner, Endre", "Budapest", "6"],
        ["1-0", "1932.??.??", "Sultan Khan, Mir", "Yates, Frederick", "London", "2"],
    ]


def test_every_record_of_the_classics_is_read_and_none_needs_repair(games: Games) -> None:
    assert (games.report.rows, games.report.used, len(games)) == (16_850, 16_688, 16_688)
    assert games.report.problems == ()
    assert games.report.dropped == {"simul": 162}
    precisions = Counter(games.date_precision.tolist())
    assert precisions == {PRECISION_YEAR: 16_410, PRECISION_MONTH: 32, PRECISION_DAY: 246}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classics.pgn", "famous.pgn"])
def test_both_readers_find_the_same_games(games: Games, name: str) -> None:
    ours = games if name == "classics.pgn" else read_games(SAMPLE / name)
    theirs = read_games(SAMPLE / name, reader="chess")
    assert ours.players == theirs.players
    for column in GAME_COLUMNS:
        if column != "source_line":
            assert np.array_equal(getattr(ours, column), getattr(theirs, column)), column


def test_famous_games_are_legal_and_end_as_they_did() -> None:
    text = (SAMPLE / "famous.pgn").read_text(encoding="ascii")
    assert max(map(len, text.split("\n"))) <= 80
    stream = io.StringIO(text)
    ends = {}
    while game := chess.pgn.read_game(stream):
        assert not game.errors
        assert list(game.headers) == ROSTER
        end = game.end()
        mates = end.board().is_checkmate()
        if mates:
            assert game.headers["Result"] == ("1-0" if end.ply() % 2 else "0-1")
        ends[game.headers["White"].split(",")[0], game.headers["Date"][:4]] = (end.ply(), mates)
    assert ends == FAMOUS
