import csv
import io
from pathlib import Path

import duckdb
import pytest

from ttt_cli.cli import main
from ttt_cli.cli.export import TABLES

HEADERS = {
    "skills": "player,period,mean,sd,games",
    "players": "player,first,last,games,wins,draws,losses,peak_period,peak_mean,peak_sd,opponents",
    "games": "period,date,white,black,result,weight,file,line",
    "evidence": "beta,tau,draw_margin,log_evidence,converged,sweeps,remaining_error",
    "draws": "year,margin,sd,level",
    "newcomers": "year,mean,sd",
    "career": "years,mean,sd",
}
COUNTS = {"skills": 13, "players": 3, "games": 7, "evidence": 1, "draws": 0, "newcomers": 0, "career": 0}


pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_its_columns_and_rows(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["export", table, "-f", "csv"]) == 0
    out, err = capsys.readouterr()
    header, *rows = csv.reader(io.StringIO(out))
    assert ",".join(header) == HEADERS[table]
    assert len(rows) == COUNTS[table]
    assert err == "a.ttt: 7 games 1857-1862\n"


@pytest.mark.parametrize("table", TABLES)
def test_parquet_holds_the_same(table: str, tmp_path: Path) -> None:
    assert main.run(["export", table, "-o", str(tmp_path / "t.parquet")]) == 0
    with duckdb.connect() as database:
        result = database.execute("SELECT * FROM read_parquet(?)", [str(tmp_path / "t.parquet")])
        assert ",".join(name for name, *_ in result.description or ()) == HEADERS[table]
        assert len(result.fetchall()) == COUNTS[table]


def test_another_table_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["export", "skill"]) == 2
    assert "skills" in capsys.readouterr().err
