"""Who was number one: reigns as coloured bars as high as they were certain, and beneath who else may have been it."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import altair as alt

from ttt_cli.periods import STEPS_PER_YEAR, year_of
from ttt_cli.runs.run import Run
from ttt_cli.views.charts.histories import MANY_DAYS
from ttt_cli.views.charts.labels import upright
from ttt_cli.views.charts.style import INK, PALE, UPRIGHT, WIDTH, chart_of, colour, finish, tooltips, years
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import CHALLENGES, Leader, leaders_and_remarks, reigns

_ABOVE: Final = 1.04  # where names begin
_HEADROOM: Final = 0.5  # of the axis above 1, for names
_MONTH: Final = 1.0 / 12.0

Records = list[dict[str, Any]]


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
        title="probability of being the strongest", titleAnchor="start", values=_ticks(low),
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


def _ticks(low: float) -> list[float]:
    """Fifths from the lowest bar up to 1."""
    return [k / 5 for k in range(int(low * 5), 6)]


def _labels(found: Sequence[list[Leader]], period: Any, first: float, last: float) -> Records:
    """Surnames above the reigns, as many as stand beside each other, and strokes down to them."""
    spans = [(year_of(one[0].number, period), year_of(one[-1].number + 1, period)) for one in found]
    labels: Records = []
    for index, middle in upright(spans, first, last, WIDTH).items():
        at = found[index][len(found[index]) // 2]
        high = 1.0 if at.p_best is None else at.p_best
        labels.append({"year": middle, "low": _ABOVE, "high": high, "text": at.player.partition(",")[0]})
    return labels
