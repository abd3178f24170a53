import csv
import io
import json
from pathlib import Path

import pytest

from tests.support.handmade import RECORDS, put_small_run, write_small_run
from ttt_cli.cli import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTT_RUN", raising=False)
    put_small_run(tmp_path / "a.ttt")
    return tmp_path


def test_words_of_the_name_are_joined_and_rows_are_tsv(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["player", "paul", "morphy"]) == 0
    assert capsys.readouterr() == (
        "player\tperiod\tmean\tsd\tgames\n"
        "Morphy, Paul\t1857\t1000.0\t50.0\t2\nMorphy, Paul\t1858\t1003.0\t50.0\t3\n",
        "a.ttt: 7 games 1857-1862\n",
    )


def test_csv_and_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["player", "morphy", "-f", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0]) == ["player", "period", "mean", "sd", "games"]
    assert main.run(["player", "morphy", "-f", "json", "-o", "m.json"]) == 0
    assert [row["player"] for row in json.loads((here / "m.json").read_text())] == [
        row["player"] for row in rows
    ]


def test_a_shared_surname_is_decided_with_a_line_on_stderr(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    brother = [("1862", "Morphy, Alonzo", "Paulsen, Louis", "0-1")]
    put_small_run(here / "b.ttt", [*RECORDS[:2] * 6, *brother])
    assert main.run(["player", "morphy", "-r", "b.ttt"]) == 0
    out, err = capsys.readouterr()
    assert "Alonzo" not in out
    assert "not Morphy, Alonzo (1 game, 1862)" in err
    assert main.run(["player", "morphy", "-r", "b.ttt", "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_unknown_and_ambiguous_names_exit_2(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["player", "Morfy"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "did you mean 'Morphy, Paul'?" in err
    put_small_run(here / "b.ttt", [*RECORDS, ("1862", "Morphy, Alonzo", "Paulsen, Louis", "0-1")])
    assert main.run(["player", "morphy", "-r", "b.ttt"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "  Morphy, Paul (5 games, 1857 to 1858)\n  Morphy, Alonzo (1 game, 1862)\n" in err


def test_a_fit_that_had_not_converged_is_pointed_out(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_small_run(here / "b.ttt", converged=False)
    assert main.run(["player", "morphy", "-r", "b.ttt"]) == 0
    assert "not converged" in capsys.readouterr().err


def test_no_run_exits_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTT_RUN", raising=False)
    assert main.run(["player", "morphy"]) == 2
    assert "ttt fit" in capsys.readouterr().err
