"""The JSON Schema of a config, for editors that complete and check YAML."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from ttt_cli.config.schema import Config, ModelConfig
from ttt_cli.config.validate import aliases

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(models: Mapping[str, type[BaseModel]]) -> dict[str, Any]:
    """The schema (draft 2020-12) of a config for these models, given as name -> schema of the parameters."""
    default = ModelConfig.model_fields["name"].default
    variants = {name: _model_schema(name, params, default) for name, params in models.items()}
    properties: dict[str, Any] = {"model": _choice(variants, default)}
    for name, info in Config.model_fields.items():
        section = info.annotation
        if name != "model" and isinstance(section, type) and issubclass(section, BaseModel):
            properties[name] = _untitled(section.model_json_schema())
    return {
        "$schema": DIALECT,
        "title": "ttt config",
        "description": (Config.__doc__ or "").splitlines()[0],
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _choice(variants: Mapping[str, dict[str, Any]], default: str) -> dict[str, Any]:
    """The variant that belongs to the model's name; the default model may go without."""
    if len(variants) == 1:
        return next(iter(variants.values()))
    branches = []
    for name, variant in variants.items():
        condition = {"properties": {"name": {"const": name}}, "required": [] if name == default else ["name"]}
        branches.append({"if": condition, "then": variant})
    return {"type": "object", "properties": {"name": {"enum": list(variants)}}, "allOf": branches}


def _model_schema(name: str, params: type[BaseModel], default: str) -> dict[str, Any]:
    schema = _untitled(params.model_json_schema())
    known = schema.get("properties", {})
    symbols = {symbol: known[key] for symbol, key in aliases(params).items() if key in known}
    named = {"const": name, "description": ModelConfig.model_fields["name"].description}
    schema["properties"] = {"name": named, **known, **symbols}
    schema["required"] = [*schema.get("required", []), *(["name"] if name != default else [])]
    return schema


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the titles that pydantic makes from names and that say nothing more, sections in their places."""
    definitions = schema.pop("$defs", {})
    properties = {
        key: _untitled(definitions[entry["$ref"].rpartition("/")[2]]) | _beside(entry)
        if "$ref" in entry
        else entry
        for key, entry in schema.get("properties", {}).items()
    }
    schema["properties"] = {
        key: {word: value for word, value in entry.items() if word != "title"}
        for key, entry in properties.items()
    }
    schema.pop("title", None)
    return schema


def _beside(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What a key says of itself besides what its section is."""
    return {word: value for word, value in entry.items() if word not in ("$ref", "default")}
