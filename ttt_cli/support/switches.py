"""Parameters that have an effect, of the parameters of a fit."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

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
    """Parameters of a model that have an effect: without null ones and those switched off."""
    off = {key: others for key, others in SWITCHES.items() if params.get(key) == 0}
    idle = {*off, *(key for others in off.values() for key in others)}
    return {key: value for key, value in params.items() if value is not None and key not in idle}
