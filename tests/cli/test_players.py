import json

import pytest

from tests.support.commands import Ran

pytestmark = pytest.mark.usefixtures("here")


def test_players_are_listed_and_searched(ran: Ran) -> None:
    assert ran("players").out.splitlines()[0].split("\t")[0] == "player"
    assert [row["player"] for row in json.loads(ran("players paul m -f json").out)] == ["Morphy, Paul"]
    header, row = ran("players --from 1860 --min-games 5 -n 1 -f csv").out.splitlines()
    assert header == "player,first,last,games,peak_mean,peak_sd,peak_period"
    assert row.startswith('"Anderssen, Adolf",1858,1862,5,')
