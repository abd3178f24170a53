"""A config as nested values with the place of each: from a file, a shipped config, standard input, and overrides."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, BinaryIO, Final

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
        for end in range(len(path), -1, -1):
            if path[:end] in self.origins:
                return self.origins[path[:end]]
        return None

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
    if root is None or (isinstance(root, ScalarNode) and _scalar(root, source) is None):
        return Document({}, {(): source})
    if not isinstance(root, MappingNode):
        raise ConfigError(
            "a config is a map of sections",
            where=_at(root, source),
            hint="for instance a line `model:` and below it, indented, `beta: 480`",
        )
    origins: dict[KeyPath, str] = {(): source}
    values = _construct(root, (), source, origins, ())
    return Document(values, origins)


def parse_value(text: str, source: str) -> Any:
    """The value of an override: a YAML scalar, `[list]` or `{map}`; other text as it is (a delimiter may be `,`).

    Raises ConfigError when a bracket or quote is not closed.
    """
    structured = text.lstrip()[:1] in ("[", "{", '"', "'")
    try:
        node = _compose(text, source)
        if structured or (isinstance(node, ScalarNode) and not node.style):
            return None if node is None else _construct(node, (), source, {}, ())
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


def _construct(
    node: Node, path: KeyPath, source: str, origins: dict[KeyPath, str], above: tuple[Node, ...]
) -> Any:
    if any(node is outer for outer in above):
        raise ConfigError("this value contains itself", where=_at(node, source), hint="write it out")
    if len(above) > _MOST_LEVELS:
        problem = f"nested more than {_MOST_LEVELS} deep"
        raise ConfigError(problem, where=_at(node, source), hint="a config has sections and keys, no more")
    if len(origins) > _MOST_VALUES:
        problem = f"more than {_MOST_VALUES:,} values, with its aliases written out"
        raise ConfigError(problem, where=_at(node, source), hint="is it a config?")
    above = (*above, node)
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            origins[(*path, index)] = _at(item, source)
        return [
            _construct(item, (*path, index), source, origins, above) for index, item in enumerate(node.value)
        ]
    if isinstance(node, MappingNode):
        values: dict[str, Any] = {}
        for key, key_node, item in _keys(node, path, source):
            origins[(*path, key)] = _at(key_node, source)
            values[key] = _construct(item, (*path, key), source, origins, above)
        return values
    return _scalar(node, source)


def _keys(node: MappingNode, path: KeyPath, source: str) -> Iterator[tuple[str, Node, Node]]:
    seen: dict[str, Node] = {}
    for key_node, item in node.value:
        key = _scalar(key_node, source) if isinstance(key_node, ScalarNode) else None
        if not isinstance(key, str):
            raise ConfigError("a key must be a word", where=_at(key_node, source), hint="put it in quotes")
        if key in seen:
            first = seen[key].start_mark.line + 1
            raise ConfigError(
                f"{dotted((*path, key))} is given twice, first on line {first}",
                where=_at(key_node, source),
                hint="keep one of the two",
            )
        seen[key] = key_node
        yield key, key_node, item


def _scalar(node: Node, source: str) -> Any:
    """The value of a scalar by YAML 1.2; dates remain text."""
    if node.tag in _TEXTS:
        return node.value
    if node.tag not in _OTHERS:
        problem = f"the tag {node.tag} has no meaning here"
        raise ConfigError(problem, where=_at(node, source), hint="write the value without it")
    try:
        return _YAML.constructor.construct_object(node)
    except ValueError:  # an integer of thousands of digits
        return node.value


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
    if path_or_name == "-":
        return _parsed(_bounded(sys.stdin.buffer, "<stdin>"), "<stdin>")
    path = Path(path_or_name)
    shipped = shipped_configs()
    name = path_or_name.removesuffix(".yaml")
    if not path.is_file() and name in shipped:
        return _parsed(shipped[name].read_bytes(), shipped[name].name)
    try:
        refuse_device(path)
        with path.open("rb") as file:
            content = _bounded(file, path_or_name)
    except FileNotFoundError as error:
        raise _not_found(path_or_name, list(shipped)) from error
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=path_or_name) from error
    return _parsed(content, path_or_name)


def _bounded(file: BinaryIO, source: str) -> bytes:
    """All bytes of a config, perhaps from a pipe. Raises ConfigError when they are too many."""
    content = file.read(_MOST + 1)
    if len(content) > _MOST:
        raise ConfigError(f"takes more than {_MOST >> 20} MB", where=source, hint="is it a config?")
    return content


def _not_found(path_or_name: str, shipped: list[str]) -> ConfigError:
    folder = Path(path_or_name).parent
    here = [str(file) for file in folder.iterdir() if file.suffix in SUFFIXES] if folder.is_dir() else []
    known = {Path(file).stem: file for file in here} | {name: name for name in shipped}
    near = known.get(nearest(Path(path_or_name).stem, known) or "")
    hint = f"did you mean {near}?" if near else f"a path, or one of the shipped configs: {', '.join(shipped)}"
    return ConfigError("there is no such config", where=path_or_name, hint=hint)


def _parsed(content: bytes, source: str) -> Document:
    try:
        return parse_document(content.decode("utf-8-sig"), source)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError("not UTF-8", where=f"{source}:{line}", hint="save the config as UTF-8") from error
