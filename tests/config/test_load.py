"""Configs are read from files, shipped ones and standard input, and validated in plain words with lines and hints."""

from __future__ import annotations

import io
import math
import os
import sys
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Annotated, Literal, Self

import numpy as np
import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from tests.support.cases import each
from ttt_cli.config.documents import Document, dotted, parse_document, parse_value
from ttt_cli.config.load import read_document
from ttt_cli.config.schema import DataConfig, ScaleConfig, SolverConfig, pattern_of, year_range
from ttt_cli.config.validation import validate
from ttt_cli.support.errors import ConfigError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def unread(path: str | None, *overrides: str) -> ConfigError:
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


def test_a_file_here_goes_before_a_shipped_config_and_a_folder_does_not(tmp_path: Path) -> None:
    (tmp_path / "ttt").mkdir()
    for name in ("ttt", "ttt.yaml"):
        document = read_document(name)
        assert document.values["model"]["name"] == "ttt"
        assert str(document.where(("model", "name"))).startswith("ttt.yaml:")
    (tmp_path / "ttt.yaml").write_text("model:\n  beta: 1\n")
    assert read_document("ttt.yaml").values == {"model": {"beta": 1}}


def test_folders_and_bytes_that_are_no_text_are_errors(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert unread("sub").where == "sub"
    (tmp_path / "run.yaml").write_bytes(b"model:\n  name: \xff\n")
    error = unread("run.yaml")
    assert error.where == "run.yaml:2"
    assert error.hint == "save the config as UTF-8"


def test_overrides_go_over_the_file_and_the_later_wins(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("model:\n  beta: 1\n  tau: 2\n")
    document = read_document(
        "run.yaml", ["model.beta=600", "data.period=month", "model.beta = 700"]
    )
    assert document.values == {"model": {"tau": 2, "beta": 700}, "data": {"period": "month"}}
    assert document.where(("model", "beta")) == "-s model.beta = 700"
    assert document.where(("model", "tau")) == "run.yaml:3"
    assert read_document(None, ["data.delimiter=="]).values == {"data": {"delimiter": "="}}


@each("override", ["model.beta", "=3", "model..beta=3", ""])
def test_overrides_need_key_and_value(override: str) -> None:
    assert unread(None, override).where == f"-s {override}"


needs_fifo = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


def test_a_config_has_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.yaml").write_text("# " + "x" * (1 << 20), encoding="utf-8")
    assert "is larger than a config may be, 1 MB" in unread("run.yaml").message
    stream = SimpleNamespace(buffer=io.BytesIO(b"#" * (1 << 21)))
    monkeypatch.setattr(sys, "stdin", stream)
    assert "is larger than a config may be, 1 MB" in unread("-").message


@needs_fifo
def test_a_pipe_is_read_and_a_device_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_text, args=("model: {beta: 500}\n",))
    writer.start()
    assert read_document("pipe").values == {"model": {"beta": 500}}
    writer.join()
    assert unread("/dev/zero").message == "cannot be read: is a device"
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


def misread(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_document(text, "run.yaml")
    return caught.value


def test_every_key_and_item_knows_its_line() -> None:
    document = parse_document(
        "# top\nmodel:\n  beta: 600\ndata:\n  columns:\n    - id\n    - year\n", "run.yaml"
    )
    assert document.values == {"model": {"beta": 600}, "data": {"columns": ["id", "year"]}}
    assert document.where(("model",)) == "run.yaml:2"
    assert document.where(("model", "beta")) == "run.yaml:3"
    assert document.where(("data", "columns", 1)) == "run.yaml:7"
    assert (
        document.where(("model", "tau")) == "run.yaml:2"
    )  # not written: that of what surrounds it
    assert document.where(("solver", "tol")) == "run.yaml"
    assert Document().where(("solver", "tol")) is None
    assert dotted(("data", "columns", 2)) == "data.columns[2]"


@each(
    "text, value",
    [
        ("1e-3", 0.001),
        ("1E3", 1000.0),
        ("+.5", 0.5),
        ("6.", 6.0),
        ("600", 600),
        ("-0", 0),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("-.INF", -math.inf),
        (".nan", math.nan),
        ("yes", "yes"),
        ("1858-06-15", "1858-06-15"),
        ("1_000", 1000),
        ("12:30", "12:30"),
        ("~", None),
        ("", None),
        ("TRUE", True),
        ("'600'", "600"),
        ("!!str 600", "600"),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    found = parse_document(f"key: {text}", "run.yaml").values["key"]
    assert repr(found) == repr(value)


@each("text", ["", "# only a comment\n", "---\n", "null\n", "\ufeff"])
def test_nothing_written_is_an_empty_document(text: str) -> None:
    assert parse_document(text, "run.yaml").values == {}


def test_an_alias_repeats_its_value() -> None:
    assert parse_document("a: &x {b: 1}\nc: *x\n", "run.yaml").values == {
        "a": {"b": 1},
        "c": {"b": 1},
    }


@each(
    "text, line, message",
    [
        ("model:\n\tbeta: 3\n", 2, "tab"),
        ("model:\n  beta: 3\n    tau: 4\n", 3, "mapping values"),
        ("model:\n  beta: 3\n tau: 4\n", 3, "from line 1"),
        ("model:\n  name: 'ttt\n  tau: 4\n", 2, "has no end"),
        ("data:\n  columns: [id\n", 3, "expected"),
        ("- model\n", 1, "map of sections"),
        ("model", 1, "map of sections"),
        ("\nmodel:\n  beta: 3\n  beta: 4\n", 4, "model.beta is given twice, first on line 3"),
        ("model: {}\ndata: {}\nmodel: {}\n", 3, "model is given twice, first on line 1"),
        ("data:\n  columns: {a: x, a: y}\n", 2, "data.columns.a is given twice"),
        ("model:\n  1: white\n", 2, "word"),
        ("model:\n  [a]: white\n", 2, "word"),
        ("model:\n  beta: !points 3\n", 2, "!points"),
        ("model:\n  beta: !!python/object:os.system ls\n", 2, "python/object"),
        ("model: &m\n  beta: *m\n", 1, "itself"),
        ("model:\n  name: a\x07\n", 2, "U+0007"),
        ("---\nmodel: {}\n---\ndata: {}\n", 3, "single document"),
        ("model:\n  beta: *other\n", 2, "other"),
    ],
)
def test_bad_yaml_has_line_and_hint(text: str, line: int, message: str) -> None:
    error = misread(text)
    assert error.where == f"run.yaml:{line}"
    assert message in error.message
    assert error.hint


@each(
    "text, value",
    [
        ("600", 600),
        (" 600 ", 600),
        ("1e-3", 0.001),
        ("true", True),
        ("null", None),
        ("", None),
        ("'600'", "600"),
        ('"\\t"', "\t"),
        ("[id, year]", ["id", "year"]),
        ("{white: Winner, black: 2}", {"white": "Winner", "black": 2}),
        (",", ","),
        ("|", "|"),
        (";", ";"),
        ("#", "#"),
        ("\t", "\t"),
        (" ", " "),
        ("&", "&"),
        ("a: b", "a: b"),
        ("- a", "- a"),
    ],
)
def test_override_values_are_scalars_flow_or_text(text: str, value: object) -> None:
    assert parse_value(text, "-s key=") == value


@each("text", ["[id, year", "{a: 1", "'x", "{a: 1, a: 2}", "[1] 2"])
def test_an_override_that_is_not_closed_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_value(text, f"-s key={text}")
    assert caught.value.where == f"-s key={text}"
    assert caught.value.hint


def test_assignment_forgets_what_stood_there_and_comes_last() -> None:
    document = parse_document("data:\n  columns: [a, b]\n  period: day\n", "run.yaml")
    changed = document.assign(("data", "columns"), ["c"], "-s data.columns=[c]")
    assert list(changed.values["data"]) == ["period", "columns"]
    assert changed.where(("data", "columns", 1)) == "-s data.columns=[c]"
    assert changed.where(("data", "period")) == "run.yaml:3"
    assert document.values == {"data": {"columns": ["a", "b"], "period": "day"}}


MULTIPLIED = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
MULTIPLIED += [f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]" for n in range(20)]
NESTED = ["a0: &a0 [x]", *(f"a{n + 1}: &a{n + 1} [*a{n}]" for n in range(2000))]


@each(
    "text, message",
    [
        ("\n".join(MULTIPLIED), "more than 50,000 values"),
        ("\n".join(NESTED), "nested more than 50 deep"),
        ("a: " + "[" * 1_000, ""),
    ],
)
def test_what_multiplies_or_nests_without_end_is_refused(text: str, message: str) -> None:
    error = misread(text)
    assert message in error.message
    assert str(error.where).startswith("run.yaml")
    assert error.hint


class Params(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    prior_mean: Annotated[
        float, Field(validation_alias=AliasChoices("prior_mean", "mu0"), description="mean, points")
    ] = 1200.0
    beta: Annotated[float, Field(gt=0, description="sd, points")] = 480.0
    margin: Literal["auto"] | Annotated[float, Field(ge=0)] = "auto"
    low: float = 0.0
    high: float = 1.0

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


def failure(schema: type[BaseModel], text: str, section: str) -> ConfigError:
    document = parse_document(text, "run.yaml")
    with pytest.raises(ConfigError) as caught:
        validate(schema, document.values[section], document, (section,))
    return caught.value


MATCHED = "scale.slope: slope matched needs anchors, and scale.anchors has none"


@each(
    "schema, text, message",
    [
        (Params, "model:\n  beta: -3", "model.beta must be greater than 0, not -3"),
        (Params, "model:\n  beta: '600'", "model.beta must be a number, not '600'"),
        (Params, "model:\n  beta: true", "model.beta must be a number, not true"),
        (Params, "model:\n  beta: .inf", "model.beta must be a finite number, not .inf"),
        (Params, "model:\n  margin: -1", "model.margin must be 'auto' or at least 0, not -1"),
        (Params, "model:\n  margin: none", "model.margin must be 'auto' or a number, not 'none'"),
        (Params, "model:\n  mu0: x", "model.mu0 must be a number, not 'x'"),
        (DataConfig, "data:\n  header: 'yes'", "data.header must be true or false, not 'yes'"),
        (
            DataConfig,
            "data:\n  delimiter: ', '",
            "data.delimiter must have at most 1 character, not ', '",
        ),
        (DataConfig, "data:\n  columns: 3", "data.columns must be a list or a map of keys, not 3"),
        (DataConfig, "data:\n  columns: [id, 3]", "data.columns[1] must be text, not 3"),
        (DataConfig, "data:\n  columns: {white: 3}", "data.columns.white must be text, not 3"),
        (ScaleConfig, "scale:\n  slope: matched", MATCHED),
        (ScaleConfig, "scale:\n  {anchors: [], slope: matched}", MATCHED),
    ],
)
def test_values_out_of_place_are_told_in_plain_words(
    schema: type[BaseModel], text: str, message: str
) -> None:
    error = failure(schema, text, text.partition(":")[0])
    assert (error.message, error.where) == (message, "run.yaml:2")


SOLVER_KEYS = list(SolverConfig.model_fields)
FEWER = "players with fewer games are left out, until all have as many; default 0"


@each(
    "schema, text, message, where, hint",
    [
        (Params, "model:\n  beta: 0\n", "model.beta must be greater than 0, not 0", 2, "sd, points; default 480"),
        (Params, "model:\n  low: 3\n", "model: low is above high", 1, None),
        (SolverConfig, "solver:\n  tol: 1\n  max_sweep: 3\n", "unknown key solver.max_sweep", 3,
         "did you mean solver.max_sweeps?"),
        (SolverConfig, "solver:\n  zzz: 3\n", "unknown key solver.zzz", 2,
         f"keys are {', '.join(f'solver.{key}' for key in SOLVER_KEYS)}"),
        (SolverConfig, "solver: [tol]\n", "solver must be a map of keys, not [tol]", 1,
         f"its keys are {', '.join(SOLVER_KEYS)}"),
        (Params, "model:\n  prior_mean: 1\n  mu0: 2\n",
         "model.mu0 and model.prior_mean (run.yaml:2) are the same parameter", 3, "keep one of the two"),
        (DataConfig, "data:\n  filter:\n    min_games: -1\n", "data.filter.min_games must be at least 0, not -1", 3,
         FEWER),
        (DataConfig, "data:\n  filter: {min_gams: 3}\n", "unknown key data.filter.min_gams", 2,
         "did you mean data.filter.min_games?"),
        (DataConfig, "data:\n  min_games: 3\n", "unknown key data.min_games", 2,
         "did you mean data.filter.min_games?"),
        (Params, f"model:\n  beta: {'x' * 500}\n", f"model.beta must be a number, not '{'x' * 56}...", 2,
         "sd, points; default 480"),
    ],
)  # fmt: skip
def test_problems_have_place_and_hint(
    schema: type[BaseModel], text: str, message: str, where: int, hint: str | None
) -> None:
    error = failure(schema, text, text.partition(":")[0])
    assert (error.message, error.where, error.hint) == (message, f"run.yaml:{where}", hint)


def test_the_first_problem_leads_and_the_others_follow() -> None:
    error = failure(Params, "model:\n  bta: 1\n  beta: -1\n  margin: x\n  mu0: y\n", "model")
    first, *others = error.message.splitlines()
    assert error.where == "run.yaml:2"
    assert first == "unknown key model.bta"
    assert [line.partition(": ")[0] for line in others] == [
        "run.yaml:3",
        "run.yaml:4",
        "run.yaml:5",
    ]
    assert others[0].endswith("model.beta must be greater than 0, not -1 (sd, points; default 480)")


@each("keys", [("prior_mean", "mu0"), ("mu0", "prior_mean")])
def test_an_override_wins_whatever_the_spelling(keys: tuple[str, str]) -> None:
    document = parse_document(f"model:\n  {keys[0]}: 1\n", "run.yaml")
    document = document.assign(("model", keys[1]), 2, f"-s model.{keys[1]}=2")
    assert validate(Params, document.values["model"], document, ("model",)).prior_mean == 2.0


def test_values_of_python_callers_are_taken_as_yaml_would_give_them() -> None:
    found = validate(SolverConfig, {"tol": np.float32(0.5), "max_sweeps": np.int64(7)}, Document())
    assert (type(found.tol), type(found.max_sweeps)) == (float, int)
    assert validate(DataConfig, {"columns": ("id", "year")}, Document()).columns == ["id", "year"]


@each("values", [{"max_sweeps": 5.0}, {"accelerate": 1}])
def test_values_keep_their_types(values: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        validate(SolverConfig, values, Document())
