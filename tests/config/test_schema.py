"""A config as commented YAML and its JSON Schema."""

import math
from typing import Annotated, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from tests.support.cases import each
from ttt_cli.config.documents import parse_document
from ttt_cli.config.schema import (
    Config,
    DataConfig,
    EventSet,
    FilterConfig,
    ModelConfig,
    ScaleConfig,
    SolverConfig,
    json_schema,
    render,
    yaml_on_one_line,
)
from ttt_cli.config.validation import validate
from ttt_cli.inference.params import SkillParams
from ttt_cli.periods import STEPS_PER_YEAR

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
POSITIVE = st.floats(min_value=0, exclude_min=True, allow_infinity=False)
SKILL_PARAMS = st.builds(
    SkillParams,
    prior_mean=st.floats(allow_nan=False, allow_infinity=False),
    prior_sd=POSITIVE,
    beta=POSITIVE,
    tau=st.floats(min_value=0, allow_infinity=False),
    draw_margin=st.just("auto") | st.floats(min_value=0, allow_infinity=False),
    draw_probability=st.none() | st.floats(0, 1, exclude_min=True, exclude_max=True),
)
DATA = st.builds(
    DataConfig,
    period=st.sampled_from([*STEPS_PER_YEAR]),
    header=st.none() | st.booleans(),
    columns=st.none() | st.lists(TEXT) | st.dictionaries(TEXT, TEXT),
    delimiter=st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=1),
    encoding=st.none() | TEXT,
    status=st.dictionaries(TEXT, st.floats(0, 1e9)),
    odds=st.dictionaries(TEXT, st.floats(allow_nan=False, allow_infinity=False)),
    filter=st.builds(
        FilterConfig,
        years=st.none()
        | st.integers(1, 9999)
        | st.sampled_from(["1850-1900", "-1900", "1850-", [1850, 1900]]),
        players=st.lists(TEXT.filter(lambda text: text.strip() and not text.startswith("/"))),
        exclude=st.none() | st.lists(st.sampled_from(get_args(EventSet))),
        min_games=st.integers(0, 100),
    ),
)
SOLVER = st.builds(SolverConfig, tol=POSITIVE, max_sweeps=st.integers(1), accelerate=st.booleans())
SCALE = st.one_of(
    st.builds(ScaleConfig, anchors=st.lists(TEXT)),
    st.builds(ScaleConfig, anchors=st.lists(TEXT, min_size=1), slope=st.just("matched")),
)


@pytest.mark.slow
@given(params=SKILL_PARAMS, data=DATA, solver=SOLVER, scale=SCALE)
def test_what_is_shown_reads_back_the_same(
    params: SkillParams, data: DataConfig, solver: SolverConfig, scale: ScaleConfig
) -> None:
    model = ModelConfig(name="ttt", **params.model_dump())
    config = Config(model=model, data=data, solver=solver, scale=scale)
    document = parse_document(render(config, SkillParams), "shown.yaml")
    shown = dict(document.values["model"])
    assert shown.pop("name") == "ttt"
    assert validate(SkillParams, shown, document, ("model",)) == params
    assert validate(DataConfig, document.values["data"], document, ("data",)) == data
    assert validate(SolverConfig, document.values["solver"], document, ("solver",)) == solver
    assert validate(ScaleConfig, document.values["scale"], document, ("scale",)) == scale


def test_every_key_says_what_it_means() -> None:
    config = Config(model=ModelConfig(name="ttt", **SkillParams().model_dump()))
    lines = render(config, SkillParams).splitlines()
    assert (
        "  beta: 480                               # sd of one performance around skill, points"
        in lines
    )
    keys = [line for line in lines if line.startswith("  ")]
    data = [
        *DataConfig.model_fields,
        *FilterConfig.model_fields,
    ]  # `filter` is the last key of data
    fields = [
        *SkillParams.model_fields,
        *data,
        *SolverConfig.model_fields,
        *ScaleConfig.model_fields,
    ]
    assert [line.split(":")[0].strip() for line in keys] == ["name", *fields]
    assert all(" # " in line for line in keys)


@each(
    "value, text",
    [
        (480.0, "480"),
        (0.01, "0.01"),
        (1e-7, "1e-07"),
        (1e22, "1e+22"),
        (math.inf, ".inf"),
        (True, "true"),
        (None, "null"),
        ("auto", "auto"),
        ("null", "'null'"),
        ("TRUE", "'TRUE'"),
        ("12", '"12"'),
        ("", '""'),
        ("a b", '"a b"'),
        ("\t", '"\\t"'),
        (["id", "year"], "[id, year]"),
        ({"white": "Weiß"}, '{white: "Weiß"}'),
    ],
)
def test_values_are_written_plainly(value: Any, text: str) -> None:
    assert yaml_on_one_line(value) == text


class One(BaseModel):
    model_config = ConfigDict(extra="forbid")

    prior_mean: Annotated[
        float, Field(validation_alias=AliasChoices("prior_mean", "mu0"), description="mean, points")
    ] = 1200.0


class Two(One):
    beta: Annotated[float, Field(gt=0, description="sd, points")]


def test_one_model_stands_in_the_schema_itself() -> None:
    schema = json_schema({"ttt": One})
    model = schema["properties"]["model"]
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert model["properties"]["name"]["const"] == "ttt"
    assert model["properties"]["prior_mean"] == {
        "default": 1200.0,
        "description": "mean, points",
        "type": "number",
    }
    assert model["properties"]["mu0"] == model["properties"]["prior_mean"]
    assert model["additionalProperties"] is False
    assert model["required"] == []


def test_models_are_told_apart_by_their_name_which_only_the_default_may_omit() -> None:
    model = json_schema({"ttt": One, "two": Two})["properties"]["model"]
    first, second = model["allOf"]
    assert model["properties"]["name"]["enum"] == ["ttt", "two"]
    assert first["if"] == {"properties": {"name": {"const": "ttt"}}, "required": []}
    assert second["if"] == {"properties": {"name": {"const": "two"}}, "required": ["name"]}
    assert "beta" not in first["then"]["properties"]
    assert second["then"]["properties"]["beta"]["exclusiveMinimum"] == 0
    assert sorted(second["then"]["required"]) == ["beta", "name"]


def test_the_other_sections_have_all_their_keys() -> None:
    properties = json_schema({"ttt": One})["properties"]
    assert list(properties) == ["model", "data", "solver", "scale"]
    assert list(properties["data"]["properties"]) == list(DataConfig.model_fields)
    assert list(properties["solver"]["properties"]) == list(SolverConfig.model_fields)
    assert properties["data"]["properties"]["period"]["enum"] == [
        "year",
        "quarter",
        "month",
        "week",
        "day",
    ]
    assert properties["data"]["additionalProperties"] is False
    wanted = properties["data"]["properties"]["filter"]
    assert "$defs" not in properties["data"]
    assert wanted["additionalProperties"] is False
    assert wanted["description"] == "which records are used"
    assert wanted["properties"]["exclude"]["anyOf"][0]["items"]["enum"][:2] == [
        "simul",
        "blindfold",
    ]
