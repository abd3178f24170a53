"""Where a config comes from: a file, a shipped config, standard input, and the overrides on top."""

import sys
from collections.abc import Callable, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import BinaryIO, Final

from ttt_cli.config.document import Document, KeyPath, dotted
from ttt_cli.config.yaml_text import parse_document, parse_value
from ttt_cli.errors import ConfigError, nearest
from ttt_cli.files import refuse_device

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
    """The configs that come with the program, by name without suffix."""
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
    """All bytes of a config, which may come from a pipe. Raises ConfigError when they are too many."""
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
