"""Games per year (TTT paper, figure 2 left), and the level of the top through time."""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import altair as alt

from ttt_cli.errors import LookupFailed
from ttt_cli.periods import year_of
from ttt_cli.runs.run import Run
from ttt_cli.views.charts.histories import drawn_when_idle
from ttt_cli.views.charts.labels import HEIGHT, upright
from ttt_cli.views.charts.style import COLOURS, LEGEND, UPRIGHT, WIDTH, chart_of, finish, tooltips, years
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import number_ones
from ttt_cli.views.run import axis_title

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
