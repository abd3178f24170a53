from typing import Annotated

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from ttt_cli.config.schema import DataConfig, SolverConfig, json_schema


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
    assert properties["data"]["properties"]["period"]["enum"] == ["year", "quarter", "month", "week", "day"]
    assert properties["data"]["additionalProperties"] is False
