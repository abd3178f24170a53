"""Titles of rankings of all periods."""

from __future__ import annotations

from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.run import run_line


def title_lines(run: Run, limits: Eligible, heading: str, *remarks: str) -> tuple[str, ...]:
    """The title of a table of all periods: the limits, how many players they leave out, remarks, and the run."""
    lines = [heading]
    if limits.words():
        few = f"; {run.meta.period}s with at least {limits.fewest} eligible players"
        lines.append(f"eligible: {limits.words()}{few if limits.fewest > 1 else ''}")
    left_out = limits.left_out(run)
    if left_out:
        lines.append(left_out)
    return (*lines, *remarks, run_line(run))
