"""Configs in files: a path, standard input, or a shipped config by its name."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from ttt_cli.config.documents import Document, override, parse_document
from ttt_cli.support.errors import ConfigError, nearest
from ttt_cli.support.installed import SYSTEMS, entry_points_of
from ttt_cli.support.opening import open_input, remember_stream

SUFFIXES: Final = (".yaml", ".yml")
_LARGEST: Final = 1 << 20  # bytes of a config


def read_document(path_or_name: str | None, overrides: Sequence[str] = ()) -> Document:
    """The config in a file, `-` for standard input, a shipped config's name, or None for no config.

    `overrides` (`model.beta=600`) win over the file, later over earlier ones. Raises ConfigError with file and line.
    """
    document = Document() if path_or_name is None else _read(path_or_name)
    return override(document, overrides)


def shipped_configs() -> dict[str, Traversable]:
    """The shipped configs by name without suffix."""
    package = files("ttt_cli")
    folder = package / "configs"
    if not folder.is_dir() and isinstance(package, Path):
        folder = package.parent / "configs"  # a source tree, or an editable install of one
    by_name = {file.name: file for file in folder.iterdir() if file.name.endswith(".yaml")}
    return {name.removesuffix(".yaml"): by_name[name] for name in sorted(by_name)}


def installed_configs() -> dict[str, Traversable]:
    """Configs of rating systems of other packages by the system's name: `NAME.yaml`, in the package of its module."""
    configs = {}
    for name, point in entry_points_of(SYSTEMS).items():
        with suppress(ImportError):
            file = files(point.module.partition(".")[0]) / f"{name}.yaml"
            if file.is_file():
                configs[name] = file
    return configs


def _read(path_or_name: str) -> Document:
    name = path_or_name.removesuffix(".yaml")
    shipped = shipped_configs()
    if name not in shipped and not Path(path_or_name).exists():
        shipped |= installed_configs()
    source = path_or_name
    try:
        if path_or_name == "-":
            source = "<stdin>"
            remember_stream(sys.stdin.buffer, source, "config")
            content = sys.stdin.buffer.read(_LARGEST + 1)
        elif not Path(path_or_name).is_file() and name in shipped:
            source = shipped[name].name
            content = shipped[name].read_bytes()
        else:
            with open_input(path_or_name, "config") as file:
                content = file.read(_LARGEST + 1)
    except FileNotFoundError as error:
        hint = _similar_config(Path(path_or_name), shipped)
        raise ConfigError("there is no such config", where=source, hint=hint) from error
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=source) from error
    if len(content) > _LARGEST:
        message = f"is larger than a config may be, {_LARGEST >> 20} MB"
        raise ConfigError(message, where=source, hint="is it a config?")
    return parse_document(_decoded(content, source), source)


def _decoded(content: bytes, source: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            "not UTF-8", where=f"{source}:{line}", hint="save the config as UTF-8"
        ) from error


def _similar_config(path: Path, shipped: dict[str, Traversable]) -> str:
    """A hint for a config that does not exist: the most similar one in its folder or among the shipped ones."""
    neighbours = path.parent.iterdir() if path.parent.is_dir() else ()
    here = {file.stem: str(file) for file in neighbours if file.suffix in SUFFIXES}
    candidates = here | {name: name for name in shipped}
    similar = nearest(path.stem, candidates)
    if similar is not None:
        return f"did you mean {candidates[similar]}?"
    return f"a path, or one of the shipped configs: {', '.join(shipped)}"
