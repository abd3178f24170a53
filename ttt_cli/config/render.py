"""A resolved config as YAML that says what its keys mean, and that reads back as the same config."""

import math
import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ttt_cli.config.document import section_of
from ttt_cli.config.schema import Config
from ttt_cli.config.yaml_text import parse_value

_COMMENT_COLUMN = 40
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


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
