"""The filter section: ranges of years, patterns, and what is wrong with them said with its place."""

from __future__ import annotations

import pytest

from tests.support.cases import each
from ttt_cli.config.errors import meaning, validate
from ttt_cli.config.load import parse_document
from ttt_cli.config.schema import DataConfig, json_schema, pattern_of, year_range
from ttt_cli.inference.params import Params
from ttt_cli.support.errors import ConfigError


@each(
    "years, expected",
    [
        ("1850-1900", (1850, 1900)),
        (" 1850 - 1900 ", (1850, 1900)),
        ("1850-", (1850, 9999)),
        ("-1900", (0, 1900)),
        ("1850", (1850, 1850)),
        (1850, (1850, 1850)),
        ([1850, 1900], (1850, 1900)),
    ],
)
def test_ranges_of_years(years: str | int | list[int], expected: tuple[int, int]) -> None:
    assert year_range(years) == expected


@each(
    "years, message",
    [
        *(
            (years, r"^1900-1850 goes backwards: perhaps 1850-1900 is meant$")
            for years in ("1900-1850", [1900, 1850])
        ),
        *(
            (years, "for instance 1850-1900")
            for years in ("", "-", "x", "1850-1900-1950", "18500", [1850], [])
        ),
    ],
)
def test_what_is_no_range(years: str | list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        year_range(years)


def test_patterns_stand_between_slashes() -> None:
    pattern = pattern_of("/^Sim/")
    assert pattern is not None
    assert pattern.search("simul")
    assert [pattern_of(text) for text in ("simul", "/", "//", "a/b")] == [None] * 4


@each(
    "text, message, hint",
    [
        ("years: soon", "data.filter.years: 'soon' is not a range of years", "first and last year"),
        (
            "events: [ok, '/(/']",
            r"data.filter.events: /(/ is not a regular expression",
            "words or /patterns/",
        ),
        ("players: ['']", "data.filter.players: an empty text", "games in which one of these plays"),
        ("exclude: [simul, chess]", "data.filter.exclude[1] must be 'simul', 'blindfold'", "ready-made sets"),
        ("min_games: -1", "data.filter.min_games must be at least 0, not -1", "players with fewer games"),
        ("years: 1850", "unknown key data.years", "did you mean data.filter.years?"),
        ("min_gams: 3", "unknown key data.filter.min_gams", "did you mean data.filter.min_games?"),
        ("qqqq: 3", "unknown key data.filter.qqqq", "keys are data.filter.years, data.filter.players"),
    ],
)
def test_what_is_wrong_has_its_line_and_a_hint(text: str, message: str, hint: str) -> None:
    outside = text == "years: 1850"  # the filter
    document = parse_document(f"data:\n  {text}" if outside else f"data:\n  filter:\n    {text}\n", "c.yaml")
    with pytest.raises(ConfigError) as caught:
        validate(DataConfig, document.values["data"], document, ("data",))
    assert caught.value.where == ("c.yaml:2" if outside else "c.yaml:3")
    assert message in caught.value.message
    assert str(caught.value.hint).startswith(hint)


def test_the_json_schema_has_the_filter_in_its_place() -> None:
    data = json_schema({"ttt": Params})["properties"]["data"]
    wanted = data["properties"]["filter"]
    assert "$defs" not in data
    assert wanted["additionalProperties"] is False
    assert wanted["description"] == meaning(DataConfig, ("filter",)) == "which records are used"
    assert wanted["properties"]["exclude"]["anyOf"][0]["items"]["enum"][:2] == ["simul", "blindfold"]
    assert meaning(DataConfig, ("filter", "min_games")) == (
        "players with fewer games are left out, until all have as many; default 0"
    )
