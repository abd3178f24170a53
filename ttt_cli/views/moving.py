"""What moves with the years, in words, tables and pictures: draw margins, newcomers' mean, careers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ttt_cli.runs.curves import COLUMNS, Name, rows
from ttt_cli.views.rows import Rows

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

_SHOWN: Final = 12  # rows of a short table
_WORDS: Final = "{}: {} in {} to {} in {}, highest {} in {}"
_STEPS: Final = (1, 2, 5, 10, 20, 50, 100)  # years


def curve_title(run: Run, name: Name) -> str:
    """What a curve shows."""
    own = "draw_margin" not in run.meta.params
    return {
        "draws": "mean draw margin of newcomers" if own else "draw margin",
        "newcomers": "newcomers above the prior mean",
        "career": "gain since the debut",
    }[name]


def across(name: Name) -> str:
    """What a curve runs over."""
    return "years since the debut" if name == "career" else "year"


def short_tables(run: Run) -> list[Rows]:
    """Every curve that the run has at round years, and where the rest is."""
    found = []
    for name, columns in COLUMNS.items():
        if every := rows(run, name):
            span = every[-1][0] - every[0][0]
            step = next((step for step in _STEPS if span / step < _SHOWN), _STEPS[-1])
            kept = [row for row in every if row[0] % step == 0 or row is every[-1]]
            title = f"{curve_title(run, name)}, {run.scale.unit}; all of it: `ttt export {name}`"
            found.append(Rows(columns, kept, (title,), dict.fromkeys(columns[1:], 1)))
    return found


def pictures(run: Run) -> list[tuple[str, str]]:
    """A heading for every curve that the run has, and the curve with a band of one sd as SVG."""
    from ttt_cli.views.report.site.curve import career
    from ttt_cli.views.report.words import say_line

    found = []
    for name in COLUMNS:
        if every := [row for row in rows(run, name) if row[0] % 1 == 0]:
            at, mean, sd = zip(*(row[:3] for row in every), strict=True)
            title, years = curve_title(run, name), [int(year) for year in at]
            unit = say_line(f"{run.scale.unit}, by {across(name)}")
            drawn = career(say_line(title), unit, years, mean, sd, [0.0] * len(years), {}, _WORDS)
            if drawn:
                found.append((title, drawn))
    return found
