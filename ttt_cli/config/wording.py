"""Pydantic's findings in the words of a config."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from ttt_cli.config.document import KeyPath, section_of
from ttt_cli.config.render import flow

_KINDS: Final = {
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a map of keys",
    "model_type": "a map of keys",
}


def complaint(details: Sequence[ErrorDetails]) -> str:
    """What is wrong with one value, to follow its key: ` must be 'auto' or a number, not 'x'`."""
    first = details[0]
    if first["type"] in {"value_error", "assertion_error"}:
        return f": {first['msg'].partition(', ')[2]}"
    if first["type"] == "missing":
        return " is missing"
    wanted = list(dict.fromkeys(_wanted(detail) for detail in details))
    verb = wanted[0].partition(" ")[0]
    alternatives = [wanted[0], *(other.removeprefix(f"{verb} ") for other in wanted[1:])]
    return f" must {' or '.join(alternatives)}, not {shown(first['input'])}"


def _wanted(detail: ErrorDetails) -> str:
    """What should have stood there: `be greater than 0`."""
    if detail["type"] in _KINDS:
        return f"be {_KINDS[detail['type']]}"
    wanted = detail["msg"].partition(" should ")[2] or f"be otherwise ({detail['msg']})"
    return wanted.replace("greater than or equal to", "at least").replace("less than or equal to", "at most")


def meaning(schema: type[BaseModel], path: KeyPath) -> str | None:
    """What the key at a path means, its unit and its default, as far as they are written down."""
    info = schema.model_fields.get(str(path[0])) if path else None
    if info is None or info.description is None:
        return None
    inner = section_of(info)
    if inner is not None:
        return meaning(inner, path[1:]) or info.description
    if info.is_required() or info.default_factory is not None:
        return info.description
    return f"{info.description}; default {flow(info.default)}"


def shown(value: object) -> str:
    """A value as a config would hold it, cut to a line."""
    text = repr(value) if isinstance(value, str) else flow(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def within(values: Any, location: tuple[str | int, ...]) -> KeyPath:
    """The part of a pydantic location that leads through the values; the rest names branches of unions."""
    path: list[str | int] = []
    for key in location:
        if isinstance(values, Mapping) and key in values:
            values = values[str(key)]
        elif isinstance(values, list) and isinstance(key, int):
            values = values[key]
        else:
            continue
        path.append(key)
    return tuple(path)
