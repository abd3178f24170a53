"""Keys of offsets of categories among the parameters of a model: `offsets.NAME.sd` and `offsets.NAME.tau`."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator

PREFIX: Final = "offsets."
CORRELATION: Final = (
    "offset_correlation"  # key of the correlation of the offsets of several categories
)
OffsetKey = Literal["sd", "tau"]
OffsetSettings = Mapping[str, Mapping[OffsetKey, float]]


def _complete(offsets: dict[str, dict[OffsetKey, float]]) -> dict[str, dict[OffsetKey, float]]:
    """The settings of categories with all keys. Raises ValueError for a missing or impossible value."""
    complete: dict[str, dict[OffsetKey, float]] = {}
    for category, setting in offsets.items():
        if not category.strip():
            raise ValueError("a category needs a name")
        if not setting.get("sd", 0.0) > 0.0:
            raise ValueError(
                f"the offset of {category} needs an sd above 0, points, as in {{sd: 100, tau: 30}}"
            )
        if not setting.get("tau", 0.0) >= 0.0:
            raise ValueError(f"the tau of {category} is at least 0, points")
        complete[category] = {"sd": float(setting["sd"]), "tau": float(setting.get("tau", 0.0))}
    return complete


Offsets = Annotated[dict[str, dict[OffsetKey, float]], AfterValidator(_complete)]


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
