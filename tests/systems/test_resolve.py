import sys
from types import ModuleType
from typing import Annotated, Literal

import numpy as np
import pytest
from pydantic import Field

from tests.support.cases import each
from ttt_cli.config.documents import parse_document
from ttt_cli.config.load import read_document
from ttt_cli.inference.params import SkillParams
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import Resolved, numeric_params, resolve, with_overrides


class StubParams(SkillParams):
    ratio: Annotated[
        float, Field(description="of beta", default_factory=lambda given: given["beta"] / 2)
    ]
    order: Literal["given", "shuffled"] = "given"
    seed: Annotated[int, Field(ge=0)] = 0
    exact: bool = False


@pytest.fixture(autouse=True)
def _stub_model(monkeypatch: pytest.MonkeyPatch) -> None:
    stub = ModuleType("stub_model")
    vars(stub).update(NAME="ttt", Params=StubParams)
    monkeypatch.setitem(sys.modules, "stub_model", stub)
    monkeypatch.setitem(registry.MODULES, "ttt", "stub_model")


def failure(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        resolve(parse_document(text, "run.yaml"))
    return caught.value


def resolved(*overrides: str) -> Resolved:
    return resolve(read_document(None, overrides))


def test_what_is_asked_for_is_there_and_defaults_else() -> None:
    assert resolved().params == StubParams()
    assert resolved().config.model.params == StubParams().model_dump()
    found = resolved("model.beta=600", "data.period=month", "solver.tol=1e-3", "model.mu0=1500")
    assert (found.config.model.params["beta"], found.config.model.params["prior_mean"]) == (
        600.0,
        1500.0,
    )
    assert found.params.model_dump() == found.config.model.params
    assert (found.config.data.period, found.config.solver.tol) == ("month", 0.001)


@each(
    "text, where, message, hint",
    [
        ("beta: 600\n", "run.yaml:1", "unknown key beta", "did you mean model.beta?"),
        ("modell: {}\n", "run.yaml:1", "unknown key modell", "did you mean model?"),
        ("xyzzy: 1\n", "run.yaml:1", "unknown key xyzzy", "keys are model, data, solver"),
        ("model:\n  name: tt\n", "run.yaml:2", "unknown model 'tt'", "did you mean 'ttt'?"),
        (
            "model:\n  name: 3\n",
            "run.yaml:2",
            "model.name must be text, not 3",
            "rating system; default ttt",
        ),
        ("model: 3\n", "run.yaml:1", "model must be a map", "for instance name: ttt"),
        (
            "\nmodel: trueskill\n",
            "run.yaml:2",
            "model must be a map",
            "did you mean model.name=trueskill?",
        ),
        ("data: 3\n", "run.yaml:1", "data must be a map", "its keys are period"),
    ],
)
def test_errors_have_place_and_hint(text: str, where: str, message: str, hint: str) -> None:
    error = failure(text)
    assert error.where == where
    assert error.message.startswith(message)
    assert (error.hint or "").startswith(hint)


@each(
    "override, meant",
    [("beta=600", "model.beta"), ("tol=1", "solver.tol"), ("perod=1", "data.period")],
)
def test_a_bare_key_is_suggested_with_its_section_and_not_acted_on(
    override: str, meant: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        resolved(override)
    assert caught.value.where == f"-s {override}"
    assert caught.value.hint == f"did you mean {meant}={override.partition('=')[2]}?"


def test_problems_of_all_sections_are_listed() -> None:
    error = failure(
        "model:\n  beta: -1\ndata:\n  period: eon\nsolver:\n  tol: 0\nextra: 1\nscale:\n  slope: 3\n"
    )
    places = [error.where, *(line.partition(": ")[0] for line in error.message.splitlines()[1:])]
    assert places == ["run.yaml:7", "run.yaml:2", "run.yaml:4", "run.yaml:6", "run.yaml:9"]


def test_overriding_validates_and_leaves_the_original() -> None:
    before = resolved("model.tau=10", "data.period=day")
    after = with_overrides(before, {"beta": 600, "sigma0": np.float64(100.0)})
    assert (after.params.model_dump()["prior_sd"], after.config.model.params["beta"]) == (
        100.0,
        600.0,
    )
    assert after.config.model.params == after.params.model_dump()
    assert (after.config.model.params["tau"], after.config.data.period) == (10.0, "day")
    assert before.config.model.params["beta"] == 480.0


def test_defaults_that_follow_a_parameter_follow_the_new_one() -> None:
    assert with_overrides(resolved(), {"beta": 600}).config.model.params["ratio"] == 300.0
    assert (
        with_overrides(resolved("model.ratio=1"), {"beta": 600}).config.model.params["ratio"] == 1.0
    )


def test_what_a_grid_may_vary_are_the_numbers() -> None:
    numbers = numeric_params(resolved("model.beta=600"))
    assert numbers["beta"] == 600.0
    assert numbers["draw_margin"] == "auto"
    assert list(numbers) == [
        key for key in StubParams.model_fields if key not in {"order", "exact", "career_by"}
    ]
