"""Bars, lines with their bands, and surfaces of evidence, drawn in characters for terminals of Unicode."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ttt_cli.views.evidence import Place, Surface

EIGHTHS: Final = " ▏▎▍▌▋▊▉█"  # of a place


def bar(value: float, largest: float, width: int) -> str:
    """A bar of `width` places for `largest`, proportionally shorter for less; something for all above zero."""
    if value <= 0 or largest <= 0 or width <= 0:
        return ""
    whole, eighths = divmod(max(round(8 * width * min(value / largest, 1.0)), 1), 8)
    return EIGHTHS[8] * whole + EIGHTHS[eighths].strip()


# Braille, by row and column of a cell.
_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
LEAST_WIDTH: Final = 40


def chart(
    mean: Sequence[float],
    sd: Sequence[float],
    ends: tuple[str, str],
    *,
    width: int = 80,
    height: int = 12,
) -> list[str]:
    """Lines of text: `mean` as a line of Braille dots, mean +- sd shaded, values on the left.

    `mean`, `sd`: one per period, in order; `ends` label the first and the last. No lines for fewer than two periods, or
    when `width` is below LEAST_WIDTH.
    """
    if len(mean) < 2 or width < LEAST_WIDTH:
        return []
    low = min(m - s for m, s in zip(mean, sd, strict=True))
    high = max(m + s for m, s in zip(mean, sd, strict=True))
    high = high if high > low else low + 1.0
    labels = [f"{high - row * (high - low) / (height - 1):.0f}" for row in range(height)]
    margin = max(map(len, labels))
    across = min(width - margin - 2, max(len(mean) * 3, LEAST_WIDTH // 2))

    def row_of(value: float, rows: int) -> int:
        return min(int((high - value) / (high - low) * rows), rows - 1)

    def at(values: Sequence[float], column: int, columns: int) -> float:
        """The value in the middle of a column, on straight lines between periods."""
        left, beyond = divmod((column + 0.5) / columns * (len(values) - 1), 1)
        return values[int(left)] * (1.0 - beyond) + values[int(left) + 1] * beyond

    cells = [[" "] * across for _ in range(height)]
    for column in range(across):
        m, s = at(mean, column, across), at(sd, column, across)
        for row in range(row_of(m + s, height), row_of(m - s, height) + 1):
            cells[row][column] = "░"
    heights = [row_of(at(mean, column, 2 * across), 4 * height) for column in range(2 * across)]
    dots: dict[tuple[int, int], int] = {}
    for column, (before, here) in enumerate(zip(heights[:1] + heights, heights, strict=False)):
        steep = range(before + 1, here) if here > before else range(here + 1, before)
        for down in (here, *steep):
            cell = down // 4, column // 2
            dots[cell] = dots.get(cell, 0) | _DOTS[down % 4][column % 2]
    for (row, column), pattern in dots.items():
        cells[row][column] = chr(0x2800 + pattern)
    lines = [
        f"{label:>{margin}} ┤" if row in (0, height // 2, height - 1) else f"{'':{margin}} │"
        for row, label in enumerate(labels)
    ]
    first, last = ends
    below = f"{'':{margin + 2}}{first}{last:>{max(across - len(first), len(last) + 1)}}"
    return [*(f"{line}{''.join(row)}".rstrip() for line, row in zip(lines, cells, strict=True)), below]


# Dark to bright in equal steps of lightness (after viridis).
STEPS: Final = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
)  # fmt: skip
_DARK: Final = 5  # so many colours take white letters
_KEY_STEPS: Final = 5
_LEAST_CELL: Final = 2
_WIDEST_BAR: Final = 60
_BEST: Final = "●"
Cell = tuple[str, str]  # a text, and its style: `bold black on #fde725`


def surface_chart(surface: Surface, *, width: int, coloured: bool = False) -> list[list[Cell]]:
    """A surface of evidence over one axis as bars, over two as a heatmap where colours are shown.

    No lines with more axes or without room.
    """
    marks = {
        place: _BEST * (place == surface.best) + "!" * (not point.converged)
        for place, point in surface.points.items()
    }
    numbers = [f"{tick:g}" for tick in surface.ticks[0]]
    wide = len(surface.keys[0]) + 1 + max(map(len, numbers))
    heads = [f"{surface.keys[0]} {numbers[0]}", *numbers[1:]]
    heads = [f"{head:>{wide}} " for head in heads]
    match len(surface.keys):
        case 1:
            found = [[(line, "")] for line in _bars(surface, heads, marks, width)]
            over = surface.keys[0]
        case 2 if coloured:
            found = _heatmap(surface, heads, marks, width)
            over = f"{surface.keys[0]} (down) and {surface.keys[1]} (across)"
        case _:
            return []
    best = surface.points[surface.best].log_evidence
    legend = [f"{_BEST} best: {surface.best_words}, log-evidence {best:.3f}"]
    legend += ["! not converged"] * (surface.missed > 0)
    return found and [[(f"log-evidence over {over}", "bold")], *found, *([(line, "")] for line in legend)]


def _heatmap(
    surface: Surface, heads: Sequence[str], marks: Mapping[Place, str], width: int
) -> list[list[Cell]]:
    """A cell per point of two axes, brighter where the evidence is higher.

    Heights are ranks, so that the neighbourhood of the best is seen beside deep valleys.
    """
    down, across = surface.ticks
    labels = [f"{tick:g}" for tick in across]
    wide = min(max(3, *(len(label) + 1 for label in labels)), (width - len(heads[0])) // len(labels))
    if wide < _LEAST_CELL:
        return []
    drops = surface.drops()
    # From 0 for the largest drop to 1 for the smallest, equal steps between distinct ones
    distinct = sorted(set(drops.values()), reverse=True)
    rank = {drop: k / (len(distinct) - 1) if len(distinct) > 1 else 1.0 for k, drop in enumerate(distinct)}
    height = {place: rank[drop] for place, drop in drops.items()}

    def cell(place: Place, text: str, width: int) -> Cell:
        step = min(int(height[place] * len(STEPS)), len(STEPS) - 1)
        return text.center(width), f"bold {'white' if step < _DARK else 'black'} on {STEPS[step]}"

    lines = [
        [(head, ""), *(cell((tick, other), marks[tick, other], wide) for other in across)]
        for head, tick in zip(heads, down, strict=True)
    ]
    axis = ""  # without labels that would run into the one before
    for position, label in enumerate(labels):
        at = position * wide + max((wide - len(label)) // 2, 0)
        if at + len(label) <= len(labels) * wide and at >= len(axis) + (1 if axis else 0):
            axis = axis.ljust(at) + label
    lines.append([(" " * len(heads[0]) + axis, "")])
    ordered, key = sorted(height, key=height.__getitem__), [("below the best:", "")]
    for step in range(_KEY_STEPS):
        place = ordered[round(step / (_KEY_STEPS - 1) * (len(ordered) - 1))]
        drop = f"{drops[place]:,.0f}" if drops[place] >= 100 else f"{drops[place]:.2g}"
        key += [(" ", ""), cell(place, "", 2), (f" {drop}", "")]
    return [*lines, key]


def _bars(surface: Surface, heads: Sequence[str], marks: Mapping[Place, str], width: int) -> list[str]:
    """A bar per point of one axis, as long as the evidence is above the lowest; none without room."""
    values = [f"{point.log_evidence:.3f}" for point in surface.points.values()]
    widest = max(map(len, values))
    room = min(width - len(heads[0]) - widest - 6, _WIDEST_BAR)
    if room < 1:
        return []
    drops = surface.drops().values()
    most = max(filter(math.isfinite, drops), default=0.0)
    lines = []
    for head, value, mark, drop in zip(heads, values, marks.values(), drops, strict=True):
        share = 1.0 - drop / most if most > 0.0 and math.isfinite(drop) else float(drop <= 0.0)
        line = EIGHTHS[8] * (1 + round(min(share, 1.0) * (room - 1)))
        lines.append(f"{head} {value:>{widest}} {line} {mark}".rstrip())
    return lines
