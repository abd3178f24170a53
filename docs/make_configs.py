"""Write the tables of keys in docs/configs.md from the schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ttt_cli.config.schema import Config, aliases, section_of, yaml_on_one_line
from ttt_cli.systems.registry import MODULES, load

PAGE = Path(__file__).with_name("configs.md")
BEGIN, END = "<!-- written by docs/make_configs.py -->", "<!-- to here -->"
_BOUNDS = {
    "exclusiveMinimum": "> {}",
    "minimum": ">= {}",
    "exclusiveMaximum": "< {}",
    "maximum": "<= {}",
}
_TYPES = {"number": "number", "integer": "whole number", "boolean": "true, false", "string": "text",
          "null": "null", "array": "list", "object": "map"}  # fmt: skip


def tables() -> str:
    """Tables of the keys of models, one for each set of models that share keys, and of the other sections."""
    rows: dict[str, list[str]] = {}  # a row -> the models that have it
    for model in MODULES:
        params = load(model).Params
        for key in params.model_fields:
            rows.setdefault(_row("model", params, key), []).append(model)
    groups: dict[tuple[str, ...], list[str]] = {}
    for row, models in rows.items():
        groups.setdefault(tuple(models), []).append(row)
    parts = [
        _table(f"`model` of {', '.join(f'`{model}`' for model in models)}", of)
        for models, of in groups.items()
    ]
    for name, info in Config.model_fields.items():
        if name != "model":
            parts += _section_tables(name, section_of(info))
    return "\n".join(parts)


def _section_tables(name: str, section: type[BaseModel] | None) -> Iterator[str]:
    """The table of a section, then those of the sections within it."""
    assert section is not None
    inner = {key: section_of(info) for key, info in section.model_fields.items()}
    yield _table(
        f"`{name}`", [_row(name, section, key) for key, found in inner.items() if found is None]
    )
    for key, found in inner.items():
        if found is not None:
            yield from _section_tables(f"{name}.{key}", found)


def page(old: str) -> str:
    """The page with its tables as they should be."""
    pattern = re.compile(f"({re.escape(BEGIN)}\n).*?({re.escape(END)})", re.DOTALL)
    return pattern.sub(lambda match: f"{match[1]}\n{tables()}\n{match[2]}", old)


def _table(title: str, rows: Iterable[str]) -> str:
    return (
        "\n".join(
            [f"### {title}\n", "| key | default | values | meaning |", "|---|---|---|---|", *rows]
        )
        + "\n"
    )


def _row(section: str, schema: type[BaseModel], key: str) -> str:
    info = schema.model_fields[key]
    symbols = [
        symbol for symbol, name in aliases(schema).items() if name == key and symbol != "gamma"
    ]  # refused
    also = f" (also `{'`, `'.join(symbols)}`)" if symbols else ""
    default = (
        "by other keys"
        if info.default_factory is not None
        else f"`{yaml_on_one_line(info.default)}`"
    )
    values = _values(schema.model_json_schema(by_alias=False)["properties"][key])
    return f"| `{section}.{key}`{also} | {default} | {values} | {info.description} |"


def _values(entry: Mapping[str, Any]) -> str:
    """What the JSON schema of a key allows, in words."""
    if "anyOf" in entry:
        return ", ".join(_values(choice) for choice in entry["anyOf"])
    if "enum" in entry:
        return ", ".join(f"`{value}`" for value in entry["enum"])
    if "const" in entry:
        return f"`{entry['const']}`"
    if entry.get("maxLength") == 1:
        return "one character"
    if "enum" in entry.get("items", {}):
        return f"list of {_values(entry['items'])}"
    bounds = " and ".join(
        text.format(f"{entry[key]:g}") for key, text in _BOUNDS.items() if key in entry
    )
    return (
        bounds
        if bounds and entry["type"] == "number"
        else f"{_TYPES[entry['type']]} {bounds}".rstrip()
    )


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
