"""Bars of text, as long as a number is large."""

from __future__ import annotations

from typing import Final

EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
ASCII_BLOCK: Final = "#"


def bar(value: float, largest: float, width: int, *, ascii_only: bool = False) -> str:
    """A bar of `width` places for `largest`, proportionally shorter for less, and never nothing for more than nothing.

    In eighths of a place, or in whole ones where only ASCII can be shown.
    """
    if value <= 0 or largest <= 0:
        return ""
    length = min(value / largest, 1.0) * width
    if ascii_only:
        return ASCII_BLOCK * max(round(length), 1)
    whole, eighths = divmod(max(round(8 * length), 1), 8)
    return EIGHTHS[8] * whole + (EIGHTHS[eighths] if eighths else "")
