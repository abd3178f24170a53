"""Parameters that are switches: at 0 they are off, and so is what counts only with them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

# Parameters that at 0 are off, and those that count only with them.
SWITCHES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "growth": ("growth_years",),
        "decline": ("decline_after",),
        "early": ("early_years",),
        "draw_margin_drift": (),
        "draw_margin_strength": (),
        "prior_mean_drift": (),
    }
)


def in_use(params: Mapping[str, Any]) -> dict[str, Any]:
    """A model's parameters as far as they count: what is not given, or off, is left out."""
    off = {key: others for key, others in SWITCHES.items() if params.get(key) == 0}
    idle = {*off, *(key for others in off.values() for key in others)}
    return {key: value for key, value in params.items() if value is not None and key not in idle}
