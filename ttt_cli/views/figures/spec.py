"""Vega-Lite specifications: encodings, layers, the common look, and safe JSON.

A specification is a plain dict. `vl_convert` draws it for files, `assets/figure.js` in pages. Layers take their
records from `datasets` by name.
"""

import itertools
import json
import math
import re
import textwrap
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
# More colours, where these are not enough: Tol's muted ones, then all of them darker and paler.
MORE_COLOURS: Final = (
    "#882255",
    "#44AA99",
    "#999933",
    "#332288",
    "#AA4466",
    "#117733",
    "#8C564B",
    "#7F7FBF",
)
_SHADES: Final = (("#000000", 0.4), ("#FFFFFF", 0.4))  # mixed into a colour, and the share of it
UPRIGHT: Final[Spec] = {
    "angle": 270,
    "align": "left",
    "baseline": "middle",
    "fontSize": 12,
    "color": INK,
}
LEGEND: Final = {"title": None, "orient": "top", "labelFontSize": 12, "offset": 0}
MENU: Final = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}

_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # years between ticks
_LINE: Final = 145  # characters of a subtitle, in the width of a figure
_ESCAPES: Final = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
# Characters that XML does not allow
_NO_TEXT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def colours_of(count: int) -> list[str]:
    """Colours of so many players, no colour twice up to 44."""
    base = [*COLOURS, *MORE_COLOURS]
    shades = [
        mixed(colour, shade, share)
        for shade, share in _SHADES
        for colour in base
        if colour != shade
    ]
    colours = [*dict.fromkeys([*base, *shades])]
    return [colours[index % len(colours)] for index in range(count)]


def mixed(colour: str, added: str, share: float) -> str:
    """A colour with a `share` of an added one."""
    parts = [
        round((1.0 - share) * int(colour[at : at + 2], 16) + share * int(added[at : at + 2], 16))
        for at in (1, 3, 5)
    ]
    return "#" + "".join([f"{part:02X}" for part in parts])


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


def years(domain: Sequence[float], title: str = "year", newest: float | None = None) -> Spec:
    """The encoding of years, with ticks at whole years up to the `newest` of the data (None: the end of the axis)."""
    first, last = domain
    values = whole_years(first, last if newest is None else newest)
    axis = {"format": "d", "title": title, "grid": False, "values": values}
    return number("year", axis=axis, scale={"nice": False, "domain": [*domain]})


def whole_years(first: float, last: float) -> list[int]:
    """Round years from `first` to `last`, at most 12."""
    low = math.ceil(first)
    high = max(math.floor(last), low)
    step = next(
        step
        for step in itertools.chain(_STEPS, itertools.count(2000, 1000))
        if high - low < 12 * step
    )
    return [*range(-(-low // step) * step, high + 1, step)]


def finish(
    layers: Iterable[Spec],
    datasets: Mapping[str, Sequence[Mapping[str, Any]]],
    title: str,
    subtitle: str | list[str],
    *,
    height: int = HEIGHT,
) -> Spec:
    """A complete figure of the layers that have records; lines of the subtitle are broken where they are too long."""
    subtitles = [subtitle] if isinstance(subtitle, str) else subtitle
    shown = [text.replace("+-", "±") for text in subtitles]
    wrapped = [
        line for text in shown for line in textwrap.wrap(text, _LINE, break_long_words=False)
    ]
    lines = wrapped[0] if len(wrapped) == 1 else wrapped
    drawn = {name: [*records] for name, records in datasets.items() if records}
    return {
        "title": {
            "text": title, "subtitle": lines, "anchor": "start", "fontSize": 17, "subtitleColor": PALE,
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
