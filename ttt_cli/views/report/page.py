"""The page: its parts put together, everything in it escaped."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from ttt_cli.views.embedding import embedded
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.report.data import report_data
from ttt_cli.views.report.facts import data_section, evidence_section, notes, summary_cards
from ttt_cli.views.report.players import BUDGET
from ttt_cli.views.run import scale_note

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

_SCRIPTS: Final = (
    "data.js",
    "dom.js",
    "table.js",
    "combobox.js",
    "axes.js",
    "curves.js",
    "hover.js",
    "ranking.js",
    "surface.js",
    "downloads.js",
    "main.js",
)
_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")


def report_page(run: Run, limits: Eligible | None = None, *, budget: int = BUDGET) -> str:
    """A run as one HTML page that needs nothing else: style, script and data are inside.

    `limits`: who is eligible until the reader changes it (None: by default). `budget`: bytes that players' histories
    may take; of a larger run, those who played most are carried.
    """
    with run:
        data = report_data(run, limits, budget)
        parts = {
            "title": escape(f"{run.name}: skill histories"),
            "about": escape(f"{run.meta.describe()}; {scale_note(run)}"),
            "cards": summary_cards(run.meta),
            "notes": notes(run.meta, data),
            "evidence": evidence_section(run.meta),
            "reading": data_section(run),
            "period": escape(run.meta.period),
            "style": _asset("style.css"),
            "data": embedded(data),
            "script": "\n".join(_asset(name) for name in _SCRIPTS),
        }
    return _PLACE.sub(lambda match: parts[match[1]], _asset("page.html"))


def _asset(name: str) -> str:
    return (files("ttt_cli.views.report") / "assets" / name).read_text(encoding="utf-8")
