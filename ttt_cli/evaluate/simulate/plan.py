"""What to simulate: the parameters of artificial histories, with their bounds."""

import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, get_args

from ttt_cli.errors import ConfigError
from ttt_cli.histories import Curve
from ttt_cli.inference.draws import margin_for
from ttt_cli.inference.params import DrawsMove, Params, PlayParams
from ttt_cli.reading.values.dates import YEARS

Dates = Literal["year", "day"]
Strengths = Literal["skill", "results"]


def _key(
    default: Any,
    description: str,
    low: float = -math.inf,
    high: float = math.inf,
    choices: tuple[str, ...] = (),
) -> Any:
    """A field of the plan with its bounds, or the words that it may be."""
    metadata = {"description": description, "low": low, "high": high, "choices": choices}
    return field(default=default, metadata=metadata)


def _of_model(params: type[Params], name: str) -> Any:
    """A parameter of the model, as it is there."""
    info = params.model_fields[name]
    low, high = (
        next((getattr(one, end) for one in info.metadata if hasattr(one, end)), none)
        for end, none in (("ge", -math.inf), ("le", math.inf))
    )
    words = info.description or ""
    return _key(info.default, f"{words[:1].upper()}{words[1:]}.", low, high)


@dataclass(frozen=True)
class Plan:
    """What to simulate. Points and years.

    Time: `years` calendar years from `first_year`. The games of year t (0, 1, ...) and the players who enter
    in it are proportional to exp(`expansion` * t): with 0.05 most games of a long history (63 %) fall in its
    last 20 years. A career is a run of whole years with a geometric length of mean `career_years`, cut at the
    end of the history; the first two players enter in the first year.

    Skills: N(`prior_mean` + m(t), `prior_sd`^2) in a player's first year, then a random walk with sd `tau` per
    square root of a year along the career curve of `growth`, `growth_years`, `decline`, `decline_after`, `early` and
    `early_years` (docs/models/careers.md); a skill is constant within a calendar year. The mean of newcomers moves by
    m(t) = `newcomers_slope` t + `newcomers_wave` sin(2 pi t / `newcomers_wave_years`).

    Games: the difference of performances is N(s_white - s_black + `white_advantage`, 2 `beta`^2); one beyond
    the draw margin wins, else the game is drawn. In the first year the margin is `draw_margin` or, when that is None,
    follows from `draw_probability`, the chance of a draw between equals. From year to year its logarithm walks with sd
    `draw_margin_drift`; of a game it is larger by `draw_margin_strength` for each 400 points, 2 times 400 at most, by
    which the mean skill of both players lies above that of the year's games.

    Who meets whom depends on the calendar, a lasting cluster (one of `clusters` regions, drawn for each player
    at random) and a lasting activity (log-normal). Both opponents come from one cluster, but a share `mixing` of the
    games, and those of somebody alone in the cluster, are against anyone active. With `opponents_sd` players choose
    their like: an opponent whose skill differs by d is accepted with probability exp(-(d / `opponents_sd`)^2 / 2), and
    after 20 refusals the nearest of them. That carries knowledge of skills that the games do not show: a likelihood
    that takes the pairings as given does not know it. With `opponents_by` "results" they know of each other what a
    rating by the results so far says, which tells such a likelihood nothing. By default skill plays no part.

    Raises ConfigError when a number is out of its bounds.
    """

    players: int = _key(2000, "Number of players.", 2, 2**31 - 1)
    years: int = _key(100, "Length of the history.", 1)
    games: int = _key(100_000, "Number of games.", 1)
    first_year: int = _key(1850, "Where the history begins.", *YEARS)
    prior_mean: float = _key(1200.0, "Mean skill at first, points.")
    prior_sd: float = _key(400.0, "Its sd among players, points.", 0)
    beta: float = _key(480.0, "Sd of one performance, points.", 1e-6)
    tau: float = _key(60.0, "Sd of the change in a year, points.", 0)
    draw_margin: float | None = _key(
        None, "Performances that differ by no more draw, points; else by the next.", 0
    )
    draw_probability: float = _key(0.303, "Chance between equals.", 0, 0.999999)
    white_advantage: float = _key(0.0, "Added to White's performance, points.")
    draw_margin_drift: float = _of_model(DrawsMove, "draw_margin_drift")
    draw_margin_strength: float = _of_model(DrawsMove, "draw_margin_strength")
    growth: float = _of_model(PlayParams, "growth")
    growth_years: float = _of_model(PlayParams, "growth_years")
    decline: float = _of_model(PlayParams, "decline")
    decline_after: float = _of_model(PlayParams, "decline_after")
    early: float = _of_model(PlayParams, "early")
    early_years: float = _of_model(PlayParams, "early_years")
    newcomers_slope: float = _key(0.0, "Rise of the mean skill at first in a year, points.")
    newcomers_wave: float = _key(0.0, "Height of waves of the mean skill at first, points.")
    newcomers_wave_years: float = _key(50.0, "Length of such a wave.", 1e-6)
    expansion: float = _key(0.05, "Growth of games and players, per year.")
    career_years: float = _key(8.0, "Mean length of a career.", 1)
    clusters: int = _key(20, "Groups who mostly meet each other.", 1)
    mixing: float = _key(0.1, "Share of games against anyone.", 0, 1)
    opponents_sd: float | None = _key(
        None, "Opponents are chosen for their skill, within so many points; else whatever it is.", 1e-6
    )
    opponents_by: Strengths = _key(  # noqa: RUF009
        "skill",
        "What opponents are chosen for: skill, or a rating by the results so far.",
        choices=get_args(Strengths),
    )
    dates: Dates = _key("year", "Given out.", choices=get_args(Dates))  # noqa: RUF009
    seed: int = _key(0, "Equal seeds give equal histories.", 0)

    def __post_init__(self) -> None:
        for one in fields(self):
            value, low, high = getattr(self, one.name), one.metadata["low"], one.metadata["high"]
            if isinstance(value, int | float) and not (math.isfinite(value) and low <= value <= high):
                raise ConfigError(f"{one.name} is {value}", hint=_hint(low, high))
            if (choices := one.metadata["choices"]) and value not in choices:
                raise ConfigError(f"{one.name} is {value!r}", hint=f"give {' or '.join(choices)}")
        if self.first_year + self.years - 1 > YEARS[1]:
            raise ConfigError(
                f"the history ends after the year {YEARS[1]}", hint="begin earlier, or take fewer years"
            )

    @cached_property
    def margin(self) -> float:
        """The draw margin in points."""
        given = self.draw_margin
        return margin_for(self.draw_probability, self.beta) if given is None else given

    @property
    def career(self) -> Curve:
        """How skills change by themselves."""
        return Curve(*(getattr(self, name) for name in Curve._fields))


def _hint(low: float, high: float) -> str:
    if math.isinf(low):
        return "give a finite number"
    return f"give {low:g} or more" if math.isinf(high) else f"give a number from {low:g} to {high:g}"
