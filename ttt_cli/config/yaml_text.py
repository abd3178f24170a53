"""YAML text as plain values, with the line of every key.

YAML 1.2 core schema: `1e-3` is a number, `yes` and `1858-06-15` are text. Duplicate keys are errors.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from ttt_cli.config.document import Document, KeyPath, dotted
from ttt_cli.errors import ConfigError

_TAG: Final = "tag:yaml.org,2002:"
_IMPLICIT: Final = {_TAG + kind for kind in ("int", "float", "bool", "null", "timestamp", "merge", "value")}
_CONSTANTS: Final[dict[str, Any]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,400}")
_BASED: Final = re.compile(r"0o[0-7]{1,400}|0x[0-9a-fA-F]{1,400}")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_MOST_VALUES: Final = 50_000
_MOST_LEVELS: Final = 50
_INFINITY: Final = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")


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
    """The value of an override: a YAML scalar, `[list]` or `{map}`.

    Else text, so that a delimiter may be `,` or `|`. Raises ConfigError when a bracket or quote is not closed.
    """
    if text.lstrip()[:1] in ("[", "{", '"', "'"):
        try:
            node = _compose(text, source)
            return None if node is None else _construct(node, (), source, {}, ())
        except ConfigError as error:
            raise ConfigError(error.message, where=source, hint=error.hint) from error
    return _core(text.strip()) if text.strip() or not text else text


def _compose(text: str, source: str) -> Node | None:
    try:
        node: Node | None = YAML(typ="safe", pure=True).compose(text)
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
        return ConfigError("a tab stands where YAML wants spaces", where=where, hint="indent with spaces")
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
    if node.tag == _TAG + "str":
        return node.value
    if node.tag not in _IMPLICIT:
        raise ConfigError(
            f"the tag {node.tag} means nothing here",
            where=_at(node, source),
            hint="write the value without it",
        )
    return _core(node.value)


def _core(text: str) -> Any:
    """A plain scalar by the YAML 1.2 core schema."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if infinity := _INFINITY.fullmatch(text):
        return float(f"{infinity[1]}inf")
    return text


def _at(node: Node, source: str) -> str:
    return f"{source}:{node.start_mark.line + 1}"
