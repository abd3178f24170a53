"""Draw margins that move, through the years."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttt_cli.errors import LookupFailed
from ttt_cli.views.charts.histories import History, Point
from ttt_cli.views.charts.skills import Words, skills_chart

if TYPE_CHECKING:
    import altair as alt

    from ttt_cli.runs.run import Run


def draws_chart(run: Run) -> alt.LayerChart:
    """The margin of every year with a band of one sd. Raises LookupFailed where one margin holds for all years."""
    rows = run.draw_rows()
    if not rows:
        raise LookupFailed(
            "the run has one draw margin for all years", hint="fit with model.draw_margin_drift, say 0.04"
        )
    own = "draw_margin" not in run.meta.params
    name = "mean draw margin of newcomers" if own else "draw margin"
    points = tuple(Point(str(year), float(year), margin, sd, 1.0) for year, margin, sd, _ in rows)
    words = Words(name.capitalize(), f"{name}, {run.scale.unit}", name)
    return skills_chart([History(name, points)], run.name, "year", words=words)
