"""The evidence over two parameters, with its maximum (TTT paper, figure 2 right)."""

import math
from typing import Any, Final

import altair as alt

from ttt_cli.errors import LookupFailed
from ttt_cli.runs.run import Run
from ttt_cli.views.charts.style import chart_of, finish, tooltips
from ttt_cli.views.evidence.surface import STEPS, Surface, edges, is_geometric, stored_surface

_HEIGHT: Final = 420
_LIMITS: Final = (0.5, 2.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0)  # nats below the best


def surface_chart(run: Run) -> alt.LayerChart:
    """The grid stored in a run: a tile per point in steps of evidence lost, the best point marked.

    Where points are missing they are drawn as points, so that no tile stands for what is not known.

    Raises LookupFailed when no grid over two parameters is stored.
    """
    surface = stored_surface(run.evidence_points())
    if surface is None:
        hint = "make it with `ttt evidence --grid beta,tau`"
        raise LookupFailed(f"{run.name} holds no evidence over two parameters", hint=hint)
    highest = surface.values[surface.best]
    note = f"{run.name} · the best of {len(surface.points):,} points (dot): {surface.best_words}, {highest:,.1f} nats"
    return finish(_layers(surface), f"Log-evidence of {run.meta.model}", note, height=_HEIGHT)


def step_of(drop: float) -> str:
    """In which step of evidence lost a drop, in nats, falls."""
    for lower, upper in zip((0.0, *_LIMITS), _LIMITS, strict=False):
        if drop <= upper:
            return _step_name(lower, upper)
    return f"over {_LIMITS[-1]:g}"


def _step_name(lower: float, upper: float) -> str:
    return f"{lower:g} to {upper:g}"


def _layers(surface: Surface) -> list[alt.Chart]:
    x_key, y_key = surface.keys
    drops, best = surface.drops(), surface.best
    found = {place: value for place, value in surface.values.items() if math.isfinite(value)}
    is_full = len(found) == math.prod(map(len, surface.ticks))
    logs = [is_geometric(ticks) for ticks in surface.ticks]
    sides = [edges(ticks, log=log) for ticks, log in zip(surface.ticks, logs, strict=True)]
    records: list[dict[str, Any]] = [
        {
            x_key: place[0],
            y_key: place[1],
            **dict(
                zip(("left", "right", "low", "high"), (*sides[0][place[0]], *sides[1][place[1]]), strict=True)
            ),
            "log_evidence": round(value, 3),
            "below": round(drops[place], 3),
            "step": step_of(drops[place]),
        }
        for place, value in found.items()
    ]
    names = [_step_name(a, b) for a, b in zip((0.0, *_LIMITS), _LIMITS, strict=False)] + [step_of(math.inf)]
    shown = [name for name in names if any(record["step"] == name for record in records)]
    colours = [STEPS[round(len(STEPS) - 1 - names.index(name))] for name in shown]
    axis = alt.Axis(grid=False, labelOverlap=True, format=".4~g", tickCount=8)
    scales = [
        alt.Scale(
            type="log" if log else "linear", nice=False, zero=False,
            domain=[min(side[0] for side in of.values()), max(side[1] for side in of.values())],
        )
        for of, log in zip(sides, logs, strict=True)
    ]  # fmt: skip
    legend = alt.Legend(title="nats below the best", labelFontSize=12, symbolType="square", symbolSize=220)
    colour = alt.Scale(domain=shown, range=colours)
    tooltip = tooltips(f"{x_key}:Q", f"{y_key}:Q", "log_evidence:Q", "below:Q")

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", axis=axis, title=f"{x_key}, points", scale=scales[0])

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", axis=axis, title=f"{y_key}, points", scale=scales[1])

    base = chart_of(records).encode(color=alt.Color("step:N", scale=colour, legend=legend), tooltip=tooltip)
    if is_full:
        stroke = alt.Stroke("step:N", scale=colour, legend=None)
        marks = base.mark_rect(strokeWidth=0.6).encode(
            x=x("left"), x2=alt.X2("right:Q"), y=y("low"), y2=alt.Y2("high:Q"), stroke=stroke
        )
    else:  # tiles would have holes, or hide where nothing is known
        marks = base.mark_point(filled=True, shape="square", size=110, opacity=1).encode(
            x=x(x_key), y=y(y_key)
        )
    dot = (
        chart_of([{x_key: best[0], y_key: best[1]}])
        .mark_point(filled=True, size=150, color="black", stroke="white", strokeWidth=1.5, opacity=1)
        .encode(x=x(x_key), y=y(y_key))
    )
    return [marks, dot]
