"""A surface as coloured cells on a terminal; shades of blocks, or of letters, where there is no colour."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ttt_cli.views.evidence import Surface

# dark to bright, equal steps of lightness, safe for the colour-blind (after viridis)
_COLOURS: Final = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
)  # fmt: skip
_BLOCKS: Final = " ░▒▓█"
_LETTERS: Final = " .:+#"


def print_heatmap(surface: Surface) -> None:
    """Print the surface of two axes: a cell per point, brighter where the evidence is higher, the best one marked.

    Cells are ranked by height, so that the neighbourhood of the best is seen beside deep valleys.
    """
    from rich.console import Console
    from rich.text import Text

    from ttt_cli.views.formats import speaks_unicode

    console = Console(highlight=False, markup=False, emoji=False)
    letters = not speaks_unicode(sys.stdout)
    labels = [f"{tick:g}" for tick in surface.ticks[1]]
    left = max(len(f"{tick:g}") for tick in surface.ticks[0]) + len(surface.keys[0]) + 1
    width = max(3, *(len(label) + 1 for label in labels))
    if left + width * len(labels) > console.width:
        width = max(2, (console.width - left) // len(labels))
    height = _ranks(surface)
    console.print(
        Text(f"log-evidence over {surface.keys[0]} (down) and {surface.keys[1]} (across)", style="bold")
    )
    for i, tick in enumerate(surface.ticks[0]):
        line = Text(f"{surface.keys[0]} {tick:g}".rjust(left) if i == 0 else f"{tick:g}".rjust(left))
        for j, other in enumerate(surface.ticks[1]):
            best = (tick, other) == surface.best
            line.append_text(_cell(height[i][j], best, width, console, letters))
        console.print(line, no_wrap=True, crop=True)
    console.print(Text(" " * left + _axis(labels, width)), no_wrap=True, crop=True)
    console.print(Text(_legend(surface, letters)))


def _ranks(surface: Surface) -> list[list[float | None]]:
    values = sorted({gain for row in surface.gain for gain in row if gain is not None})
    rank = {gain: position / max(len(values) - 1, 1) for position, gain in enumerate(values)}
    return [[None if gain is None else rank[gain] for gain in row] for row in surface.gain]


def _cell(height: float | None, best: bool, width: int, console: Console, letters: bool) -> Text:
    from rich.text import Text

    mark = ("X" if letters else "●") if best else ""
    if height is None:
        return Text("?".center(width))
    if console.color_system and not console.no_color:
        colour = _COLOURS[min(int(height * len(_COLOURS)), len(_COLOURS) - 1)]
        return Text(mark.center(width), style=f"bold black on {colour}")
    shades = _LETTERS if letters else _BLOCKS
    shade = shades[min(int(height * len(shades)), len(shades) - 1)]
    return Text(mark.center(width, shade) if best else shade * width)


def _axis(labels: list[str], width: int) -> str:
    """Tick labels under their cells; those that would run into the one before are left out."""
    line = ""
    for position, label in enumerate(labels):
        at = position * width + max((width - len(label)) // 2, 0)
        if at >= len(line) + (1 if line else 0):
            line = line.ljust(at) + label
    return line


def _legend(surface: Surface, letters: bool) -> str:
    place = ", ".join(f"{key} {value:g}" for key, value in zip(surface.keys, surface.best, strict=True))
    evidence = next(row[-4] for row in surface.rows.rows if row[-1])
    lowest = min(gain for row in surface.gain for gain in row if gain is not None)
    return f"{'X' if letters else '●'} best: {place}, log-evidence {evidence:.3f}; the lowest is {-lowest:.1f} below"
