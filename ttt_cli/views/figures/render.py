"""Files of figures: pictures, and pages with a figure that the browser draws."""

from collections.abc import Mapping
from html import escape
from typing import Any, Final

from ttt_cli.views.figures import spec as vega
from ttt_cli.views.figures.draw import draw

_FILLING: Final = {
    "width": "container", "height": "container", "autosize": {"type": "fit", "contains": "padding"},
}  # fmt: skip


def render(spec: Mapping[str, Any], fmt: str) -> bytes:
    """A Vega-Lite figure in one of `ttt_cli.views.figures.FIGURE_FORMATS`, as bytes; without browser or network.

    Raises SetupError without memory.
    """
    figure = vega.showable(spec)
    match fmt:
        case "png" | "svg" | "pdf":
            return draw(figure, fmt)
        case "html":
            from ttt_cli.views.report.markup import filled

            parts = {
                "title": escape(figure["title"]["text"]),
                "figure": vega.embedded({**figure, **_FILLING}),
                "library": draw({}, "library").decode(),
            }
            return filled("figure.html", parts).encode()
    raise ValueError(fmt)
