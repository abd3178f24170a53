"""Validates a config by its schema, and says what is wrong in the words of a config."""

import numbers
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ttt_cli.config.documents import Document, KeyPath, dotted
from ttt_cli.config.schema import aliases, section_of, yaml_on_one_line
from ttt_cli.support.errors import ConfigError, nearest

Schema = TypeVar("Schema", bound=BaseModel)
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
_LONGEST: Final = 60  # characters of a value in a message


def validate(
    schema: type[Schema], values: object, document: Document, prefix: KeyPath = ()
) -> Schema:
    """Fill the schema with `values` from `prefix`; a quoted number is text. Raises ConfigError with all problems."""
    instance, problems = check(schema, values, document, prefix)
    if instance is None:
        raise joined(problems)
    return instance


def check(
    schema: type[Schema],
    values: object,
    document: Document,
    prefix: KeyPath = (),
    siblings: Iterable[str] = (),
) -> tuple[Schema | None, list[ConfigError]]:
    """As `validate`, but with the problems instead of an error; `siblings` are further keys to suggest."""
    keys = (*siblings, *schema.model_fields)
    if not isinstance(values, Mapping):
        message = f"{dotted(prefix)} must be a map of keys, not {value_text(values)}"
        hint = f"its keys are {', '.join(keys)}"
        return None, [ConfigError(message, where=document.where(prefix), hint=hint)]
    spelling, problems = _spellings(schema, values, document, prefix)
    by_key = {key: _plain(values[written]) for key, written in spelling.items()}
    try:
        instance = schema.model_validate(by_key, strict=True)
    except ValidationError as error:
        suggestions = _suggestions(schema, keys, prefix)
        for wrong in _wrong_values(error, by_key):
            written = (*prefix, *_as_written(wrong.path, spelling))
            problems.append(_problem(schema, wrong, written, suggestions, document))
        return None, problems
    return (None if problems else instance), problems


def joined(problems: list[ConfigError]) -> ConfigError:
    """The first problem; the others follow in its message, one per line."""
    first, *later = problems
    lines = [str(problem) + (f" ({problem.hint})" if problem.hint else "") for problem in later]
    return ConfigError("\n".join([first.message, *lines]), where=first.where, hint=first.hint)


def unknown_key(path: KeyPath, suggestions: Mapping[str, str], document: Document) -> ConfigError:
    """The problem of an unknown key. `suggestions` maps similar words to full keys."""
    where = document.where(path)
    similar = nearest(str(path[-1]), suggestions)
    if similar is None:
        keys = [key for key in suggestions.values() if key.count(".") + 1 == len(path)]
        hint = f"keys are {', '.join(keys)}"
    elif path in document.overridden and where is not None:
        hint = f"did you mean {suggestions[similar]}={where.partition('=')[2]}?"
    else:
        hint = f"did you mean {suggestions[similar]}?"
    return ConfigError(f"unknown key {dotted(path)}", where=where, hint=hint)


class _WrongValue(NamedTuple):
    """What pydantic says about one value: its key path within the section, and the findings of its branches."""

    path: KeyPath
    findings: list[ErrorDetails]


def _problem(
    schema: type[BaseModel],
    wrong: _WrongValue,
    written: KeyPath,
    suggestions: Mapping[str, str],
    document: Document,
) -> ConfigError:
    """The error for a wrong value, or an unknown key, at the key path as it is `written`."""
    if wrong.findings[0]["type"] != "extra_forbidden":
        message = dotted(written) + complaint(wrong.findings)
        return ConfigError(message, where=document.where(written), hint=meaning(schema, wrong.path))
    inner = section_of(schema.model_fields.get(str(wrong.path[0]))) if len(wrong.path) > 1 else None
    if inner:
        suggestions = {key: dotted((*written[:-1], key)) for key in inner.model_fields}
    return unknown_key(written, suggestions, document)


def _suggestions(schema: type[BaseModel], keys: Iterable[str], prefix: KeyPath) -> dict[str, str]:
    """Full keys by the words for which they are suggested."""
    suggestions: dict[str, str] = {}
    for name, info in schema.model_fields.items():
        inner = section_of(info)
        if inner:
            suggestions |= {key: dotted((*prefix, name, key)) for key in inner.model_fields}
    return suggestions | {key: dotted((*prefix, key)) for key in (*keys, *aliases(schema))}


def _spellings(
    schema: type[BaseModel], values: Mapping[str, Any], document: Document, prefix: KeyPath
) -> tuple[dict[str, str], list[ConfigError]]:
    """Which written key fills each of the schema's keys; of two, an override wins, else that is a problem."""
    canonical = aliases(schema)
    spelling: dict[str, str] = {}
    problems: list[ConfigError] = []
    for written in values:
        key = canonical.get(written, written)
        path = (*prefix, written)
        if key in spelling and path not in document.overridden:
            first = (*prefix, spelling[key])
            message = f"{dotted(path)} and {dotted(first)} ({document.where(first)}) are the same parameter"
            problems.append(
                ConfigError(message, where=document.where(path), hint="keep one of the two")
            )
        spelling[key] = written
    return spelling, problems


def _as_written(path: KeyPath, spelling: Mapping[str, str]) -> KeyPath:
    if not path:
        return ()
    key, *inner = path
    return (spelling.get(str(key), key), *inner)


def _plain(value: Any) -> Any:
    """A Python caller's value as YAML would give it: numpy's numbers and tuples are numbers and lists."""
    if type(value) in {bool, int, float}:
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return list(value) if isinstance(value, tuple) else value


def _wrong_values(error: ValidationError, by_key: Mapping[str, Any]) -> Iterator[_WrongValue]:
    """The wrong value of each key in the order written; of a union the findings of its deepest branches."""
    findings: dict[str, dict[KeyPath, list[ErrorDetails]]] = {}
    for detail in error.errors(include_url=False):
        if (
            detail["type"] != "default_factory_not_called"
        ):  # a default that waits for another key's value
            key = str(detail["loc"][0]) if detail["loc"] else ""
            path = _path_within(by_key, detail["loc"])
            findings.setdefault(key, {}).setdefault(path, []).append(detail)
    # Keys that the config lacks come last.
    for key in sorted(findings, key=lambda key: [*by_key, key].index(key)):
        deepest = max(findings[key], key=len)
        yield _WrongValue(deepest, findings[key][deepest])


def _path_within(values: Any, location: tuple[str | int, ...]) -> KeyPath:
    """The part of a pydantic location that leads through the values; its other words name branches of unions."""
    path: list[str | int] = []
    for key in location:
        is_inside = isinstance(values, Mapping) and key in values
        is_item = isinstance(values, list) and key in range(len(values))
        if is_inside or is_item:
            values = values[key]
            path.append(key)
    return tuple(path)


def complaint(findings: Sequence[ErrorDetails]) -> str:
    """What is wrong with a value, to follow its key: ` must be 'auto' or a number, not 'x'`."""
    first = findings[0]
    if first["type"] in {"value_error", "assertion_error"}:
        return f": {first['msg'].partition(', ')[2]}"
    if first["type"] == "missing":
        return " is missing"
    wanted = [_wanted(finding) for finding in findings]
    verb = wanted[0].partition(" ")[0]
    alternatives = [text.removeprefix(f"{verb} ") for text in wanted[1:]]
    distinct = dict.fromkeys([wanted[0], *alternatives])
    return f" must {' or '.join(distinct)}, not {value_text(first['input'])}"


def _wanted(finding: ErrorDetails) -> str:
    """What a value should be, as `be a number`."""
    kind = _KINDS.get(finding["type"])
    if kind:
        return f"be {kind}"
    text = finding["msg"].partition(" should ")[2] or f"be otherwise ({finding['msg']})"
    return _BOUND.sub(lambda bound: _BOUNDS[bound[1]], text)


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
    return f"{info.description}; default {yaml_on_one_line(info.default)}"


def value_text(value: object) -> str:
    """A value as written in a config, cut to a line."""
    text = repr(value) if isinstance(value, str) else yaml_on_one_line(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
