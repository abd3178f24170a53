"""Validate values against a schema and report errors in the config's words, with place and hint."""

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ttt_cli.config.load import Document, KeyPath, dotted
from ttt_cli.config.schema import aliases, flow, section_of
from ttt_cli.support.errors import ConfigError, nearest

M = TypeVar("M", bound=BaseModel)
_KINDS: Final = {
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a map of keys",
    "model_type": "a map of keys",
}


@dataclass(frozen=True)
class ConfigProblem:
    """One thing wrong in a config."""

    message: str
    where: str | None = None
    hint: str | None = None


def validate(schema: type[M], values: object, document: Document, prefix: KeyPath = ()) -> M:
    """Fill the schema with `values` from `prefix` in the document.

    Types are strict: a quoted number is text. Raises ConfigError with all problems.
    """
    instance, problems = check(schema, values, document, prefix)
    if instance is None:
        raise as_error(problems)
    return instance


def check(
    schema: type[M], values: object, document: Document, prefix: KeyPath = (), siblings: Iterable[str] = ()
) -> tuple[M | None, list[ConfigProblem]]:
    """As `validate`, but with the problems instead of an error; `siblings` are further keys to suggest."""
    keys = (*siblings, *schema.model_fields)
    if not isinstance(values, Mapping):
        message = f"{dotted(prefix)} must be a map of keys, not {shown(values)}"
        return None, [ConfigProblem(message, document.where(prefix), f"its keys are {', '.join(keys)}")]
    spelled, problems = _spellings(schema, values, document, prefix)
    named = {name: _plain(values[key]) for name, key in spelled.items()}
    try:
        instance = schema.model_validate(named, strict=True)
    except ValidationError as error:
        known = {key: dotted((*prefix, key)) for key in (*keys, *aliases(schema))}
        sections = ((name, section_of(info)) for name, info in schema.model_fields.items())
        inner_keys = (
            (key, (*prefix, name, key)) for name, inner in sections if inner for key in inner.model_fields
        )
        known = {key: dotted(path) for key, path in inner_keys} | known
        for details in _by_key(error, list(named)):
            path, chosen = _deepest(details, named)
            written = (*prefix, *(spelled.get(str(key), key) for key in path[:1]), *path[1:])
            if chosen[0]["type"] == "extra_forbidden":
                inner = section_of(schema.model_fields.get(str(path[0]))) if len(path) > 1 else None
                beside = {key: dotted((*written[:-1], key)) for key in inner.model_fields} if inner else known
                problems.append(unknown_key(written, beside, document))
            else:
                complained = dotted(written) + complaint(chosen)
                problems.append(ConfigProblem(complained, document.where(written), meaning(schema, path)))
        return None, problems
    return (None if problems else instance), problems


def as_error(problems: list[ConfigProblem]) -> ConfigError:
    """The first problem as an error; the others follow in its message, one per line."""
    first, *others = problems
    lines = [first.message]
    for other in others:
        place = f"{other.where}: " if other.where else ""
        lines.append(f"{place}{other.message}" + (f" ({other.hint})" if other.hint else ""))
    return ConfigError("\n".join(lines), where=first.where, hint=first.hint)


def unknown_key(path: KeyPath, known: Mapping[str, str], document: Document) -> ConfigProblem:
    """The problem of an unknown key. `known` maps similar words to full keys."""
    where = document.where(path)
    near = nearest(str(path[-1]), known)
    if near is None:
        beside = [key for key in known.values() if key.count(".") + 1 == len(path)]
        hint = f"keys are {', '.join(beside)}"
    elif path in document.overridden and where is not None:
        hint = f"did you mean {known[near]}={where.partition('=')[2]}?"
    else:
        hint = f"did you mean {known[near]}?"
    return ConfigProblem(f"unknown key {dotted(path)}", where, hint)


def _spellings(
    schema: type[BaseModel], values: Mapping[str, Any], document: Document, prefix: KeyPath
) -> tuple[dict[str, str], list[ConfigProblem]]:
    """Which written key fills each of the schema's keys; of two, an override wins, else that is a problem."""
    canonical = aliases(schema)
    spelled: dict[str, str] = {}
    problems: list[ConfigProblem] = []
    for key in values:
        name = canonical.get(key, key)
        path = (*prefix, key)
        if name in spelled and path not in document.overridden:
            other = (*prefix, spelled[name])
            message = f"{dotted(path)} and {dotted(other)} ({document.where(other)}) are the same parameter"
            problems.append(ConfigProblem(message, document.where(path), "keep one of the two"))
        spelled[name] = key
    return spelled, problems


def _plain(value: Any) -> Any:
    """A Python caller's value as YAML would give it: numpy's numbers and tuples are numbers and lists."""
    if type(value) in {bool, int, float}:
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return list(value) if isinstance(value, tuple) else value


def _by_key(error: ValidationError, order: list[str]) -> list[list[ErrorDetails]]:
    """Findings about the same key together, in the order in which the keys were written."""
    grouped: dict[str, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        if detail["type"] == "default_factory_not_called":  # a default that waits for another key's value
            continue
        grouped.setdefault(str(detail["loc"][0]) if detail["loc"] else "", []).append(detail)
    place = {key: index for index, key in enumerate(order)}
    return [grouped[key] for key in sorted(grouped, key=lambda key: place.get(key, len(place)))]


def _deepest(details: list[ErrorDetails], named: Mapping[str, Any]) -> tuple[KeyPath, list[ErrorDetails]]:
    """Of the branches of a union, those that reached deepest into the value, and how deep that is."""
    paths = [within(named, detail["loc"]) for detail in details]
    path = max(paths, key=len)
    return path, [detail for detail, reached in zip(details, paths, strict=True) if len(reached) == len(path)]


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
    """The expected value: `be greater than 0`."""
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
    """A value as written in a config, cut to a line."""
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
