"""Figures as files: PNG, SVG, PDF, or a page that works offline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

FORMATS: Final = ("png", "svg", "pdf", "html")
_SHARPNESS: Final = 2.0  # pixels of a PNG per pixel of the figure


def render(spec: Mapping[str, Any], fmt: str, *, sharpness: float = _SHARPNESS) -> bytes:
    """A Vega-Lite figure in one of FORMATS, as bytes; no browser and no network is needed for it.

    `sharpness`: pixels of a PNG per pixel of the figure.
    """
    import vl_convert

    figure = dict(spec)
    match fmt:
        case "png":
            return bytes(vl_convert.vegalite_to_png(figure, scale=sharpness))
        case "svg":
            return str(vl_convert.vegalite_to_svg(figure)).encode()
        case "pdf":
            return bytes(vl_convert.vegalite_to_pdf(figure))
        case "html":
            return str(vl_convert.vegalite_to_html(figure, bundle=True)).encode()
    raise ValueError(fmt)
