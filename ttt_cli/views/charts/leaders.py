"""Figures of all periods: who was number one, the level of the top (TTT paper, figure 2 left), games per year."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import altair as alt

from ttt_cli.errors import LookupFailed
from ttt_cli.periods import STEPS_PER_YEAR, year_of
from ttt_cli.runs.run import Run
from ttt_cli.views.charts.histories import MANY_DAYS, drawn_when_idle
from ttt_cli.views.charts.labels import HEIGHT, upright
from ttt_cli.views.charts.style import (
    COLOURS,
    INK,
    LEGEND,
    PALE,
    UPRIGHT,
    WIDTH,
    chart_of,
    colour,
    finish,
    tooltips,
    years,
)
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import CHALLENGES, Leader, leaders_and_remarks, number_ones, reigns
from ttt_cli.views.run import axis_title

_ABOVE: Final = 1.04  # where names begin
_HEADROOM: Final = 0.5  # of the axis above 1, for names
_MONTH: Final = 1.0 / 12.0
Records = list[dict[str, Any]]
_FEWER: Final = "--number asks for fewer; --everyone, --min-games, --min-opponents and --max-sd for more"
_FOR_NAMES: Final = 0.25  # of the height, above the curves
_SHORT: Final = 300  # pixels of height
_GAMES: Final = """
SELECT CAST(split_part(period, '-', 1) AS INTEGER) AS year, sum(weight)
FROM game_rows JOIN periods USING (period_number) GROUP BY year ORDER BY year
"""
_TOP: Final = """
SELECT period_number, list_avg(max(mean, {count:d})) FROM ({eligible}) WHERE {drawn}
GROUP BY period_number HAVING count(*) >= {count:d}
"""


def leaders_chart(run: Run, limits: Eligible) -> alt.LayerChart:
    """A bar for the number one of every period, of many days of the first of each month; names above the reigns.

    Its height is the probability of being the strongest, 1 in a system without sds. Raises LookupFailed when nobody is
    ever eligible.
    """
    found, remarks = leaders_and_remarks(run, limits)
    days = run.meta.period == "day" and len(found) > MANY_DAYS
    shown = [one for one in found if one.period.endswith("-01")] if days else found
    width = _MONTH if days else 1.0 / STEPS_PER_YEAR[run.meta.period]
    led = {one.player for one in found}
    bars = [
        record for one in shown for record in _bars(one, year_of(one.number, run.meta.period), width, led)
    ]
    first, last = bars[0]["year"], bars[-1]["end"]
    low = min(bar["low"] for bar in bars)
    x = years(first, last, [first, last])
    axis = alt.Axis(
        title="probability of being the strongest", titleAnchor="start", values=[k / 5 for k in range(int(low * 5), 6)],
        labelExpr="format(abs(datum.value), '.1f')",
    )  # fmt: skip
    y = alt.Y("low:Q", axis=axis, scale=alt.Scale(domain=[low, 1.0 + _HEADROOM], nice=False))
    p_best = alt.Tooltip("p:Q", title="p_best", format=".3f")
    tooltip = [*tooltips("player:N", "period:N"), p_best, *tooltips("of:N")]
    rects = (
        chart_of(bars)
        .mark_rect(strokeWidth=0, aria=False)
        .encode(
            x=x, x2=alt.X2("end:Q"), y=y, y2=alt.Y2("high:Q"), color=_colours([one.player for one in found]),
            opacity=alt.Opacity("shade:Q", scale=None), tooltip=tooltip,
        )
    )  # fmt: skip
    zero = chart_of([{"low": 0.0}]).mark_rule(color=INK, aria=False).encode(y=y)
    labels = chart_of(_labels(reigns(found), run.meta.period, first, last))
    strokes = labels.mark_rule(color=PALE, strokeWidth=0.6, aria=False).encode(x=x, y=y, y2=alt.Y2("high:Q"))
    text = labels.mark_text(**UPRIGHT).encode(x=x, y=y, text=alt.Text("text:N"))
    words = limits.words()
    what = (
        f"{run.name} · above: the number one, beneath: others from {CHALLENGES} on, grey if never number one"
    )
    note = f"{what}{f' · eligible: {words}' if words else ''}"
    return finish([rects, zero, strokes, text], "Who was number one", [note, *remarks[:1]])


def _colours(led: Sequence[str]) -> alt.Color:
    """Colours for those who were number one, in their order, so that neighbours differ; grey for others."""
    names = list(dict.fromkeys(led))
    shades = {name: colour(index) for index, name in enumerate(names)}
    scale = alt.Scale(domain=[*shades, ""], range=[*shades.values(), PALE])
    return alt.Color("led:N", legend=None, scale=scale)


def _bars(one: Leader, year: float, width: float, led: set[str]) -> Iterator[dict[str, Any]]:
    """The leader's bar, and beneath it one below the other those of who else may be the strongest."""
    common, low = {"year": year, "end": year + width, "period": one.period}, 0.0
    p = 1.0 if one.p_best is None else one.p_best
    leader = {"player": one.player, "led": one.player, "p": one.p_best, "of": "number one", "shade": 1.0}
    yield {**common, **leader, "low": 0.0, "high": p}
    for player, chance in sorted(one.others, key=lambda other: -other[1]):
        if chance >= CHALLENGES:
            known = {"player": player, "led": player if player in led else "", "p": chance}
            yield {**common, **known, "of": "challenger", "shade": 0.6, "low": low - chance, "high": low}
            low -= chance


def _labels(found: Sequence[list[Leader]], period: Any, first: float, last: float) -> Records:
    """Surnames above the reigns, as many as stand beside each other, and strokes down to them."""
    spans = [(year_of(one[0].number, period), year_of(one[-1].number + 1, period)) for one in found]
    labels: Records = []
    for index, middle in upright(spans, first, last, WIDTH).items():
        at = found[index][len(found[index]) // 2]
        high = 1.0 if at.p_best is None else at.p_best
        labels.append({"year": middle, "low": _ABOVE, "high": high, "text": at.player.partition(",")[0]})
    return labels


def games_chart(run: Run) -> alt.LayerChart:
    """A bar per year: how many games it has. Raises LookupFailed when the run has none."""
    rows = run.query(_GAMES)[1]
    if not rows:
        raise LookupFailed("the run has no games")
    records: list[dict[str, Any]] = [{"year": year, "next": year + 1, "games": games} for year, games in rows]
    x = years(rows[0][0], rows[-1][0])
    y = alt.Y("games:Q", title="games in the year")
    width = max(1.0, WIDTH / (rows[-1][0] - rows[0][0] + 1) - 1.0)
    bars = (
        chart_of(records)
        .mark_bar(color=COLOURS[0], strokeWidth=0, binSpacing=0, width=width)
        .encode(x=x, y=y, tooltip=tooltips("year:Q", "games:Q"))
    )
    total = sum(games for _, games in rows)
    return finish([bars], "Games per year", f"{run.name} · {total:,.10g} games", height=_SHORT)


def top_chart(run: Run, *, count: int, limits: Eligible) -> alt.LayerChart:
    """The mean skill of the best `count` of every period with so many who are eligible, and the number one's of all.

    Of many days only the first of each month. Raises LookupFailed when no period has `count`.
    """
    drawn, (eligible, values) = drawn_when_idle(run), limits.always(run)
    means: dict[int, float] = dict(
        run.query(_TOP.format(count=count, eligible=eligible, drawn=drawn), values)[1]
    )
    if not means:
        raise LookupFailed(f"no {run.meta.period} has {count} players who are eligible", hint=_FEWER)
    names = [f"mean of the top {count}", "number one"]
    records: list[dict[str, Any]] = []
    for number, period, player, best, sd in number_ones(run, limits, drawn):
        common = {"year": year_of(number, run.meta.period), "period": period}
        if number in means:
            records.append({**common, "value": round(means[number], 1), "of": names[0], "player": ""})
        edges = {"low": round(best - sd, 1), "high": round(best + sd, 1)}
        records.append({**common, "value": round(best, 1), "of": names[1], "player": player, **edges})
    firsts = [record for record in records if "low" in record]
    first, last = firsts[0]["year"], max(firsts[-1]["year"], firsts[0]["year"] + 1.0)
    low = min(record.get("low", record["value"]) for record in records)
    high = max(record["high"] for record in firsts)
    x = years(first, last, [first, last])
    scale = alt.Scale(domain=[low, high + _FOR_NAMES * (high - low)], nice=False, zero=False)
    y = alt.Y("value:Q", axis=alt.Axis(format="d", title=axis_title(run.scale)), scale=scale)
    lines = (
        chart_of(records)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=18, aria=False), aria=False)
        .encode(
            x=x,
            y=y,
            color=alt.Color("of:N", scale=alt.Scale(domain=names, range=list(COLOURS[:2])), legend=LEGEND),
            tooltip=tooltips("of:N", "player:N", "period:N", "value:Q"),
        )
    )
    band = (
        chart_of(firsts)
        .mark_area(opacity=0.15, color=COLOURS[1], aria=False)
        .encode(x=x, y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q"))
    )
    text = chart_of(_names(firsts, first, last, 0.02 * (high - low))).mark_text(**UPRIGHT)
    words = limits.words()
    certain = all(record["low"] == record["high"] for record in firsts)  # no sd is known
    what = run.name if certain else f"{run.name} · band: one sd to either side"
    note = f"{what}{f' · eligible: {words}' if words else ''}"
    layers = [
        *([band] if high > max(record["value"] for record in firsts) else []),
        lines,
        text.encode(x=x, y=y, text=alt.Text("text:N")),
    ]
    return finish(layers, f"The top {count} through time", note)


def _names(firsts: Sequence[dict[str, Any]], first: float, last: float, gap: float) -> list[dict[str, Any]]:
    """Surnames of number ones above their curve and what is near, as many as stand beside each other."""
    near = HEIGHT * (last - first) / WIDTH
    led = [list(group) for _, group in groupby(firsts, key=itemgetter("player"))]
    spans = [(reign[0]["year"], reign[-1]["year"]) for reign in led]
    found = []
    for index, middle in upright(spans, first, last, WIDTH).items():
        beneath = [one["high"] for one in firsts if abs(one["year"] - middle) <= near]
        value = max(beneath or (one["high"] for one in led[index])) + gap
        found.append({"year": middle, "value": value, "text": led[index][0]["player"].partition(",")[0]})
    return found
