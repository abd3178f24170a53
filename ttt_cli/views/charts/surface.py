"""The evidence over two parameters, with its maximum (TTT paper, figure 2 right)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.errors import LookupFailed
from ttt_cli.views.charts.style import STEPS, chart_of, finish
from ttt_cli.views.evidence.surface import Surface, stored_surface

if TYPE_CHECKING:
    import altair as alt

    from ttt_cli.runs.run import Run

_HEIGHT: Final = 420
_LIMITS: Final = (0.5, 2.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0)  # nats below the best


def surface_chart(run: Run) -> alt.LayerChart:
    """The grid stored in a run: a tile per point in steps of evidence lost, the best point marked.

    Raises LookupFailed when no grid over two parameters is stored.
    """
    surface = stored_surface(run.evidence_points())
    if surface is None:
        raise LookupFailed(
            f"{run.name} holds no evidence over two parameters",
            hint="make it with `ttt evidence --grid beta,tau`",
        )
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
    import altair as alt

    x_key, y_key = surface.keys
    drops, best = surface.drops(), surface.best
    records: list[dict[str, Any]] = [
        {
            x_key: place[0],
            y_key: place[1],
            "log_evidence": round(value, 3),
            "below": round(drops[place], 3),
            "step": step_of(drops[place]),
        }
        for place, value in surface.values.items()
        if math.isfinite(value)
    ]
    names = [_step_name(a, b) for a, b in zip((0.0, *_LIMITS), _LIMITS, strict=False)] + [step_of(math.inf)]
    shown = [name for name in names if any(record["step"] == name for record in records)]
    colours = [STEPS[round(len(STEPS) - 1 - names.index(name))] for name in shown]
    axis = alt.Axis(labelAngle=0, grid=False, labelOverlap=True, format=".4~g")
    x = alt.X(f"{x_key}:O", axis=axis, title=f"{x_key}, points")
    y = alt.Y(f"{y_key}:O", axis=axis, sort="descending", title=f"{y_key}, points")
    base = chart_of(records).encode(x=x, y=y)
    legend = alt.Legend(title="nats below the best", labelFontSize=12, symbolType="square", symbolSize=220)
    steps = alt.Scale(domain=shown, range=colours)
    tiles = base.mark_rect(strokeWidth=1).encode(
        color=alt.Color("step:N", scale=steps, legend=legend),
        stroke=alt.Stroke("step:N", scale=steps, legend=None),
        tooltip=[f"{x_key}:Q", f"{y_key}:Q", "log_evidence:Q", "below:Q"],
    )
    spot = [{x_key: best[0], y_key: best[1]}]
    dot = (
        chart_of(spot)
        .mark_point(filled=True, size=150, color="black", stroke="white", strokeWidth=1.5, opacity=1)
        .encode(x=x, y=y)
    )
    return [tiles, dot]
