"""Commands that say what is known of players, and that choose players by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttt_cli.cli import main

PEOPLE = "name,born,federation\nAnn,1880,SUI\nBob,1890,GER\n"
GAMES = "date,white,black,result\n1900,Ann,Bob,1-0\n1901,Bob,Cid,1-0\n1902,Cid,Ann,0-1\n"


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.csv").write_text(GAMES, encoding="utf-8")
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    assert main.run(["fit", "games.csv", "--people", "people.csv", "-c", "elo", "-o", "a.ttt"]) == 0
    said = capsys.readouterr().err
    assert "people.csv: 2 people, 2 of 3 players known, 2 with a birth" in said
    return tmp_path


def test_people_are_columns_and_conditions_in_every_command(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def out(*arguments: str) -> list[str]:
        assert main.run([*arguments, "-q", *([] if arguments[0] == "plot" else ["-f", "csv"])]) == 0
        return capsys.readouterr().out.splitlines()

    header, first, *_ = out("top", "--everyone", "--where", "age < 20", "--columns", "born,age")
    assert header.endswith(",born,age")
    assert (first.split(",")[1], first.split(",")[-2:]) == ("Bob", ["1890", "12"])
    assert out(
        "top", "--leaders", "--everyone", "--where", "federation = 'GER'", "--columns", "federation"
    )[1].endswith(",GER")
    assert [line.split(",")[0] for line in out("players", "--where", "born is null")[1:]] == ["Cid"]
    assert out("players", "--columns", "federation")[1].endswith(",SUI")
    assert [line.split(",")[-1] for line in out("player", "ann", "--columns", "age")[1:]] == [
        "20",
        "21",
        "22",
    ]
    assert out("export", "people") == ["player,born,federation", "Ann,1880,SUI", "Bob,1890,GER"]
    assert out("export", "people", "--where", "born > 1885")[1:] == ["Bob,1890,GER"]
    assert len(out("export", "skills", "--where", "age = 20", "--columns", "age")) == 2
    out("plot", "--kind", "ages", "-o", "ages.svg")
    assert "age" in (here / "ages.svg").read_text(encoding="utf-8")


def test_tables_of_no_player_take_neither(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["export", "games", "--where", "age < 20"]) == 2
    assert "--where goes with skills, players, people" in capsys.readouterr().err
    assert main.run(["export", "people", "--columns", "age"]) == 2
    assert "--columns goes with skills, players" in capsys.readouterr().err
    assert main.run(["player", "ann", "--record", "--columns", "age"]) == 2
    assert main.run(["top", "--where", "age <"]) == 2
    assert "hint: for instance --where" in capsys.readouterr().err
