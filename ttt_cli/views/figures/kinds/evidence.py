"""The log-evidence over two parameters."""

import math
from bisect import bisect_left
from itertools import pairwise
from typing import Any, Final

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.evidence import DROPS, SHADES, Surface, stored_surface
from ttt_cli.views.figures import spec as vega
from ttt_cli.views.figures.figure import Figure, FigureOptions
from ttt_cli.views.figures.spec import Records, Spec

_HEIGHT: Final = 420  # pixels


def draw_evidence(run: Run, options: FigureOptions) -> Figure:  # noqa: ARG001
    """The stored grid of evidence. Raises LookupFailed without one."""
    surface = stored_surface(run.evidence_points())
    if surface is None:
        hint = "make it with `ttt evidence --grid beta,tau`"
        raise LookupFailed("no evidence over two parameters in this run", hint=hint)
    return Figure(surface_figure(run, surface), "evidence")


def surface_figure(run: Run, surface: Surface) -> Spec:
    """A tile per point in steps of evidence lost (TTT paper, figure 2 right)."""
    *bounds, _ = DROPS  # the last one is infinite
    steps = [f"{low:g} to {high:g}" for low, high in pairwise((0.0, *bounds))]
    steps.append(f"over {bounds[-1]:g}")
    records: Records = []
    for values, point in surface.points.items():
        drop = surface.drop(values)
        if math.isfinite(drop):
            tile: dict[str, Any] = dict(zip(surface.keys, values, strict=True))
            tile["log_evidence"] = round(point.log_evidence, 3)
            tile["step"] = steps[bisect_left(DROPS, drop)]
            tile["below"] = round(drop, 3)
            records.append(tile)
    used = {record["step"] for record in records}
    colours = {step: colour for step, colour in zip(steps, SHADES, strict=True) if step in used}
    legend = {
        "title": "nats below the best",
        "labelFontSize": 12,
        "symbolType": "square",
        "symbolSize": 220,
    }
    hue = vega.name(
        "step", scale={"domain": [*colours], "range": [*colours.values()]}, legend=legend
    )
    x = _axis(surface.keys[0], [*surface.ticks[0]])
    y = _axis(surface.keys[1], [*surface.ticks[1][::-1]])
    tooltip = [vega.number(name) for name in (*surface.keys, "log_evidence", "below")]
    dot: Spec = {
        "filled": True,
        "size": 150,
        "color": "black",
        "stroke": "white",
        "strokeWidth": 1.5,
    }
    layers = [
        vega.layer(
            "tiles", "rect", {"x": x, "y": y, "color": hue, "tooltip": tooltip}, kind="tile"
        ),
        vega.layer("best", "point", {"x": x, "y": y}, **dot, opacity=1),
    ]
    best: Records = [dict(zip(surface.keys, surface.best, strict=True))]
    datasets = {"tiles": records, "best": best}
    subtitle = f"{run.name} · {surface_note(surface)}"
    return vega.finish(
        layers, datasets, f"Log-evidence of {run.meta.label}", subtitle, height=_HEIGHT
    )


def _axis(key: str, ticks: list[float]) -> Spec:
    """The encoding of a parameter, a band for each of its values."""
    return {
        "field": key, "type": "ordinal", "title": f"{key}, points", "scale": {"type": "band", "domain": ticks},
        "axis": {"grid": False, "labelAngle": 0, "labelOverlap": True, "format": ".4~g", "values": ticks},
    }  # fmt: skip


def surface_note(surface: Surface) -> str:
    """The best point of a surface and its evidence."""
    highest = surface.points[surface.best].log_evidence
    return f"the best of {len(surface.points):,} points (dot): {surface.best_words}, {highest:,.1f} nats"
