"""Validate values against a schema and report errors in the config's words, with place and hint."""

import numbers
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ttt_cli.config.load import Document, KeyPath, dotted
from ttt_cli.config.schema import aliases, flow, section_of
from ttt_cli.support.errors import ConfigError, nearest

M = TypeVar("M", bound=BaseModel)
_BOUND: Final = re.compile("(greater|less) than or equal to")
_BOUNDS: Final = {"greater": "at least", "less": "at most"}
_KINDS: Final = {
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a map of keys",
    "model_type": "a map of keys",
}


def validate(schema: type[M], values: object, document: Document, prefix: KeyPath = ()) -> M:
    """Fill the schema with `values` from `prefix` in the document.

    Types are strict: a quoted number is text. Raises ConfigError with all problems.
    """
    instance, problems = check(schema, values, document, prefix)
    if instance is None:
        raise joined(problems)
    return instance


def check(
    schema: type[M], values: object, document: Document, prefix: KeyPath = (), siblings: Iterable[str] = ()
) -> tuple[M | None, list[ConfigError]]:
    """As `validate`, but with the problems instead of an error; `siblings` are further keys to suggest."""
    keys = (*siblings, *schema.model_fields)
    if not isinstance(values, Mapping):
        message = f"{dotted(prefix)} must be a map of keys, not {shown(values)}"
        hint = f"its keys are {', '.join(keys)}"
        return None, [ConfigError(message, where=document.where(prefix), hint=hint)]
    spelled, problems = _spellings(schema, values, document, prefix)
    named = {name: _plain(values[key]) for name, key in spelled.items()}
    try:
        instance = schema.model_validate(named, strict=True)
    except ValidationError as error:
        sections = ((name, section_of(info)) for name, info in schema.model_fields.items())
        inner_keys = ((name, key) for name, inner in sections if inner for key in inner.model_fields)
        known = {path[-1]: dotted((*prefix, *path)) for path in inner_keys}
        known |= {key: dotted((*prefix, key)) for key in (*keys, *aliases(schema))}
        for path, details in _by_key(error, named):
            written = (*prefix, *(spelled.get(str(key), key) for key in path[:1]), *path[1:])
            if details[0]["type"] == "extra_forbidden":
                inner = section_of(schema.model_fields.get(str(path[0]))) if len(path) > 1 else None
                beside = {key: dotted((*written[:-1], key)) for key in inner.model_fields} if inner else known
                problems.append(unknown_key(written, beside, document))
            else:
                message, where = dotted(written) + complaint(details), document.where(written)
                problems.append(ConfigError(message, where=where, hint=meaning(schema, path)))
        return None, problems
    return (None if problems else instance), problems


def joined(problems: list[ConfigError]) -> ConfigError:
    """The first problem; the others follow in its message, one per line."""
    first, *others = problems
    lines = [str(other) + (f" ({other.hint})" if other.hint else "") for other in others]
    return ConfigError("\n".join([first.message, *lines]), where=first.where, hint=first.hint)


def unknown_key(path: KeyPath, known: Mapping[str, str], document: Document) -> ConfigError:
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
    return ConfigError(f"unknown key {dotted(path)}", where=where, hint=hint)


def _spellings(
    schema: type[BaseModel], values: Mapping[str, Any], document: Document, prefix: KeyPath
) -> tuple[dict[str, str], list[ConfigError]]:
    """Which written key fills each of the schema's keys; of two, an override wins, else that is a problem."""
    canonical = aliases(schema)
    spelled: dict[str, str] = {}
    problems: list[ConfigError] = []
    for key in values:
        name = canonical.get(key, key)
        path = (*prefix, key)
        if name in spelled and path not in document.overridden:
            other = (*prefix, spelled[name])
            message = f"{dotted(path)} and {dotted(other)} ({document.where(other)}) are the same parameter"
            problems.append(ConfigError(message, where=document.where(path), hint="keep one of the two"))
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


def _by_key(error: ValidationError, named: Mapping[str, Any]) -> Iterator[tuple[KeyPath, list[ErrorDetails]]]:
    """Path and findings of each wrong key, in the order written.

    Of the branches of a union these are the ones that reached deepest into the value.
    """
    found: dict[str, dict[KeyPath, list[ErrorDetails]]] = {}
    for detail in error.errors(include_url=False):
        if detail["type"] != "default_factory_not_called":  # a default that waits for another key's value
            key = str(detail["loc"][0]) if detail["loc"] else ""
            found.setdefault(key, {}).setdefault(_within(named, detail["loc"]), []).append(detail)
    for key in sorted(found, key=lambda key: [*named, key].index(key)):
        path = max(found[key], key=len)
        yield path, found[key][path]


def _within(values: Any, location: tuple[str | int, ...]) -> KeyPath:
    """The part of a pydantic location that leads through the values; the rest names branches of unions."""
    path: list[str | int] = []
    for key in location:
        inside: Any = values if isinstance(values, Mapping | list) else ()
        if key in (inside if isinstance(inside, Mapping) else range(len(inside))):
            values = inside[key]
            path.append(key)
    return tuple(path)


def complaint(details: Sequence[ErrorDetails]) -> str:
    """What is wrong with one value, to follow its key: ` must be 'auto' or a number, not 'x'`."""
    first = details[0]
    if first["type"] in {"value_error", "assertion_error"}:
        return f": {first['msg'].partition(', ')[2]}"
    if first["type"] == "missing":
        return " is missing"
    wanted: list[str] = []
    for detail in details:
        kind, text = _KINDS.get(detail["type"]), detail["msg"].partition(" should ")[2]
        text = f"be {kind}" if kind else text or f"be otherwise ({detail['msg']})"
        wanted.append(_BOUND.sub(lambda found: _BOUNDS[found[1]], text))
    verb = wanted[0].partition(" ")[0]
    others = (other.removeprefix(f"{verb} ") for other in wanted[1:])
    return f" must {' or '.join(dict.fromkeys([wanted[0], *others]))}, not {shown(first['input'])}"


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
