"""Games per year (TTT paper, figure 2 left), and the level of the top through time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ttt_cli.errors import LookupFailed
from ttt_cli.periods import year_of
from ttt_cli.views.charts.histories import drawn_when_idle
from ttt_cli.views.charts.style import COLOURS, WIDTH, chart_of, finish, year_axis
from ttt_cli.views.rankings.leaders import number_ones
from ttt_cli.views.run import axis_title

if TYPE_CHECKING:
    import altair as alt

    from ttt_cli.runs.run import Run
    from ttt_cli.views.rankings.eligible import Eligible

_FEWER: Final = "--number asks for fewer; --everyone, --min-games, --min-opponents and --max-sd for more"
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
    import altair as alt

    rows = run.query(_GAMES)[1]
    if not rows:
        raise LookupFailed("the run has no games")
    records: list[dict[str, Any]] = [{"year": year, "next": year + 1, "games": games} for year, games in rows]
    x = alt.X("year:Q", axis=year_axis(rows[0][0], rows[-1][0]), scale=alt.Scale(nice=False))
    y = alt.Y("games:Q", title="games in the year")
    width = max(1.0, WIDTH / (rows[-1][0] - rows[0][0] + 1) - 1.0)
    bars = (
        chart_of(records)
        .mark_bar(color=COLOURS[0], strokeWidth=0, binSpacing=0, width=width)
        .encode(x=x, y=y, tooltip=["year:Q", "games:Q"])
    )
    total = sum(games for _, games in rows)
    return finish([bars], "Games per year", f"{run.name} · {total:,.10g} games", height=_SHORT)


def top_chart(run: Run, *, count: int, limits: Eligible) -> alt.LayerChart:
    """The mean skill of the best `count` of every period with so many who are eligible, and the number one's of all.

    Of many days only the first of each month. Raises LookupFailed when no period has `count`.
    """
    import altair as alt

    drawn, (eligible, values) = drawn_when_idle(run), limits.always(run)
    means: dict[int, float] = dict(
        run.query(_TOP.format(count=count, eligible=eligible, drawn=drawn), values)[1]
    )
    if not means:
        raise LookupFailed(f"no {run.meta.period} has {count} players who are eligible", hint=_FEWER)
    names = [f"mean of the top {count}", "number one"]
    records: list[dict[str, Any]] = []
    for number, period, player, best in number_ones(run, limits, drawn):
        common = {"year": year_of(number, run.meta.period), "period": period}
        if number in means:
            records.append({**common, "value": round(means[number], 1), "of": names[0], "player": ""})
        records.append({**common, "value": round(best, 1), "of": names[1], "player": player})
    years = year_axis(records[0]["year"], records[-1]["year"])
    unit = axis_title(run.scale.unit)
    lines = (
        chart_of(records)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=18, aria=False), aria=False)
        .encode(
            x=alt.X("year:Q", axis=years, scale=alt.Scale(nice=False)),
            y=alt.Y("value:Q", axis=alt.Axis(format="d", title=unit), scale=alt.Scale(zero=False)),
            color=alt.Color(
                "of:N",
                scale=alt.Scale(domain=names, range=list(COLOURS[:2])),
                legend=alt.Legend(title=None, orient="top", labelFontSize=12, offset=0),
            ),
            tooltip=["of:N", "player:N", "period:N", "value:Q"],
        )
    )
    words = limits.words()
    note = f"{run.name}{f' · eligible: {words}' if words else ''}"
    return finish([lines], f"The top {count} through time", note)
