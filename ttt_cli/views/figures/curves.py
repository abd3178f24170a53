"""Skill curves with bands (TTT paper, figures 3 and 4); differences, leads, and what moves with the years."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from ttt_cli.periods import label as label_of
from ttt_cli.periods import year_of
from ttt_cli.runs.run import CurveName, Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.figures.spec import (
    GAP,
    HEIGHT,
    PALE,
    WIDTH,
    Label,
    Records,
    Spec,
    colour,
    finish,
    last_year,
    layer,
    name,
    number,
    place,
    shape,
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


@dataclass(frozen=True)
class CurvePoint:
    """A skill in one period; `year` is the period in years, `sd` 0 without uncertainty, `margin` TTT-D's."""

    period: str
    year: float
    mean: float
    sd: float
    games: float
    margin: float | None = None


@dataclass(frozen=True)
class History:
    """The points of one player in order of time; never empty."""

    player: str
    points: tuple[CurvePoint, ...]

    def stretches(self) -> Iterator[tuple[bool, tuple[CurvePoint, ...]]]:
        """Split into pieces that share their ends; True where games were played at both ends of every step."""
        steps = list(zip(self.points, self.points[1:], strict=False))
        for active, piece in groupby(steps, lambda step: step[0].games > 0 and step[1].games > 0):
            pairs = list(piece)
            yield active, (pairs[0][0], *(later for _, later in pairs))


@dataclass(frozen=True)
class Words:
    """Texts of a figure: its title, the axes, and the line in the legend.

    `idle`: whether periods without games are drawn thin. Curves that are no skills are drawn with a line at zero.
    """

    title: str
    axis: str
    line: str
    across: str = "year"
    idle: bool = True
    skills: bool = False


def drawn_when_idle(run: Run) -> str:
    """The SQL condition on a row of skills without games to be drawn: of many days, the first of a month."""
    ((periods,),) = run.select("SELECT count(*) FROM periods")[1]
    if run.meta.period != "day" or periods <= MANY_DAYS:
        return "true"
    return "day(DATE '1970-01-01' + period_number) = 1"


def histories(run: Run, players: Sequence[str]) -> list[History]:
    """The histories of players by their exact names, in the order given; those without any are left out."""
    with run:
        columns, _ = run.select("SELECT * FROM skills LIMIT 0")
        margin = "draw_margin" if "draw_margin" in columns else "NULL"
        _, found = run.select(_SKILLS.format(margin=margin, drawn=drawn_when_idle(run)), [list(players)])
        period = run.meta.period
    points: dict[str, list[CurvePoint]] = {}
    for player, label, at, *values in found:
        points.setdefault(player, []).append(CurvePoint(label, year_of(at, period), *values))
    return [History(player, tuple(points[player])) for player in dict.fromkeys(players) if player in points]


def of_ratings(
    ratings: Mapping[str, Mapping[int, float]], players: Sequence[str], period: Any
) -> list[History]:
    """Ratings by player and period number as histories; players without ratings are left out."""
    return [
        History(
            player,
            tuple(
                CurvePoint(label_of(at, period), year_of(at, period), value, 0.0, 1.0)
                for at, value in sorted(ratings[player].items())
            ),
        )
        for player in players
        if player in ratings
    ]


def leading_players(run: Run, count: int, limits: Eligible) -> list[str]:
    """The players who are number one in the most periods."""
    led = Counter(player for _, _, player, *_ in number_ones(run, limits))
    return sorted(led, key=lambda player: (-led[player], player))[:count]


def curve_layers(x: Spec, y: Spec, names: Sequence[str], words: Words) -> list[Spec]:
    """The layers of every figure of curves; pages draw the same from their own datasets.

    Datasets: `idle` and `active` (player, piece, year, value, low, high, margin), `bars` (as these), `other_idle` and
    `other_active` (value), `points`, `labels`, `strokes` and `zero`.
    """
    hue = name(
        "player", legend=None, scale={"domain": [*names], "range": [colour(i) for i in range(len(names))]}
    )
    piece = {"detail": name("piece")}
    shapes = {"domain": [*names], "range": [shape(i) for i in range(len(names))]}

    def at(field: str = "value", **more: Any) -> Spec:
        return {"x": x, "y": y | {"field": field}, "color": hue, **more}

    def lines(data: str, kind: str, field: str = "value", dash: Sequence[int] = (1, 0)) -> list[Spec]:
        looks = (("idle", 1.0, 0.55), ("active", 2.0, 1.0))
        return [
            layer(f"{data}{of}", "line", at(field, **piece), kind=f"{kind} {of}", strokeDash=[*dash],
                  strokeWidth=width, opacity=opacity)
            for of, width, opacity in looks
        ]  # fmt: skip

    tips = [name("player"), name("period") | ({} if words.idle else {"title": words.across})]
    tips += [number("value", title=words.line), number("sd"), *([number("games")] if words.idle else [])]
    if words.skills:
        tips.append(number("draw_margin"))
    band = {"y2": {"field": "high"}}
    text = {"x": x, "y": y, "text": name("text")}
    look: Spec = {"align": "left", "baseline": "middle", "fontSize": 12}
    return [
        layer("zero", "rule", {"y": y}, color=PALE),
        layer("bars", "rule", at("low", **band), kind="band", strokeWidth=7, opacity=0.16),
        *(
            layer(of, "area", at("low", **band, **piece), kind=f"band {of}", opacity=opacity)
            for of, opacity in (("idle", 0.07), ("active", 0.16))
        ),
        *lines("", "curve"),
        *(lines("", "curve margin", "margin", (6, 4)) if words.skills else []),
        *lines("other_", "curve rated", dash=(2, 3)),
        layer("points", "point", at(shape=name("player", legend=None, scale=shapes), tooltip=tips), filled=True,
              size=22, opacity=1),
        layer("strokes", "line", at(detail=name("player")), strokeWidth=0.8),
        layer("labels", "text", text, kind="halo", **look, stroke="white", strokeWidth=4, strokeJoin="round",
              opacity=0.85),
        layer("labels", "text", text | {"color": hue}, **look, fontWeight=600),
    ]  # fmt: skip


def skills_figure(
    curves: Sequence[History],
    run_name: str,
    period: str,
    *,
    other: Sequence[History] = (),
    dotted: str = "",
    axis: str = "skill, points",
    words: Words | None = None,
) -> Spec:
    """Means with bands of one sd, and TTT-D's skill + draw margin dashed; `other` curves, named `dotted`, are dotted.

    Steps without games at both ends are thin and pale. `curves` must not be empty. `axis`: title of the skill axis.
    """
    every = [point for history in curves for point in history.points]
    dashed = any(point.margin is not None for point in every)
    title = f"Skill of {title_of([history.player for history in curves])}"
    shown = words or Words(title, axis, "skill", skills=dashed)
    # By the middle of their time, so that contemporaries have different colours.
    middle = {history.player: history.points[0].year + history.points[-1].year for history in curves}
    first = min(history.points[0].year for history in (*curves, *other))
    newest = max(history.points[-1].year for history in (*curves, *other))
    if first == newest:
        first -= 0.5  # a single period is not on the axis
    ends = [(history.points[-1].year, shorten(history.player)) for history in curves]
    last = max(last_year(ends, first, WIDTH), newest, first + 1.0)
    means = [point.mean for history in other for point in history.points] + [0.0] * (words is not None)
    low = min([*(point.mean - point.sd for point in every), *means])
    high = max([*(point.mean + max(point.sd, point.margin or 0.0) for point in every), *means])
    room = _ROOM * (high - low) or 1.0
    low, high = low - room, high + room
    x = years(first, newest, [first, last], shown.across)
    scale = {"domain": [low, high], "nice": False, "zero": False}
    y = number("value", axis={"format": "d", "title": shown.axis}, scale=scale)

    def pixels(year: float, value: float) -> tuple[float, float]:
        return (year - first) / (last - first) * WIDTH, (high - value) / (high - low) * HEIGHT

    def record(player: str, text: str, at: float, down: float) -> dict[str, Any]:
        year, value = first + at / WIDTH * (last - first), high - down / HEIGHT * (high - low)
        return {"player": player, "text": text, "year": year, "value": value}

    labels: Records = []
    strokes: Records = []
    tips = [pixels(history.points[-1].year, history.points[-1].mean) for history in curves]
    wanted = [Label(shorten(h.player), at + GAP, down) for h, (at, down) in zip(curves, tips, strict=True)]
    drawn = [pixels(p.year, value) for p in every for value in (p.mean, p.mean + (p.margin or 0.0))]
    for history, label, (at, down) in zip(curves, place(wanted, HEIGHT, drawn), tips, strict=True):
        labels.append(record(history.player, label.text, label.x, label.y))
        if abs(label.y - down) > _MOVED:
            way = ((at, down), (label.x - 1, label.y))
            strokes += [record(history.player, label.text, *end) for end in way]
    datasets: dict[str, Records] = {
        "zero": [{"value": 0.0}] if words else [],
        "bars": [
            {
                "player": history.player,
                "year": point.year,
                "low": point.mean - point.sd,
                "high": point.mean + point.sd,
            }
            for history in curves
            for point in history.points
            if len(history.points) == 1
        ],
        **_steps(curves),
        **{f"other_{of}": found for of, found in _steps(other).items()},
        "points": [
            _told(history.player, point, run_name)
            for history in curves
            for point in history.points
            if point.games > 0
        ],
        "labels": labels,
        "strokes": strokes,
    }
    certain = all(point.sd == 0.0 for point in every)
    legend = [f"line: {shown.line}" if certain else f"line: {shown.line}, band: one sd to either side"]
    legend += ["dashed: skill + draw margin"] * dashed + [f"dotted: {dotted}"] * bool(dotted)
    legend += [f"thin: {period}s without games"] * shown.idle
    layers = curve_layers(x, y, sorted(middle, key=middle.__getitem__), shown)
    return finish(layers, datasets, shown.title, f"{run_name} · {', '.join(legend)}")


def _steps(curves: Sequence[History]) -> dict[str, Records]:
    """The datasets `idle` and `active`: the points of every stretch."""
    found: dict[str, Records] = {"idle": [], "active": []}
    for history in curves:
        for at, (active, piece) in enumerate(history.stretches()):
            for point in piece:
                one = {
                    "player": history.player, "piece": f"{history.player} {at}", "year": point.year,
                    "value": round(point.mean, 3), "low": round(point.mean - point.sd, 3),
                    "high": round(point.mean + point.sd, 3),
                }  # fmt: skip
                if point.margin is not None:
                    one["margin"] = round(point.mean + point.margin, 3)
                found["active" if active else "idle"].append(one)
    return found


def _told(player: str, point: CurvePoint, run_name: str) -> dict[str, Any]:
    """What a figure shows of a point under the pointer."""
    return {
        "player": player, "period": point.period, "year": point.year, "value": round(point.mean, 1),
        "sd": round(point.sd, 1), "games": point.games, "run": run_name,
        **({"draw_margin": round(point.margin, 1)} if point.margin is not None else {}),
    }  # fmt: skip


def title_of(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    shown = "; ".join(shorten(one) for one in names[:_TITLED])
    more = len(names) - _TITLED
    return f"{shown}{f' and {more} more' if more > 0 else ''}"


def moving_figure(run: Run, kind: CurveName) -> Spec:
    """Draw margins, newcomers' mean or the career curve, with a band of one sd. Raises LookupFailed without one."""
    found = run.curve(kind)
    if not found:
        message, key = _NONE[kind]
        raise LookupFailed(message, hint=f"fit with {key}")
    title = curve_title(run, kind)
    points = tuple(CurvePoint(f"{at:g}", float(at), value, sd, 1.0) for at, value, sd, *_ in found)
    words = Words(title.capitalize(), f"{title}, {run.scale.unit}", title, across(kind), idle=False)
    return skills_figure([History(title, points)], run.name, "year", words=words)


def difference_figure(run: Run, a: str, b: str) -> Spec:
    """The difference of two skills in all common periods. Raises LookupFailed without a common period."""
    _, found = run.select(_BOTH.format(drawn=drawn_when_idle(run)), [a, b])
    if not found:
        hint = "`ttt versus` compares skills of different times"
        raise LookupFailed(f"{a} and {b} have no {run.meta.period} in common", hint=hint)
    numbers, sds, how = [at for _, at, *_ in found], [sd for *_, sd, _ in found], "independent"
    if None in sds:
        sds, how = [0.0] * len(sds), ""
    elif run.has_joint:
        import numpy as np

        pairs = [[(a, at), (b, at)] for at in numbers]
        sds, how = run.joint.deviations(pairs, [np.array([1.0, -1.0])] * len(numbers)), "joint"
    points = tuple(
        CurvePoint(label, year_of(at, run.meta.period), lead, sd, games)
        for (label, at, lead, _, games), sd in zip(found, sds, strict=True)
    )
    words = Words(
        f"{shorten(a)} minus {shorten(b)}",
        f"difference of skill, {run.scale.unit}",
        f"difference{f', {TAKEN[how]}' if how else ''}",
    )
    first, second = (one.partition(",")[0] for one in (a, b))
    label = f"{first} minus {second}" if first != second else f"{a} minus {b}"
    return skills_figure([History(label, points)], run.name, run.meta.period, words=words)


def dominance_figure(run: Run, players: Sequence[str], limits: Eligible) -> Spec:
    """The lead of players over the mean of the ten best others. Raises LookupFailed without so many others."""
    found, how = leads_of(run, limits, players, drawn_when_idle(run))
    points = {
        player: tuple(
            CurvePoint(one.period, year_of(one.number, run.meta.period), one.lead, one.sd or 0.0, one.games)
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
    return skills_figure(curves, run.name, run.meta.period, words=words)
