from typing import Annotated, Literal, Self

import numpy as np
import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from tests.support.cases import each
from ttt_cli.config.errors import validate
from ttt_cli.config.load import Document, parse_document
from ttt_cli.config.schema import DataConfig, ScaleConfig, SolverConfig, aliases
from ttt_cli.support.errors import ConfigError


class Params(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    prior_mean: Annotated[
        float,
        Field(validation_alias=AliasChoices("prior_mean", "mu0"), description="mean, points"),
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


@each(
    "line, message",
    [
        ("beta: -3", "model.beta must be greater than 0, not -3"),
        ("beta: '600'", "model.beta must be a number, not '600'"),
        ("beta: true", "model.beta must be a number, not true"),
        ("beta: null", "model.beta must be a number, not null"),
        ("beta: .inf", "model.beta must be a finite number, not .inf"),
        ("margin: -1", "model.margin must be 'auto' or at least 0, not -1"),
        ("margin: none", "model.margin must be 'auto' or a number, not 'none'"),
        ("mu0: x", "model.mu0 must be a number, not 'x'"),
    ],
)
def test_values_out_of_place_are_told_in_plain_words(line: str, message: str) -> None:
    error = failure(Params, f"model:\n  {line}\n", "model")
    assert error.message == message
    assert error.where == "run.yaml:2"


@each(
    "line, message",
    [
        ("period: decade", "data.period must be 'year', 'quarter', 'month', 'week' or 'day', not 'decade'"),
        ("header: 'yes'", "data.header must be true or false, not 'yes'"),
        ("delimiter: ', '", "data.delimiter must have at most 1 character, not ', '"),
        ("columns: 3", "data.columns must be a list or a map of keys, not 3"),
        ("columns: [id, 3]", "data.columns[1] must be text, not 3"),
        ("columns: {white: 3}", "data.columns.white must be text, not 3"),
    ],
)
def test_messages_of_the_data_section(line: str, message: str) -> None:
    assert failure(DataConfig, f"data:\n  {line}\n", "data").message == message


@pytest.mark.parametrize("anchors", ["", "  anchors: []\n"])
def test_a_matched_slope_needs_anchors(anchors: str) -> None:
    found = failure(ScaleConfig, f"scale:\n{anchors}  slope: matched\n", "scale")
    assert found.message == "scale.slope: slope matched needs anchors, and scale.anchors has none"


def test_the_hint_says_what_the_key_means() -> None:
    assert failure(Params, "model:\n  beta: 0\n", "model").hint == "sd, points; default 480"


def test_an_unknown_key_suggests_the_nearest() -> None:
    error = failure(SolverConfig, "solver:\n  tol: 1\n  max_sweep: 3\n", "solver")
    assert (error.message, error.where) == ("unknown key solver.max_sweep", "run.yaml:3")
    assert error.hint == "did you mean solver.max_sweeps?"
    far = failure(SolverConfig, "solver:\n  zzz: 3\n", "solver")
    assert (
        far.hint
        == "keys are solver.tol, solver.max_sweeps, solver.threads, solver.posterior, solver.accelerate, "
        "solver.cluster, solver.memory, solver.scratch"
    )


def test_an_unknown_override_is_suggested_whole() -> None:
    document = Document().assign(("solver", "max_sweep"), 3, "-s solver.max_sweep=3")
    with pytest.raises(ConfigError) as caught:
        validate(SolverConfig, document.values["solver"], document, ("solver",))
    assert caught.value.where == "-s solver.max_sweep=3"
    assert caught.value.hint == "did you mean solver.max_sweeps=3?"


def test_the_first_problem_leads_and_the_others_follow() -> None:
    error = failure(Params, "model:\n  bta: 1\n  beta: -1\n  margin: x\n  mu0: y\n", "model")
    first, *others = error.message.splitlines()
    assert error.where == "run.yaml:2"
    assert first == "unknown key model.bta"
    assert [line.partition(": ")[0] for line in others] == ["run.yaml:3", "run.yaml:4", "run.yaml:5"]
    assert others[0].endswith("model.beta must be greater than 0, not -1 (sd, points; default 480)")


def test_what_a_model_finds_itself_has_the_place_of_the_section() -> None:
    error = failure(Params, "model:\n  low: 3\n", "model")
    assert (error.message, error.where) == ("model: low is above high", "run.yaml:1")


def test_a_section_must_be_a_map() -> None:
    error = failure(SolverConfig, "solver: [tol]\n", "solver")
    assert (error.message, error.where) == ("solver must be a map of keys, not [tol]", "run.yaml:1")
    assert (
        error.hint == "its keys are tol, max_sweeps, threads, posterior, accelerate, cluster, memory, scratch"
    )


def test_long_values_are_cut() -> None:
    error = failure(Params, f"model:\n  beta: {'x' * 500}\n", "model")
    assert len(error.message) < 120


def test_symbols_fill_the_key_they_stand_for() -> None:
    assert aliases(Params) == {"mu0": "prior_mean"}
    assert validate(Params, {"mu0": 7}, Document()).prior_mean == 7.0


def test_two_spellings_in_one_file_are_an_error() -> None:
    error = failure(Params, "model:\n  prior_mean: 1\n  mu0: 2\n", "model")
    assert error.where == "run.yaml:3"
    assert error.message == "model.mu0 and model.prior_mean (run.yaml:2) are the same parameter"
    assert error.hint


@pytest.mark.parametrize("keys", [("prior_mean", "mu0"), ("mu0", "prior_mean")])
def test_an_override_wins_whatever_the_spelling(keys: tuple[str, str]) -> None:
    document = parse_document(f"model:\n  {keys[0]}: 1\n", "run.yaml")
    document = document.assign(("model", keys[1]), 2, f"-s model.{keys[1]}=2")
    assert validate(Params, document.values["model"], document, ("model",)).prior_mean == 2.0


def test_values_of_python_callers_are_taken_as_yaml_would_give_them() -> None:
    found = validate(SolverConfig, {"tol": np.float32(0.5), "max_sweeps": np.int64(7)}, Document())
    assert (type(found.tol), type(found.max_sweeps)) == (float, int)
    assert validate(DataConfig, {"columns": ("id", "year")}, Document()).columns == ["id", "year"]


def test_values_keep_their_types() -> None:
    found = validate(SolverConfig, {"tol": 1, "max_sweeps": 5}, Document())
    assert (found.tol, found.max_sweeps) == (1.0, 5)
    with pytest.raises(ConfigError):
        validate(SolverConfig, {"max_sweeps": 5.0}, Document())
    with pytest.raises(ConfigError):
        validate(SolverConfig, {"accelerate": 1}, Document())


def test_the_unnamed_need_not_be_dropped_and_may_be() -> None:
    """As the configs of older runs say."""
    assert DataConfig.model_validate({"drop": ["unnamed", "teams"]}) == DataConfig(drop=["teams"])
    with pytest.raises(ValueError, match="'teams' or 'engines'"):
        DataConfig.model_validate({"drop": ["nobody"]})
