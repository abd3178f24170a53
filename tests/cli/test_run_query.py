"""Which run answered is said when nobody named it; names of files say the format or are refused."""

import re
from pathlib import Path

import pytest

from ttt_cli.cli import console
from ttt_cli.cli.main import run as ttt

SAID = "a.ttt: 7 games 1857-1862\n"


pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    ["player Morphy", "players", "top", "top --leaders", "versus Morphy Paulsen", "export skills", "evidence",
     "plot -o x.svg", "report -o x.html"],
)  # fmt: skip
def test_the_run_is_said_unless_it_was_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ttt(command.split()) == 0
    assert capsys.readouterr().err.startswith(SAID)
    assert ttt([*command.split(), "-q"]) == 0
    assert capsys.readouterr().err == ""
    assert ttt([*command.split(), "-r", "a.ttt"]) == 0
    assert SAID not in capsys.readouterr().err


@pytest.mark.slow
def test_a_table_says_it_in_its_title_and_an_error_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "on_terminal", lambda: True)
    assert ttt(["player", "Morphy"]) == 0
    out, err = capsys.readouterr()
    assert SAID not in err
    assert "a.ttt: ttt, 7 games 1857-1862" in out
    assert ttt(["player", "Nobody"]) == 2
    assert capsys.readouterr().err.startswith(f"{SAID}a.ttt: no player 'Nobody'")
    assert ttt(["top", "--at", "1700"]) == 2
    assert capsys.readouterr().err.startswith(SAID)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.PGN", "x.csv.gz"])
def test_a_run_is_not_called_a_table(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "g.csv").write_text("date,white,black,result\n1857,a,b,1-0\n")
    assert ttt(["fit", "g.csv", "-o", name]) == 2
    err = capsys.readouterr().err
    assert f"{name}: a run is a database" in err
    assert ".ttt" in err
    assert not (here / name).exists()


@pytest.mark.parametrize("command", ["export skills", "player Morphy", "players", "top", "evidence"])
def test_a_table_in_a_format_nobody_knows_is_an_error(
    command: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ttt([*command.split(), "-o", "s.xlsx"]) == 2
    assert re.search(r"s\.xlsx.*csv, tsv, json, jsonl, parquet", capsys.readouterr().err)
    assert not (here / "s.xlsx").exists()
    assert ttt([*command.split(), "-o", "s.xlsx", "-f", "csv"]) == 0
    assert (here / "s.xlsx").read_text().count(",") > 3


def test_a_matched_slope_needs_anchors(capsys: pytest.CaptureFixture[str]) -> None:
    assert ttt(["top", "--scale", "matched"]) == 2
    assert "there are none" in capsys.readouterr().err
