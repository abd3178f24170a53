"""The number of games by year."""

from typing import Final

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.figures import spec as vega
from ttt_cli.views.figures.figure import Figure, FigureOptions

_HEIGHT: Final = 300  # pixels
_GAMES: Final = """
SELECT CAST(split_part(period, '-', 1) AS INTEGER) AS year, sum(weight)
FROM game_rows JOIN periods USING (period_number) GROUP BY year ORDER BY year
"""


def draw_games(run: Run, options: FigureOptions) -> Figure:  # noqa: ARG001
    """The number of games in each year. Raises LookupFailed when the run has none."""
    rows = run.select(_GAMES)[1]
    if not rows:
        raise LookupFailed("the run has no games")
    first = rows[0][0]
    last = rows[-1][0]
    encoding = {
        "x": vega.years([first - 0.5, last + 0.5]), "y": vega.number("games", title="games in the year"),
        "tooltip": [vega.number("year"), vega.number("games")],
    }  # fmt: skip
    width = max(1.0, vega.WIDTH / (last - first + 1) - 1.0)
    bars = vega.layer(
        "bars", "bar", encoding, color=vega.COLOURS[0], strokeWidth=0, binSpacing=0, width=width
    )
    records = [{"year": year, "games": games} for year, games in rows]
    total = sum(games for _, games in rows)
    subtitle = f"{run.name} · {total:,.10g} games"
    spec = vega.finish([bars], {"bars": records}, "Games per year", subtitle, height=_HEIGHT)
    return Figure(spec, "games")
