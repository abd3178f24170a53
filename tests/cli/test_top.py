import csv
import io
import json
from pathlib import Path

import pytest

from tests.support.commands import Ran
from ttt_cli.cli import main


def rows_of(capsys: pytest.CaptureFixture[str], *args: str) -> list[dict[str, str]]:
    assert main.run(["top", *args, "-f", "csv"]) == 0
    out, err = capsys.readouterr()
    assert err == ("" if "-r" in args else "a.ttt: 7 games 1857-1862\n")
    return list(csv.DictReader(io.StringIO(out)))


@pytest.mark.slow
def test_the_forms_of_the_ranking(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [row["player"][:6] for row in rows_of(capsys, "--at", "1858")] == ["Morphy", "Anders", "Paulse"]
    assert [row["period"] for row in rows_of(capsys, "--peak", "-n", "2")] == ["1862", "1862"]
    assert [row["first"] for row in rows_of(capsys, "--years", "2", "--peak", "-n", "1")] == ["1861"]
    assert [row["rank"] for row in rows_of(capsys)] == ["1", "2"]
    assert [row["rank"] for row in rows_of(capsys, "--everyone")] == ["1", "2", "3"]
    assert len(rows_of(capsys, "--peak", "--everyone")) == 3
    assert rows_of(capsys, "--peak", "--max-sd", "1") == []


def test_json_and_table(here: Path, ran: Ran) -> None:
    (row,) = json.loads(ran("top --at 1858 -f json -n 1").out)
    assert list(row) == ["rank", "player", "period", "mean", "sd", "games", "p_best"]
    out = ran("top --at 1858 -f table").out
    assert out.startswith("The best of 1858\n3 players are eligible: active within 2 years\n")
