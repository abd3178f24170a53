"""A row of blocks that shows how a quantity moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

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
