"""A config as nested values with the place of each: from a file, a shipped config, standard input, and overrides."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from ttt_cli.support.errors import ConfigError, nearest
from ttt_cli.support.files import refuse_device

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """Nested values and where each was written.

    `origins` maps key paths (empty: the file) to `file:line` or the override; `overridden` are those that one set.
    """

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
_TEXTS: Final = {_TAG + kind for kind in ("str", "timestamp", "merge", "value")}
_OTHERS: Final = {_TAG + kind for kind in ("int", "float", "bool", "null")}
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
    """The value of an override: a YAML scalar, `[list]` or `{map}`; other text as it is (a delimiter may be `,`).

    Raises ConfigError when a bracket or quote is not closed.
    """
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
        raise _syntax_error(error, source) from error
    except (YAMLError, RecursionError) as error:
        hint = "a config has sections and keys, no more"
        raise ConfigError("this cannot be read as YAML", where=source, hint=hint) from error
    return node


def _syntax_error(error: MarkedYAMLError, source: str) -> ConfigError:
    problem = str(error.problem)
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    where = f"{source}:{line}"
    if r"'\t'" in problem:
        return ConfigError("a tab is where YAML needs spaces", where=where, hint="indent with spaces")
    hint = "check quotes, brackets and the indentation of this line and the ones before it"
    if "mapping values" in problem:
        hint = "check the indentation; a value that holds `: ` needs quotes"
    if error.context and error.context_mark and error.context_mark.line + 1 != line:
        problem = f"{error.context} from line {error.context_mark.line + 1}: {problem}"
    return ConfigError(f"not YAML: {problem}", where=where, hint=hint)


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
    if not folder.is_dir():
        return {}
    found = [file for file in folder.iterdir() if file.name.endswith(".yaml")]
    return {file.name.removesuffix(".yaml"): file for file in sorted(found, key=lambda file: file.name)}


def _read(path_or_name: str) -> Document:
    path, shipped, source = Path(path_or_name), shipped_configs(), path_or_name
    name = path_or_name.removesuffix(".yaml")
    content = b""
    try:
        if path_or_name == "-":
            source, content = "<stdin>", sys.stdin.buffer.read(_MOST + 1)
        elif not path.is_file() and name in shipped:
            source, content = shipped[name].name, shipped[name].read_bytes()
        else:
            refuse_device(path)
            with path.open("rb") as file:
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
