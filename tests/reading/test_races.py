"""Which columns of a table are those of orders of finish."""

import pytest

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.races import find_race_columns
from ttt_cli.support.errors import ConfigError

HEADER = ["when", "gang", "who", "came_in", "side"]


def test_configured_columns_of_participants_are_found_among_others() -> None:
    """`date` is no column of participants, and stands before them."""
    columns = {
        "date": "when",
        "event_id": "gang",
        "player": "who",
        "rank": "came_in",
        "team": "side",
    }
    races = find_race_columns(HEADER, DataConfig(columns=columns), "races.csv")
    assert races is not None
    assert races.header == HEADER
    assert races.fields == {"event_id": 1, "player": 2, "rank": 3, "team": 4}
    assert races.places == []


def test_a_configured_column_must_be_there() -> None:
    columns = {"event_id": "gang", "player": "name"}
    with pytest.raises(ConfigError, match="there is no column 'name'") as caught:
        find_race_columns(HEADER, DataConfig(columns=columns), "races.csv")
    assert caught.value.hint == "columns are when, gang, who, came_in, side"


def test_columns_of_places_may_stand_in_any_order() -> None:
    races = find_race_columns(["2nd", "date", "3rd place", "1st"], DataConfig(), "races.csv")
    assert races is not None
    assert races.places == [3, 0, 2]
    assert races.fields == {}
