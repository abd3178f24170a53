"""The difference of two players through time, with what is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ttt_cli.errors import LookupFailed
from ttt_cli.periods import year_of
from ttt_cli.views.charts.histories import History, Point, drawn_when_idle
from ttt_cli.views.charts.labels import shorten
from ttt_cli.views.charts.skills import Words, skills_chart
from ttt_cli.views.players.versus import TAKEN

if TYPE_CHECKING:
    import altair as alt

    from ttt_cli.runs.run import Run

_BOTH: Final = """
SELECT period, period_number, a.mean - b.mean AS lead, sqrt(a.sd * a.sd + b.sd * b.sd) AS sd,
       least(a.games, b.games) AS games
FROM skills a JOIN skills b USING (period, period_number)
WHERE a.player = ? AND b.player = ? AND (least(a.games, b.games) > 0 OR {drawn}) ORDER BY period_number
"""


def difference_chart(run: Run, a: str, b: str) -> alt.LayerChart:
    """A's skill less B's in all periods in which both have one; thin where not both played.

    Raises LookupFailed where there is no such period.
    """
    _, rows = run.query(_BOTH.format(drawn=drawn_when_idle(run)), [a, b])
    if not rows:
        raise LookupFailed(
            f"{a} and {b} have no {run.meta.period} in common",
            hint="`ttt versus` compares skills of different times",
        )
    sds, how = _together(run, a, b, [number for _, number, *_ in rows], [sd for *_, sd, _ in rows])
    points = tuple(
        Point(label, year_of(number, run.meta.period), lead, sd, games)
        for (label, number, lead, _, games), sd in zip(rows, sds, strict=True)
    )
    name = f"{shorten(a)} less {shorten(b)}"
    words = Words(
        name, f"difference of skill, {run.scale.unit}", f"difference{f', {TAKEN[how]}' if how else ''}"
    )
    return skills_chart([History(_label(a, b), points)], run.name, run.meta.period, words=words)


def _label(a: str, b: str) -> str:
    """What the curve is called: by surnames where they differ."""
    first, second = (name.partition(",")[0] for name in (a, b))
    return f"{first} less {second}" if first != second else f"{a} less {b}"


def _together(
    run: Run, a: str, b: str, numbers: list[int], apart: list[float | None]
) -> tuple[list[float], str]:
    """The sds of the differences in some periods, and how skills are taken; `apart`: if they were independent."""
    if None in apart:
        return [0.0] * len(apart), ""
    if not run.has_joint:
        return [sd for sd in apart if sd is not None], "independent"
    import numpy as np

    pairs, weights = (
        [[(a, number), (b, number)] for number in numbers],
        [np.array([1.0, -1.0])] * len(numbers),
    )
    variance = np.maximum(run.joint.variances(pairs, weights), 0.0)
    return (run.scale.slope * np.sqrt(variance)).tolist(), "joint"
