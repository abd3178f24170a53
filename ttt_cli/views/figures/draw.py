"""Draws Vega-Lite specifications with vl-convert, which has the JavaScript engine V8 inside.

V8 reserves addresses for tens of gigabytes and aborts its process when it gets none. So where addresses are limited
(`ulimit -v`) another process draws.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, Final, Literal

from ttt_cli.support.errors import SetupError

# The last is the JavaScript that shows figures in a page
Drawing = Literal["png", "svg", "pdf", "library"]
_PIXELS: Final = 2.0  # of a PNG, per pixel of the figure
_LIBRARY: Final = "window.vegaEmbed = vegaEmbed"
_START: Final = (
    "import sys; sys.path[:] = {}; from ttt_cli.views.figures.draw import serve; serve()"
)


def draw(figure: Mapping[str, Any], drawing: Drawing) -> bytes:
    """A figure as a file. Raises SetupError without memory."""
    return _draw_elsewhere(figure, drawing) if _is_memory_limited() else _draw_here(figure, drawing)


def _draw_here(figure: Mapping[str, Any], drawing: Drawing) -> bytes:
    import vl_convert

    specification = dict(figure)
    match drawing:
        case "png":
            return bytes(vl_convert.vegalite_to_png(specification, scale=_PIXELS))
        case "svg":
            return str(vl_convert.vegalite_to_svg(specification)).encode()
        case "pdf":
            return bytes(vl_convert.vegalite_to_pdf(specification))
        case "library":
            return str(vl_convert.javascript_bundle(_LIBRARY)).encode()


def _is_memory_limited() -> bool:
    """Whether the addresses that this process may reserve are limited."""
    if sys.platform == "win32":
        return False
    import resource

    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return any(limit != resource.RLIM_INFINITY for limit in limits)


def _draw_elsewhere(figure: Mapping[str, Any], drawing: Drawing) -> bytes:
    """As `_draw_here`, in another process, whose messages are dropped. Raises SetupError if it fails."""
    try:
        drawn = subprocess.run(
            [sys.executable, "-c", _START.format(sys.path)],
            input=pickle.dumps((dict(figure), drawing)),
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise SetupError(
            "there is too little memory to draw a figure",
            hint="the engine that draws reserves addresses for 70 GB, without using them: `ulimit -v unlimited`",
        ) from error
    return drawn.stdout


def serve() -> None:
    """Main function of the other process: draw what is on standard input."""
    figure, drawing = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(_draw_here(figure, drawing))
