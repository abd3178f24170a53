"""Vega-Lite specifications: encodings, layers, the common look; curves with names that do not overlap; safe JSON.

A specification is a plain dict. `vl_convert` draws it for files, `assets/figure.js` in pages. Layers take their
records from `datasets` by name.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Final, NamedTuple

from ttt_cli.runs.run import Run

Spec = dict[str, Any]
Records = list[dict[str, Any]]
Position = tuple[float, float]

WIDTH: Final = 860
HEIGHT: Final = 440
INK: Final = "#222222"
PALE: Final = "#777777"
# Okabe and Ito's colours, distinct for the colour-blind; their yellow is too pale for lines on white.
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
UPRIGHT: Final[Spec] = {"angle": 270, "align": "left", "baseline": "middle", "fontSize": 12, "color": INK}
LEGEND: Final = {"title": None, "orient": "top", "labelFontSize": 12, "offset": 0}
MENU: Final = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}
LINE: Final = 15.0  # pixels, the height of a line of text
GAP: Final = 7.0  # pixels between a line's end and its name
_CHARACTER: Final = 7.0  # pixels of a character, on the wide side
_LONGEST: Final = 34  # characters
_ROOM: Final = 0.04  # of the height, above and below the curves
_MOVED: Final = 4.0  # pixels from which a name is joined to its line by a stroke

_ESCAPES: Final = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_NO_TEXT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # not in XML


def colours_of(count: int) -> list[str]:
    """Colours of so many players."""
    return [COLOURS[index % len(COLOURS)] for index in range(count)]


def number(field: str, **more: Any) -> Spec:
    """The encoding of a quantitative field."""
    return {"field": field, "type": "quantitative", **more}


def name(field: str, **more: Any) -> Spec:
    """The encoding of a nominal field."""
    return {"field": field, "type": "nominal", **more}


def layer(data: str, mark: str, encoding: Spec, *, kind: str = "", **look: Any) -> Spec:
    """A layer that draws the records of a dataset; `kind` is its class in pages."""
    drawn = {"type": mark, "aria": False, **look}
    return {"name": kind or data, "data": {"name": data}, "mark": drawn, "encoding": encoding}


def years(domain: Sequence[float], title: str = "year") -> Spec:
    """The encoding of years, with ticks at whole years."""
    axis = {"format": "d", "title": title, "grid": False, "tickCount": 12, "tickMinStep": 1}
    return number("year", axis=axis, scale={"nice": False, "domain": [*domain]})


def finish(
    layers: Iterable[Spec],
    datasets: Mapping[str, Sequence[Mapping[str, Any]]],
    title: str,
    subtitle: str | list[str],
    *,
    height: int = HEIGHT,
) -> Spec:
    """A complete figure of the layers that have records."""
    kept = {key: [*records] for key, records in datasets.items() if records}
    return {
        "title": {
            "text": title, "subtitle": subtitle, "anchor": "start", "fontSize": 17, "subtitleColor": PALE,
            "subtitleFontSize": 12, "offset": 12,
        },
        "width": WIDTH,
        "height": height,
        "padding": 14,
        "usermeta": {"embedOptions": MENU},
        "config": {
            "background": "white",
            "font": "Liberation Sans, Arial, Helvetica, sans-serif",
            "axis": {
                "labelFontSize": 12, "titleFontSize": 13, "gridColor": "#e6e6e6", "titleColor": INK,
                "titleFontWeight": 500,
            },
            "view": {"stroke": None},
        },
        "layer": [one for one in layers if one["data"]["name"] in kept],
        "datasets": kept,
    }  # fmt: skip


class Label(NamedTuple):
    """A text with its left end at (x, y), pixels from the top left."""

    text: str
    x: float
    y: float

    def covers(self, other: "Label") -> bool:
        """Whether two texts overlap."""
        one, two = (label.x + text_width(label.text) + GAP for label in (self, other))
        return self.x < two and other.x < one and abs(self.y - other.y) < LINE - 1e-9


def text_width(text: str) -> float:
    """Upper bound of the width of a text in pixels."""
    return _CHARACTER * len(text)


def shorten(text: str) -> str:
    """A name of at most 34 characters."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def place(labels: Sequence[Label], height: float) -> list[Label]:
    """Move each label to the nearest free height between 0 and `height`, the highest labels first.

    A label without free height is not moved.
    """
    lowest = LINE / 2
    highest = height - LINE / 2
    placed: dict[int, Label] = {}
    for index in sorted(range(len(labels)), key=lambda i: labels[i].y):
        wanted = labels[index]
        beside = [one.y + way for one in placed.values() for way in (-LINE, LINE)]
        heights = sorted([wanted.y, lowest, highest, *beside], key=lambda y: abs(y - wanted.y))
        at = [wanted._replace(y=y) for y in heights if lowest <= y <= highest]
        placed[index] = next((one for one in at if not any(map(one.covers, placed.values()))), wanted)
    return [placed[index] for index in range(len(labels))]


def upright(spans: Sequence[Position], first: float, last: float, width: float) -> dict[int, float]:
    """The spans of years that have room for an upright line of text, and its year; the longest spans first.

    `width`: pixels of the axis from `first` to `last`.
    """
    placed: dict[int, float] = {}
    step = LINE * (last - first) / width
    for index in sorted(range(len(spans)), key=lambda i: spans[i][0] - spans[i][1]):
        middle = min(max(sum(spans[index]) / 2, first + step / 2), last - step / 2)
        if all(abs(middle - other) >= step - 1e-9 for other in placed.values()):
            placed[index] = middle
    return placed


def last_year(ends: Sequence[tuple[float, str]], first: float, width: float) -> float:
    """The last year of an axis of `width` pixels such that the name at the right of each (year, name) fits."""
    return max(
        first + (year - first) * width / max(width - GAP - text_width(text), width / 4) for year, text in ends
    )


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
    band = {"x": x, "y": y | {"field": "low"}, "color": hue}
    band["y2"] = {"field": "high"}
    period = name("period", title=by) if by else name("period")
    tips = [name("player"), period, number("value", title=line), number("sd")]
    tips += [number("games")] * (not by) + [number("draw_margin")] * margins
    text = {"x": x, "y": y, "text": name("text")}
    look: Spec = {"align": "left", "baseline": "middle", "fontSize": 12}
    lines = [("", "curve", "value", [1, 0]), *([("", "curve margin", "margin", [6, 4])] * margins)]
    return [
        layer("zero", "rule", {"y": y}, color=PALE),
        layer("bars", "rule", band, kind="band", strokeWidth=7, opacity=0.16),
        layer("idle", "area", band | piece, kind="band idle", opacity=0.07),
        layer("active", "area", band | piece, kind="band active", opacity=0.16),
        *(
            layer(f"{data}{of}", "line", value | piece | {"y": y | {"field": field}}, kind=f"{kind} {of}",
                  strokeDash=dash, strokeWidth=width, opacity=opacity)
            for data, kind, field, dash in [*lines, ("other_", "curve rated", "value", [2, 3])]
            for of, width, opacity in (("idle", 1.0, 0.55), ("active", 2.0, 1.0))
        ),
        layer("points", "point", value | {"shape": name("player", legend=None), "tooltip": tips},
              filled=True, size=22, opacity=1),
        layer("strokes", "line", value | {"detail": name("player")}, strokeWidth=0.8),
        layer("labels", "text", text, kind="halo", **look, stroke="white", strokeWidth=4, strokeJoin="round",
              opacity=0.85),
        layer("labels", "text", text | {"color": hue}, **look, fontWeight=600),
    ]  # fmt: skip


def curves_figure(
    run: Run, curves: Curves, title: str, axis: str, line: str, *,
    other: Curves | None = None, dotted: str = "", zero: bool = True, by: str = "",
) -> Spec:  # fmt: skip
    """Means with bands of one sd, and TTT-D's skill + draw margin dashed; `other` curves, named `dotted`, are dotted.

    Steps without games at both ends are thin and pale. `curves` must not be empty. `line`: the curves in the legend;
    `zero`: whether a line is drawn there; `by`: the horizontal axis, where it is not the years of players' careers.
    """
    other = other or {}
    every = [point for points in curves.values() for point in points]
    ends = {player: points[-1] for player, points in curves.items()}
    dashed = any(point.margin is not None for point in every)
    first = min(points[0].year for points in (*curves.values(), *other.values()))
    newest = max(points[-1].year for points in (*curves.values(), *other.values()))
    if first == newest:
        first -= 0.5  # a single period is not on the axis
    named = [(end.year, shorten(player)) for player, end in ends.items()]
    last = max(last_year(named, first, WIDTH), newest, first + 1.0)
    further = [point.mean for points in other.values() for point in points] + [0.0] * zero
    low = min([*(point.mean - point.sd for point in every), *further])
    high = max([*(point.mean + max(point.sd, point.margin or 0.0) for point in every), *further])
    room = _ROOM * (high - low) or 1.0
    low = low - room
    high = high + room

    def pixels(year: float, value: float) -> Position:
        return (year - first) / (last - first) * WIDTH, (high - value) / (high - low) * HEIGHT

    tips = [pixels(end.year, end.mean) for end in ends.values()]
    wanted = [Label(text, x + GAP, y) for (_, text), (x, y) in zip(named, tips, strict=True)]
    labels: Records = []
    strokes: Records = []
    for player, label, free in zip(ends, wanted, place(wanted, HEIGHT), strict=True):
        at, above, below = (
            {
                "player": player, "text": label.text, "year": first + x / WIDTH * (last - first),
                "value": high - y / HEIGHT * (high - low),
            }
            for x, y in ((free.x, free.y), (label.x - GAP, label.y), (free.x - 1, free.y))
        )  # fmt: skip
        labels.append(at)
        strokes += [above, below] if abs(free.y - label.y) > _MOVED else []
    datasets = {
        "zero": [{"value": 0.0}] if zero else [],
        **_pieces(curves),
        **{f"other_{of}": found for of, found in _pieces(other).items()},
        "points": [
            {
                "player": player, "period": point.period, "year": point.year, "value": round(point.mean, 1),
                "sd": round(point.sd, 1), "games": point.games, "run": run.name,
                **({"draw_margin": round(point.margin, 1)} if point.margin is not None else {}),
            }
            for player, points in curves.items()
            for point in points
            if point.games > 0
        ],
        "labels": labels,
        "strokes": strokes,
    }  # fmt: skip
    certain = all(point.sd == 0.0 for point in every)
    legend = [f"line: {line}{'' if certain else ', band: one sd to either side'}"]
    legend += ["dashed: skill + draw margin"] * dashed + [f"dotted: {dotted}"] * bool(other)
    legend += [f"thin: {run.meta.period}s without games"] * (not by)
    x = years([first, last], by or "year")
    scale = {"domain": [low, high], "nice": False, "zero": False}
    y = number("value", axis={"format": "d", "title": axis}, scale=scale)
    # By the middle of their time, so that contemporaries have different colours.
    ordered = sorted(curves, key=lambda player: curves[player][0].year + ends[player].year)
    layers = curve_layers(x, y, ordered, line, margins=dashed, by=by)
    return finish(layers, datasets, title, f"{run.name} · {', '.join(legend)}")


def _pieces(curves: Curves) -> dict[str, Records]:
    """The datasets `idle` and `active`, pieces that share their ends, and `bars`, single points.

    In an active piece games were played at both ends of every step.
    """
    found: dict[str, Records] = {"idle": [], "active": [], "bars": []}
    for player, points in curves.items():
        steps = groupby(pairwise(points), lambda step: step[0].games > 0 and step[1].games > 0)
        pieces = [
            ("active" if active else "idle", [first, second, *(later for _, later in further)])
            for active, ((first, second), *further) in steps
        ]
        for at, (of, piece) in enumerate(pieces or [("bars", [*points])]):
            found[of] += [
                {
                    "player": player, "piece": f"{player} {at}", "year": point.year, "value": round(point.mean, 3),
                    "low": round(point.mean - point.sd, 3), "high": round(point.mean + point.sd, 3),
                    **({"margin": round(point.mean + point.margin, 3)} if point.margin is not None else {}),
                }
                for point in piece
            ]  # fmt: skip
    return found


def embedded(data: Any) -> str:
    """JSON that is safe inside a script element; NaN and infinities are null."""
    try:
        text = _JSON.encode(data)
    except ValueError:
        text = _JSON.encode(_mapped(data, str))
    return text.translate(_ESCAPES)


def showable(data: Any) -> Any:
    """The same value with null for NaN and infinities, and a replacement for characters that XML cannot contain."""
    return _mapped(data, lambda text: _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", text))


def _mapped(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {text(str(key)): _mapped(item, text) for key, item in value.items()}
    return [_mapped(item, text) for item in value] if isinstance(value, list | tuple) else value
