"""The difference of two players' skills over time."""

from typing import Final

import numpy as np

from ttt_cli.periods import year_of
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.figures.curves import CurvePoint, curves_figure
from ttt_cli.views.figures.figure import Figure, FigureOptions
from ttt_cli.views.figures.histories import drawn_when_idle, stem_of
from ttt_cli.views.figures.labels import shorten
from ttt_cli.views.figures.spec import Spec
from ttt_cli.views.run import unit_words
from ttt_cli.views.versus import TAKEN

_EXACT: Final = 1e-3  # of solutions: sds are exact to less than a pixel
_COMMON_PERIODS: Final = """
SELECT period, period_number, a.mean - b.mean AS lead, sqrt(a.sd * a.sd + b.sd * b.sd) AS sd,
       least(a.games, b.games) AS games
FROM skills a JOIN skills b USING (period, period_number)
WHERE a.player = ? AND b.player = ? AND (least(a.games, b.games) > 0 OR {drawn}) ORDER BY period_number
"""


def draw_difference(run: Run, options: FigureOptions) -> Figure:
    """The difference of the skills of two players. Raises LookupFailed for unknown names, or one player twice."""
    first, second = [run.find_player(name) for name in options.names]
    if first.player == second.player:
        typed = " and ".join([repr(name) for name in options.names])
        raise LookupFailed(f"{typed} both match {first.player}", hint="give more of the names")
    spec = difference_figure(run, first.player, second.player)
    notes = tuple(match.note for match in (first, second) if match.note)
    return Figure(spec, f"{stem_of([first.player, second.player])}-difference", notes)


def difference_figure(run: Run, a: str, b: str) -> Spec:
    """The difference of two skills in all common periods. Raises LookupFailed without a common period."""
    rows = run.select(_COMMON_PERIODS.format(drawn=drawn_when_idle(run)), [a, b])[1]
    if not rows:
        hint = "`ttt versus` compares skills of different times"
        raise LookupFailed(f"{a} and {b} have no {run.meta.period} in common", hint=hint)
    sds = [sd for _, _, _, sd, _ in rows]
    method = f", {TAKEN['independent']}"
    if None in sds:
        sds = [0.0] * len(sds)
        method = ""
    elif run.has_joint:
        pairs = [[(a, number), (b, number)] for _, number, _, _, _ in rows]
        sds = run.joint.shown_sds(pairs, [np.array([1.0, -1.0])] * len(pairs), _EXACT)
        method = f", {TAKEN['joint']}"
    points = [
        CurvePoint(period, year_of(number, run.meta.period), lead, sd, games)
        for (period, number, lead, _, games), sd in zip(rows, sds, strict=True)
    ]
    title = f"{shorten(a)} minus {shorten(b)}"
    axis = f"difference of skill, {unit_words(run)}"
    surname_a = a.partition(",")[0]
    surname_b = b.partition(",")[0]
    label = f"{surname_a} minus {surname_b}" if surname_a != surname_b else f"{a} minus {b}"
    return curves_figure(run, {label: points}, title, axis, f"difference{method}")
