"""Bars, sparklines and lines with their bands, drawn in characters."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

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
