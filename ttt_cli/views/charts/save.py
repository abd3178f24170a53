"""Figures as files: PNG, SVG, PDF, or a page that works offline."""

import json
from collections.abc import Mapping
from typing import Any, Final

from ttt_cli.views.embedding import embedded, showable

FORMATS: Final = ("png", "svg", "pdf", "html")
_STAND_IN: Final = {"description": "where the figure comes"}
_SHARPNESS: Final = 2.0  # pixels of a PNG per pixel of the figure


def render(spec: Mapping[str, Any], fmt: str, *, sharpness: float = _SHARPNESS) -> bytes:
    """A Vega-Lite figure in one of FORMATS, as bytes; no browser and no network is needed for it.

    `sharpness`: pixels of a PNG per pixel of the figure.
    """
    import vl_convert

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

    The page offers the figure as PNG and SVG; the library's view of the source would take names for markup.
    """
    import vl_convert

    before, place, after = str(vl_convert.vegalite_to_html(_STAND_IN, bundle=True)).partition(
        json.dumps(_STAND_IN, separators=(",", ":"))
    )
    assert place, "the page of a figure is not what it was"
    options = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}
    return before + embedded({**figure, "usermeta": {"embedOptions": options}}) + after
