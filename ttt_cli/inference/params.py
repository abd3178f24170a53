"""Parameters that several models share, in points and years, and the traits of a rating system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

from pydantic import (
    AliasChoices,
    AliasGenerator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from ttt_cli.config.margin_steps import StepSettings
from ttt_cli.config.offsets import CORRELATION, OffsetKey, OffsetSettings, offset_key
from ttt_cli.config.schema import ConfigSection, key
from ttt_cli.fitted import Kind
from ttt_cli.inference.sides import TeamSkill
from ttt_cli.timeline import Timeline

if TYPE_CHECKING:
    from ttt_cli.histories import Curve
    from ttt_cli.inference.prior import RandomWalk


ESTIMATE: Final = "estimate"
AUTO: Final = "auto"
CLASS_INTERVAL: Final = 200.0  # Elo points: sd of one performance (Elo 1978)
SYMBOLS: Final = {  # under which the literature knows the keys
    "prior_mean": "mu0",
    "prior_sd": "sigma0",
    "white_advantage": "gamma",
    "draw_margin": "epsilon",
    "draw_margin_drift": "tau_eps",
    "draw_margin_strength": "kappa",
    "draw_margin_mean": "nu0",
    "draw_margin_sd": "varsigma0",
    "draw_margin_tau": "varsigma",
    "prior_mean_drift": "tau_m",
}


class Params(ConfigSection):
    """Parameters of a model, frozen; unknown keys are errors."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(
            validation_alias=lambda key: AliasChoices(key, SYMBOLS.get(key, key))
        )
    )

    @property
    def estimates_advantage(self) -> bool:
        """Whether White's advantage is estimated by the evidence."""
        return getattr(self, "white_advantage", None) == ESTIMATE

    @property
    def given_advantage(self) -> float | None:
        """White's advantage as configured, points; 0 for `auto`, None where it is estimated."""
        setting = getattr(self, "white_advantage", 0.0)
        if setting == ESTIMATE:
            return None
        return 0.0 if setting == AUTO else float(setting)

    @property
    def covariate_settings(self) -> Mapping[str, CovariateSetting]:
        """Points per unit of covariates as configured, by name, or by name and value."""
        return getattr(self, "covariates", {})

    @property
    def offset_settings(self) -> OffsetSettings:
        """Sd and tau of the offsets of categories of games, by name."""
        return getattr(self, "offsets", {})

    @property
    def step_settings(self) -> StepSettings:
        """Steps between margins of victory as configured."""
        return getattr(self, "margin_steps", {})

    @property
    def estimates_steps(self) -> bool:
        """Whether steps between margins of victory are estimated by the evidence."""
        settings = self.step_settings
        return isinstance(settings, str) or ESTIMATE in settings.values()

    @property
    def offset_ranges(self) -> dict[str, Range]:
        """Bounds of the parameters of offsets in tuning, by key."""
        return {
            offset_key(category, name): OFFSET[name]
            for category, setting in self.offset_settings.items()
            for name in setting
        }

    @property
    def estimates_covariates(self) -> bool:
        """Whether points per unit of any covariate are estimated by the evidence."""
        settings = self.covariate_settings.values()
        of_values = [
            points
            for setting in settings
            if isinstance(setting, dict)
            for points in setting.values()
        ]
        return ESTIMATE in (*settings, *of_values)

    @property
    def estimates_lapse(self) -> bool:
        """Whether the share of games that chance decides is estimated by the evidence."""
        return getattr(self, "lapse", 0.0) == ESTIMATE

    @property
    def team_skill(self) -> TeamSkill:
        """How the skills of members make that of a team."""
        team: TeamSkill = getattr(self, "team", "sum")
        return team

    @property
    def given_lapse(self) -> float | None:
        """The share of games that chance decides as configured; None where it is estimated."""
        return None if self.estimates_lapse else float(getattr(self, "lapse", 0.0))

    @property
    def has_evidence(self) -> bool:
        """Whether fits have a log-evidence, in systems that have any."""
        return True

    @property
    def performance_sd(self) -> float:
        """Sd of one performance around skill, points."""
        return CLASS_INTERVAL

    @property
    def draws_open(self) -> bool:
        """Whether the draw margin follows the share of draws among the games."""
        settings = getattr(self, "draw_margin", None), getattr(self, "draw_probability", None)
        return settings == ("auto", None)


Points = Literal["estimate"] | float
CovariateSetting = Points | dict[str, Points]
PriorMean = Annotated[float, Field(description="mean skill at the first appearance, points")]
PriorSd = Annotated[float, Field(gt=0, description="sd of skill at the first appearance, points")]
Beta = Annotated[float, Field(gt=0, description="sd of one performance around skill, points")]
Tau = Annotated[
    float,
    Field(
        ge=0,
        description="sd of the change of skill over one year, points; tau * sqrt(g) over g years",
    ),
]
CareerYears = Annotated[float, Field(ge=0.01, le=1000.0)]
WhiteAdvantage = Annotated[float, Field(description="added to White's performance, points")]
_ESTIMATED: Final = (
    "points; estimate: the most probable with a weak prior;"
    " auto: estimate where one side is at home, else 0"
)
DrawMargin = Annotated[
    Literal["auto"] | Annotated[float, Field(ge=0)],
    Field(
        description="performances that differ by no more are a draw, points; auto: from the share of draws"
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


class GivenCovariates(Params):
    """Covariates of rating systems, which estimate none."""

    covariates: dict[str, float | dict[str, float]] = key(
        {},
        "points per unit of covariates (data.covariates, activity); of a category by value, {surface: {clay: 20}}",
    )


class PlayParams(Params):
    """Gaussian skill that drifts, and Gaussian performance."""

    prior_mean: PriorMean = 1200.0
    prior_sd: PriorSd = 400.0
    beta: Beta = 480.0
    tau: Tau = 60.0
    white_advantage: Literal["auto", "estimate"] | float = key(
        AUTO, f"added to White's performance, {_ESTIMATED}"
    )

    @property
    def performance_sd(self) -> float:
        """Sd of one performance around skill, points."""
        return self.beta

    growth: float = key(0.0, "rise of skill after the first period, in the end, points", ge=0)
    growth_years: CareerYears = key(3.0, "years in which 63 % of the growth are done")
    decline: float = key(0.0, "fall of skill in a year of late careers, points", ge=0)
    decline_after: float = key(15.0, "years from the first period to the decline", ge=0)
    early: float = key(
        0.0, "how much faster tau^2 is at first, times: 1 + early at the first period", ge=0
    )
    early_years: CareerYears = key(3.0, "years in which 63 % of the early haste are over")
    career_by: Literal["debut", "age"] = key(
        "debut",
        "when careers begin; age: at career_age, of players without a birth in data.people with the debut",
    )
    career_age: float = key(15.0, "age at which careers by age begin, years", ge=0, le=100)

    @property
    def career(self) -> Curve:
        """Expected change of skill over a career."""
        from ttt_cli.histories import Curve

        late = self.decline, self.decline_after
        return Curve(self.growth, self.growth_years, *late, self.early, self.early_years)

    def skill_prior(self, timeline: Timeline) -> RandomWalk:
        """Prior of skills."""
        from ttt_cli.inference.prior import CareerWalk

        mean_drift = getattr(self, "prior_mean_drift", 0.0)
        career_age = self.career_age if self.career_by == "age" else None
        return CareerWalk(
            timeline, self.prior_mean, self.prior_sd, self.tau, self.career, mean_drift, career_age
        )


class SkillParams(PlayParams):
    """Skill parameters with one draw margin for all players."""

    draw_margin: DrawMargin = "auto"
    draw_probability: DrawProbability = None


class DrawsMove(Params):
    """Draw margins that follow the year and the strength of the players."""

    @property
    def draws_move(self) -> bool:
        """Whether draw margins depend on the year or on strength."""
        return bool(self.draw_margin_drift or self.draw_margin_strength)

    draw_margin_drift: float = key(
        0.0,
        "sd of the change of the draw margin's logarithm from year to year; 0: one margin for all years",
        ge=0,
        le=2,
    )
    draw_margin_strength: float = key(
        0.0,
        "rise of the draw margin's logarithm with 400 points of both players above the year's level",
        ge=-2,
        le=2,
    )


class NewcomersMove(Params):
    """The mean skill of newcomers follows the year."""

    prior_mean_drift: float = key(
        0.0,
        "sd of the change of newcomers' mean skill over one year, points; 0: the same in all years",
        ge=0,
    )

    @field_validator("prior_mean_drift")
    @classmethod
    def _grows(cls, drift: float, info: ValidationInfo) -> float:
        if drift and not info.data.get("growth", True):
            raise ValueError(
                "without growth newcomers' mean takes its place; give model.growth too, as 310"
            )
        return drift


MOST_ADVANTAGE: Final = 2_000.0  # Elo points: a queen is 1008
# Elo points: at 2,520 one game in a million between equals is not drawn
MOST_MARGIN: Final = 4_000.0
LogisticMargin = Annotated[
    Literal["auto"] | Annotated[float, Field(ge=0, le=MOST_MARGIN)],
    Field(
        description="draws are as frequent as this margin makes them, Elo points; auto: from the share of draws"
    ),
]
EloAdvantage = Annotated[
    WhiteAdvantage,
    Field(ge=-MOST_ADVANTAGE, le=MOST_ADVANTAGE, description="added to White's rating, points"),
]


EstimatedAdvantage = Annotated[
    Literal["auto", "estimate"] | Annotated[float, Field(ge=-MOST_ADVANTAGE, le=MOST_ADVANTAGE)],
    Field(description=f"added to White's rating, {_ESTIMATED}"),
]


class DrawParams(Params):
    """Draw parameters of systems that predict a score, Elo points."""

    draw_margin: LogisticMargin = "auto"
    draw_probability: DrawProbability = None


class ExpectedParams(DrawParams):
    """Outcome parameters of systems that predict a score, Elo points."""

    white_advantage: EloAdvantage = 0.0


class EstimatedParams(DrawParams):
    """Outcome parameters of systems that also estimate White's advantage by their evidence, Elo points."""

    white_advantage: EstimatedAdvantage = AUTO


class Range(NamedTuple):
    """Bounds of a parameter in tuning, and the scale on which it is tuned.

    Bounds of lengths are in units of `prior_sd`; a parameter that is not a length is a time or a plain number. The
    evidence has no gradient at a drift of zero, so tuning starts at `least` or above.
    """

    low: float
    high: float
    form: Literal["log", "logit", "linear"] = "log"
    least: float = 0.0
    is_length: bool = True


DRIFT: Final = Range(1e-4, 5.0, least=0.01)
OFFSET: Final[dict[OffsetKey, Range]] = {"sd": Range(1e-3, 5.0), "tau": DRIFT}
PLAY: Final[dict[str, Range]] = {
    "prior_sd": Range(0.05, 20.0),
    "beta": Range(0.05, 20.0),
    "white_advantage": Range(-5.0, 5.0, "linear"),
}
CAREER: Final[dict[str, Range]] = {
    "growth": Range(0.0, 5.0, "linear", least=0.25),
    "growth_years": Range(0.1, 100.0, is_length=False),
    "decline": Range(0.0, 1.0, "linear", least=0.01),
    "decline_after": Range(1.0, 100.0, is_length=False),
    "early": Range(0.01, 100.0, least=0.5, is_length=False),
    "early_years": Range(0.1, 100.0, is_length=False),
}
COMMON_MARGIN: Final[dict[str, Range]] = {
    "draw_margin": Range(1e-4, 20.0),
    "draw_probability": Range(1e-4, 1.0 - 1e-4, "logit", is_length=False),
}
MOVING_MARGINS: Final[dict[str, Range]] = {
    "draw_margin_drift": Range(1e-3, 1.0, least=0.02, is_length=False),
    "draw_margin_strength": Range(-1.0, 1.0, "linear", is_length=False),
}
LAPSE: Final[dict[str, Range]] = {"lapse": Range(0.0, 0.5, "linear", least=0.02, is_length=False)}
OFFSET_CORRELATION: Final[dict[str, Range]] = {
    CORRELATION: Range(1e-3, 0.99, "linear", least=0.1, is_length=False)
}
MARGIN_STEP: Final = Range(1e-3, 10.0)
OWN_MARGINS: Final[dict[str, Range]] = {
    "draw_margin_mean": Range(1e-3, 20.0, "linear"),
    "draw_margin_sd": Range(1e-3, 20.0),
    "draw_margin_tau": DRIFT,
}


@dataclass(frozen=True, kw_only=True)
class Traits:
    """Properties of a rating system.

    - `kind`: smoothed systems are refitted for predictions; one fit of a filter has the predictions of all games
    - `has_evidence`: fits have a log-evidence, at least with the default parameters
    - `draws_apart`: the draw margin matters only in predictions
    - `predicts_by_means`: predictions ignore the sds of ratings
    - `fits_periods`: each period has a fit of its own, by `fit_before`
    - `takes_sums`: games of teams and orders of finish are fitted, too
    - `quantities`: number of quantities of a node, in systems that can be fitted in slices
    - `tunable`: parameters that `ttt tune` can vary
    - `for_predictions`: cheapest values of the parameters that do not affect predictions
    - `exact_gradient(params)`: whether `gradient` is that of the evidence; else tuning takes differences
    - `for_many_fits(timeline, params, fits)`: parameter values with which so many fits are affordable
    """

    kind: Kind
    has_evidence: bool
    draws_apart: bool = False
    predicts_by_means: bool = False
    fits_periods: bool = False
    takes_sums: bool = False
    quantities: int = 0
    tunable: Mapping[str, Range] = field(default_factory=dict)
    for_predictions: Mapping[str, object] = field(default_factory=dict)
    exact_gradient: Callable[[Any], bool] = lambda _: False
    for_many_fits: Callable[[Timeline, Any, int], Mapping[str, object]] = lambda *_: {}
