"""The values of a config, each with the place where it was written, and what all its sections have in common."""

from dataclasses import dataclass, field
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

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
        """A copy in which `path` holds `value`; what stood at or below it is gone, and the key comes last."""
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


class Section(BaseModel):
    """A part of the config: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def key(default: Any, description: str, **bounds: Any) -> Any:
    """A key of a section: its default, what it means, and its bounds."""
    return Field(default=default, description=description, **bounds)


def section_of(info: FieldInfo | None) -> type[BaseModel] | None:
    """The schema of a key that is a section within its section, None for a plain value."""
    inner = info.annotation if info else None
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


def aliases(schema: type[BaseModel]) -> dict[str, str]:
    """Other spellings of the schema's keys, e.g. `mu0`, and the keys they stand for."""
    found: dict[str, str] = {}
    for name, info in schema.model_fields.items():
        if isinstance(info.validation_alias, AliasChoices):
            choices = (str(choice) for choice in info.validation_alias.choices)
            found.update((choice, name) for choice in choices if choice != name)
    return found
