"""Keys of covariates among the parameters of a model: `covariates.NAME`, of a category `covariates.NAME.VALUE`."""

from collections.abc import Mapping
from typing import Any, Final

PREFIX: Final = "covariates."


def points_by_key(params: Mapping[str, Any]) -> dict[str, float]:
    """Points per unit of covariates in the resolved parameters of a fit, by key."""
    return {key: value for key, value in params.items() if key.startswith(PREFIX)}


def points_by_term(params: Mapping[str, Any]) -> dict[str, float]:
    """Points per unit of covariates in those parameters, by the names of coefficients (`Term.name`)."""
    return {key.removeprefix(PREFIX): value for key, value in points_by_key(params).items()}
