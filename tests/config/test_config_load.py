"""Configs are read from files, shipped ones and standard input; the filter section, and what is wrong with it."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

from tests.support.cases import each
from ttt_cli.config.load import meaning, parse_document, read_document, shipped_configs, validate
from ttt_cli.config.schema import DataConfig, json_schema, pattern_of, year_range
from ttt_cli.inference.params import Params
from ttt_cli.support.errors import ConfigError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def failure(path: str | None, *overrides: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read_document(path, overrides)
    return caught.value


def test_a_file_is_read_as_utf_8_with_or_without_mark(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / "run.yaml").write_text("data:\n  columns: [Weiß]\n", encoding=encoding)
        assert read_document("run.yaml").values == {"data": {"columns": ["Weiß"]}}
    (tmp_path / "run.yaml").write_bytes(b"model:\r\n  beta: 3\r\n")
    assert read_document("run.yaml").where(("model", "beta")) == "run.yaml:2"
    assert read_document(None).values == {}


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"model:\n  beta: 3\n")))
    document = read_document("-")
    assert document.values == {"model": {"beta": 3}}
    assert document.where(("model", "beta")) == "<stdin>:2"


@pytest.mark.parametrize("name", ["trueskill", "trueskill.yaml"])
def test_shipped_configs_go_by_name(name: str) -> None:
    document = read_document(name)
    assert document.values["model"]["name"] == "trueskill"
    assert str(document.where(("model", "name"))).startswith("trueskill.yaml:")


def test_a_file_here_goes_before_a_shipped_config_and_a_folder_does_not(tmp_path: Path) -> None:
    (tmp_path / "ttt").mkdir()
    assert read_document("ttt").values["model"]["name"] == "ttt"
    (tmp_path / "ttt.yaml").write_text("model:\n  beta: 1\n")
    assert read_document("ttt.yaml").values == {"model": {"beta": 1}}


def test_unknown_names_suggest_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "lasker.yaml").touch()
    for name, hint in (
        ("trueskil", "did you mean trueskill?"),
        ("zzz", f"a path, or one of the shipped configs: {', '.join(shipped_configs())}"),
        ("sub/laskr.yaml", f"did you mean {Path('sub/lasker.yaml')}?"),
    ):
        error = failure(name)
        assert (error.where, error.hint) == (name, hint)


def test_folders_and_bytes_that_are_no_text_are_errors(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert failure("sub").where == "sub"
    (tmp_path / "run.yaml").write_bytes(b"model:\n  name: \xff\n")
    error = failure("run.yaml")
    assert error.where == "run.yaml:2"
    assert error.hint == "save the config as UTF-8"


def test_overrides_go_over_the_file_and_the_later_wins(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("model:\n  beta: 1\n  tau: 2\n")
    document = read_document("run.yaml", ["model.beta=600", "data.period=month", "model.beta = 700"])
    assert document.values == {"model": {"tau": 2, "beta": 700}, "data": {"period": "month"}}
    assert document.where(("model", "beta")) == "-s model.beta = 700"
    assert document.where(("model", "tau")) == "run.yaml:3"


def test_overrides_keep_equal_signs_in_values() -> None:
    assert read_document(None, ["data.delimiter=="]).values == {"data": {"delimiter": "="}}


@each("override", ["model.beta", "=3", "model.=3", "model..beta=3", ""])
def test_overrides_need_key_and_value(override: str) -> None:
    error = failure(None, override)
    assert error.where == f"-s {override}"
    assert error.hint == "for instance -s model.beta=600, without blanks"


needs_fifo = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


def test_a_config_has_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.yaml").write_text("# " + "x" * (1 << 20), encoding="utf-8")
    assert "takes more than 1 MB" in failure("run.yaml").message
    stream = SimpleNamespace(buffer=io.BytesIO(b"#" * (1 << 21)))
    monkeypatch.setattr(sys, "stdin", stream)
    assert "takes more than 1 MB" in failure("-").message


@needs_fifo
def test_a_pipe_is_read_and_a_device_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_text, args=("model: {beta: 500}\n",))
    writer.start()
    assert read_document("pipe").values == {"model": {"beta": 500}}
    writer.join()
    assert failure("/dev/zero").message == "cannot be read: is a device"
    assert read_document(os.devnull).values == {}


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
