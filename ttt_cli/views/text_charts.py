"""Bars, sparklines, lines with their bands, and surfaces of evidence, drawn in characters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ttt_cli.views.evidence import Place, Surface

EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
ASCII_BAR: Final = "#"


def bar(value: float, largest: float, width: int, *, ascii_only: bool = False) -> str:
    """A bar of `width` places for `largest`, proportionally shorter for less, and never nothing for more than nothing.

    In eighths of a place, or in whole ones where only ASCII can be shown.
    """
    if value <= 0 or largest <= 0:
        return ""
    length = min(value / largest, 1.0) * width
    if ascii_only:
        return ASCII_BAR * max(round(length), 1)
    whole, eighths = divmod(max(round(8 * length), 1), 8)
    return EIGHTHS[8] * whole + (EIGHTHS[eighths] if eighths else "")


BLOCKS: Final = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS: Final = "_.-~=+*#"


def sparkline(values: Sequence[float], *, width: int | None = None, ascii_only: bool = False) -> str:
    """One block per value from the lowest to the highest; of more than `width` values, means of neighbours.

    Equal values give the middle height, an empty sequence the empty text; what is not finite leaves a gap.
    """
    blocks = ASCII_BLOCKS if ascii_only else BLOCKS
    heights = list(values) if width is None or len(values) <= width else _means(values, width)
    finite = [height for height in heights if math.isfinite(height)]
    if not finite:
        return " " * len(heights)
    low, high = min(finite), max(finite)
    return "".join(blocks[_step(height, low, high)] if math.isfinite(height) else " " for height in heights)


def _step(height: float, low: float, high: float) -> int:
    if low == high:
        return len(BLOCKS) // 2 - 1
    return min(int((height - low) / (high - low) * len(BLOCKS)), len(BLOCKS) - 1)


def _means(values: Sequence[float], width: int) -> list[float]:
    edges = [i * len(values) // width for i in range(width + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]


# Braille, by row and column of a cell.
_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_DOWN, _ACROSS = len(_DOTS), len(_DOTS[0])
_BAND, _ASCII_BAND, _ASCII_LINE = "░", ".", "*"
LEAST_WIDTH: Final = 40


def chart(
    mean: Sequence[float],
    sd: Sequence[float],
    ends: tuple[str, str],
    *,
    width: int = 80,
    height: int = 12,
    ascii_only: bool = False,
) -> list[str]:
    """Lines of text: `mean` as a line of Braille dots (stars in ASCII), mean +- sd shaded, values on the left.

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

    cells = [[" "] * across for _ in range(height)]
    for column in range(across):
        m, s = (_at(values, (column + 0.5) / across) for values in (mean, sd))
        for row in range(row_of(m + s, height), row_of(m - s, height) + 1):
            cells[row][column] = _ASCII_BAND if ascii_only else _BAND
    dots = across * _ACROSS
    heights = [row_of(_at(mean, (i + 0.5) / dots), height * _DOWN) for i in range(dots)]
    _draw_line(cells, heights, ascii_only)
    first, last = ends
    below = f"{'':{margin + 2}}{first}{'':{max(across - len(first) - len(last), 1)}}{last}"
    return [*_with_axis(cells, labels, margin, ascii_only), below]


def _with_axis(cells: list[list[str]], labels: list[str], margin: int, ascii_only: bool) -> list[str]:
    tick, plain = "||" if ascii_only else "┤│"
    named = (0, len(cells) // 2, len(cells) - 1)
    axis = (
        f"{label:>{margin}} {tick}" if row in named else f"{'':{margin}} {plain}"
        for row, label in enumerate(labels)
    )
    return [f"{left}{''.join(row)}".rstrip() for left, row in zip(axis, cells, strict=True)]


def _at(values: Sequence[float], place: float) -> float:
    """The value at a place between 0 (the first) and 1 (the last), straight lines in between."""
    position = place * (len(values) - 1)
    left = min(int(position), len(values) - 2)
    return values[left] + (position - left) * (values[left + 1] - values[left])


def _draw_line(cells: list[list[str]], heights: Sequence[int], ascii_only: bool) -> None:
    """Dots at `heights` (from the top, one per column of dots), joined where the line is steep."""
    dots: dict[tuple[int, int], int] = {}
    before = heights[0]
    for column, here in enumerate(heights):
        step = 1 if here > before else -1
        joined = range(before + step, here + step, step) if here != before else (here,)
        for down in joined:
            cell = down // _DOWN, column // _ACROSS
            dots[cell] = dots.get(cell, 0) | _DOTS[down % _DOWN][column % _ACROSS]
        before = here
    for (row, column), pattern in dots.items():
        cells[row][column] = _ASCII_LINE if ascii_only else chr(0x2800 + pattern)


# Dark to bright in equal steps of lightness (after viridis).
STEPS: Final = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
)  # fmt: skip
_DARK: Final = 5  # so many colours take white letters
_KEY_STEPS: Final = 5
_LEAST_CELL: Final = 2
_WIDEST_BAR: Final = 60
SHADES: Final = "·░▒▓█"  # rising with the evidence
ASCII_SHADES: Final = ".:+%#"
UNSETTLED: Final = "!"
Cell = tuple[str, str]  # a text, and its style: `bold black on #fde725`


def surface_chart(
    surface: Surface, *, width: int, coloured: bool = False, ascii_only: bool = False
) -> list[list[Cell]]:
    """A surface of evidence over one axis as bars, over two as a heatmap; no lines with more axes or without room."""
    mark = "X" if ascii_only else "●"
    if len(surface.keys) == 1:
        found = [[(line, "")] for line in _bars(surface, width, mark, ascii_only)]
    else:
        shades = ASCII_SHADES if ascii_only else SHADES
        found = _heatmap(surface, width, mark, None if coloured else shades) if len(surface.keys) == 2 else []
    if not found:
        return []
    best = surface.points[surface.best]
    legend = [f"{mark} best: {surface.best_words}, log-evidence {best.log_evidence:.3f}"]
    legend += [f"{UNSETTLED} not converged"] * (surface.missed > 0)
    over = " and ".join(
        f"{key}{way}" for key, way in zip(surface.keys, (" (down)", " (across)"), strict=False)
    )
    head = over if len(surface.keys) == 2 else surface.keys[0]
    return [[(f"log-evidence over {head}", "bold")], *found, *([(line, "")] for line in legend)]


def _heatmap(surface: Surface, width: int, mark: str, shades: str | None) -> list[list[Cell]]:
    """A cell per point of two axes, brighter where the evidence is higher: coloured without `shades`.

    Heights are ranks, so that the neighbourhood of the best is seen beside deep valleys.
    """
    down, across = surface.ticks
    heads = _heads(surface.keys[0], down)
    labels = [f"{tick:g}" for tick in across]
    wide = min(max(3, *(len(label) + 1 for label in labels)), (width - len(heads[0])) // len(labels))
    if wide < _LEAST_CELL:
        return []
    drops = surface.drops()
    height = ranks(drops)

    def cell(place: Place, text: str, width: int) -> Cell:
        steps = len(shades or STEPS)
        step = min(int(height[place] * steps), steps - 1)
        if shades is None:
            return text.center(width), f"bold {'white' if step < _DARK else 'black'} on {STEPS[step]}"
        return (f" {text} " if text and width > 3 else text).center(width, shades[step]), ""

    lines = [
        [(head, ""), *(cell((tick, other), _mark(surface, (tick, other), mark), wide) for other in across)]
        for head, tick in zip(heads, down, strict=True)
    ]
    lines.append([(" " * len(heads[0]) + axis_line(labels, wide), "")])
    ordered, key = sorted(height, key=height.__getitem__), [("below the best:", "")]
    for step in range(_KEY_STEPS):
        place = ordered[round(step / (_KEY_STEPS - 1) * (len(ordered) - 1))]
        drop = f"{drops[place]:,.0f}" if drops[place] >= 100 else f"{drops[place]:.2g}"
        key += [(" ", ""), cell(place, "", 2), (f" {drop}", "")]
    return [*lines, key]


def _bars(surface: Surface, width: int, mark: str, ascii_only: bool) -> list[str]:
    """A bar per point of one axis, as long as the evidence is above the lowest; none without room."""
    heads = _heads(surface.keys[0], surface.ticks[0])
    values = [f"{point.log_evidence:.3f}" for point in surface.points.values()]
    widest = max(map(len, values))
    room = min(width - len(heads[0]) - widest - 6, _WIDEST_BAR)
    if room < 1:
        return []
    drops = surface.drops()
    most = max((drop for drop in drops.values() if math.isfinite(drop)), default=0.0)
    lines = []
    for head, value, (place, drop) in zip(heads, values, drops.items(), strict=True):
        share = 1.0 - drop / most if most > 0.0 and math.isfinite(drop) else float(drop <= 0.0)
        line = (ASCII_BAR if ascii_only else EIGHTHS[8]) * (1 + round(min(share, 1.0) * (room - 1)))
        lines.append(f"{head} {value:>{widest}} {line} {_mark(surface, place, mark)}".rstrip())
    return lines


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


def _mark(surface: Surface, place: Place, best: str) -> str:
    return best * (place == surface.best) + UNSETTLED * (not surface.points[place].converged)
