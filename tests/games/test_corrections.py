"""Corrections of games: what each action changes, what is refused, and what a run keeps of them."""

import io
from pathlib import Path

import numpy as np
import pytest

from tests.support.cases import each
from ttt_cli import api
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.support.errors import DataError, LookupFailed

GAMES = b"""date,white,black,result,event
1850,"Smith, J","Paulsen, W",1-0,London
1851,"Paulsen, W","Morphy, Paul",0-1,Paris
1858,"Morphy, Paul","Anderssen, Adolf",1-0,Paris
1859,"Anderssen, Adolf","Smith, J",1/2-1/2,Paris
1860,"Anderssen, Adolf","Paulsen, Wilfried",1-0,London
1861,"Smith, J","Morphy, Paul",0-1,Berlin
"""
HEADER = "action,where,player,value,reason,source\n"
WHY = ',because,"a book, p. 5"\n'
NAMES = {
    "M": "Morphy, Paul",
    "A": "Anderssen, Adolf",
    "S": "Smith, J",
    "P": "Paulsen, W",
    "W": "Paulsen, Wilfried",
}


def corrected(tmp_path: Path, *lines: str, **data):
    """The games with corrections, whose reasons and sources are filled in."""
    file = tmp_path / "corrections.csv"
    file.write_text(HEADER + "".join(f"{line}{WHY}" for line in lines), encoding="utf-8")
    return read_games([io.BytesIO(GAMES)], DataConfig(corrections=str(file), **data))


def rows(games):
    """Games as year, White, Black and result, by letters of names."""
    letters = {name: letter for letter, name in NAMES.items()}
    texts = []
    for row in range(len(games)):
        year = (
            int(np.datetime64(int(games.date[row]), "D").astype("datetime64[Y]").astype(int)) + 1970
        )
        players = [games.players[number] for number in (games.white[row], games.black[row])]
        white, black = (letters.get(player, player) for player in players)
        texts.append(f"{year} {white}-{black} {games.outcome[row]}")
    return texts


PLAIN = ["1850 S-P 2", "1851 P-M 0", "1858 M-A 2", "1859 A-S 1", "1860 A-W 2", "1861 S-M 0"]


def changed(**lines):
    """PLAIN with some of its rows changed, by year; None: left out. Sorted by year."""
    after = [lines.get(f"y{line[:4]}", line) for line in PLAIN]
    return sorted(line for line in after if line is not None)


@each("line, expected", [
    ("drop,\"event = 'Paris' and year = 1858\",,", changed(y1858=None)),
    ("drop,\"player = 'Smith, J'\",,", changed(y1850=None, y1859=None, y1861=None)),
    ("result,year = 1859,,1-0", changed(y1859="1859 A-S 2")),
    ("result,event = 'Paris',,½-½", changed(y1851="1851 P-M 1", y1858="1858 M-A 1")),
    ("date,year = 1861,,1849-05-27", changed(y1861="1849 S-M 0")),
    ("name,event = 'London',\"Paulsen, W\",\"Paulsen, Louis\"", changed(y1850="1850 S-Paulsen, Louis 2")),
    ("name,,\"Smith, J\",\"Smythe, John\"",
     changed(y1850="1850 Smythe, John-P 2", y1859="1859 A-Smythe, John 1", y1861="1861 Smythe, John-M 0")),
    ("merge,,\"Paulsen, W\",\"Paulsen, Wilfried\"", changed(y1850="1850 S-W 2", y1851="1851 W-M 0")),
    ("split,year >= 1859,\"Smith, J\",\"Smith, J (son)\"",
     changed(y1859="1859 A-Smith, J (son) 1", y1861="1861 Smith, J (son)-M 0")),
])  # fmt: skip
def test_each_action(line, expected, tmp_path):
    games = corrected(tmp_path, line)
    assert rows(games) == expected
    assert list(games.players) == sorted(games.players)
    (problem,) = games.report.problems
    assert problem.reason == "correction"
    assert problem.line == 2
    assert problem.detail.endswith("because (a book, p. 5)")


def test_corrections_follow_each_other(tmp_path):
    games = corrected(
        tmp_path,
        'merge,,"Paulsen, W","Paulsen, Wilfried"',
        "drop,\"white = 'Paulsen, Wilfried'\",,",
        'name,,"Morphy, Paul","Morphy, P. C."',
    )
    assert rows(games)[:2] == ["1850 S-W 2", "1858 Morphy, P. C.-A 2"]


def test_dates_are_as_exact_as_written(tmp_path):
    games = corrected(
        tmp_path,
        "date,year = 1858,,1858-06",
        "date,year = 1859,,1859-07-04",
        "date,year=1850,,1850",
    )
    assert games.date_precision.tolist() == [0, 0, 1, 2, 0, 0]
    reasons = [problem.reason for problem in games.report.problems]
    assert reasons == ["correction", "correction", "corrections of no game"]


def test_unused_ones_are_reported(tmp_path):
    lines = (
        "drop,year = 1700,,",
        'merge,,"Paulsen, W","Nobody, N"',
        'name,,"Nobody, N",X',
        "result,year = 1858,,1-0",
    )
    games = corrected(tmp_path, *lines)
    assert rows(games) == PLAIN
    assert [(problem.line, problem.reason) for problem in games.report.problems] == [
        (number, "corrections of no game") for number in (2, 3, 4, 5)
    ]


def test_none_changes_anything_bit_for_bit(tmp_path):
    plain = api.fit(read_games([io.BytesIO(GAMES)]), "ttt").skills()
    assert api.fit(corrected(tmp_path, "drop,year = 1700,,"), "ttt").skills().equals(plain)


@each("line, message", [
    ("remove,year = 1850,,", r"corrections\.csv:2: no action 'remove'"),
    ("drop,,,", ":2: drop needs where"),
    ("drop,year = 1850,,x", ":2: drop has no value, but there is 'x'"),
    ("result,year = 1850,,2-5", ":2: '2-5' is no result"),
    ("date,year = 1850,,1850-13", ":2: '1850-13' is no date"),
    ("drop,yeer = 1850,,", ":2: games have no field 'yeer'"),
    ("drop,year 1850,,", ":2: =, !=, <.* is expected before '1850'"),
    ("merge,year = 1850,a,b", ":2: merge has no where"),
    ("split,event = 'x',a,b", ":2: split needs a condition on the year or date"),
    ('name,,"Paulsen, W","Morphy, Paul"', ":2: Morphy, Paul would play himself"),
    ("drop,year = 1850,", ":2: a row of 5 cells below 6"),
])  # fmt: skip
def test_what_is_refused(line, message, tmp_path):
    with pytest.raises(DataError, match=message):
        corrected(tmp_path, line)


def test_reasons_and_columns_are_needed(tmp_path):
    file = tmp_path / "corrections.csv"
    for text, message in (
        (f"{HEADER}drop,year = 1850,,,,Winter\n", "drop needs reason"),
        (f"{HEADER}drop,year = 1850,,,because,\n", "drop needs source"),
        ("action,where\n", "has the columns action, where"),
        ("\n", "has no corrections"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=message):
            read_games([io.BytesIO(GAMES)], DataConfig(corrections=str(file)))


def test_under_strict_only_unused_ones_are_errors(tmp_path):
    assert len(corrected(tmp_path, "drop,year = 1850,,", strict=True)) == 5
    with pytest.raises(DataError, match="corrections of no game"):
        corrected(tmp_path, "drop,year = 1700,,", strict=True)


def test_a_run_keeps_what_was_corrected(tmp_path):
    games = corrected(tmp_path, "drop,year = 1850,,", "drop,year = 1700,,")
    run = api.fit(games, "ttt", output=tmp_path / "a.ttt")
    stored = run.stored_games()
    assert stored.report == games.report
    assert stored.report.corrections.path.endswith("corrections.csv")
    assert run.query("SELECT count(*) FROM problems").iloc[0, 0] == 2
    new_file = tmp_path / "new.csv"
    new_file.write_text("date,white,black,result\n1870,Ann,Bob,1-0\n")
    updated = api.update(run, str(new_file))
    assert len(updated.stored_games()) == 6


def test_doubt_shows_what_corrections_change(tmp_path):
    run = api.fit(read_games([io.BytesIO(GAMES)]), "ttt")
    file = tmp_path / "corrections.csv"
    file.write_text(f"{HEADER}result,year = 1859,,0-1{WHY}drop,year = 1700,,{WHY}")
    frame = api.doubt(run, corrections=file, each=True).set_index(["player", "period"])
    text = GAMES.replace(b'"Smith, J",1/2-1/2', b'"Smith, J",0-1')
    exact = (
        api.fit(read_games([io.BytesIO(text)]), "ttt")
        .skills()
        .set_index(["player", "period"])["mean"]
    )
    assert len(frame) > 3
    for key, mean in frame["mean_without"].items():
        assert mean == pytest.approx(exact[key], abs=0.05)
    file.write_text(f"{HEADER}drop,year = 1700,,{WHY}")
    with pytest.raises(LookupFailed, match="none of the 1 correction"):
        api.doubt(run, corrections=file)
