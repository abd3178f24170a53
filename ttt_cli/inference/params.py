"""Parameters that several models share, points and years, with defaults and bounds; Greek names are aliases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import AliasChoices, Field, ValidationInfo, field_validator

from ttt_cli.config.document import Section

if TYPE_CHECKING:
    from ttt_cli.histories import Curve
    from ttt_cli.inference.prior import Prior
    from ttt_cli.timeline import Timeline

ESTIMATE: Final = "estimate"
alias: Final = AliasChoices  # a key and the symbols under which the literature knows it


class Params(Section):
    """Parameters of a model: unknown keys are errors, values do not change."""

    @property
    def estimates_advantage(self) -> bool:
        """Whether White's advantage is what the evidence of the games prefers."""
        return getattr(self, "white_advantage", None) == ESTIMATE

    @property
    def draws_open(self) -> bool:
        """Whether the draw margin follows the share of draws among the games."""
        given = getattr(self, "draw_margin", None), getattr(self, "draw_probability", None)
        return given == ("auto", None)


def named(*names: str, **rest: Any) -> Any:
    """A field by its key and the symbols under which the literature knows it."""
    return Field(validation_alias=alias(*names), **rest)


PriorMean = Annotated[
    float, named("prior_mean", "mu0", description="mean skill at the first appearance, points")
]
PriorSd = Annotated[
    float, named("prior_sd", "sigma0", gt=0, description="sd of skill at the first appearance, points")
]
Beta = Annotated[float, Field(gt=0, description="sd of one performance around skill, points")]
Tau = Annotated[
    float,
    Field(ge=0, description="sd of the change of skill over one year, points; tau * sqrt(g) over g years"),
]
CareerYears = Annotated[float, Field(ge=0.01, le=1000.0)]
WhiteAdvantage = Annotated[
    float, named("white_advantage", "gamma", description="added to White's performance, points")
]
DrawMargin = Annotated[
    Literal["auto"] | Annotated[float, Field(ge=0)],
    Field(
        validation_alias=alias("draw_margin", "epsilon"),
        description="performances that differ by no more are a draw, points; auto: from the share of draws",
    ),
]
DrawProbability = Annotated[
    float | None,
    Field(
        gt=0,
        lt=1,
        description="chance of a draw between equals, for draw_margin auto; null: the share among the games",
    ),
]


class PlayParams(Params):
    """Gaussian skill that drifts and Gaussian performance."""

    prior_mean: PriorMean = 1200.0
    prior_sd: PriorSd = 400.0
    beta: Beta = 480.0
    tau: Tau = 60.0
    white_advantage: Literal["estimate"] | float = Field(
        default=0.0,
        validation_alias=alias("white_advantage", "gamma"),
        description="added to White's performance, points; estimate: what the evidence prefers",
    )

    growth: float = Field(
        default=0.0, ge=0, description="rise of skill after the first period, in the end, points"
    )
    growth_years: CareerYears = Field(default=3.0, description="years in which 63 % of the growth are done")
    decline: float = Field(default=0.0, ge=0, description="fall of skill in a year of late careers, points")
    decline_after: float = Field(default=15.0, ge=0, description="years from the first period to the decline")
    early: float = Field(
        default=0.0,
        ge=0,
        description="how much faster tau^2 is at first, times: 1 + early at the first period",
    )
    early_years: CareerYears = Field(
        default=3.0, description="years in which 63 % of the early haste are over"
    )

    @property
    def career(self) -> Curve:
        """How skills change by themselves."""
        from ttt_cli.histories import Curve

        return Curve(*(getattr(self, name) for name in Curve._fields))

    def skill_prior(self, timeline: Timeline) -> Prior:
        """What is believed of skills before any game."""
        from ttt_cli.inference.careers import Career

        mean_drift = getattr(self, "prior_mean_drift", 0.0)
        return Career(timeline, self.prior_mean, self.prior_sd, self.tau, self.career, mean_drift)


class SkillParams(PlayParams):
    """The same with one draw margin for everybody."""

    draw_margin: DrawMargin = "auto"
    draw_probability: DrawProbability = None


class DrawsMove(Params):
    """Draw margins that follow the year and the strength of the players."""

    @property
    def draws_move(self) -> bool:
        """Whether they do."""
        return bool(self.draw_margin_drift or self.draw_margin_strength)

    draw_margin_drift: float = Field(
        default=0.0,
        ge=0,
        le=2,
        validation_alias=alias("draw_margin_drift", "tau_eps"),
        description="sd of the change of the draw margin's logarithm from year to year; 0: one margin for all years",
    )
    draw_margin_strength: float = Field(
        default=0.0,
        ge=-2,
        le=2,
        validation_alias=alias("draw_margin_strength", "kappa"),
        description="rise of the draw margin's logarithm with 400 points of both players above the year's level",
    )


class NewcomersMove(Params):
    """The mean skill of newcomers follows the year."""

    prior_mean_drift: float = Field(
        default=0.0,
        ge=0,
        validation_alias=alias("prior_mean_drift", "tau_m"),
        description="sd of the change of newcomers' mean skill over one year, points; 0: the same in all years",
    )

    @field_validator("prior_mean_drift")
    @classmethod
    def _grows(cls, drift: float, info: ValidationInfo) -> float:
        if drift and not info.data.get("growth", True):
            raise ValueError("without growth newcomers' mean takes its place; give model.growth too, as 310")
        return drift


MOST_ADVANTAGE: Final = 2_000.0  # Elo points: a queen is 1008
MOST_MARGIN: Final = 4_000.0  # Elo points: at 2,520 one game in a million between equals is not drawn
LogisticMargin = Annotated[
    Literal["auto"] | Annotated[float, Field(ge=0, le=MOST_MARGIN)],
    Field(
        validation_alias=alias("draw_margin", "epsilon"),
        description="draws are as frequent as this margin makes them, Elo points; auto: from the share of draws",
    ),
]
EloAdvantage = Annotated[
    WhiteAdvantage,
    Field(ge=-MOST_ADVANTAGE, le=MOST_ADVANTAGE, description="added to White's rating, points"),
]


class ExpectedParams(Params):
    """How rating differences become outcomes, in Elo points."""

    draw_margin: LogisticMargin = "auto"
    draw_probability: DrawProbability = None
    white_advantage: EloAdvantage = 0.0
