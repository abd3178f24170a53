"""Figures of a run as Vega-Lite specifications, the same for pictures, the page and the site."""

from typing import Final

KINDS: Final = (
    *("skills", "difference", "leaders", "games", "evidence", "top", "calibration", "draws", "newcomers", "career"),
)  # fmt: skip
FIGURE_FORMATS: Final = ("png", "svg", "pdf", "html")
