from __future__ import annotations

import csv
import io
import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.commands import Ran
from ttt_cli.cli import games as games_module
from ttt_cli.cli import main
from ttt_cli.views.columns import column_names
from ttt_cli.views.ingest import SECTIONS
from ttt_cli.views.ingest_columns import RECORD_COLUMNS

GAMES = """date,white,black,result,event
1857,"Morphy, Paul","Paulsen, Louis",1-0,Match
1857,Paul Morphy,"Paulsen, L",1/2-1/2,Match
1858,"Anderssen, Adolf","Morphy, Paul",0-1,Rapid tournament
1861,"Anderssen, Adolf","Paulsen, Louis",*,
1862,"Boden, Samuel","Bird, Henry",0-1,
"""
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def here(folder: Path) -> Path:
    (folder / "games.csv").write_text(GAMES)
    return folder


def told(capsys: Capture, *args: str, code: int = 0) -> str:
    assert main.run(["games", "games.csv", *args]) == code
    return capsys.readouterr().out


def whole(capsys: Capture, *args: str) -> dict[str, list[dict[str, object]]]:
    return json.loads(told(capsys, "-f", "json", *args))  # type: ignore[no-any-return]


def total(capsys: Capture, *args: str) -> dict[str, int]:
    return whole(capsys, *args)["total"]  # type: ignore[return-value]


def test_json_is_the_whole_account(here: Path, capsys: Capture) -> None:
    found = whole(capsys)
    assert list(found) == list(SECTIONS) == list(games_module.SECTIONS)
    assert found["total"]["rows"] == 5  # type: ignore[call-overload]
    assert found["dropped"] == [{"reason": "no result", "rows": 1, "first": "games.csv:5"}]
    assert [group["players"] for group in found["groups"]] == [4, 2]


def test_tables_for_the_eye_fit_a_terminal(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = told(capsys)
    assert max(map(len, out.splitlines())) <= 80
    headings = [
        "All files",
        "Files",
        "Rows that are not used",
        "Games by year",
        "Names that may be",
    ]
    places = [out.index(heading) for heading in headings]
    assert places == sorted(places)
    assert "Games by decade" not in out


def test_the_rows_as_they_were_read(here: Path, capsys: Capture) -> None:
    rows = list(csv.reader(io.StringIO(told(capsys, "--list", "-f", "csv"))))
    assert rows[0] == list(column_names(RECORD_COLUMNS))
    assert rows[2] == [
        "games.csv",
        "3",
        "1857",
        "Morphy, Paul",
        "Paulsen, L",
        "1/2-1/2",
        "Match",
        "",
        "",
        "",
    ]
    assert len(rows) == 1 + 4
    rows = list(
        csv.reader(io.StringIO(told(capsys, "--list", "--all", "--exclude", "rapid", "-f", "csv")))
    )
    assert [row[-1] for row in rows[1:]] == ["", "", "rapid", "no result", ""]


FLAGS = {
    ("--years", "1858-1862"): {"rows": 5, "used": 2},
    ("--players", "Paul Morphy"): {"used": 3},
    ("--players", "Morphy", "--players", "Anderssen", "-s", "data.filter.among=true"): {"used": 1},
    ("--events", "match"): {"used": 2},
    ("-s", "data.filter.exclude_events=[match]"): {"used": 2},
    ("--exclude", "blindfold,rapid"): {"used": 3},
    ("--exclude", "rapid", "--exclude", "rapid"): {"used": 3},
    ("-s", "data.filter.min_games=2"): {"used": 0},
    ("-s", "data.filter.largest_group=true"): {"used": 3, "groups": 1},
    ("--aliases", "names.txt"): {"players": 5},
    ("-s", "data.max_errors=1"): {"used": 4},
}


@each("flags", FLAGS)
def test_flags_say_what_is_read(flags: tuple[str, ...], here: Path, capsys: Capture) -> None:
    (here / "names.txt").write_text('"Paulsen, Louis","Paulsen, L"\n')
    found = total(capsys, *flags)
    assert {key: found[key] for key in FLAGS[flags]} == FLAGS[flags]


def test_flags_win_over_file_and_settings(here: Path, capsys: Capture) -> None:
    (here / "a.yaml").write_text("data: {filter: {years: 1857, min_games: 9}, max_errors: 7}\n")
    assert total(capsys, "-c", "a.yaml")["used"] == 0
    assert total(capsys, "-c", "a.yaml", "-s", "data.filter.min_games=0")["used"] == 2
    assert (
        total(capsys, "-c", "a.yaml", "-s", "data.filter.min_games=0", "--years", "1858-")["used"]
        == 2
    )
    assert total(capsys, "--years", "1857", "-s", "data.filter.years=1862")["used"] == 2
    assert main.run(["games", "games.csv", "-c", "a.yaml", "-s", "data.max_errors=0"]) == 3


def test_suggestions_are_written_and_can_be_applied(here: Path, ran: Ran, capsys: Capture) -> None:
    printed = told(capsys, "--suggest", "-")
    assert printed.splitlines()[2] == '"Paulsen, Louis","Paulsen, L"'
    out, err = ran("games games.csv --suggest names.txt --only suspects")
    assert len(out.splitlines()) == 2
    assert (
        err == "1 suggestion written to names.txt: check it, then use it with --aliases names.txt\n"
    )
    assert (here / "names.txt").read_text() == printed
    assert total(capsys, "--aliases", "names.txt")["players"] == 5
    assert total(capsys, "--aliases", "names.txt")["suspects"] == 0


def test_in_a_pipe_suggestions_are_all_that_is_made_of_them(
    here: Path, ran: Ran, capsys: Capture
) -> None:
    """The report only where somebody looks, or with an option that asks for it."""
    assert ran("games games.csv --suggest names.txt").out == ""
    assert (here / "names.txt").read_text().startswith("#")
    for asked in (["-f", "tsv"], ["--only", "total"]):
        assert told(capsys, "--suggest", "names.txt", *asked) == told(capsys, *asked) != ""


BROKEN = "date,white,black,result\n?,A,B,1-0\n1858,A,,1-0\n1858,A,A,1-0\nshort\n"


def test_a_file_in_which_nothing_can_be_used_is_reported_all_the_same(
    here: Path, ran: Ran, capsys: Capture
) -> None:
    (here / "games.csv").write_text(BROKEN)
    said = ran("games games.csv -f json")
    found = json.loads(said.out)
    assert (found["total"]["rows"], found["total"]["used"]) == (4, 0)
    reasons = ["bad row", "no date", "no player", "same player twice"]
    assert sorted((row["reason"], row["rows"]) for row in found["dropped"]) == [
        (why, 1) for why in reasons
    ]
    assert said.err.startswith("warning: games.csv: none of its 4 records can be used: ")
    rows = list(csv.DictReader(io.StringIO(told(capsys, "--list", "--all", "-f", "csv"))))
    assert [row["problem"] for row in rows] == [
        "no date",
        "no player",
        "same player twice",
        "bad row",
    ]
    assert told(capsys, "-s", "data.strict=true", code=3) == ""
    assert told(capsys, "--list").splitlines() == ["\t".join(column_names(RECORD_COLUMNS))]
    assert "Rows that are not used" in told(capsys, "-f", "table")


def test_formulas_are_marked_on_request(here: Path, capsys: Capture) -> None:
    (here / "games.csv").write_text(GAMES.replace("Morphy, Paul", "=cmd()"))
    assert "'=cmd()" not in told(capsys, "--list", "-f", "csv")
    assert "'=cmd()" in told(capsys, "--list", "-f", "csv", "--safe-csv")
    assert "'=cmd()" not in told(capsys, "--list", "-f", "csv")


@pytest.mark.skipif(sys.platform != "linux", reason="others take no such names")
def test_names_of_files_that_are_not_utf8(here: Path, ran: Ran) -> None:
    name = os.fsdecode(b"\xff.csv")
    (here / name).write_text(GAMES)
    (here / "loop").symlink_to("loop")
    assert main.run(["fit", name, "-q", "-o", "a.ttt"]) == 0
    assert "\\udcff.csv,2," in ran(["games", name, "--list", "--all", "-f", "csv"]).out
    assert "must be UTF-8" in ran(["fit", "games.csv", "-q", "-o", os.fsdecode(b"\xff.ttt")], 2).err
    for arguments, code in (
        (["games", "loop"], 3),
        (["fit", "games.csv", "-o", "loop"], 2),
        (["top", "-r", "loop"], 2),
    ):
        assert "unexpected" not in ran(arguments, code).err
