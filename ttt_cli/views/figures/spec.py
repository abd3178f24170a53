"""Parts of Vega-Lite specifications: encodings, layers, the common look; labels that do not overlap; safe JSON.

A specification is a plain dict. `vl_convert` draws it for files, `assets/figure.js` in pages. Layers take their
records from `datasets` by name.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

Spec = dict[str, Any]
Records = list[dict[str, Any]]
Position = tuple[float, float]

WIDTH: Final = 860
HEIGHT: Final = 440
INK: Final = "#222222"
PALE: Final = "#777777"
# Okabe and Ito's colours, distinct for the colour-blind; their yellow is too pale for lines on white.
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
SHAPES: Final = ("circle", "square", "triangle-up", "diamond")
UPRIGHT: Final[Spec] = {"angle": 270, "align": "left", "baseline": "middle", "fontSize": 12, "color": INK}
LEGEND: Final = {"title": None, "orient": "top", "labelFontSize": 12, "offset": 0}
MENU: Final = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}
_YEAR_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200)
_TICKS: Final = 12

LINE: Final = 15.0  # pixels, the height of a line of text
GAP: Final = 7.0  # pixels between a line's end and its name
_FAR: Final = 45.0  # pixels that a label moves at most to leave lines uncovered
_CHARACTER: Final = 7.0  # pixels of a character, on the wide side
_LONGEST: Final = 34  # characters

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
    return {
        "name": kind or data,
        "data": {"name": data},
        "mark": {"type": mark, "aria": False, **look},
        "encoding": encoding,
    }


def years(first: float, last: float, domain: Sequence[float] | None = None, title: str = "year") -> Spec:
    """The encoding of years, with ticks at round years between the first and the last."""
    step = next((step for step in _YEAR_STEPS if (last - first) / step <= _TICKS), _YEAR_STEPS[-1])
    ticks = [step * n for n in range(math.ceil(first / step), math.floor(last / step) + 1)]
    axis = {"format": "d", "title": title, "grid": False, "values": ticks}
    return number("year", axis=axis, scale={"nice": False, **({"domain": [*domain]} if domain else {})})


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

    def contains(self, point: Position) -> bool:
        """Whether a point is under the text."""
        x, y = point
        return self.x <= x <= self.x + text_width(self.text) and abs(self.y - y) < LINE / 2

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


def place(labels: Sequence[Label], height: float, lines: Sequence[Position] = ()) -> list[Label]:
    """Move each label to the nearest free height between 0 and `height`, the highest labels first.

    Labels avoid the points of `lines` where a short move is enough. A label without free height is not moved.
    """
    lowest, highest = LINE / 2, height - LINE / 2
    placed: dict[int, Label] = {}
    for index in sorted(range(len(labels)), key=lambda i: labels[i].y):
        wanted = labels[index]
        start = min(max(wanted.y, lowest), highest)
        tried = [start + step * LINE / 3 for step in range(-9, 10)]
        tried += [other.y + way for other in placed.values() for way in (-LINE, LINE)]
        at = (
            wanted._replace(y=y)
            for y in sorted(tried, key=lambda y: abs(y - wanted.y))
            if lowest <= y <= highest
        )
        free = [label for label in at if not any(label.covers(other) for other in placed.values())]
        near = (label for label in free if abs(label.y - wanted.y) <= _FAR)
        clear = (label for label in near if not any(label.contains(point) for point in lines))
        placed[index] = next(clear, free[0] if free else wanted)
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
