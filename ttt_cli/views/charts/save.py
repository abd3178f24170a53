"""Figures as files: PNG, SVG, PDF, or a page that works offline."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any, Final

import vl_convert

from ttt_cli.views.charts.style import MENU
from ttt_cli.views.templates import embedded, showable

_STAND_IN: Final = {"description": "where the figure comes"}
_FILLING: Final = {
    "width": "container", "height": "container", "autosize": {"type": "fit", "contains": "padding"},
    "usermeta": {"embedOptions": MENU},
}  # fmt: skip
_STYLE: Final = (
    "<style>body { margin: 0 } "
    "#vega-chart { display: block; width: 100vw; height: 100vh; min-width: 36rem; min-height: 22rem }</style>"
)
_SHARPNESS: Final = 2.0  # pixels of a PNG per pixel of the figure


def render(spec: Mapping[str, Any], fmt: str, *, sharpness: float = _SHARPNESS) -> bytes:
    """A Vega-Lite figure in one of `ttt_cli.views.charts.FORMATS`, as bytes; without browser or network.

    `sharpness`: pixels of a PNG per pixel of the figure.
    """
    figure = showable(spec)
    match fmt:
        case "png":
            return bytes(vl_convert.vegalite_to_png(figure, scale=sharpness))
        case "svg":
            return str(vl_convert.vegalite_to_svg(figure)).encode()
        case "pdf":
            return bytes(vl_convert.vegalite_to_pdf(figure))
        case "html":
            return _page(figure).encode()
    raise ValueError(fmt)


def _page(figure: Mapping[str, Any]) -> str:
    """The library's page for a stand-in, and the figure put there in such a way that it cannot end its script.

    The figure fills the window. The page offers it as PNG and SVG; the library's view of the source would take names
    for markup.
    """
    before, place, after = str(vl_convert.vegalite_to_html(_STAND_IN, bundle=True)).partition(
        json.dumps(_STAND_IN, separators=(",", ":"))
    )
    title = escape(figure["title"]["text"] if isinstance(figure.get("title"), dict) else "Figure")
    for old, new in (
        ("<html>", '<html lang="en">'),
        (
            "<title>Chart</title>",
            f'<meta name="viewport" content="width=device-width"><title>{title}</title>{_STYLE}',
        ),
    ):
        assert old in before, "the page of a figure is not what it was"
        before = before.replace(old, new, 1)
    assert place, "the page of a figure is not what it was"
    return before + embedded({**figure, **_FILLING}) + after
