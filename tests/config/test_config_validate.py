from typing import Annotated, Literal, Self

import numpy as np
import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from tests.support.cases import each
from ttt_cli.config.load import Document, parse_document, validate
from ttt_cli.config.schema import DataConfig, ScaleConfig, SolverConfig, aliases
from ttt_cli.support.errors import ConfigError


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


PARAMS = [
    ("model:\n  beta: -3", "model.beta must be greater than 0, not -3"),
    ("model:\n  beta: '600'", "model.beta must be a number, not '600'"),
    ("model:\n  beta: true", "model.beta must be a number, not true"),
    ("model:\n  beta: null", "model.beta must be a number, not null"),
    ("model:\n  beta: .inf", "model.beta must be a finite number, not .inf"),
    ("model:\n  margin: -1", "model.margin must be 'auto' or at least 0, not -1"),
    ("model:\n  margin: none", "model.margin must be 'auto' or a number, not 'none'"),
    ("model:\n  mu0: x", "model.mu0 must be a number, not 'x'"),
]
DATA = [
    (
        "data:\n  period: decade",
        "data.period must be 'year', 'quarter', 'month', 'week' or 'day', not 'decade'",
    ),
    ("data:\n  header: 'yes'", "data.header must be true or false, not 'yes'"),
    ("data:\n  delimiter: ', '", "data.delimiter must have at most 1 character, not ', '"),
    ("data:\n  columns: 3", "data.columns must be a list or a map of keys, not 3"),
    ("data:\n  columns: [id, 3]", "data.columns[1] must be text, not 3"),
    ("data:\n  columns: {white: 3}", "data.columns.white must be text, not 3"),
]
MATCHED = "scale.slope: slope matched needs anchors, and scale.anchors has none"
SCALE = [("scale:\n  slope: matched", MATCHED), ("scale:\n  {anchors: [], slope: matched}", MATCHED)]


@each(
    "schema, text, message",
    [
        *(
            (schema, *case)
            for schema, cases in ((Params, PARAMS), (DataConfig, DATA), (ScaleConfig, SCALE))
            for case in cases
        )
    ],
)
def test_values_out_of_place_are_told_in_plain_words(
    schema: type[BaseModel], text: str, message: str
) -> None:
    error = failure(schema, text, text.partition(":")[0])
    assert (error.message, error.where) == (message, "run.yaml:2")


SOLVER_KEYS = list(SolverConfig.model_fields)


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
        (Params, f"model:\n  beta: {'x' * 500}\n", f"model.beta must be a number, not '{'x' * 56}...", 2,
         "sd, points; default 480"),
    ],
)  # fmt: skip
def test_problems_have_place_and_hint(
    schema: type[BaseModel], text: str, message: str, where: int, hint: str | None
) -> None:
    error = failure(schema, text, text.partition(":")[0])
    assert (error.message, error.where, error.hint) == (message, f"run.yaml:{where}", hint)


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


def test_symbols_fill_the_key_they_stand_for() -> None:
    assert aliases(Params) == {"mu0": "prior_mean"}
    assert validate(Params, {"mu0": 7}, Document()).prior_mean == 7.0


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
