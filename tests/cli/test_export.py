import csv
import io

import pytest

from tests.support.cases import each
from tests.support.commands import Ran
from ttt_cli.cli.export import TABLES

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
