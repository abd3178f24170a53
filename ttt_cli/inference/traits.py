"""What a rating system declares of itself, so that nobody has to try it out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from ttt_cli.fitted import Kind
from ttt_cli.timeline import Timeline


class Range(NamedTuple):
    """Between which bounds a parameter is tuned by its evidence, and by its logarithm, its logit or as it is.

    Bounds of lengths are in units of `prior_sd`. At zero the evidence of a drift has no gradient: tuning begins at
    `least` or above. Not a length is a time or a plain number.
    """

    low: float
    high: float
    form: Literal["log", "logit", "linear"] = "log"
    least: float = 0.0
    is_length: bool = True


DRIFT: Final = Range(1e-4, 5.0, least=0.01)
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
OWN_MARGINS: Final[dict[str, Range]] = {
    "draw_margin_mean": Range(1e-3, 20.0, "linear"),
    "draw_margin_sd": Range(1e-3, 20.0),
    "draw_margin_tau": DRIFT,
}


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What a rating system is.

    `kind`: smoothed systems are refitted to predict, of filters one fit tells what was believed before every game.
    `has_evidence`: whether fits have a log-evidence, at least with the default parameters. `draws_apart`: the draw
    margin counts only in prediction. `predicts_by_means`: predictions take ratings as certain, whatever their sds.
    `fits_periods`: every period is a fit of its own, made by `fit_before`. `quantities`: how many a node has, of
    systems of which slices of a timeline may be held apart. `tunable`: what `ttt tune` can vary. `for_predictions`:
    the cheapest values of parameters on which no prediction depends. `rough_gradient(params)`: whether the gradient
    is not quite that of the evidence. `for_many_fits(timeline, params, fits)`: values of parameters with which so
    many fits can be afforded, where they cannot with the given ones.
    """

    kind: Kind
    has_evidence: bool
    draws_apart: bool = False
    predicts_by_means: bool = False
    fits_periods: bool = False
    quantities: int = 0
    tunable: Mapping[str, Range] = field(default_factory=dict)
    for_predictions: Mapping[str, object] = field(default_factory=dict)
    rough_gradient: Callable[[Any], bool] = lambda _: False
    for_many_fits: Callable[[Timeline, Any, int], Mapping[str, object]] = lambda *_: {}
