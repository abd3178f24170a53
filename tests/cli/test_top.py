import csv
import io
import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.commands import Ran
from ttt_cli.cli import main


def rows_of(capsys: pytest.CaptureFixture[str], *args: str) -> list[dict[str, str]]:
    assert main.run(["top", *args, "-f", "csv"]) == 0
    out, err = capsys.readouterr()
    assert err == ("" if "-r" in args else "a.ttt: 7 games 1857-1862\n")
    return list(csv.DictReader(io.StringIO(out)))


@pytest.fixture(scope="module")
def classics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("classics") / "classics.ttt"
    assert main.run(["fit", str(ROOT / "sample_pgn" / "classics.pgn"), "-o", str(run), "-q"]) == 0
    return run


@pytest.mark.slow
def test_the_leaders_of_the_classics(classics: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = {"1858": "Morphy", "1872": "Steinitz", "1896": "Lasker", "1921": "Capablanca"}
    each = {row["period"]: row for row in rows_of(capsys, "-r", str(classics), "--leaders", "--each")}
    reigns = rows_of(capsys, "-r", str(classics), "--leaders")
    for year, surname in known.items():
        (best,) = rows_of(capsys, "-r", str(classics), "--at", year, "-n", "1")
        assert best["player"] == each[year]["player"]
        assert best["player"].startswith(f"{surname},")
        assert float(best["p_best"]) == pytest.approx(float(each[year]["p_best"]), abs=1e-6)
        (reign,) = [row for row in reigns if row["first"] <= year <= row["last"]]
        assert reign["player"] == best["player"]
    assert sum(int(row["years"]) for row in reigns) == len(each)


@pytest.mark.slow
def test_somebody_of_the_classics_is_the_best(classics: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(capsys, "-r", str(classics), "--at", "1914", "-n", "0")
    assert len(rows) > 40
    assert sum(float(row["p_best"]) for row in rows) == pytest.approx(1.0, abs=1e-6)
    means = [float(row["mean"]) for row in rows]
    assert means == sorted(means, reverse=True)


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
