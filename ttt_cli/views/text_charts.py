"""A line with its band, drawn in characters for terminals of Unicode."""

from collections.abc import Sequence
from typing import Final

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
    margin = max(len(label) for label in labels)
    across = min(width - margin - 2, max(len(mean) * 3, LEAST_WIDTH // 2))

    def row_of(value: float, rows: int) -> int:
        return min(int((high - value) / (high - low) * rows), rows - 1)

    def at(values: Sequence[float], column: int, columns: int) -> float:
        """The value in the middle of a column, on straight lines between periods."""
        left, beyond = divmod((column + 0.5) / columns * (len(values) - 1), 1)
        return values[int(left)] * (1.0 - beyond) + values[int(left) + 1] * beyond

    cells = [[" "] * across for _ in range(height)]
    for column in range(across):
        m = at(mean, column, across)
        s = at(sd, column, across)
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
    return [
        *(f"{line}{''.join(row)}".rstrip() for line, row in zip(lines, cells, strict=True)),
        below,
    ]
