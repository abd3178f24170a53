"""Skills of players over time, beside those of another run or published ratings; or their dominance."""

import math
from collections import Counter
from collections.abc import Container, Sequence
from typing import Any, Final, NamedTuple

from ttt_cli.periods import label, year_of
from ttt_cli.runs.lookup import EXAMPLE, POINTS
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.views.figures.curves import CurvePoint, Curves, curves_figure
from ttt_cli.views.figures.figure import Figure, FigureOptions
from ttt_cli.views.figures.histories import drawn_when_idle, histories, stem_of, title_of
from ttt_cli.views.figures.spec import Spec
from ttt_cli.views.published_ratings import PublishedRatings
from ttt_cli.views.rankings.dominance import LEAST_OTHERS, OTHERS, leads_of
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import number_ones
from ttt_cli.views.run import axis_title, unit_words

MOST_CURVES: Final = 30
_LEADERS: Final = 8  # players shown when none are named
_BY_GAMES: Final = "SELECT player FROM players ORDER BY games DESC, player"
_SIMILAR: Final = 0.02  # difference of logarithms of what an Elo point is


class DottedCurves(NamedTuple):
    """Dotted curves to compare with: of whom, as a legend, the source, and notes on it."""

    curves: Curves
    legend: str
    source: str
    notes: list[str]


class ChosenPlayers(NamedTuple):
    """Players to draw, and notes on how they were found."""

    players: list[str]
    notes: list[str]


def draw_skills(run: Run, options: FigureOptions) -> Figure:
    """The skills of the players named, else of those who led in the most periods.

    Raises LookupFailed for unknown names and too many players.
    """
    players, notes = chosen_players(run, options)
    if options.by == "dominance":
        spec = dominance_figure(run, players, options.eligible(run))
        return Figure(spec, f"{stem_of(players)}-dominance", tuple(notes))
    curves = histories(run, players)
    if not curves:
        raise LookupFailed("no player asked for has a game")
    dotted = _dotted_curves(run, players, options)
    title = f"Skill of {title_of([*curves])}"
    spec = curves_figure(
        run, curves, title, axis_title(run), "skill",
        dotted_curves=dotted.curves, dotted_legend=dotted.legend, zero=False,
    )  # fmt: skip
    return Figure(spec, stem_of(players), (*notes, *dotted.notes))


def chosen_players(
    run: Run, options: FigureOptions, among: Container[str] | None = None
) -> ChosenPlayers:
    """The players named, else those who led in the most periods, of players `among` (None: all).

    Where none of these has led, those of them with the most games. Raises LookupFailed for unknown names and too many
    players.
    """
    matches = [run.find_player(name) for name in options.names]
    players = list(dict.fromkeys(match.player for match in matches))
    notes = [match.note for match in matches if match.note]
    if not players:
        leaders = Counter(leader.player for leader in number_ones(run, options.eligible(run)))
        ranked = sorted(leaders, key=lambda player: (-leaders[player], player))
        players = [player for player in ranked if among is None or player in among][:_LEADERS]
        notes.append("no names given: those who led in the most periods")
        if not players and among is not None:
            by_games = [player for (player,) in run.select(_BY_GAMES)[1]]
            players = [player for player in by_games if player in among][:_LEADERS]
            notes[-1] = "no names given: those with the most games, as none of them has led"
    if len(players) > MOST_CURVES:
        message = f"{len(players)} curves are too many to be distinguished"
        raise LookupFailed(message, hint=f"at most {MOST_CURVES}")
    return ChosenPlayers(players, notes)


def _dotted_curves(run: Run, players: Sequence[str], options: FigureOptions) -> DottedCurves:
    """The dotted curves of players: those of another run, or published ratings; none without both."""
    if options.second_run:
        dotted = _of_run(run, options.second_run, players)
    elif options.published:
        dotted = _of_ratings(run, options.published, players)
    else:
        return DottedCurves({}, "", "", [])
    missing = [player for player in players if player not in dotted.curves]
    dotted.notes.extend(f"{dotted.source} does not have {player}" for player in missing)
    return dotted


def _of_run(run: Run, second_run: Run, players: Sequence[str]) -> DottedCurves:
    """The skills of players in another run. Raises ConfigError if its unit is another."""
    hint = f"--scale '{EXAMPLE}'"
    if run.scale.unit != second_run.scale.unit:
        units = f"{run.name} is in {run.scale.unit}, {second_run.name} in {second_run.scale.unit}"
        raise ConfigError(
            f"{units}: one axis cannot show both",
            hint=f"give both one scale: {hint}, or --scale points",
        )
    curves = histories(second_run, players)
    legend = f"skill by {second_run.name}"
    notes = []
    size = run.meta.elo_unit / second_run.meta.elo_unit
    if run.scale.anchors != second_run.scale.anchors:
        legend += " (other anchors)"
        notes.append(
            f"{run.name} and {second_run.name} have different anchors: {hint} gives both one scale"
        )
    elif run.scale.unit == POINTS and abs(math.log(size)) > _SIMILAR:
        curves = _resized(curves, size, run.meta.newcomers_mean, second_run.meta.newcomers_mean)
        legend += f", in points of {run.name}"
        notes.append(
            f"{legend}: {1 / size:.3g} of its points are one of these, and newcomers are equal"
        )
    return DottedCurves(curves, legend, second_run.name, notes)


def _resized(
    curves: Curves, size: float, level: float | None, second_level: float | None
) -> Curves:
    """Curves in units that are `size` times as small, with newcomers' `second_level` at `level`."""
    shift = (level or 0.0) - size * (second_level or 0.0)
    return {
        player: [
            point._replace(mean=size * point.mean + shift, sd=size * point.sd) for point in points
        ]
        for player, points in curves.items()
    }


def _of_ratings(run: Run, published: PublishedRatings, players: Sequence[str]) -> DottedCurves:
    """The published ratings of players on the run's scale."""
    period: Any = run.meta.period
    curves = {
        player: [
            CurvePoint(label(number, period), year_of(number, period), rating, 0.0, 1.0)
            for number, rating in sorted(published.ratings[player].items())
        ]
        for player in players
        if player in published.ratings
    }
    legend = f"ratings of {published.name}, scaled"
    return DottedCurves(curves, legend, published.name, published.words())


def dominance_figure(run: Run, players: Sequence[str], limits: Eligible) -> Spec:
    """The lead of players over the mean of the ten best others. Raises LookupFailed without so many others."""
    leads, method = leads_of(run, limits, players, drawn_when_idle(run))
    points: dict[str, list[CurvePoint]] = {}
    for lead in leads:
        year = year_of(lead.period_number, run.meta.period)
        point = CurvePoint(lead.period, year, lead.lead, lead.sd or 0.0, lead.games)
        points.setdefault(lead.player, []).append(point)
    curves = {player: points[player] for player in players if player in points}
    if not curves:
        raise LookupFailed(
            f"no {run.meta.period} of theirs has {LEAST_OTHERS} others who are eligible"
        )
    axis = f"lead over the {OTHERS} best others, {unit_words(run)}"
    line = f"lead over the mean of the {OTHERS} best others who are eligible, sds {method}"
    return curves_figure(run, curves, f"Dominance of {title_of([*curves])}", axis, line)
