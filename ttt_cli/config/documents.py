"""Configs as nested values that know where each was written: parsed from YAML, with `KEY=VALUE` overrides on top."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from ttt_cli.support.errors import ConfigError

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """Nested values; `origins` maps key paths (empty: the file) to where they were written, `overridden` with -s."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[KeyPath, str] = field(default_factory=dict)
    overridden: frozenset[KeyPath] = frozenset()

    def where(self, path: KeyPath) -> str | None:
        """Where the value at `path`, or else the nearest section around it, was written."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.origins:
                return self.origins[path[:end]]
        return None

    def assign(self, path: tuple[str, ...], value: Any, origin: str) -> "Document":
        """A copy with `value` at `path`, placed last; anything at or below it is removed."""
        *sections, key = path
        values = dict(self.values)
        section = values
        for name in sections:
            inner = section.get(name)
            section[name] = dict(inner) if isinstance(inner, dict) else {}
            section = section[name]
        section.pop(key, None)
        section[key] = value
        origins = {key: old for key, old in self.origins.items() if key[: len(path)] != path}
        return Document(values, origins | {path: origin}, self.overridden | {path})


def dotted(path: KeyPath) -> str:
    """A key path as it is written: `model.beta`, `data.columns[2]`."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")


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


def refuse_overrides(
    document: Document, allowed: Callable[[KeyPath], bool], why: str, hint: str
) -> None:
    """Raise ConfigError for the first key that an override set and that is not allowed; `why` follows the key."""
    for path in sorted(document.overridden):
        if not allowed(path):
            raise ConfigError(f"{dotted(path)} {why}", where=document.where(path), hint=hint)


_TAG: Final = "tag:yaml.org,2002:"
_TEXT_TAGS: Final = frozenset(f"{_TAG}{name}" for name in ("str", "timestamp", "merge", "value"))
_VALUE_TAGS: Final = frozenset(f"{_TAG}{name}" for name in ("int", "float", "bool", "null"))
_MOST_VALUES: Final = 50_000
_MOST_LEVELS: Final = 50
_YAML: Final = YAML(typ="safe", pure=True)


def parse_document(text: str, source: str) -> Document:
    """The document in `text`. Raises ConfigError at `source:line` when it is not one YAML mapping."""
    root = _compose(text, source)
    if root is None:
        return Document({}, {(): source})
    reader = _NodeReader(source)
    values = reader.value(root, ())
    if values is None:
        return Document({}, reader.origins)
    if not isinstance(values, dict):
        raise ConfigError(
            "a config is a map of sections",
            where=_line_of(root, source),
            hint="for instance a line `model:` and below it, indented, `beta: 480`",
        )
    return Document(values, reader.origins)


def parse_value(text: str, source: str) -> Any:
    """The value of an override: YAML, or other text as it is (`,`). Raises ConfigError for an open bracket or quote."""
    is_structured = text.lstrip()[:1] in ("[", "{", '"', "'")
    try:
        node = _compose(text, source)
        is_plain = isinstance(node, ScalarNode) and not node.style
        if node is not None and (is_structured or is_plain):
            return _NodeReader(source, number_keys_from=0).value(node, ())
    except ConfigError as error:
        if is_structured:
            raise ConfigError(error.message, where=source, hint=error.hint) from error
    return text or None


def _compose(text: str, source: str) -> Node | None:
    """The tree of nodes of a YAML text, None if it is empty. Raises ConfigError."""
    try:
        node: Node | None = _YAML.compose(text)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        code = ord(error.character) if isinstance(error.character, str) else error.character
        message = f"the character U+{code:04X} is not allowed in YAML"
        raise ConfigError(
            message, where=f"{source}:{line}", hint="remove it, or save as UTF-8"
        ) from error
    except MarkedYAMLError as error:
        raise _syntax_error(error, source) from error
    except (YAMLError, RecursionError) as error:
        hint = "a config has sections and keys, no more"
        raise ConfigError("this cannot be read as YAML", where=source, hint=hint) from error
    return node


def _syntax_error(error: MarkedYAMLError, source: str) -> ConfigError:
    """The error for text that is not YAML, with the line and a hint."""
    problem = str(error.problem)
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    first_line = error.context_mark.line + 1 if error.context_mark else line
    if error.context == "while scanning a quoted scalar" and "end of stream" in problem:
        return ConfigError(
            "not YAML: a quoted text that begins in this line has no end",
            where=f"{source}:{first_line}",
            hint="close it with the same quote",
        )
    if r"'\t'" in problem:
        message = "a tab is where YAML needs spaces"
        return ConfigError(message, where=f"{source}:{line}", hint="indent with spaces")
    hint = "check quotes, brackets and the indentation of this line and the ones before it"
    if "mapping values" in problem:
        hint = "check the indentation; a value that holds `: ` needs quotes"
    if error.context and first_line != line:
        problem = f"{error.context} from line {first_line}: {problem}"
    return ConfigError(f"not YAML: {problem}", where=f"{source}:{line}", hint=hint)


class _NodeReader:
    """Turns nodes into values by YAML 1.2, with dates as text; `origins` are the lines of all keys and items.

    Keys are words; in maps at least `number_keys_from` levels deep whole numbers are keys too, as text.
    """

    def __init__(self, source: str, number_keys_from: int = 2) -> None:
        self._source = source
        self._number_keys_from = number_keys_from
        self.origins: dict[KeyPath, str] = {(): source}

    def value(self, node: Node, path: KeyPath) -> Any:
        """The value of a node and of those in it. Raises ConfigError."""
        self._check(node, path)
        match node:
            case MappingNode():
                return self._map(node, path)
            case SequenceNode():
                return self._list(node, path)
        if node.tag in _VALUE_TAGS:
            with suppress(ValueError):  # an integer of thousands of digits is text
                return _YAML.constructor.construct_object(node)
        return node.value

    def _check(self, node: Node, path: KeyPath) -> None:
        problem = ""
        if isinstance(node, ScalarNode) and node.tag not in _TEXT_TAGS | _VALUE_TAGS:
            problem = f"the tag {node.tag} has no meaning here"
        elif len(path) > _MOST_LEVELS:
            problem = f"nested more than {_MOST_LEVELS} deep, or contains itself"
        elif len(self.origins) > _MOST_VALUES:
            problem = f"more than {_MOST_VALUES:,} values, with its aliases written out"
        if problem:
            hint = "a config has sections, keys and plain values, no more"
            raise ConfigError(problem, where=_line_of(node, self._source), hint=hint)

    def _map(self, node: MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.value(key_node, path) if isinstance(key_node, ScalarNode) else None
            where = _line_of(key_node, self._source)
            if type(key) is int and len(path) >= self._number_keys_from:
                key = str(key)
            if not isinstance(key, str):
                raise ConfigError("a key must be a word", where=where, hint="put it in quotes")
            key_path = (*path, key)
            if key in values:
                first_line = self.origins[key_path].rpartition(":")[2]
                message = f"{dotted(key_path)} is given twice, first on line {first_line}"
                raise ConfigError(message, where=where, hint="keep one of the two")
            self.origins[key_path] = where
            values[key] = self.value(value_node, key_path)
        return values

    def _list(self, node: SequenceNode, path: KeyPath) -> list[Any]:
        values: list[Any] = []
        for index, item in enumerate(node.value):
            self.origins[*path, index] = _line_of(item, self._source)
            values.append(self.value(item, (*path, index)))
        return values


def _line_of(node: Node, source: str) -> str:
    return f"{source}:{node.start_mark.line + 1}"
