"""Configs as nested values with the place of each, and their validation in the words of a config.

A config is a file, a shipped config or standard input, with overrides.
"""

import numbers
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from ttt_cli.config.schema import aliases, flow, section_of
from ttt_cli.support.errors import ConfigError, nearest
from ttt_cli.support.opening import open_input, remember_stream

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """Nested values; `origins` maps key paths (empty: the file) to where they were written, `overridden` with -s."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[KeyPath, str] = field(default_factory=dict)
    overridden: frozenset[KeyPath] = frozenset()

    def where(self, path: KeyPath) -> str | None:
        """Where the value at `path`, or else the nearest part of the config around it, was written."""
        around = (path[:end] for end in range(len(path), -1, -1))
        return next((self.origins[part] for part in around if part in self.origins), None)

    def assign(self, path: tuple[str, ...], value: Any, origin: str) -> "Document":
        """A copy with `value` at `path`, placed last; anything at or below it is removed."""
        values = dict(self.values)
        section = values
        for key in path[:-1]:
            inner = section.get(key)
            section[key] = dict(inner) if isinstance(inner, dict) else {}
            section = section[key]
        section.pop(path[-1], None)
        section[path[-1]] = value
        origins = {key: old for key, old in self.origins.items() if key[: len(path)] != path}
        return Document(values, origins | {path: origin}, self.overridden | {path})


def dotted(path: KeyPath) -> str:
    """A key path as it is written: `model.beta`, `data.columns[2]`."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")


_TAG: Final = "tag:yaml.org,2002:"
_TEXTS: Final = {*map(_TAG.__add__, ("str", "timestamp", "merge", "value"))}
_OTHERS: Final = {*map(_TAG.__add__, ("int", "float", "bool", "null"))}
_MOST_VALUES: Final = 50_000
_MOST_LEVELS: Final = 50
_YAML: Final = YAML(typ="safe", pure=True)


def parse_document(text: str, source: str) -> Document:
    """The document in `text`. Raises ConfigError at `source:line` when it is not one YAML mapping."""
    root = _compose(text, source)
    origins: dict[KeyPath, str] = {(): source}
    if root is None or (values := _construct(root, (), source, origins)) is None:
        return Document({}, origins)
    if not isinstance(values, dict):
        raise ConfigError(
            "a config is a map of sections",
            where=_at(root, source),
            hint="for instance a line `model:` and below it, indented, `beta: 480`",
        )
    return Document(values, origins)


def parse_value(text: str, source: str) -> Any:
    """The value of an override: YAML, or other text as it is (`,`). Raises ConfigError for an open bracket or quote."""
    structured = text.lstrip()[:1] in ("[", "{", '"', "'")
    try:
        node = _compose(text, source)
        if structured or (isinstance(node, ScalarNode) and not node.style):
            return None if node is None else _construct(node, (), source, {})
    except ConfigError as error:
        if structured:
            raise ConfigError(error.message, where=source, hint=error.hint) from error
    return text or None


def _compose(text: str, source: str) -> Node | None:
    try:
        node: Node | None = _YAML.compose(text)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        code = ord(error.character) if isinstance(error.character, str) else error.character
        message = f"the character U+{code:04X} is not allowed in YAML"
        raise ConfigError(message, where=f"{source}:{line}", hint="remove it, or save as UTF-8") from error
    except MarkedYAMLError as error:
        problem = str(error.problem)
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        hint = "check quotes, brackets and the indentation of this line and the ones before it"
        if "mapping values" in problem:
            hint = "check the indentation; a value that holds `: ` needs quotes"
        if error.context and error.context_mark and error.context_mark.line + 1 != line:
            problem = f"{error.context} from line {error.context_mark.line + 1}: {problem}"
        message = f"not YAML: {problem}"
        if error.context == "while scanning a quoted scalar" and "end of stream" in problem:
            line = error.context_mark.line + 1 if error.context_mark else line
            message = "not YAML: a quoted text that begins in this line has no end"
            hint = "close it with the same quote"
        if r"'\t'" in problem:
            message = "a tab is where YAML needs spaces"
            hint = "indent with spaces"
        raise ConfigError(message, where=f"{source}:{line}", hint=hint) from error
    except (YAMLError, RecursionError) as error:
        hint = "a config has sections and keys, no more"
        raise ConfigError("this cannot be read as YAML", where=source, hint=hint) from error
    return node


def _construct(node: Node, path: KeyPath, source: str, origins: dict[KeyPath, str]) -> Any:
    """The value of a node by YAML 1.2, dates as text; `origins` gets the places of its keys and items."""
    problem = ""
    if isinstance(node, ScalarNode) and node.tag not in _TEXTS | _OTHERS:
        problem = f"the tag {node.tag} has no meaning here"
    elif len(path) > _MOST_LEVELS:
        problem = f"nested more than {_MOST_LEVELS} deep, or contains itself"
    elif len(origins) > _MOST_VALUES:
        problem = f"more than {_MOST_VALUES:,} values, with its aliases written out"
    if problem:
        hint = "a config has sections, keys and plain values, no more"
        raise ConfigError(problem, where=_at(node, source), hint=hint)
    if isinstance(node, ScalarNode):
        if node.tag in _OTHERS:
            with suppress(ValueError):  # an integer of thousands of digits is text
                return _YAML.constructor.construct_object(node)
        return node.value
    values: dict[str | int, Any] = {}
    for place, item in enumerate(node.value):
        written, inner = (item, item) if isinstance(node, SequenceNode) else item
        key: Any = place
        if isinstance(node, MappingNode):
            key = _construct(written, path, source, origins) if isinstance(written, ScalarNode) else None
            if not isinstance(key, str):
                raise ConfigError("a key must be a word", where=_at(written, source), hint="put it in quotes")
        inside = (*path, key)
        if key in values:
            message = f"{dotted(inside)} is given twice, first on line {origins[inside].rpartition(':')[2]}"
            raise ConfigError(message, where=_at(written, source), hint="keep one of the two")
        origins[inside] = _at(written, source)
        values[key] = _construct(inner, inside, source, origins)
    return values if isinstance(node, MappingNode) else list(values.values())


def _at(node: Node, source: str) -> str:
    return f"{source}:{node.start_mark.line + 1}"


_MOST: Final = 1 << 20  # bytes of a config
SUFFIXES = (".yaml", ".yml")


def read_document(path_or_name: str | None, overrides: Sequence[str] = ()) -> Document:
    """The config in a file, `-` for standard input, a shipped config's name, or None for no config.

    `overrides` (`model.beta=600`) win over the file, later over earlier ones. Raises ConfigError with file and line.
    """
    return override(Document() if path_or_name is None else _read(path_or_name), overrides)


def override(document: Document, overrides: Sequence[str]) -> Document:
    """The document with `KEY=VALUE` overrides on top, in order. Raises ConfigError."""
    for text in overrides:
        origin = f"-s {text}"
        key, separator, value = text.partition("=")
        path = tuple(part.strip() for part in key.split("."))
        if not separator or not all(path):
            hint = "for instance -s model.beta=600, without blanks"
            raise ConfigError("an override is KEY=VALUE", where=origin, hint=hint)
        document = document.assign(path, parse_value(value, origin), origin)
    return document


def refuse_overrides(document: Document, allowed: Callable[[KeyPath], bool], why: str, hint: str) -> None:
    """Raise ConfigError for the first key that an override set and that is not allowed; `why` follows the key."""
    for path in sorted(document.overridden):
        if not allowed(path):
            raise ConfigError(f"{dotted(path)} {why}", where=document.where(path), hint=hint)


def shipped_configs() -> dict[str, Traversable]:
    """The shipped configs by name without suffix."""
    package = files("ttt_cli")
    folder = package / "configs"
    if not folder.is_dir() and isinstance(package, Path):
        folder = package.parent / "configs"  # a source tree, or an editable install of one
    found: dict[str, Traversable] = {}
    for file in sorted(folder.iterdir(), key=attrgetter("name")):
        if file.name.endswith(".yaml"):
            found[file.name.removesuffix(".yaml")] = file
    return found


def _read(path_or_name: str) -> Document:
    path = Path(path_or_name)
    shipped = shipped_configs()
    source = path_or_name
    name = path_or_name.removesuffix(".yaml")
    content = b""
    try:
        if path_or_name == "-":
            source = "<stdin>"
            remember_stream(sys.stdin.buffer, source, "config")
            content = sys.stdin.buffer.read(_MOST + 1)
        elif not path.is_file() and name in shipped:
            source = shipped[name].name
            content = shipped[name].read_bytes()
        else:
            with open_input(path, "config") as file:
                content = file.read(_MOST + 1)
        if len(content) > _MOST:
            raise ConfigError(f"takes more than {_MOST >> 20} MB", where=source, hint="is it a config?")
        return parse_document(content.decode("utf-8-sig"), source)
    except FileNotFoundError as error:
        beside = path.parent.iterdir() if path.parent.is_dir() else ()
        here = {file.stem: str(file) for file in beside if file.suffix in SUFFIXES}
        known = here | {name: name for name in shipped}
        otherwise = f"a path, or one of the shipped configs: {', '.join(shipped)}"
        near = known.get(nearest(path.stem, known) or "")
        hint = f"did you mean {near}?" if near else otherwise
        raise ConfigError("there is no such config", where=source, hint=hint) from error
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=source) from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError("not UTF-8", where=f"{source}:{line}", hint="save the config as UTF-8") from error


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
    """Fill the schema with `values` from `prefix`; a quoted number is text. Raises ConfigError with all problems."""
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
                message = dotted(written) + complaint(details)
                where = document.where(written)
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
    """Path and findings of each wrong key in the order written; of a union those of its deepest branches."""
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
        kind = _KINDS.get(detail["type"])
        text = detail["msg"].partition(" should ")[2]
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
