"""A surface of evidence drawn on a terminal: coloured cells, or shades of blocks or letters without colour."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.text import Text

from ttt_cli.cli.terminal.tables import SHOWN_ROWS
from ttt_cli.views.evidence.surface import STEPS, Place, Surface
from ttt_cli.views.rows import speaks_unicode

_DARK: Final = 5  # so many colours take white letters
_KEY_STEPS: Final = 5
_LEAST_CELL: Final = 2
_WIDEST_BAR: Final = 60


@dataclass(frozen=True)
class Signs:
    """What cells are drawn with. `shades` rise with the evidence."""

    shades: str
    best: str
    bar: str
    unsettled: str = "!"


UNICODE: Final = Signs("·░▒▓█", "●", "█")
ASCII: Final = Signs(".:+%#", "X", "#")


def draw_surface(surface: Surface) -> bool:
    """Draw a surface of one or two axes; False, and nothing drawn, when it has more or does not fit."""
    console = Console(highlight=False, markup=False, emoji=False)
    signs = UNICODE if speaks_unicode(sys.stdout) else ASCII
    draw = {1: bars, 2: heatmap}.get(len(surface.keys))
    lines = draw(surface, console, signs) if draw and len(surface.ticks[0]) <= SHOWN_ROWS else None
    if lines is None:
        return False
    for line in lines:
        console.print(line)
    return True


def heatmap(surface: Surface, console: Console, signs: Signs) -> list[Text] | None:
    """A cell per point of two axes, brighter where the evidence is higher; None when it is too wide.

    Heights are ranks, so that the neighbourhood of the best is seen beside deep valleys.
    """
    down, across = surface.ticks
    heads = _heads(surface.keys[0], down)
    labels = [f"{tick:g}" for tick in across]
    room = (console.width - len(heads[0])) // len(labels)
    width = min(max(3, *(len(label) + 1 for label in labels)), room)
    if width < _LEAST_CELL:
        return None
    drops = surface.drops()
    height = ranks(drops)
    lines = [Text(f"log-evidence over {surface.keys[0]} (down) and {surface.keys[1]} (across)", style="bold")]
    for head, tick in zip(heads, down, strict=True):
        line = Text(head)
        for other in across:
            place = (tick, other)
            line.append_text(_cell(height[place], _mark(surface, place, signs), width, console, signs))
        lines.append(line)
    lines.append(Text(" " * len(heads[0]) + axis_line(labels, width)))
    return [*lines, _colour_key(drops, height, console, signs), *_legend(surface, signs)]


def bars(surface: Surface, console: Console, signs: Signs) -> list[Text] | None:
    """A bar per point of one axis, as long as the evidence is above the lowest; None when there is no room."""
    heads = _heads(surface.keys[0], surface.ticks[0])
    values = [f"{point.log_evidence:.3f}" for point in surface.points.values()]
    widest = max(map(len, values))
    room = min(console.width - len(heads[0]) - widest - 6, _WIDEST_BAR)
    if room < 1:
        return None
    drops = surface.drops()
    most = max((drop for drop in drops.values() if math.isfinite(drop)), default=0.0)
    lines = [Text(f"log-evidence over {surface.keys[0]}", style="bold")]
    for head, value, (place, drop) in zip(heads, values, drops.items(), strict=True):
        share = 1.0 - drop / most if most > 0.0 and math.isfinite(drop) else float(drop <= 0.0)
        length = 1 + round(min(share, 1.0) * (room - 1))
        mark = _mark(surface, place, signs)
        lines.append(Text(f"{head} {value:>{widest}} {signs.bar * length} {mark}".rstrip()))
    return [*lines, *_legend(surface, signs)]


def ranks(drops: Mapping[Place, float]) -> dict[Place, float]:
    """From 0 for the largest drop to 1 for the smallest, equal steps between distinct ones."""
    ordered = sorted(set(drops.values()), reverse=True)
    position = {drop: place for place, drop in enumerate(ordered)}
    last = len(ordered) - 1
    return {place: position[drop] / last if last else 1.0 for place, drop in drops.items()}


def axis_line(labels: Sequence[str], width: int) -> str:
    """Tick labels under their cells; those that would run into the one before are left out."""
    line = ""
    for position, label in enumerate(labels):
        at = position * width + max((width - len(label)) // 2, 0)
        if at + len(label) <= len(labels) * width and at >= len(line) + (1 if line else 0):
            line = line.ljust(at) + label
    return line


def _heads(key: str, ticks: Sequence[float]) -> list[str]:
    numbers = [f"{tick:g}" for tick in ticks]
    width = len(key) + 1 + max(map(len, numbers))
    return [f"{f'{key} {number}' if row == 0 else number:>{width}} " for row, number in enumerate(numbers)]


def _mark(surface: Surface, place: Place, signs: Signs) -> str:
    best = signs.best if place == surface.best else ""
    return best + ("" if surface.points[place].converged else signs.unsettled)


def _cell(height: float, mark: str, width: int, console: Console, signs: Signs) -> Text:
    if console.color_system and not console.no_color:
        step = _step(height, len(STEPS))
        ink = "white" if step < _DARK else "black"
        return Text(mark.center(width), style=f"bold {ink} on {STEPS[step]}")
    shade = signs.shades[_step(height, len(signs.shades))]
    return Text(f" {mark} ".center(width, shade) if mark and width > 3 else mark.center(width, shade))


def _step(height: float, steps: int) -> int:
    return min(int(height * steps), steps - 1)


def _colour_key(
    drops: Mapping[Place, float], height: Mapping[Place, float], console: Console, signs: Signs
) -> Text:
    """What shades mean: how far the points of equally spaced ranks are below the best."""
    ordered = sorted(height, key=lambda place: height[place])
    line = Text("below the best:")
    for step in range(_KEY_STEPS):
        place = ordered[round(step / (_KEY_STEPS - 1) * (len(ordered) - 1))]
        line.append(" ").append_text(_cell(height[place], "", 2, console, signs))
        drop = drops[place]
        line.append(f" {drop:,.0f}" if drop >= 100 else f" {drop:.2g}")
    return line


def _legend(surface: Surface, signs: Signs) -> list[Text]:
    best = surface.points[surface.best]
    lines = [Text(f"{signs.best} best: {surface.best_words}, log-evidence {best.log_evidence:.3f}")]
    if surface.missed:
        lines.append(Text(f"{signs.unsettled} not converged"))
    return lines
