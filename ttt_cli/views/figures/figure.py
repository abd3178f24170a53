"""One figure of a run, by its kind, and its files."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.evaluate.forecast import Forecast, predict_run
from ttt_cli.periods import STEPS_PER_YEAR, year_of
from ttt_cli.periods import label as label_of
from ttt_cli.runs.lookup import EXAMPLE
from ttt_cli.runs.run import CurveName, Run
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.support.folding import fold_surname
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.views.beside import Beside
from ttt_cli.views.evidence import DROPS, SHADES, Surface, stored_surface
from ttt_cli.views.figures import spec as vega
from ttt_cli.views.figures.draw import draw
from ttt_cli.views.figures.spec import CurvePoint, Curves, Records, Spec
from ttt_cli.views.rankings.dominance import LEAST, OTHERS, leads_of
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.rankings.leaders import CHALLENGES, Leader, leaders, number_ones
from ttt_cli.views.run import axis_title, curve_title, side_names
from ttt_cli.views.versus import TAKEN

MOST_CURVES: Final = 30
_LEADERS: Final = 8
_ALIKE: Final = 0.1  # of the logarithms of what an Elo point is
_NAMED: Final = 4  # players in the name of a file
_FILLING: Final = {
    "width": "container", "height": "container", "autosize": {"type": "fit", "contains": "padding"},
}  # fmt: skip
_ABOVE: Final = 1.04  # where names begin
_OTHERS: Final = f"others with at least a {100 * CHALLENGES:.0f} % chance, grey if never number one"
_HEADROOM: Final = 0.5  # of the axis above 1, for names
_MONTH: Final = 1.0 / 12.0
_FEWER: Final = "--number asks for fewer; --everyone, --min-games, --min-opponents and --max-sd for more"
_FOR_NAMES: Final = 0.25  # of the height, above the curves
_SHORT: Final = 300  # pixels of height
_LEAST_GAMES: Final = 10  # games of a calibration bin
_GAMES: Final = """
SELECT CAST(split_part(period, '-', 1) AS INTEGER) AS year, sum(weight)
FROM game_rows JOIN periods USING (period_number) GROUP BY year ORDER BY year
"""
_TOP: Final = """
SELECT period_number, list_avg(max(mean, {count:d})) FROM ({eligible}) WHERE {drawn}
GROUP BY period_number HAVING count(*) >= {count:d}
"""
MANY_DAYS: Final = 1000  # in a run: with more, curves skip most days without games
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


class Figure(NamedTuple):
    """A Vega-Lite figure, the notes that belong on standard error, and a name for its file without ending."""

    spec: Spec
    notes: tuple[str, ...]
    stem: str


def make_figure(
    run: Run,
    kind: str = "skills",
    names: Sequence[str] = (),
    *,
    by: str = "mean",
    other: Run | None = None,
    beside: Beside | None = None,
    count: int = 10,
    limits: Eligible | None = None,
    since: str | None = None,
    every: int = 1,
    progress: Progress = SILENT,
) -> Figure:
    """The figure of a kind in `ttt_cli.views.figures.KINDS`.

    `names` are the players to show, as users type them (none: those who led in the most
    periods), or the two to subtract for `difference`. `other`: a second run to compare their skills with, `beside`:
    published ratings. `limits`: who is eligible to lead (None: by default); `count`: of how many the mean is `top`.
    `by` `dominance`: the leads of players over the best others are shown. `since`, `every`: first period predicted for
    `calibration`, and periods between refits. Raises LookupFailed for unknown names and for an empty figure.
    """
    with run:
        limits = limits or eligible(run)
        found = [run.find_player(name) for name in names]
        players = [*dict.fromkeys(one.player for one in found)]
        notes = [one.note for one in found if one.note]
        stem = kind
        match kind:
            case "skills":
                if not players:
                    led = Counter(player for _, _, player, *_ in number_ones(run, limits))
                    players = sorted(led, key=lambda player: (-led[player], player))[:_LEADERS]
                notes += [] if names else ["no names given: those who led in the most periods"]
                if len(players) > MOST_CURVES:
                    many = f"{len(players)} curves are too many to be distinguished"
                    raise LookupFailed(many, hint=f"at most {MOST_CURVES}")
                stem = f"{_stem(players)}{'-dominance' if by == 'dominance' else ''}"
                dominance = by == "dominance" and dominance_figure(run, players, limits)
                chart = dominance or _skills(run, players, other, beside, notes)
            case "difference":
                if len(players) == 1:
                    both = f"{' and '.join(map(repr, names))} both match {players[0]}"
                    raise LookupFailed(both, hint="give more of the names")
                chart = difference_figure(run, *players)
                stem = f"{_stem(players)}-difference"
            case "calibration":
                chart = calibration_figure(run, predict_run(run, since, every, progress=progress))
            case "leaders":
                found_leaders, remarks = leaders(run, limits)
                words = f" · eligible: {limits.words()}" if limits.words() else ""
                what = f"{run.name} · above: the number one, below: {_OTHERS}{words}"
                chart = reigns_figure(found_leaders, run.meta.period, [what, *remarks[:1]])
            case "games":
                chart = games_figure(run)
            case "evidence":
                chart = surface_figure(run, stored_surface(run.evidence_points()))
            case "draws" | "newcomers" | "career":
                chart = moving_figure(run, kind)
            case "top":
                chart = top_figure(run, count=count, limits=limits)
            case _:
                raise ValueError(kind)
        return Figure(chart, tuple(notes), stem)


def _skills(
    run: Run, players: Sequence[str], other: Run | None, beside: Beside | None, notes: list[str]
) -> Spec:
    curves = histories(run, players)
    if not curves:
        raise LookupFailed("no player asked for has a game")
    second: Curves = {}
    dotted = whose = ""
    if other:
        if run.scale.unit != other.scale.unit:
            units = f"{run.name} is in {run.scale.unit}, {other.name} in {other.scale.unit}"
            hint = f"give both one scale: --scale '{EXAMPLE}', or --scale points"
            raise ConfigError(f"{units}: one axis cannot show both", hint=hint)
        sizes = [200 * one.meta.elo_unit for one in (run, other)]
        apart = abs(math.log(sizes[0] / sizes[1])) > _ALIKE and not run.scale.anchors
        if apart or run.scale.anchors != other.scale.anchors:
            measures = f"200 Elo points are {sizes[0]:.0f} and {sizes[1]:.0f} points"
            both = f"{run.name} and {other.name} are measured differently"
            notes.append(f"{both} ({measures}): --scale '{EXAMPLE}' gives both one scale")
        second = histories(other, players)
        dotted = f"skill by {other.name}"
        whose = other.name
    elif beside:
        notes += beside.words()
        period: Any = run.meta.period
        second = {
            player: [
                CurvePoint(label_of(at, period), year_of(at, period), value, 0.0, 1.0)
                for at, value in sorted(beside.ratings[player].items())
            ]
            for player in players
            if player in beside.ratings
        }
        dotted = f"ratings of {beside.name}, scaled"
        whose = beside.name
    notes += [f"{whose} does not have {player}" for player in players if whose and player not in second]
    title = f"Skill of {title_of([*curves])}"
    axis = axis_title(run.scale)
    return vega.curves_figure(run, curves, title, axis, "skill", other=second, dotted=dotted, zero=False)


def _stem(players: Sequence[str]) -> str:
    """A name for the file: the first surnames, safe for every file system."""
    words = ["-".join(fold_surname(player).split()) or "player" for player in players]
    shown = [word[:40] for word in words[:_NAMED]]
    return "-".join(shown) + (f"-and-{len(words) - _NAMED}" if len(words) > _NAMED else "")


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


def title_of(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    more = len(names) - _TITLED
    return "; ".join(map(vega.shorten, names[:_TITLED])) + (f" and {more} more" if more > 0 else "")


def moving_figure(run: Run, kind: CurveName) -> Spec:
    """Draw margins, newcomers' mean or the career curve, with a band of one sd. Raises LookupFailed without one."""
    found = run.curve(kind)
    if not found:
        message, key = _NONE[kind]
        raise LookupFailed(message, hint=f"fit with {key}")
    title = curve_title(run, kind)
    points = [CurvePoint(f"{at:g}", float(at), value, sd, 1.0) for at, value, sd, *_ in found]
    axis = f"{title}, {run.scale.unit}"
    by = "years since the debut" if kind == "career" else "year"
    return vega.curves_figure(run, {title: points}, title.capitalize(), axis, title, by=by)


def difference_figure(run: Run, a: str, b: str) -> Spec:
    """The difference of two skills in all common periods. Raises LookupFailed without a common period."""
    _, found = run.select(_BOTH.format(drawn=drawn_when_idle(run)), [a, b])
    if not found:
        hint = "`ttt versus` compares skills of different times"
        raise LookupFailed(f"{a} and {b} have no {run.meta.period} in common", hint=hint)
    sds = [sd for *_, sd, _ in found]
    how = f", {TAKEN['independent']}"
    if None in sds:
        sds = [0.0] * len(sds)
        how = ""
    elif run.has_joint:
        pairs = [[(a, at), (b, at)] for _, at, *_ in found]
        sds = run.joint.deviations(pairs, [np.array([1.0, -1.0])] * len(pairs))
        how = f", {TAKEN['joint']}"
    points = [
        CurvePoint(label, year_of(at, run.meta.period), lead, sd, games)
        for (label, at, lead, _, games), sd in zip(found, sds, strict=True)
    ]
    title = f"{vega.shorten(a)} minus {vega.shorten(b)}"
    axis = f"difference of skill, {run.scale.unit}"
    first, second = (one.partition(",")[0] for one in (a, b))
    label = f"{first} minus {second}" if first != second else f"{a} minus {b}"
    return vega.curves_figure(run, {label: points}, title, axis, f"difference{how}")


def dominance_figure(run: Run, players: Sequence[str], limits: Eligible) -> Spec:
    """The lead of players over the mean of the ten best others. Raises LookupFailed without so many others."""
    found, how = leads_of(run, limits, players, drawn_when_idle(run))
    points: dict[str, list[CurvePoint]] = {}
    for one in found:
        year = year_of(one.number, run.meta.period)
        point = CurvePoint(one.period, year, one.lead, one.sd or 0.0, one.games)
        points.setdefault(one.player, []).append(point)
    curves = {player: points[player] for player in players if player in points}
    if not curves:
        raise LookupFailed(f"no {run.meta.period} of theirs has {LEAST} others who are eligible")
    axis = f"lead over the {OTHERS} best others, {run.scale.unit}"
    line = f"lead over the mean of the {OTHERS} best others who are eligible, sds {how}"
    return vega.curves_figure(run, curves, f"Dominance of {title_of([*curves])}", axis, line)


def reigns_figure(found: Sequence[Leader], period: Any, subtitle: list[str]) -> Spec:
    """A bar for each leader, as high as the probability of being the strongest (1 without sds), names above reigns.

    Below zero are those of the challengers, the most probable first. Of many days only the first of each month.
    """
    days = period == "day" and len(found) > MANY_DAYS
    width = _MONTH if days else 1.0 / STEPS_PER_YEAR[period]
    led = list(dict.fromkeys(one.player for one in found))  # neighbours have different colours
    bars: Records = []
    for one in found:
        if days and not one.period.endswith("-01"):
            continue
        year = year_of(one.number, period)
        low = 0.0
        common = {"year": year, "end": year + width, "period": one.period}
        leader = {"player": one.player, "led": one.player, "p": one.p_best, "of": "number one", "shade": 1.0}
        bars.append({**common, **leader, "low": 0.0, "high": 1.0 if one.p_best is None else one.p_best})
        for player, p in sorted(one.others, key=lambda other: -other[1]):
            if p >= CHALLENGES:
                known = {"player": player, "led": player if player in led else "", "p": p, "of": "challenger"}
                bars.append({**common, **known, "shade": 0.6, "low": low - p, "high": low})
                low -= p
    first = bars[0]["year"]
    last = bars[-1]["end"]
    low = min(bar["low"] for bar in bars)
    labels = _names([bar for bar in bars if bar["of"] == "number one"], first, last, _ABOVE)
    axis = {
        "title": "probability of being the strongest", "titleAnchor": "start",
        "values": [k / 5 for k in range(int(low * 5), 6)], "labelExpr": "format(abs(datum.value), '.1f')",
    }  # fmt: skip
    x = vega.years([first, last])
    y = vega.number("low", axis=axis, scale={"domain": [low, 1.0 + _HEADROOM], "nice": False})
    colours = {"domain": [*led, ""], "range": [*vega.colours_of(len(led)), vega.PALE]}
    chance = vega.number("p", title="p_best", format=".3f")
    tooltip = [vega.name("player"), vega.name("period"), chance, vega.name("of")]
    bar = {
        "x": x, "x2": {"field": "end"}, "y": y, "y2": {"field": "high"}, "opacity": vega.number("shade", scale=None),
        "color": vega.name("led", legend=None, scale=colours), "tooltip": tooltip,
    }  # fmt: skip
    layers = [
        vega.layer("bars", "rect", bar, kind="reign", strokeWidth=0),
        vega.layer("zero", "rule", {"y": y}, color=vega.INK),
        *_name_layers(x, y),
    ]
    datasets: dict[str, Records] = {"bars": bars, "zero": [{"low": 0.0}], "labels": labels}
    return vega.finish(layers, datasets, "Who was number one", subtitle)


def games_figure(run: Run) -> Spec:
    """The number of games in each year. Raises LookupFailed when the run has none."""
    rows = run.select(_GAMES)[1]
    if not rows:
        raise LookupFailed("the run has no games")
    bar = {
        "x": vega.years([rows[0][0] - 0.5, rows[-1][0] + 0.5]), "y": vega.number("games", title="games in the year"),
        "tooltip": [vega.number("year"), vega.number("games")],
    }  # fmt: skip
    width = max(1.0, vega.WIDTH / (rows[-1][0] - rows[0][0] + 1) - 1.0)
    bars = vega.layer("bars", "bar", bar, color=vega.COLOURS[0], strokeWidth=0, binSpacing=0, width=width)
    records = [{"year": year, "games": games} for year, games in rows]
    note = f"{run.name} · {sum(games for _, games in rows):,.10g} games"
    return vega.finish([bars], {"bars": records}, "Games per year", note, height=_SHORT)


def top_figure(run: Run, *, count: int, limits: Eligible) -> Spec:
    """The mean skill of the best `count` of every period, and the number one's (TTT paper, figure 2 left).

    Of many days only the first of each month. Raises LookupFailed when no period has `count` eligible players.
    """
    drawn = drawn_when_idle(run)
    query = _TOP.format(count=count, eligible=limits.skills(run), drawn=drawn)
    means: dict[int, float] = dict(run.select(query)[1])
    if not means:
        raise LookupFailed(f"no {run.meta.period} has {count} players who are eligible", hint=_FEWER)
    names = [f"mean of the top {count}", "number one"]
    records: Records = []
    for at, period, player, best, sd in number_ones(run, limits, drawn):
        common = {"year": year_of(at, run.meta.period), "period": period}
        if at in means:
            records.append({**common, "value": round(means[at], 1), "of": names[0], "player": ""})
        band = {"low": round(best - sd, 1), "high": round(best + sd, 1)}
        records.append({**common, "value": round(best, 1), "of": names[1], "player": player, **band})
    firsts = [record for record in records if "low" in record]
    first = firsts[0]["year"]
    last = max(firsts[-1]["year"], firsts[0]["year"] + 1.0)
    low = min(float(record.get("low") or record["value"]) for record in records)
    high = max(record["high"] for record in firsts)
    x = vega.years([first, last])
    scale = {"domain": [low, high + _FOR_NAMES * (high - low)], "nice": False, "zero": False}
    y = vega.number("value", axis={"format": "d", "title": axis_title(run.scale)}, scale=scale)
    hue = vega.name("of", scale={"domain": names, "range": [*vega.COLOURS[:2]]}, legend=vega.LEGEND)
    tooltip = [vega.name("of"), vega.name("player"), vega.name("period"), vega.number("value")]
    layers = [
        vega.layer("firsts", "area", {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}, opacity=0.15,
              color=vega.COLOURS[1]),
        vega.layer("lines", "line", {"x": x, "y": y, "color": hue, "tooltip": tooltip}, strokeWidth=2,
              point={"size": 18, "aria": False}),
        *_name_layers(x, y | {"field": "low"}),
    ]  # fmt: skip
    certain = all(record["low"] == record["high"] for record in firsts)
    what = run.name if certain else f"{run.name} · band: one sd to either side"
    words = limits.words()
    note = f"{what}{f' · eligible: {words}' if words else ''}"
    labels = _names(firsts, first, last, high)
    datasets = {"firsts": [] if certain else firsts, "lines": records, "labels": labels}
    return vega.finish(layers, datasets, f"The top {count} through time", note)


def _names(firsts: Sequence[dict[str, Any]], first: float, last: float, low: float) -> Records:
    """Surnames that stand upright from `low`, as many as there is room for, and how high their number one is."""
    reigns = [list(group) for _, group in groupby(firsts, key=itemgetter("player"))]
    spans = [(reign[0]["year"], reign[-1].get("end", reign[-1]["year"])) for reign in reigns]
    placed = vega.upright(spans, first, last, vega.WIDTH)
    middles = [(year, reigns[index][len(reigns[index]) // 2]) for index, year in placed.items()]
    return [
        {"year": year, "low": low, "high": one["high"], "text": one["player"].partition(",")[0]}
        for year, one in middles
    ]


def _name_layers(x: Spec, y: Spec) -> list[Spec]:
    """The layers of `_names`, each joined to its number one by a stroke."""
    stroke = {"x": x, "y": y, "y2": {"field": "high"}}
    return [
        vega.layer("labels", "rule", stroke, kind="stroke", color=vega.PALE, strokeWidth=0.6),
        vega.layer("labels", "text", {"x": x, "y": y, "text": vega.name("text")}, **vega.UPRIGHT),
    ]


def surface_figure(run: Run, surface: Surface | None) -> Spec:
    """A tile per point in steps of evidence lost (TTT paper, figure 2 right). Raises LookupFailed without a grid."""
    if surface is None:
        hint = "make it with `ttt evidence --grid beta,tau`"
        raise LookupFailed("no evidence over two parameters in this run", hint=hint)
    steps = [f"{low:g} to {high:g}" for low, high in pairwise((0.0, *DROPS[:-1]))] + [f"over {DROPS[-2]:g}"]
    records: Records = []
    for place, point in surface.points.items():
        below = surface.drop(place)
        if math.isfinite(below):
            values = {"step": steps[bisect_left(DROPS, below)], "below": round(below, 3)}
            known = {"log_evidence": round(point.log_evidence, 3), **values}
            records.append({**dict(zip(surface.keys, place, strict=True)), **known})
    used = {record["step"] for record in records}
    colours = {step: colour for step, colour in zip(steps, SHADES, strict=True) if step in used}
    legend = {"title": "nats below the best", "labelFontSize": 12, "symbolType": "square", "symbolSize": 220}
    hue = vega.name("step", scale={"domain": [*colours], "range": [*colours.values()]}, legend=legend)
    x, y = (
        {
            "field": key, "type": "ordinal", "title": f"{key}, points", "scale": {"type": "band", "domain": [*ticks]},
            "axis": {"grid": False, "labelAngle": 0, "labelOverlap": True, "format": ".4~g", "values": [*ticks]},
        }
        for key, ticks in zip(surface.keys, (surface.ticks[0], surface.ticks[1][::-1]), strict=True)
    )  # fmt: skip
    tooltip = [*map(vega.number, (*surface.keys, "log_evidence", "below"))]
    dot: Spec = {"filled": True, "size": 150, "color": "black", "stroke": "white", "strokeWidth": 1.5}
    layers = [
        vega.layer("tiles", "rect", {"x": x, "y": y, "color": hue, "tooltip": tooltip}, kind="tile"),
        vega.layer("best", "point", {"x": x, "y": y}, **dot, opacity=1),
    ]
    best: Records = [dict(zip(surface.keys, surface.best, strict=True))]
    datasets = {"tiles": records, "best": best}
    note = f"{run.name} · {surface_note(surface)}"
    return vega.finish(layers, datasets, f"Log-evidence of {run.meta.label}", note, height=420)


def surface_note(surface: Surface) -> str:
    """The best point of a surface and its evidence."""
    highest = surface.points[surface.best].log_evidence
    return f"the best of {len(surface.points):,} points (dot): {surface.best_words}, {highest:,.1f} nats"


def calibration_figure(run: Run, found: Forecast) -> Spec:
    """Predicted probabilities of the three outcomes against observed frequencies, with two standard errors."""
    first, second = (side[:1].upper() + side[1:] for side in side_names(run))
    called = {"win": f"{first} wins", "draw": "draw", "loss": f"{second} wins"}
    records = [
        {
            "outcome": called[outcome],
            "predicted": round(one.predicted, 4),
            "observed": round(one.observed, 4),
            "low": round(max(one.observed - 2.0 * one.error, 0.0), 4),
            "high": round(min(one.observed + 2.0 * one.error, 1.0), 4),
            "games": one.games,
        }
        for outcome, bins in found.bins.items()
        for one in bins
        if one.games >= _LEAST_GAMES
    ]
    axis = {"format": "%", "tickCount": 10}
    scale = {"domain": [0, 1]}
    x = vega.number("predicted", title="predicted probability", axis=axis, scale=scale)
    y = vega.number("observed", title="observed frequency", axis=axis, scale=scale)
    names = [*called.values()]
    colours = {"domain": names, "range": [vega.COLOURS[at] for at in (0, 2, 1)]}
    hue = vega.name("outcome", scale=colours, legend=vega.LEGEND)
    tooltip = [vega.name("outcome"), *map(vega.number, ("predicted", "observed", "games"))]
    shapes = vega.name("outcome", scale={"domain": names}, legend=vega.LEGEND)
    layers = [
        vega.layer("right", "line", {"x": x, "y": y}, strokeDash=[4, 4], color=vega.PALE),
        vega.layer("bins", "rule", {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}, "color": hue},
              kind="error", strokeWidth=1.5, opacity=0.6),
        vega.layer("bins", "line", {"x": x, "y": y, "color": hue}, kind="line", strokeWidth=1.2, opacity=0.6),
        vega.layer("bins", "point", {"x": x, "y": y, "color": hue, "shape": shapes, "tooltip": tooltip}, filled=True,
              size=45, opacity=1),
    ]  # fmt: skip
    often = f"every {run.meta.period}" if found.every == 1 else f"every {found.every} {run.meta.period}s"
    note = (
        f"{run.name} · {found.games:,.0f} games from {found.first} on, predicted from earlier ones "
        f"(learning {often}); bars: two standard errors"
    )
    ends = [{"predicted": 0, "observed": 0}, {"predicted": 1, "observed": 1}]
    return vega.finish(layers, {"right": ends, "bins": records}, f"Calibration of {run.meta.label}", note)


def render(spec: Mapping[str, Any], fmt: str) -> bytes:
    """A Vega-Lite figure in one of `ttt_cli.views.figures.FIGURE_FORMATS`, as bytes; without browser or network.

    Raises SetupError without memory.
    """
    figure = vega.showable(spec)
    match fmt:
        case "png" | "svg" | "pdf":
            return draw(figure, fmt)
        case "html":
            from ttt_cli.views.report.markup import filled

            parts = {
                "title": escape(figure["title"]["text"]),
                "figure": vega.embedded({**figure, **_FILLING}),
                "library": draw({}, "library").decode(),
            }
            return filled("figure.html", parts).encode()
    raise ValueError(fmt)
