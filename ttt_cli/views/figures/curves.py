"""Figures of curves over time with bands of one sd, and names at their ends."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Final, NamedTuple

from ttt_cli.runs.run import Run
from ttt_cli.views.figures.labels import GAP, Label, Point, last_year, spread_labels, surnames
from ttt_cli.views.figures.spec import (
    HEIGHT,
    PALE,
    WIDTH,
    Records,
    Spec,
    colours_of,
    finish,
    layer,
    name,
    number,
    years,
)

_MARGIN: Final = 0.04  # of the height, above and below the curves
_CLOSE: Final = 4.0  # pixels between points of a curve that names avoid
_MOVED: Final = 4.0  # pixels from which a name is joined to its line by a stroke


class CurvePoint(NamedTuple):
    """A skill in one period; `year` is the period in years, `sd` 0 without uncertainty, `margin` TTT-D's."""

    period: str
    year: float
    mean: float
    sd: float
    games: float
    margin: float | None = None


Curves = Mapping[str, Sequence[CurvePoint]]  # the points of each player, by time; never empty


def curve_layers(
    x: Spec, y: Spec, names: Sequence[str], line: str, *, margins: bool, by: str = ""
) -> list[Spec]:  # fmt: skip
    """The layers of every figure of curves; pages draw the same from their own datasets.

    Datasets: `idle` and `active` (player, piece, year, value, low, high, margin), `bars` (as these), `other_idle` and
    `other_active` (value), `points`, `labels`, `strokes` and `zero`.
    """
    colours = {"domain": [*names], "range": colours_of(len(names))}
    hue = name("player", legend=None, scale=colours)
    piece = {"detail": name("piece")}
    value = {"x": x, "y": y, "color": hue}
    band = {"x": x, "y": y | {"field": "low"}, "color": hue, "y2": {"field": "high"}}
    period = name("period", title=by) if by else name("period")
    tips = [name("player"), period, number("value", title=line), number("sd")]
    tips += [number("games")] * (not by) + [number("draw_margin")] * margins
    text = {"x": x, "y": y, "text": name("text")}
    look: Spec = {"align": "left", "baseline": "middle", "fontSize": 12}
    return [
        layer("zero", "rule", {"y": y}, color=PALE),
        layer("bars", "rule", band, kind="band", strokeWidth=7, opacity=0.16),
        layer("idle", "area", band | piece, kind="band idle", opacity=0.07),
        layer("active", "area", band | piece, kind="band active", opacity=0.16),
        *_line_layers(value | piece, "", "curve", "value", [1, 0]),
        *(_line_layers(value | piece, "", "curve margin", "margin", [6, 4]) if margins else ()),
        *_line_layers(value | piece, "other_", "curve rated", "value", [2, 3]),
        layer("points", "point", value | {"shape": name("player", legend=None), "tooltip": tips},
              filled=True, size=22, opacity=1),
        layer("strokes", "line", value | {"detail": name("player")}, strokeWidth=0.8),
        layer("labels", "text", text, kind="halo", **look, stroke="white", strokeWidth=4, strokeJoin="round",
              opacity=0.85),
        layer("labels", "text", text | {"color": hue}, **look, fontWeight=600),
    ]  # fmt: skip


def _line_layers(encoding: Spec, prefix: str, kind: str, field: str, dash: list[int]) -> list[Spec]:
    """A thin line through the pieces without games, and a thick one through those with games."""
    line = encoding | {"y": encoding["y"] | {"field": field}}
    return [
        layer(f"{prefix}idle", "line", line, kind=f"{kind} idle", strokeDash=dash, strokeWidth=1.0, opacity=0.55),
        layer(f"{prefix}active", "line", line, kind=f"{kind} active", strokeDash=dash, strokeWidth=2.0, opacity=1.0),
    ]  # fmt: skip


@dataclass(frozen=True)
class Axes:
    """The ranges of both axes of a figure of curves; `newest`: the last year of a curve."""

    first: float
    newest: float
    last: float
    low: float
    high: float

    def pixels(self, year: float, value: float) -> Point:
        """The position of a point."""
        x = (year - self.first) / (self.last - self.first) * WIDTH
        y = (self.high - value) / (self.high - self.low) * HEIGHT
        return Point(x, y)

    def point(self, x: float, y: float) -> dict[str, float]:
        """The year and the value at a position."""
        return {
            "year": self.first + x / WIDTH * (self.last - self.first),
            "value": self.high - y / HEIGHT * (self.high - self.low),
        }


def curves_figure(
    run: Run, curves: Curves, title: str, axis: str, line: str, *,
    dotted_curves: Curves | None = None, dotted_legend: str = "", zero: bool = True, by: str = "",
) -> Spec:  # fmt: skip
    """Means with bands of one sd, and TTT-D's skill + draw margin dashed; others dotted.

    Steps without games at both ends are thin and pale. `curves` must not be empty. `line`, `dotted_legend`: the curves
    and the dotted curves in the legend; `zero`: whether a line is drawn there; `by`: the horizontal axis, where it is
    not the years of players' careers.
    """
    dotted_curves = dotted_curves or {}
    points = [point for curve in curves.values() for point in curve]
    axes = _axes(curves, dotted_curves, zero=zero)
    labels, strokes = _labels(curves, axes)
    datasets = {
        "zero": [{"value": 0.0}] if zero else [],
        **_pieces(curves),
        **{f"other_{dataset}": records for dataset, records in _pieces(dotted_curves).items()},
        "points": _point_records(run, curves),
        "labels": labels,
        "strokes": strokes,
    }
    margins = any(point.margin is not None for point in points)
    certain = all(point.sd == 0.0 for point in points)
    legend = [f"line: {line}{'' if certain else ', band: one sd to either side'}"]
    if margins:
        legend.append("dashed: skill + draw margin")
    if dotted_curves:
        legend.append(f"dotted: {dotted_legend}")
    if not by or any(point.games <= 0 for point in points):
        legend.append(f"thin: {run.meta.period}s without games")
    x = years([axes.first, axes.last], by or "year", axes.newest)
    scale = {"domain": [axes.low, axes.high], "nice": False, "zero": False}
    y = number("value", axis={"format": "d", "title": axis}, scale=scale)
    # By the middle of their time, so that contemporaries have different colours.
    ordered = sorted(curves, key=lambda player: curves[player][0].year + curves[player][-1].year)
    layers = curve_layers(x, y, ordered, line, margins=margins, by=by)
    return finish(layers, datasets, title, f"{run.name} · {', '.join(legend)}")


def _axes(curves: Curves, dotted: Curves, *, zero: bool) -> Axes:
    """Ranges that contain all curves, and the names at their ends."""
    first = min(points[0].year for points in (*curves.values(), *dotted.values()))
    newest = max(points[-1].year for points in (*curves.values(), *dotted.values()))
    if first == newest:
        first -= 0.5  # a single period is not on the axis
    names = surnames([*curves])
    ends = [(points[-1].year, text) for text, points in zip(names, curves.values(), strict=True)]
    last = max(last_year(ends, first, WIDTH), newest, first + 1.0)
    points = [point for curve in curves.values() for point in curve]
    lows = [point.mean - point.sd for point in points]
    highs = [point.mean + max(point.sd, point.margin or 0.0) for point in points]
    values = [point.mean for curve in dotted.values() for point in curve]
    if zero:
        values.append(0.0)
    low = min([*lows, *values])
    high = max([*highs, *values])
    margin = _MARGIN * (high - low) or 1.0
    return Axes(first, newest, last, low - margin, high + margin)


def _labels(curves: Curves, axes: Axes) -> tuple[Records, Records]:
    """The name at the end of each curve, and the strokes that join those that had to be moved."""
    wanted = []
    for text, points in zip(surnames([*curves]), curves.values(), strict=True):
        x, y = axes.pixels(points[-1].year, points[-1].mean)
        wanted.append(Label(text, x + GAP, y))
    drawn = [point for points in curves.values() for point in _drawn(points, axes)]
    labels: Records = []
    strokes: Records = []
    for player, label, moved in zip(
        curves, wanted, spread_labels(wanted, HEIGHT, drawn), strict=True
    ):
        record = {"player": player, "text": label.text}
        labels.append(record | axes.point(moved.x, moved.y))
        if abs(moved.y - label.y) > _MOVED:
            strokes.append(record | axes.point(label.x - GAP, label.y))
            strokes.append(record | axes.point(moved.x - 1, moved.y))
    return labels, strokes


def _drawn(points: Sequence[CurvePoint], axes: Axes) -> Iterator[Point]:
    """Points of a curve, close to each other."""
    for start, end in pairwise(axes.pixels(point.year, point.mean) for point in points):
        steps = math.ceil(max(end.x - start.x, abs(end.y - start.y)) / _CLOSE) or 1
        for step in range(steps + 1):
            share = step / steps
            yield Point(start.x + share * (end.x - start.x), start.y + share * (end.y - start.y))


def _point_records(run: Run, curves: Curves) -> Records:
    """A record of every period with games."""
    records: Records = []
    for player, points in curves.items():
        for point in points:
            if point.games > 0:
                record: dict[str, Any] = {
                    "player": player, "period": point.period, "year": point.year, "value": round(point.mean, 1),
                    "sd": round(point.sd, 1), "games": point.games, "run": run.name,
                }  # fmt: skip
                if point.margin is not None:
                    record["draw_margin"] = round(point.margin, 1)
                records.append(record)
    return records


def _pieces(curves: Curves) -> dict[str, Records]:
    """The datasets `idle` and `active`, pieces that share their ends, and `bars`, single points.

    In an active piece games were played at both ends of every step.
    """
    datasets: dict[str, Records] = {"idle": [], "active": [], "bars": []}
    for player, points in curves.items():
        pieces: list[tuple[str, list[CurvePoint]]] = []
        for active, steps in groupby(
            pairwise(points), lambda step: step[0].games > 0 and step[1].games > 0
        ):
            (start, end), *later_steps = steps
            piece = [start, end, *(later_end for _, later_end in later_steps)]
            pieces.append(("active" if active else "idle", piece))
        if not pieces:
            pieces = [("bars", [*points])]
        for index, (dataset, piece) in enumerate(pieces):
            datasets[dataset] += [
                _piece_record(f"{player} {index}", player, point) for point in piece
            ]
    return datasets


def _piece_record(piece: str, player: str, point: CurvePoint) -> dict[str, Any]:
    record = {
        "player": player, "piece": piece, "year": point.year, "value": round(point.mean, 3),
        "low": round(point.mean - point.sd, 3), "high": round(point.mean + point.sd, 3),
    }  # fmt: skip
    if point.margin is not None:
        record["margin"] = round(point.mean + point.margin, 3)
    return record
