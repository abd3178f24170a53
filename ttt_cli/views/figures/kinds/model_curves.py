"""Curves of a model: draw margins and newcomers by year, skills by years since the debut."""

from typing import Final

from ttt_cli.runs.curves import CurveName
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.figures.curves import CurvePoint, curves_figure
from ttt_cli.views.figures.figure import Figure, FigureOptions
from ttt_cli.views.figures.spec import Spec
from ttt_cli.views.run import career_begin, curve_title, unit_words

# What a run without a curve has instead, and what to fit with
_WITHOUT: Final[dict[CurveName, tuple[str, str]]] = {
    "draws": ("the run has one draw margin for all years", "model.draw_margin_drift, say 0.04"),
    "newcomers": (
        "newcomers are the same in all years of the run",
        "model.prior_mean_drift, say 15",
    ),
    "career": ("the run has no careers", "model.growth, say 310, or -c ttt-career"),
}


def draw_margins(run: Run, options: FigureOptions) -> Figure:  # noqa: ARG001
    """The draw margin by year."""
    return Figure(model_curve_figure(run, "draws"), "draws")


def draw_newcomers(run: Run, options: FigureOptions) -> Figure:  # noqa: ARG001
    """The mean skill of newcomers by year."""
    return Figure(model_curve_figure(run, "newcomers"), "newcomers")


def draw_career(run: Run, options: FigureOptions) -> Figure:  # noqa: ARG001
    """The change of skill by years since the debut."""
    return Figure(model_curve_figure(run, "career"), "career")


def model_curve_figure(run: Run, curve: CurveName) -> Spec:
    """A curve of the model with a band of one sd. Raises LookupFailed for a run without it."""
    rows = run.curve(curve)
    if not rows:
        message, key = _WITHOUT[curve]
        raise LookupFailed(message, hint=f"fit with {key}")
    title = curve_title(run, curve)
    points = [CurvePoint(f"{at:g}", float(at), value, sd, 1.0) for at, value, sd, *_ in rows]
    axis = f"{title}, {unit_words(run)}"
    by = f"years since {career_begin(run.meta.params)}" if curve == "career" else "year"
    return curves_figure(run, {title: points}, title.capitalize(), axis, title, by=by)
