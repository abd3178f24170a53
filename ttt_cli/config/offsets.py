"""Keys of offsets of categories among the parameters of a model: `offsets.NAME.sd` and `offsets.NAME.tau`."""

from collections.abc import Mapping
from typing import Any, Final, Literal

PREFIX: Final = "offsets."
CORRELATION: Final = (
    "offset_correlation"  # key of the correlation of the offsets of several categories
)
OffsetKey = Literal["sd", "tau"]
OffsetSettings = Mapping[str, Mapping[OffsetKey, float]]


def offset_key(category: str, name: str) -> str:
    """The key of a parameter of a category."""
    return f"{PREFIX}{category}.{name}"


def offset_params(settings: OffsetSettings) -> dict[str, float]:
    """The parameters of all categories, by key."""
    return {
        offset_key(category, name): value
        for category, setting in settings.items()
        for name, value in setting.items()
    }


def with_offsets(settings: OffsetSettings, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Settings with other values, by key."""
    changed: dict[str, dict[str, Any]] = {
        category: {str(name): value for name, value in setting.items()}
        for category, setting in settings.items()
    }
    for key, value in values.items():
        category, _, name = key.removeprefix(PREFIX).rpartition(".")
        changed.setdefault(category, {})[name] = value
    return changed
