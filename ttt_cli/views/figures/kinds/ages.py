"""Skills of players by their age, so that careers of different times lie on each other."""

from ttt_cli.periods import year_of
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.figures.curves import CurvePoint, curves_figure
from ttt_cli.views.figures.figure import Figure, FigureOptions
from ttt_cli.views.figures.histories import histories, stem_of, title_of
from ttt_cli.views.figures.kinds.skills import chosen_players
from ttt_cli.views.people import NO_PEOPLE_HINT, RunPeople
from ttt_cli.views.run import axis_title


def draw_ages(run: Run, options: FigureOptions) -> Figure:
    """The skills by age of the players named, else of those who led in the most periods and whose births are known.

    Raises LookupFailed for unknown names, too many players, and if no birth is known.
    """
    births = RunPeople(run).births
    if not births:
        raise LookupFailed("the run knows no births", where=run.name, hint=NO_PEOPLE_HINT)
    chosen = chosen_players(run, options, among=births)
    half_a_period = year_of(0.5, run.meta.period) - year_of(0.0, run.meta.period)
    curves: dict[str, list[CurvePoint]] = {}
    for player, points in histories(
        run, [name for name in chosen.players if name in births]
    ).items():
        curves[player] = []
        for point in points:
            age = point.year + half_a_period - births[player]
            label = f"{int(age)}, in {point.period}"
            curves[player].append(point._replace(year=age, period=label))
    if not curves:
        raise LookupFailed("the births of these players are not known", hint=NO_PEOPLE_HINT)
    notes = [*chosen.notes]
    notes += [
        f"the birth of {player} is not known" for player in chosen.players if player not in births
    ]
    title = f"Skill of {title_of([*curves])} by age"
    spec = curves_figure(run, curves, title, axis_title(run), "skill", zero=False, by="age")
    return Figure(spec, f"{stem_of([*curves])}-by-age", tuple(notes))
