"""Figures made from a run: skill curves, games per year, the evidence surface, the top through time."""

from typing import Final

KINDS: Final = (
    *("skills", "difference", "leaders", "games", "evidence", "top", "calibration", "draws", "newcomers", "career"),
)  # fmt: skip
FIGURE_FORMATS: Final = ("png", "svg", "pdf", "html")
