"""Vega-Lite specifications: encodings, layers, the common look, and safe JSON.

A specification is a plain dict. `vl_convert` draws it for files, `assets/figure.js` in pages. Layers take their
records from `datasets` by name.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

Spec = dict[str, Any]
Records = list[dict[str, Any]]

WIDTH: Final = 860
HEIGHT: Final = 440
INK: Final = "#222222"
PALE: Final = "#777777"
# Okabe and Ito's colours, distinct for the colour-blind; their yellow is too pale for lines on white.
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
UPRIGHT: Final[Spec] = {"angle": 270, "align": "left", "baseline": "middle", "fontSize": 12, "color": INK}
LEGEND: Final = {"title": None, "orient": "top", "labelFontSize": 12, "offset": 0}
MENU: Final = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}

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
    properties = {"type": mark, "aria": False, **look}
    return {"name": kind or data, "data": {"name": data}, "mark": properties, "encoding": encoding}


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
    drawn = {name: [*records] for name, records in datasets.items() if records}
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
        "layer": [layer for layer in layers if layer["data"]["name"] in drawn],
        "datasets": drawn,
    }  # fmt: skip


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
