"""Parameters that several models share, with their defaults and bounds.

Points and years throughout. Greek names of the literature are accepted as aliases.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field


class Params(BaseModel):
    """Parameters of a model: unknown keys are errors, values do not change.

    `REMOVED`: keys of earlier versions, and what to do instead.
    """

    REMOVED: ClassVar[Mapping[str, str]] = MappingProxyType({})

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def for_forecasts(self) -> Self:
        """The same without what no forecast depends on."""
        return self


def alias(*names: str) -> AliasChoices:
    """A key and the symbols under which the literature knows it."""
    return AliasChoices(*names)


class PlayParams(Params):
    """Gaussian skill that drifts and Gaussian performance."""

    prior_mean: Annotated[
        float,
        Field(
            validation_alias=alias("prior_mean", "mu0"),
            description="mean skill at the first appearance, points",
        ),
    ] = 1200.0
    prior_sd: Annotated[
        float,
        Field(
            gt=0,
            validation_alias=alias("prior_sd", "sigma0"),
            description="sd of skill at the first appearance, points",
        ),
    ] = 400.0
    beta: Annotated[float, Field(gt=0, description="sd of one performance around skill, points")] = 480.0
    tau: Annotated[
        float,
        Field(
            ge=0, description="sd of the change of skill over one year, points; tau * sqrt(g) over g years"
        ),
    ] = 60.0
    white_advantage: Annotated[
        Literal["estimate"] | float,
        Field(
            validation_alias=alias("white_advantage", "gamma"),
            description="added to White's performance, points; estimate: what the evidence prefers",
        ),
    ] = 0.0


class SkillParams(PlayParams):
    """The same with one draw margin for everybody."""

    draw_margin: Annotated[
        Literal["auto"] | Annotated[float, Field(ge=0)],
        Field(
            validation_alias=alias("draw_margin", "epsilon"),
            description="a performance lead up to this is a draw, points; auto: from the share of draws",
        ),
    ] = "auto"
    draw_probability: Annotated[
        float | None,
        Field(
            gt=0,
            lt=1,
            description="chance of a draw between equals, for draw_margin auto; null: the share among the games",
        ),
    ] = None
