"""Skill curves with bands (TTT paper, figures 3 and 4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt

from ttt_cli.views.charts.histories import History, Point
from ttt_cli.views.charts.labels import GAP, Label, last_year, place, shorten
from ttt_cli.views.charts.style import HEIGHT, PALE, WIDTH, chart_of, colour, finish, shape, tooltips, years

Records = list[dict[str, Any]]
Value = Callable[[Point], float]

_ROOM: Final = 0.04  # of the height, above and below the curves
_BAR: Final = 7  # pixels, the band of a single period
_DASHED: Final = [6, 4]
_DOTTED: Final = [2, 3]
_MOVED: Final = 4.0  # pixels from which a name is joined to its line by a stroke
_TITLED: Final = 4  # names in the title


@dataclass(frozen=True)
class Words:
    """What curves show that are no skills: the title, what the axes are called, and the line of the legend.

    Such curves are measured from zero, which is drawn. `idle`: whether there are games in a curve's periods, or none.
    """

    title: str
    axis: str
    line: str
    across: str = "year"
    idle: bool = True


def skills_chart(
    curves: Sequence[History],
    run_name: str,
    period: str,
    *,
    other: Sequence[History] = (),
    dotted: str = "",
    axis: str = "skill, points",
    words: Words | None = None,
) -> alt.LayerChart:
    """Every player's mean with a band of one sd; TTT-D's skill + draw margin dashed; `other` curves, which are
    what `dotted` says, dotted.

    Steps without games at both ends are thin and pale. `curves` must not be empty. `axis`: what that of the means is
    called.
    """
    names = [history.player for history in curves]
    shown = words or Words(f"Skill of {title_of(names)}", axis, "skill")
    dashed = any(point.margin is not None for history in curves for point in history.points)
    axes = _Scales(curves, other, shown, zero=words is not None)
    zero = chart_of([{"value": 0.0}]).mark_rule(color=PALE, aria=False).encode(y=axes.y())
    layers = [*([zero] if words else []), *_bands(curves, axes), *_lines(curves, axes, _mean)]
    if dashed:
        layers += _lines(curves, axes, _with_margin, _DASHED)
    if other:
        layers += _lines(other, axes, _mean, _DOTTED)
    layers += [_points(curves, axes, run_name, shown), *_names(curves, axes)]
    certain = all(point.sd == 0.0 for history in curves for point in history.points)  # no sd is known
    legend = _legend(run_name, dashed, dotted, certain, shown.line)
    return finish(layers, shown.title, f"{legend}, thin: {period}s without games" if shown.idle else legend)


class _Scales:
    """The axes and colours of one figure; pixels for years and points. Of `other` only the means are drawn."""

    def __init__(
        self, curves: Sequence[History], other: Sequence[History], words: Words, *, zero: bool
    ) -> None:
        self._words = words
        shown = [*curves, *other]
        ends = [(history.points[-1].year, shorten(history.player)) for history in curves]
        # by the middle of their time, so that contemporaries do not get colours that come round again
        middle = {history.player: history.points[0].year + history.points[-1].year for history in curves}
        self.names = sorted(middle, key=middle.__getitem__)
        self.first = min(history.points[0].year for history in shown)
        self.newest = max(history.points[-1].year for history in shown)
        if self.first == self.newest:
            self.first -= 0.5  # a single period stands off the axis
        self.last = max(last_year(ends, self.first, WIDTH), self.newest, self.first + 1.0)
        own = [point for history in curves for point in history.points]
        means = [point.mean for history in other for point in history.points]
        means += [0.0] * zero
        low = min([*(point.mean - point.sd for point in own), *means])
        high = max([*(max(point.mean + point.sd, _with_margin(point)) for point in own), *means])
        room = _ROOM * (high - low) or 1.0
        self.low, self.high = low - room, high + room
        self.x = years(self.first, self.newest, [self.first, self.last], words.across)
        colours = [colour(index) for index in range(len(self.names))]
        self.colour = alt.Color("player:N", legend=None, scale=alt.Scale(domain=self.names, range=colours))

    def of(self, records: Records, y: str = "value") -> alt.Chart:
        """An unmarked chart of records with years, points of skill and players."""
        chart: alt.Chart = chart_of(records).encode(x=self.x, y=self.y(y), color=self.colour)
        return chart

    def y(self, field: str = "value") -> alt.Y:
        """The encoding of points of skill."""
        scale = alt.Scale(domain=[self.low, self.high], nice=False, zero=False)
        return alt.Y(f"{field}:Q", axis=alt.Axis(format="d", title=self._words.axis), scale=scale)

    def pixels(self, year: float, value: float) -> tuple[float, float]:
        """Where a year and a value are, from the top left."""
        across = (year - self.first) / (self.last - self.first)
        return across * WIDTH, (self.high - value) / (self.high - self.low) * HEIGHT

    def value_at(self, pixel: float) -> float:
        """The value at a height, from the top."""
        return self.high - pixel / HEIGHT * (self.high - self.low)

    def year_at(self, pixel: float) -> float:
        """The year at a distance from the left."""
        return self.first + pixel / WIDTH * (self.last - self.first)


def _mean(point: Point) -> float:
    return point.mean


def _with_margin(point: Point) -> float:
    return point.mean + (point.margin or 0.0)


def _pieces(curves: Sequence[History], active: bool, fields: dict[str, Value]) -> Records:
    return [
        {
            "player": history.player,
            "piece": f"{history.player} {number}",
            "year": point.year,
            **{name: round(value(point), 3) for name, value in fields.items()},
        }
        for history in curves
        for number, (kind, piece) in enumerate(history.stretches())
        if kind is active
        for point in piece
    ]


def _bands(curves: Sequence[History], scale: _Scales) -> list[alt.Chart]:
    fields: dict[str, Value] = {"low": lambda p: p.mean - p.sd, "high": lambda p: p.mean + p.sd}
    alone = [(history.player, history.points[0]) for history in curves if len(history.points) == 1]
    records: Records = [
        {"player": player, "year": point.year, **{name: value(point) for name, value in fields.items()}}
        for player, point in alone
    ]
    bars = scale.of(records, "low").mark_rule(strokeWidth=_BAR, opacity=0.16, aria=False)
    areas = [
        scale.of(_pieces(curves, active, fields), "low")
        .mark_area(opacity=opacity, aria=False)
        .encode(y2=alt.Y2("high:Q"), detail=alt.Detail("piece:N"))
        for active, opacity in ((False, 0.07), (True, 0.16))
    ]
    return [*([bars.encode(y2=alt.Y2("high:Q"))] if alone else []), *areas]


def _lines(
    curves: Sequence[History], scale: _Scales, value: Value, dash: Sequence[int] = (1, 0)
) -> list[alt.Chart]:
    return [
        scale.of(_pieces(curves, active, {"value": value}))
        .mark_line(strokeDash=list(dash), strokeWidth=width, opacity=opacity, aria=False)
        .encode(detail=alt.Detail("piece:N"))
        for active, width, opacity in ((False, 1.0, 0.55), (True, 2.0, 1.0))
    ]


def _points(curves: Sequence[History], scale: _Scales, run_name: str, words: Words) -> alt.Chart:
    records: Records = [
        {
            "player": history.player,
            "period": point.period,
            "year": point.year,
            "value": round(point.mean, 1),
            "sd": round(point.sd, 1),
            "games": point.games,
            "run": run_name,
            **({"draw_margin": round(point.margin, 1)} if point.margin is not None else {}),
        }
        for history in curves
        for point in history.points
        if point.games > 0
    ]
    shapes = alt.Scale(domain=scale.names, range=[shape(index) for index in range(len(scale.names))])
    shown = [
        alt.Tooltip("player:N"),
        alt.Tooltip("period:N") if words.idle else alt.Tooltip("period:N", title=words.across),
        alt.Tooltip("value:Q", title=words.line),
        *tooltips("sd:Q", *(["games:Q"] if words.idle else [])),
    ]
    if any("draw_margin" in record for record in records):
        shown += tooltips("draw_margin:Q")
    marks = scale.of(records).mark_point(filled=True, size=22, opacity=1, aria=False)
    chart: alt.Chart = marks.encode(shape=alt.Shape("player:N", legend=None, scale=shapes), tooltip=shown)
    return chart


def _names(curves: Sequence[History], scale: _Scales) -> list[alt.Chart]:
    """Names beside the line ends, and strokes to those that had to move."""
    ends = [scale.pixels(history.points[-1].year, history.points[-1].mean) for history in curves]
    wanted = [Label(shorten(h.player), x + GAP, y) for h, (x, y) in zip(curves, ends, strict=True)]
    labels: Records = []
    strokes: Records = []
    drawn = [
        scale.pixels(point.year, value(point))
        for value in (_mean, _with_margin)
        for history in curves
        for point in history.points
    ]
    for history, label, (x, y) in zip(curves, place(wanted, HEIGHT, drawn), ends, strict=True):
        common = {"player": history.player, "text": label.text}
        labels.append({**common, "year": scale.year_at(label.x), "value": scale.value_at(label.y)})
        if abs(label.y - y) > _MOVED:
            strokes += [
                {**common, "year": scale.year_at(a), "value": scale.value_at(b)}
                for a, b in ((x, y), (label.x - 1, label.y))
            ]
    text = chart_of(labels).encode(x=scale.x, y=scale.y(), text=alt.Text("text:N"))
    look: dict[str, Any] = {"align": "left", "baseline": "middle", "fontSize": 12}
    halo = text.mark_text(**look, aria=False, stroke="white", strokeWidth=4, strokeJoin="round", opacity=0.85)
    joined = scale.of(strokes).mark_line(strokeWidth=0.8, aria=False).encode(detail=alt.Detail("player:N"))
    named = text.mark_text(**look, fontWeight=600).encode(color=scale.colour)
    return [*([joined] if strokes else []), halo, named]


def title_of(names: Sequence[str]) -> str:
    """Names for a title: the first, and how many more there are."""
    shown = "; ".join(shorten(name) for name in names[:_TITLED])
    more = len(names) - _TITLED
    return f"{shown}{f' and {more} more' if more > 0 else ''}"


def _legend(run_name: str, dashed: bool, dotted: str, certain: bool, line: str) -> str:
    parts = [f"line: {line}" if certain else f"line: {line}, band: one sd to either side"]
    if dashed:
        parts.append("dashed: skill + draw margin")
    if dotted:
        parts.append(f"dotted: {dotted}")
    return f"{run_name} · {', '.join(parts)}"
