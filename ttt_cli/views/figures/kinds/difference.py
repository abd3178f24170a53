"""The difference of two players' skills over time."""

from ttt_cli.periods import year_of
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.figures.curves import CurvePoint, curves_figure
from ttt_cli.views.figures.figure import Figure, FigureOptions
from ttt_cli.views.figures.histories import drawn_when_idle, stem_of
from ttt_cli.views.figures.labels import shorten
from ttt_cli.views.figures.spec import Spec
from ttt_cli.views.lead_history import lead_history
from ttt_cli.views.run import unit_words
from ttt_cli.views.versus import TAKEN


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
    leads, method = lead_history(run, a, b, drawn_when_idle(run))
    points = [
        CurvePoint(
            lead.period, year_of(lead.number, run.meta.period), lead.lead, lead.sd or 0.0,
            min(lead.games_a, lead.games_b),
        )
        for lead in leads
    ]  # fmt: skip
    taken = f", {TAKEN[method]}" if method else ""
    title = f"{shorten(a)} minus {shorten(b)}"
    axis = f"difference of skill, {unit_words(run)}"
    surname_a = a.partition(",")[0]
    surname_b = b.partition(",")[0]
    label = f"{surname_a} minus {surname_b}" if surname_a != surname_b else f"{a} minus {b}"
    return curves_figure(run, {label: points}, title, axis, f"difference{taken}")
