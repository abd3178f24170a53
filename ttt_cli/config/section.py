"""What all sections of a config have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo


class Section(BaseModel):
    """A part of the config: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def section_of(info: FieldInfo | None) -> type[BaseModel] | None:
    """The schema of a key that is a section within its section, None for a plain value."""
    inner = info.annotation if info else None
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
