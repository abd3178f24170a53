"""Skills of players over time, beside those of another run or published ratings; or their dominance."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ttt_cli.periods import label, year_of
from ttt_cli.runs.lookup import EXAMPLE
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.views.beside import Beside
from ttt_cli.views.figures.curves import CurvePoint, Curves, curves_figure
from ttt_cli.views.figures.figure import Figure, FigureOptions
from ttt_cli.views.figures.histories import drawn_when_idle, histories, stem_of, title_of
from ttt_cli.views.figures.spec import Spec
from ttt_cli.views.rankings.dominance import LEAST, OTHERS, leads_of
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import number_ones
from ttt_cli.views.run import axis_title

MOST_CURVES: Final = 30
_LEADERS: Final = 8  # players shown when none are named
_SIMILAR: Final = 0.1  # difference of logarithms of what an Elo point is


class Comparison(NamedTuple):
    """Dotted curves: of whom, as a legend, the source, and notes on it."""

    curves: Curves
    legend: str
    source: str
    notes: list[str]


def draw_skills(run: Run, options: FigureOptions) -> Figure:
    """The skills of the players named, else of those who led in the most periods.

    Raises LookupFailed for unknown names and too many players.
    """
    matches = [run.find_player(name) for name in options.names]
    players = list(dict.fromkeys(match.player for match in matches))
    notes = [match.note for match in matches if match.note]
    if not players:
        leaders = Counter(leader.player for leader in number_ones(run, options.eligible(run)))
        players = sorted(leaders, key=lambda player: (-leaders[player], player))[:_LEADERS]
    if not options.names:
        notes.append("no names given: those who led in the most periods")
    if len(players) > MOST_CURVES:
        message = f"{len(players)} curves are too many to be distinguished"
        raise LookupFailed(message, hint=f"at most {MOST_CURVES}")
    if options.by == "dominance":
        spec = dominance_figure(run, players, options.eligible(run))
        return Figure(spec, f"{stem_of(players)}-dominance", tuple(notes))
    curves = histories(run, players)
    if not curves:
        raise LookupFailed("no player asked for has a game")
    comparison = _comparison(run, players, options)
    title = f"Skill of {title_of([*curves])}"
    spec = curves_figure(
        run, curves, title, axis_title(run.scale), "skill",
        other=comparison.curves, dotted=comparison.legend, zero=False,
    )  # fmt: skip
    return Figure(spec, stem_of(players), (*notes, *comparison.notes))


def _comparison(run: Run, players: Sequence[str], options: FigureOptions) -> Comparison:
    """The dotted curves of players: those of another run, or published ratings; none without both."""
    if options.other:
        comparison = _of_run(run, options.other, players)
    elif options.beside:
        comparison = _of_ratings(run, options.beside, players)
    else:
        return Comparison({}, "", "", [])
    missing = [player for player in players if player not in comparison.curves]
    comparison.notes.extend(f"{comparison.source} does not have {player}" for player in missing)
    return comparison


def _of_run(run: Run, other: Run, players: Sequence[str]) -> Comparison:
    """The skills of players in another run. Raises ConfigError if its unit is another."""
    hint = f"--scale '{EXAMPLE}'"
    if run.scale.unit != other.scale.unit:
        units = f"{run.name} is in {run.scale.unit}, {other.name} in {other.scale.unit}"
        raise ConfigError(
            f"{units}: one axis cannot show both", hint=f"give both one scale: {hint}, or --scale points"
        )
    size = 200 * run.meta.elo_unit
    other_size = 200 * other.meta.elo_unit
    different = abs(math.log(size / other_size)) > _SIMILAR and not run.scale.anchors
    notes = []
    if different or run.scale.anchors != other.scale.anchors:
        measures = f"200 Elo points are {size:.0f} and {other_size:.0f} points"
        runs = f"{run.name} and {other.name} are measured differently"
        notes.append(f"{runs} ({measures}): {hint} gives both one scale")
    return Comparison(histories(other, players), f"skill by {other.name}", other.name, notes)


def _of_ratings(run: Run, beside: Beside, players: Sequence[str]) -> Comparison:
    """The published ratings of players on the run's scale."""
    period: Any = run.meta.period
    curves = {
        player: [
            CurvePoint(label(number, period), year_of(number, period), rating, 0.0, 1.0)
            for number, rating in sorted(beside.ratings[player].items())
        ]
        for player in players
        if player in beside.ratings
    }
    return Comparison(curves, f"ratings of {beside.name}, scaled", beside.name, beside.words())


def dominance_figure(run: Run, players: Sequence[str], limits: Eligible) -> Spec:
    """The lead of players over the mean of the ten best others. Raises LookupFailed without so many others."""
    leads, method = leads_of(run, limits, players, drawn_when_idle(run))
    points: dict[str, list[CurvePoint]] = {}
    for lead in leads:
        year = year_of(lead.number, run.meta.period)
        point = CurvePoint(lead.period, year, lead.lead, lead.sd or 0.0, lead.games)
        points.setdefault(lead.player, []).append(point)
    curves = {player: points[player] for player in players if player in points}
    if not curves:
        raise LookupFailed(f"no {run.meta.period} of theirs has {LEAST} others who are eligible")
    axis = f"lead over the {OTHERS} best others, {run.scale.unit}"
    line = f"lead over the mean of the {OTHERS} best others who are eligible, sds {method}"
    return curves_figure(run, curves, f"Dominance of {title_of([*curves])}", axis, line)
