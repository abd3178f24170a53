import json
from pathlib import Path

import pytest

from ttt_cli.cli import main

pytestmark = pytest.mark.usefixtures("here")


def test_players_are_listed_and_searched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["players"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split("\t")[0] == "player"
    assert main.run(["players", "paul", "m", "-f", "json"]) == 0
    assert [row["player"] for row in json.loads(capsys.readouterr().out)] == ["Morphy, Paul"]
    assert main.run(["players", "--from", "1860", "--min-games", "5", "-n", "1", "-f", "csv"]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header == "player,first,last,games,peak_mean,peak_sd,peak_period"
    assert row.startswith('"Anderssen, Adolf",1858,1862,5,')


def test_nobody_found_is_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["players", "xyz", "-f", "json"]) == 0
    assert capsys.readouterr().out == "[]\n"
    assert main.run(["players", "xyz", "-f", "table"]) == 0
    assert "0 of 3 players" in capsys.readouterr().out


def test_parquet_of_players(tmp_path: Path) -> None:
    assert main.run(["players", "-o", str(tmp_path / "p.parquet")]) == 0
    assert (tmp_path / "p.parquet").read_bytes()[:4] == b"PAR1"
