"""The gradient of a filter's evidence by differences: a pass costs so little that formulas are not worth it."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from ttt_cli.fitted import Fit
from ttt_cli.inference.draws import draw_share, logistic_margin_slope
from ttt_cli.inference.params import ExpectedParams
from ttt_cli.timeline import Timeline

_Params = TypeVar("_Params", bound=ExpectedParams)


def evidence_gradient(
    filtered: Callable[[_Params], Fit], timeline: Timeline, params: _Params, fit: Fit, keys: Iterable[str]
) -> dict[str, float]:
    """The gradient of the log-evidence in the parameters `keys` and in `draw_probability`, at a fit of the timeline.

    `filtered` fits with given parameters. Numbers that were worked out from the games stay as the fit has them.
    """
    known = params.model_copy(update={"draw_margin": fit.params["draw_margin"]})

    def slope(key: str) -> float:
        value = float(fit.params[key])
        return central_slope(
            lambda moved: filtered(known.model_copy(update={key: moved})).log_evidence, value, 1.0
        )

    slopes = {key: slope(key) for key in (*keys, "draw_margin", "white_advantage")}
    share = params.draw_probability or draw_share(timeline)
    return {**slopes, "draw_probability": slopes["draw_margin"] * logistic_margin_slope(share)}


def central_slope(function: Callable[[float], float], at: float, unit: float) -> float:
    """The slope of a function by differences over a small part of `unit`; one-sided where it would turn negative."""
    step = 1e-4 * max(unit, abs(at))
    low = at - step if at >= step or at < 0.0 or at == 0.0 else at
    return (function(at + step) - function(low)) / (at + step - low)
