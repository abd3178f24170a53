"""A config written out: resolved, as YAML that says what its keys mean, and the JSON Schema of any, for editors."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ttt_cli.config.document import aliases, section_of
from ttt_cli.config.schema import Config, ModelConfig
from ttt_cli.config.yaml_text import parse_value

_COMMENT_COLUMN = 40
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def render(config: Config, params: type[BaseModel]) -> str:
    """YAML of a resolved config, every key with its description; `params` is the model's schema."""
    lines = _section("model", config.model, {"name": config.model.name, **config.model.params}, params)
    for name in Config.model_fields:
        if name != "model":
            section = getattr(config, name)
            lines += ["", *_section(name, section, section.model_dump(), type(section))]
    return "\n".join(lines) + "\n"


def _section(name: str, section: BaseModel, values: dict[str, Any], described: type[BaseModel]) -> list[str]:
    fields = type(section).model_fields | described.model_fields
    lines = [f"# {(type(section).__doc__ or name).splitlines()[0]}", f"{name}:"]
    return [*lines, *_entries(values, fields, "  ")]


def _entries(values: dict[str, Any], fields: dict[str, FieldInfo], indent: str) -> Iterator[str]:
    """Lines of keys with what they mean; a section within a section stands below its key."""
    for key, value in values.items():
        info = fields.get(key)
        inner = section_of(info)
        entry = f"{indent}{scalar(key)}: {flow(value)}" if inner is None else f"{indent}{scalar(key)}:"
        description = info.description if info else None
        yield f"{entry:<{_COMMENT_COLUMN}}  # {description}" if description else entry
        if inner is not None:
            yield from _entries(value, inner.model_fields, f"{indent}  ")


def flow(value: Any) -> str:
    """A value on one line: a scalar, `[a, b]` or `{a: b}`."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def scalar(value: Any) -> str:
    """One scalar; whole numbers are written without a point, text is quoted where it needs to be."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if _WORD.fullmatch(text) and parse_value(text, "") == text:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _number(value: float) -> str:
    if not math.isfinite(value):
        return str(value).replace("nan", ".nan").replace("inf", ".inf")
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _escaped(character: str) -> str:
    code = ord(character)
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


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
        key: _untitled(definitions[entry.pop("$ref").rpartition("/")[2]]) | _without(entry, "default")
        if "$ref" in entry
        else entry
        for key, entry in schema.get("properties", {}).items()
    }
    schema["properties"] = {key: _without(entry, "title") for key, entry in properties.items()}
    schema.pop("title", None)
    return schema


def _without(entry: Mapping[str, Any], what: str) -> dict[str, Any]:
    return {word: value for word, value in entry.items() if word != what}
