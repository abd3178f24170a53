"""Write the tables of keys in docs/configs.md from the schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ttt_cli.config.document import aliases, section_of
from ttt_cli.config.render import flow
from ttt_cli.config.schema import Config
from ttt_cli.systems.registry import MODULES, load

PAGE = Path(__file__).with_name("configs.md")
BEGIN, END = "<!-- written by docs/make_configs.py -->", "<!-- to here -->"
_BOUNDS = {"exclusiveMinimum": "> {}", "minimum": ">= {}", "exclusiveMaximum": "< {}", "maximum": "<= {}"}
_TYPES = {"number": "number", "integer": "whole number", "boolean": "true, false", "string": "text",
          "null": "null", "array": "list", "object": "map"}  # fmt: skip


def tables() -> str:
    """The tables: keys that all models share, of each model alone, of the other sections and those within them."""
    models = {name: load(name).Params for name in MODULES}
    fields = [params.model_fields for params in models.values()]
    shared = [key for key in fields[0] if all(_alike(key, fields[0], other) for other in fields[1:])]
    some = next(iter(models.values()))
    parts = [_table("`model`, whatever its name", "model", some, shared)] if shared else []
    for name, params in models.items():
        own = [key for key in params.model_fields if key not in shared]
        if own:
            title = f"`model` with `name: {name}`"
            parts.append(_table(f"{title}, besides" if shared else title, "model", params, own))
    for name, info in Config.model_fields.items():
        if name != "model":
            parts += _section_tables(name, section_of(info))
    return "\n".join(parts)


def _section_tables(name: str, section: type[BaseModel] | None) -> Iterator[str]:
    """The table of a section, then those of the sections within it."""
    assert section is not None
    inner = {key: section_of(info) for key, info in section.model_fields.items()}
    yield _table(f"`{name}`", name, section, [key for key, found in inner.items() if found is None])
    for key, found in inner.items():
        if found is not None:
            yield from _section_tables(f"{name}.{key}", found)


def page(old: str) -> str:
    """The page with its tables as they should be."""
    pattern = re.compile(f"({re.escape(BEGIN)}\n).*?({re.escape(END)})", re.DOTALL)
    return pattern.sub(lambda match: f"{match[1]}\n{tables()}\n{match[2]}", old)


def _alike(key: str, one: Mapping[str, FieldInfo], other: Mapping[str, FieldInfo]) -> bool:
    return key in other and all(
        getattr(one[key], what) == getattr(other[key], what)
        for what in ("default", "description", "annotation")
    )


def _table(title: str, section: str, schema: type[BaseModel], keys: Iterable[str]) -> str:
    rows = [f"### {title}\n", "| key | default | values | meaning |", "|---|---|---|---|"]
    rows += [_row(section, schema, key) for key in keys]
    return "\n".join(rows) + "\n"


def _row(section: str, schema: type[BaseModel], key: str) -> str:
    info = schema.model_fields[key]
    symbols = [symbol for symbol, name in aliases(schema).items() if name == key]
    also = f" (also `{'`, `'.join(symbols)}`)" if symbols else ""
    default = "by other keys" if info.default_factory is not None else f"`{flow(info.default)}`"
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
    bounds = " and ".join(text.format(f"{entry[key]:g}") for key, text in _BOUNDS.items() if key in entry)
    return f"{_TYPES[entry['type']]} {bounds}".rstrip()


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
