"""Draw margins and newcomers' mean through the years, and the career that all skills follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ttt_cli.errors import LookupFailed
from ttt_cli.runs.curves import Name, rows
from ttt_cli.views.charts.histories import History, Point
from ttt_cli.views.charts.skills import Words, skills_chart
from ttt_cli.views.moving import across, curve_title

if TYPE_CHECKING:
    import altair as alt

    from ttt_cli.runs.run import Run

_NONE: Final[dict[Name, tuple[str, str]]] = {
    "draws": ("the run has one draw margin for all years", "model.draw_margin_drift, say 0.04"),
    "newcomers": ("newcomers are the same in all years of the run", "model.prior_mean_drift, say 15"),
    "career": ("the run has no careers", "model.growth, say 310, or -c ttt-career"),
}


def curve_chart(run: Run, name: Name) -> alt.LayerChart:
    """One of these curves with a band of one sd. Raises LookupFailed where the run has none."""
    found = rows(run, name)
    if not found:
        message, key = _NONE[name]
        raise LookupFailed(message, hint=f"fit with {key}")
    title = curve_title(run, name)
    points = tuple(Point(f"{at:g}", float(at), value, sd, 1.0) for at, value, sd, *_ in found)
    words = Words(title.capitalize(), f"{title}, {run.scale.unit}", title, across(name), idle=False)
    return skills_chart([History(title, points)], run.name, "year", words=words)
