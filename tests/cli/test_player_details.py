import json
from pathlib import Path

import pytest

from tests.support.handmade import put_small_run
from ttt_cli.cli import main


@pytest.fixture(autouse=True)
def _run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_small_run(tmp_path / "a.ttt")
    monkeypatch.setenv("TTT_RUN", str(tmp_path / "a.ttt"))


def test_a_table_is_followed_by_record_and_upsets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["player", "morphy", "-f", "table"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Morphy, Paul\n")
    assert "\nMorphy, Paul: +3 =1 -1\n" in out
    assert "\nWins against the odds\n" in out
    assert "a.pgn" not in out


def test_rows_for_programs_stay_the_history_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["player", "morphy", "-f", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_record_and_upsets_as_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["player", "morphy", "--record", "-f", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["period"], row["colour"], row["wins"]) for row in rows] == [
        ("1857", "both", 1), ("1857", "white", 1), ("1858", "both", 2), ("1858", "white", 1), ("1858", "black", 1),
    ]  # fmt: skip
    assert main.run(["player", "morphy", "--upsets", "-f", "csv"]) == 0
    header, *wins = capsys.readouterr().out.splitlines()
    assert header == "player,date,opponent,p_win,colour,mean,opponent_mean,file,line"
    assert len(wins) == 3
    assert main.run(["player", "morphy", "--record", "-f", "table"]) == 0
    assert "as_white" in capsys.readouterr().out


def test_record_and_upsets_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["player", "morphy", "--record", "--upsets"]) == 2
    assert "one or the other" in capsys.readouterr().err
