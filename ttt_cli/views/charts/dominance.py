"""Leads over the best others through time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from ttt_cli.errors import LookupFailed
from ttt_cli.periods import year_of
from ttt_cli.views.charts.histories import History, Point, drawn_when_idle
from ttt_cli.views.charts.skills import Words, skills_chart, title_of
from ttt_cli.views.rankings.dominance import LEAST, OTHERS
from ttt_cli.views.rankings.peaks_by import leads_of

if TYPE_CHECKING:
    import altair as alt

    from ttt_cli.runs.run import Run
    from ttt_cli.views.rankings.eligible import Eligible


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
