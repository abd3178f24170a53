"""Values against a schema: what is wrong is said in the config's words, with its place and a hint."""

import numbers
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ttt_cli.config.document import Document, KeyPath, dotted, section_of
from ttt_cli.config.wording import complaint, meaning, shown, within
from ttt_cli.errors import ConfigError, nearest

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Problem:
    """One thing wrong in a config."""

    message: str
    where: str | None = None
    hint: str | None = None


def validate(schema: type[M], values: object, document: Document, prefix: KeyPath = ()) -> M:
    """The schema filled with `values`, which stand at `prefix` in the document.

    Types are strict: a number in quotes is text. Raises ConfigError about the first problem; the further
    ones are listed in its message.
    """
    instance, problems = check(schema, values, document, prefix)
    if instance is None:
        raise as_error(problems)
    return instance


def check(
    schema: type[M], values: object, document: Document, prefix: KeyPath = (), siblings: Iterable[str] = ()
) -> tuple[M | None, list[Problem]]:
    """As `validate`, but with the problems instead of an error; `siblings` are further keys to suggest."""
    keys = (*siblings, *schema.model_fields)
    if not isinstance(values, Mapping):
        message = f"{dotted(prefix)} must be a map of keys, not {shown(values)}"
        return None, [Problem(message, document.where(prefix), f"its keys are {', '.join(keys)}")]
    spelled, problems = _spellings(schema, values, document, prefix)
    named = {name: _plain(values[key]) for name, key in spelled.items()}
    try:
        instance = schema.model_validate(named, strict=True)
    except ValidationError as error:
        known = {key: dotted((*prefix, key)) for key in (*keys, *aliases(schema))}
        known = dict(_inner_keys(schema, prefix)) | known
        for details in _by_key(error, list(named)):
            path, chosen = _deepest(details, named)
            written = (*prefix, *(spelled.get(str(key), key) for key in path[:1]), *path[1:])
            if chosen[0]["type"] == "extra_forbidden":
                inner = section_of(schema.model_fields.get(str(path[0]))) if len(path) > 1 else None
                beside = {key: dotted((*written[:-1], key)) for key in inner.model_fields} if inner else known
                problems.append(unknown_key(written, beside, document))
            else:
                complained = dotted(written) + complaint(chosen)
                problems.append(Problem(complained, document.where(written), meaning(schema, path)))
        return None, problems
    return (None if problems else instance), problems


def as_error(problems: list[Problem]) -> ConfigError:
    """The first problem as an error; its message goes on with the others, one per line."""
    first, *others = problems
    lines = [first.message]
    for other in others:
        place = f"{other.where}: " if other.where else ""
        lines.append(f"{place}{other.message}" + (f" ({other.hint})" if other.hint else ""))
    return ConfigError("\n".join(lines), where=first.where, hint=first.hint)


def aliases(schema: type[BaseModel]) -> dict[str, str]:
    """Other spellings of the schema's keys, e.g. `mu0`, and the keys they stand for."""
    found: dict[str, str] = {}
    for name, info in schema.model_fields.items():
        if isinstance(info.validation_alias, AliasChoices):
            choices = (str(choice) for choice in info.validation_alias.choices)
            found.update((choice, name) for choice in choices if choice != name)
    return found


def unknown_key(path: KeyPath, known: Mapping[str, str], document: Document) -> Problem:
    """The problem of a key that does not exist. `known` maps words that may have been meant to full keys."""
    where = document.where(path)
    near = nearest(str(path[-1]), known)
    if near is None:
        beside = [key for key in known.values() if key.count(".") + 1 == len(path)]
        hint = f"keys are {', '.join(beside)}"
    elif path in document.overridden and where is not None:
        hint = f"did you mean {known[near]}={where.partition('=')[2]}?"
    else:
        hint = f"did you mean {known[near]}?"
    return Problem(f"unknown key {dotted(path)}", where, hint)


def _spellings(
    schema: type[BaseModel], values: Mapping[str, Any], document: Document, prefix: KeyPath
) -> tuple[dict[str, str], list[Problem]]:
    """Which written key fills each of the schema's keys; of two, an override wins, else that is a problem."""
    canonical = aliases(schema)
    spelled: dict[str, str] = {}
    problems: list[Problem] = []
    for key in values:
        name = canonical.get(key, key)
        path = (*prefix, key)
        if name in spelled and path not in document.overridden:
            other = (*prefix, spelled[name])
            message = f"{dotted(path)} and {dotted(other)} ({document.where(other)}) are the same parameter"
            problems.append(Problem(message, document.where(path), "keep one of the two"))
        spelled[name] = key
    return spelled, problems


def _inner_keys(schema: type[BaseModel], prefix: KeyPath) -> Iterator[tuple[str, str]]:
    """Keys of the sections within a section, and where they stand."""
    for name, info in schema.model_fields.items():
        inner = section_of(info)
        yield from ((key, dotted((*prefix, name, key))) for key in (inner.model_fields if inner else ()))


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
