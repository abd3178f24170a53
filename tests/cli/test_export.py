import csv
import io
from pathlib import Path

import duckdb
import pytest

from tests.support.cases import each
from tests.support.commands import Ran
from ttt_cli.cli import main
from ttt_cli.cli.export import TABLES
from ttt_cli.runs.run import open_run

HEADERS = {
    "skills": "player,period,mean,sd,games",
    "players": "player,first,last,games,wins,draws,losses,peak_period,peak_mean,peak_sd,opponents",
    "games": "period,date,white,black,result,weight,file,line,event,site,round,neutral",
    "evidence": "beta,tau,draw_margin,log_evidence,converged,sweeps,remaining_error",
    "draws": "year,margin,sd,level",
    "newcomers": "year,mean,sd",
    "career": "years,mean,sd",
}
COUNTS = {"skills": 13, "players": 3, "games": 7, "evidence": 1, "draws": 0, "newcomers": 0, "career": 0}


pytestmark = pytest.mark.usefixtures("here")


@each("table", TABLES)
def test_every_table_has_its_columns_and_rows(table: str, ran: Ran) -> None:
    out, err = ran(["export", table, "-f", "csv"])
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


@pytest.mark.slow
def test_event_site_and_round_are_kept(tmp_path: Path, ran: Ran) -> None:
    rows = [
        "1861,A,B,1,1,Late,Paris,2",
        "1858,B,C,3,5,Early,,1",
        "1859,C,A,0,1,,London,",
        "1862,A,C,1,1,Late,Paris,3",
    ]
    file = tmp_path / "texts.csv"
    file.write_text("date,white,black,score,games,event,site,round\n" + "\n".join(rows) + "\n")
    run = str(tmp_path / "texts.ttt")
    assert main.run(["fit", str(file), "-q", "-o", run]) == 0
    found = list(csv.DictReader(io.StringIO(ran(["export", "games", "-f", "csv", "-r", run]).out)))
    texts = [" ".join(row[name] or "-" for name in ("date", "event", "site", "round")) for row in found]
    assert texts == ["1858 Early - 1"] * 2 + ["1859 - London -", "1861 Late Paris 2", "1862 Late Paris 3"]
    frame = open_run(run).games()
    assert [
        " ".join(text or "-" for text in row[2:])
        for row in frame[["date", "white", "event", "site", "round"]].values
    ] == [text.partition(" ")[2] for text in texts]
