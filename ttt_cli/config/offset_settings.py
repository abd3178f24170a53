"""Settings of offsets of categories in a config: `{rapid: {sd: 100, tau: 30}}`."""

from typing import Annotated

from pydantic import AfterValidator

from ttt_cli.config.offsets import OffsetKey


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
