"""Curves through time that are no skills: differences, leads, draw margins, newcomers' mean, and careers."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

import altair as alt

from ttt_cli.errors import LookupFailed
from ttt_cli.periods import year_of
from ttt_cli.runs.curves import Name, rows
from ttt_cli.runs.run import Run
from ttt_cli.views.charts.histories import History, Point, drawn_when_idle
from ttt_cli.views.charts.labels import shorten
from ttt_cli.views.charts.skills import Words, skills_chart, title_of
from ttt_cli.views.players.versus import TAKEN
from ttt_cli.views.rankings.dominance import LEAST, OTHERS
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.peaks_by import leads_of
from ttt_cli.views.run import across, curve_title

_NONE: Final[dict[Name, tuple[str, str]]] = {
    "draws": ("the run has one draw margin for all years", "model.draw_margin_drift, say 0.04"),
    "newcomers": ("newcomers are the same in all years of the run", "model.prior_mean_drift, say 15"),
    "career": ("the run has no careers", "model.growth, say 310, or -c ttt-career"),
}
_BOTH: Final = """
SELECT period, period_number, a.mean - b.mean AS lead, sqrt(a.sd * a.sd + b.sd * b.sd) AS sd,
       least(a.games, b.games) AS games
FROM skills a JOIN skills b USING (period, period_number)
WHERE a.player = ? AND b.player = ? AND (least(a.games, b.games) > 0 OR {drawn}) ORDER BY period_number
"""


def curve_chart(run: Run, name: Name) -> alt.LayerChart:
    """One of these curves with a band of one sd. Raises LookupFailed where the run has none."""
    found = rows(run, name)
    if not found:
        message, key = _NONE[name]
        raise LookupFailed(message, hint=f"fit with {key}")
    title = curve_title(run, name)
    points = tuple(Point(f"{at:g}", float(at), value, sd, 1.0) for at, value, sd, *_ in found)
    words = Words(title.capitalize(), f"{title}, {run.scale.unit}", title, across(name), idle=False)
    return skills_chart([History(title, points)], run.name, "year", words=words)


def difference_chart(run: Run, a: str, b: str) -> alt.LayerChart:
    """A's skill less B's in all periods in which both have one; thin where not both played.

    Raises LookupFailed where there is no such period.
    """
    _, rows = run.query(_BOTH.format(drawn=drawn_when_idle(run)), [a, b])
    if not rows:
        hint = "`ttt versus` compares skills of different times"
        raise LookupFailed(f"{a} and {b} have no {run.meta.period} in common", hint=hint)
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

    pairs = [[(a, number), (b, number)] for number in numbers]
    return run.joint.deviations(pairs, [np.array([1.0, -1.0])] * len(numbers)), "joint"


def dominance_chart(run: Run, players: Sequence[str], limits: Eligible) -> alt.LayerChart:
    """How far players are ahead of the mean of the ten best others, with a band of one sd.

    Raises LookupFailed where there are never so many others.
    """
    found, how = leads_of(run, limits, players, drawn_when_idle(run))
    points = {
        player: tuple(
            Point(one.period, year_of(one.number, run.meta.period), one.lead, one.sd or 0.0, one.games)
            for one in leads
        )
        for player, leads in groupby(found, key=attrgetter("player"))
    }
    curves = [History(player, points[player]) for player in players if player in points]
    if not curves:
        raise LookupFailed(f"no {run.meta.period} of theirs has {LEAST} others who are eligible")
    words = Words(
        f"Dominance of {title_of([curve.player for curve in curves])}",
        f"lead over the {OTHERS} best others, {run.scale.unit}",
        f"lead over the mean of the {OTHERS} best others who are eligible, sds {how}",
    )
    return skills_chart(curves, run.name, run.meta.period, words=words)
