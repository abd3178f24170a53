"""Skill curves with bands (TTT paper, figures 3 and 4); differences, leads, and what moves with the years."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.periods import label as label_of
from ttt_cli.periods import year_of
from ttt_cli.runs.run import CurveName, Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.figures.spec import (
    COLOURS,
    GAP,
    HEIGHT,
    PALE,
    SHAPES,
    WIDTH,
    Label,
    Position,
    Records,
    Spec,
    colours_of,
    finish,
    last_year,
    layer,
    name,
    number,
    place,
    shorten,
    years,
)
from ttt_cli.views.rankings import Eligible, leads_of, number_ones
from ttt_cli.views.run import across, curve_title
from ttt_cli.views.strongest import LEAST, OTHERS
from ttt_cli.views.versus import TAKEN

MANY_DAYS: Final = 1000  # in a run: with more, curves skip most days without games
_ROOM: Final = 0.04  # of the height, above and below the curves
_MOVED: Final = 4.0  # pixels from which a name is joined to its line by a stroke
_TITLED: Final = 4  # names in the title
_SKILLS: Final = """
SELECT player, period, period_number, mean, coalesce(sd, 0.0), games, {margin}
FROM skills WHERE player IN (SELECT unnest(?)) AND (games > 0 OR {drawn}) ORDER BY player, period_number
"""
_BOTH: Final = """
SELECT period, period_number, a.mean - b.mean AS lead, sqrt(a.sd * a.sd + b.sd * b.sd) AS sd,
       least(a.games, b.games) AS games
FROM skills a JOIN skills b USING (period, period_number)
WHERE a.player = ? AND b.player = ? AND (least(a.games, b.games) > 0 OR {drawn}) ORDER BY period_number
"""
_NONE: Final[dict[CurveName, tuple[str, str]]] = {
    "draws": ("the run has one draw margin for all years", "model.draw_margin_drift, say 0.04"),
    "newcomers": ("newcomers are the same in all years of the run", "model.prior_mean_drift, say 15"),
    "career": ("the run has no careers", "model.growth, say 310, or -c ttt-career"),
}


class CurvePoint(NamedTuple):
    """A skill in one period; `year` is the period in years, `sd` 0 without uncertainty, `margin` TTT-D's."""

    period: str
    year: float
    mean: float
    sd: float
    games: float
    margin: float | None = None


Curves = Mapping[str, Sequence[CurvePoint]]  # the points of each player, by time; never empty


def drawn_when_idle(run: Run) -> str:
    """The SQL condition on a row of skills without games to be drawn: of many days, the first of a month."""
    ((periods,),) = run.select("SELECT count(*) FROM periods")[1]
    if run.meta.period != "day" or periods <= MANY_DAYS:
        return "true"
    return "day(DATE '1970-01-01' + period_number) = 1"


def histories(run: Run, players: Sequence[str]) -> Curves:
    """The histories of players by their exact names, in the order given; those without any are left out."""
    with run:
        margin = "draw_margin" if "draw_margin" in run.select("SELECT * FROM skills LIMIT 0")[0] else "NULL"
        _, found = run.select(_SKILLS.format(margin=margin, drawn=drawn_when_idle(run)), [list(players)])
        points: dict[str, list[CurvePoint]] = {}
        for player, label, at, *values in found:
            points.setdefault(player, []).append(CurvePoint(label, year_of(at, run.meta.period), *values))
    return {player: points[player] for player in players if player in points}


def of_ratings(ratings: Mapping[str, Mapping[int, float]], players: Sequence[str], period: Any) -> Curves:
    """Ratings by player and period number as curves; players without ratings are left out."""
    return {
        player: [
            CurvePoint(label_of(at, period), year_of(at, period), value, 0.0, 1.0)
            for at, value in sorted(ratings[player].items())
        ]
        for player in players
        if player in ratings
    }


def leading_players(run: Run, count: int, limits: Eligible) -> list[str]:
    """The players who are number one in the most periods."""
    led = Counter(player for _, _, player, *_ in number_ones(run, limits))
    return sorted(led, key=lambda player: (-led[player], player))[:count]


def curve_layers(
    x: Spec, y: Spec, names: Sequence[str], line: str, *, margins: bool, by: str = ""
) -> list[Spec]:  # fmt: skip
    """The layers of every figure of curves; pages draw the same from their own datasets.

    Datasets: `idle` and `active` (player, piece, year, value, low, high, margin), `bars` (as these), `other_idle` and
    `other_active` (value), `points`, `labels`, `strokes` and `zero`.
    """
    colours = {"domain": [*names], "range": colours_of(len(names))}
    # Players of one colour have different points.
    shapes = {
        "domain": [*names],
        "range": [SHAPES[at // len(COLOURS) % len(SHAPES)] for at in range(len(names))],
    }
    hue, piece = name("player", legend=None, scale=colours), {"detail": name("piece")}
    value, band = {"x": x, "y": y, "color": hue}, {"x": x, "y": y | {"field": "low"}, "color": hue}
    band["y2"] = {"field": "high"}
    period = name("period", title=by) if by else name("period")
    tips = [name("player"), period, number("value", title=line), number("sd")]
    tips += [number("games")] * (not by) + [number("draw_margin")] * margins
    text = {"x": x, "y": y, "text": name("text")}
    look: Spec = {"align": "left", "baseline": "middle", "fontSize": 12}
    lines = [("", "curve", "value", [1, 0]), *([("", "curve margin", "margin", [6, 4])] * margins)]
    return [
        layer("zero", "rule", {"y": y}, color=PALE),
        layer("bars", "rule", band, kind="band", strokeWidth=7, opacity=0.16),
        layer("idle", "area", band | piece, kind="band idle", opacity=0.07),
        layer("active", "area", band | piece, kind="band active", opacity=0.16),
        *(
            layer(f"{data}{of}", "line", value | piece | {"y": y | {"field": field}}, kind=f"{kind} {of}",
                  strokeDash=dash, strokeWidth=width, opacity=opacity)
            for data, kind, field, dash in [*lines, ("other_", "curve rated", "value", [2, 3])]
            for of, width, opacity in (("idle", 1.0, 0.55), ("active", 2.0, 1.0))
        ),
        layer("points", "point", value | {"shape": name("player", legend=None, scale=shapes), "tooltip": tips},
              filled=True, size=22, opacity=1),
        layer("strokes", "line", value | {"detail": name("player")}, strokeWidth=0.8),
        layer("labels", "text", text, kind="halo", **look, stroke="white", strokeWidth=4, strokeJoin="round",
              opacity=0.85),
        layer("labels", "text", text | {"color": hue}, **look, fontWeight=600),
    ]  # fmt: skip


def curves_figure(
    run: Run, curves: Curves, title: str, axis: str, line: str, *,
    other: Curves | None = None, dotted: str = "", zero: bool = True, by: str = "",
) -> Spec:  # fmt: skip
    """Means with bands of one sd, and TTT-D's skill + draw margin dashed; `other` curves, named `dotted`, are dotted.

    Steps without games at both ends are thin and pale. `curves` must not be empty. `line`: the curves in the legend;
    `zero`: whether a line is drawn there; `by`: the horizontal axis, where it is not the years of players' careers.
    """
    other = other or {}
    every = [point for points in curves.values() for point in points]
    ends = {player: points[-1] for player, points in curves.items()}
    dashed = any(point.margin is not None for point in every)
    first = min(points[0].year for points in (*curves.values(), *other.values()))
    newest = max(points[-1].year for points in (*curves.values(), *other.values()))
    if first == newest:
        first -= 0.5  # a single period is not on the axis
    named = [(end.year, shorten(player)) for player, end in ends.items()]
    last = max(last_year(named, first, WIDTH), newest, first + 1.0)
    further = [point.mean for points in other.values() for point in points] + [0.0] * zero
    low = min([*(point.mean - point.sd for point in every), *further])
    high = max([*(point.mean + max(point.sd, point.margin or 0.0) for point in every), *further])
    room = _ROOM * (high - low) or 1.0
    low, high = low - room, high + room

    def pixels(year: float, value: float) -> Position:
        return (year - first) / (last - first) * WIDTH, (high - value) / (high - low) * HEIGHT

    tips = [pixels(end.year, end.mean) for end in ends.values()]
    wanted = [Label(text, x + GAP, y) for (_, text), (x, y) in zip(named, tips, strict=True)]
    drawn = [pixels(p.year, value) for p in every for value in (p.mean, p.mean + (p.margin or 0.0))]
    labels: Records = []
    strokes: Records = []
    for player, label, free in zip(ends, wanted, place(wanted, HEIGHT, drawn), strict=True):
        at, above, below = (
            {
                "player": player, "text": label.text, "year": first + x / WIDTH * (last - first),
                "value": high - y / HEIGHT * (high - low),
            }
            for x, y in ((free.x, free.y), (label.x - GAP, label.y), (free.x - 1, free.y))
        )  # fmt: skip
        labels.append(at)
        strokes += [above, below] if abs(free.y - label.y) > _MOVED else []
    datasets = {
        "zero": [{"value": 0.0}] if zero else [],
        **_pieces(curves),
        **{f"other_{of}": found for of, found in _pieces(other).items()},
        "points": [
            {
                "player": player, "period": point.period, "year": point.year, "value": round(point.mean, 1),
                "sd": round(point.sd, 1), "games": point.games, "run": run.name,
                **({"draw_margin": round(point.margin, 1)} if point.margin is not None else {}),
            }
            for player, points in curves.items()
            for point in points
            if point.games > 0
        ],
        "labels": labels,
        "strokes": strokes,
    }  # fmt: skip
    certain = all(point.sd == 0.0 for point in every)
    legend = [f"line: {line}{'' if certain else ', band: one sd to either side'}"]
    legend += ["dashed: skill + draw margin"] * dashed + [f"dotted: {dotted}"] * bool(other)
    legend += [f"thin: {run.meta.period}s without games"] * (not by)
    x = years(first, newest, [first, last], by or "year")
    scale = {"domain": [low, high], "nice": False, "zero": False}
    y = number("value", axis={"format": "d", "title": axis}, scale=scale)
    # By the middle of their time, so that contemporaries have different colours.
    ordered = sorted(curves, key=lambda player: curves[player][0].year + ends[player].year)
    layers = curve_layers(x, y, ordered, line, margins=dashed, by=by)
    return finish(layers, datasets, title, f"{run.name} · {', '.join(legend)}")


def _pieces(curves: Curves) -> dict[str, Records]:
    """The datasets `idle` and `active`, pieces that share their ends, and `bars`, single points.

    In an active piece games were played at both ends of every step.
    """
    found: dict[str, Records] = {"idle": [], "active": [], "bars": []}
    for player, points in curves.items():
        steps = groupby(pairwise(points), lambda step: step[0].games > 0 and step[1].games > 0)
        pieces = [
            ("active" if active else "idle", [first, second, *(later for _, later in further)])
            for active, ((first, second), *further) in steps
        ]
        for at, (of, piece) in enumerate(pieces or [("bars", [*points])]):
            found[of] += [
                {
                    "player": player, "piece": f"{player} {at}", "year": point.year, "value": round(point.mean, 3),
                    "low": round(point.mean - point.sd, 3), "high": round(point.mean + point.sd, 3),
                    **({"margin": round(point.mean + point.margin, 3)} if point.margin is not None else {}),
                }
                for point in piece
            ]  # fmt: skip
    return found


def title_of(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    more = len(names) - _TITLED
    return "; ".join(map(shorten, names[:_TITLED])) + (f" and {more} more" if more > 0 else "")


def moving_figure(run: Run, kind: CurveName) -> Spec:
    """Draw margins, newcomers' mean or the career curve, with a band of one sd. Raises LookupFailed without one."""
    found = run.curve(kind)
    if not found:
        message, key = _NONE[kind]
        raise LookupFailed(message, hint=f"fit with {key}")
    title = curve_title(run, kind)
    points = [CurvePoint(f"{at:g}", float(at), value, sd, 1.0) for at, value, sd, *_ in found]
    axis = f"{title}, {run.scale.unit}"
    return curves_figure(run, {title: points}, title.capitalize(), axis, title, by=across(kind))


def difference_figure(run: Run, a: str, b: str) -> Spec:
    """The difference of two skills in all common periods. Raises LookupFailed without a common period."""
    _, found = run.select(_BOTH.format(drawn=drawn_when_idle(run)), [a, b])
    if not found:
        hint = "`ttt versus` compares skills of different times"
        raise LookupFailed(f"{a} and {b} have no {run.meta.period} in common", hint=hint)
    sds, how = [sd for *_, sd, _ in found], f", {TAKEN['independent']}"
    if None in sds:
        sds, how = [0.0] * len(sds), ""
    elif run.has_joint:
        pairs = [[(a, at), (b, at)] for _, at, *_ in found]
        sds = run.joint.deviations(pairs, [np.array([1.0, -1.0])] * len(pairs))
        how = f", {TAKEN['joint']}"
    points = [
        CurvePoint(label, year_of(at, run.meta.period), lead, sd, games)
        for (label, at, lead, _, games), sd in zip(found, sds, strict=True)
    ]
    title, axis = f"{shorten(a)} minus {shorten(b)}", f"difference of skill, {run.scale.unit}"
    first, second = (one.partition(",")[0] for one in (a, b))
    label = f"{first} minus {second}" if first != second else f"{a} minus {b}"
    return curves_figure(run, {label: points}, title, axis, f"difference{how}")


def dominance_figure(run: Run, players: Sequence[str], limits: Eligible) -> Spec:
    """The lead of players over the mean of the ten best others. Raises LookupFailed without so many others."""
    found, how = leads_of(run, limits, players, drawn_when_idle(run))
    points: dict[str, list[CurvePoint]] = {}
    for one in found:
        year = year_of(one.number, run.meta.period)
        points.setdefault(one.player, []).append(
            CurvePoint(one.period, year, one.lead, one.sd or 0.0, one.games)
        )
    curves = {player: points[player] for player in players if player in points}
    if not curves:
        raise LookupFailed(f"no {run.meta.period} of theirs has {LEAST} others who are eligible")
    axis = f"lead over the {OTHERS} best others, {run.scale.unit}"
    line = f"lead over the mean of the {OTHERS} best others who are eligible, sds {how}"
    return curves_figure(run, curves, f"Dominance of {title_of([*curves])}", axis, line)
