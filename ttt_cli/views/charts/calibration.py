"""How often what was predicted with a probability came true."""

from typing import Any, Final

import altair as alt

from ttt_cli.evaluate.forecast.calibration import Reliability
from ttt_cli.runs.run import Run
from ttt_cli.views.charts.style import COLOURS, LEGEND, PALE, chart_of, finish, tooltips
from ttt_cli.views.run import side_names

_LEAST: Final = 10  # games: fewer say nothing


def calibration_chart(run: Run, found: Reliability) -> alt.LayerChart:
    """Predicted probabilities of the three outcomes against how often they came true, with two standard errors."""
    first, second = (side[:1].upper() + side[1:] for side in side_names(run))
    called = {"win": f"{first} wins", "draw": "draw", "loss": f"{second} wins"}
    records: list[dict[str, Any]] = [
        {
            "outcome": called[outcome],
            "predicted": round(one.predicted, 4),
            "observed": round(one.observed, 4),
            "low": round(max(one.observed - 2.0 * one.error, 0.0), 4),
            "high": round(min(one.observed + 2.0 * one.error, 1.0), 4),
            "games": one.games,
        }
        for outcome, bins in found.bins.items()
        for one in bins
        if one.games >= _LEAST
    ]
    share = alt.Scale(domain=[0, 1])
    x = alt.X(
        "predicted:Q", title="predicted probability", axis=alt.Axis(format="%", tickCount=10), scale=share
    )
    y = alt.Y("observed:Q", title="came true", axis=alt.Axis(format="%", tickCount=10), scale=share)
    names = list(called.values())
    colours = alt.Scale(domain=names, range=[COLOURS[0], COLOURS[2], COLOURS[1]])
    colour = alt.Color("outcome:N", scale=colours, legend=LEGEND)
    ends = [{"predicted": 0, "observed": 0}, {"predicted": 1, "observed": 1}]
    right = chart_of(ends).mark_line(strokeDash=[4, 4], color=PALE, aria=False).encode(x=x, y=y)
    marks = chart_of(records)
    spans = marks.mark_rule(strokeWidth=1.5, opacity=0.6, aria=False).encode(
        x=x, y=alt.Y("low:Q", scale=share), y2=alt.Y2("high:Q"), color=colour
    )
    lines = marks.mark_line(strokeWidth=1.2, opacity=0.6, aria=False).encode(x=x, y=y, color=colour)
    points = marks.mark_point(filled=True, size=45, opacity=1, aria=False).encode(
        x=x,
        y=y,
        color=colour,
        shape=alt.Shape("outcome:N", scale=alt.Scale(domain=names), legend=LEGEND),
        tooltip=tooltips("outcome:N", "predicted:Q", "observed:Q", "games:Q"),
    )
    often = f"every {run.meta.period}" if found.every == 1 else f"every {found.every} {run.meta.period}s"
    note = (
        f"{run.name} · {found.games:,.0f} games from {found.first} on, predicted from earlier ones "
        f"(learning {often}); bars: two standard errors"
    )
    return finish([right, spans, lines, points], f"Calibration of {run.meta.model}", note)
