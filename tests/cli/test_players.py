import json
from pathlib import Path

import pytest

from tests.support.commands import Ran
from ttt_cli.cli import main

pytestmark = pytest.mark.usefixtures("here")


def test_players_are_listed_and_searched(ran: Ran) -> None:
    assert ran("players").out.splitlines()[0].split("\t")[0] == "player"
    assert [row["player"] for row in json.loads(ran("players paul m -f json").out)] == ["Morphy, Paul"]
    header, row = ran("players --from 1860 --min-games 5 -n 1 -f csv").out.splitlines()
    assert header == "player,first,last,games,peak_mean,peak_sd,peak_period"
    assert row.startswith('"Anderssen, Adolf",1858,1862,5,')


def test_nobody_found_is_an_empty_list(ran: Ran) -> None:
    assert ran("players xyz -f json").out == "[]\n"
    assert "0 of 3 players" in ran("players xyz -f table").out


def test_parquet_of_players(tmp_path: Path) -> None:
    assert main.run(["players", "-o", str(tmp_path / "p.parquet")]) == 0
    assert (tmp_path / "p.parquet").read_bytes()[:4] == b"PAR1"
