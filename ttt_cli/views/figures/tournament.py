"""The odds of a tournament as bars: for each player the probability of every place."""

from __future__ import annotations

from typing import Final

from ttt_cli.views.figures import spec as vega
from ttt_cli.views.figures.figure import Figure
from ttt_cli.views.figures.labels import shorten
from ttt_cli.views.rows import Rows

_LINE: Final = 26  # pixels
_DARKEST: Final = "#08306b"
_LIGHTEST: Final = "#eef3fa"


def draw_tournament(rows: Rows) -> Figure:
    """The figure of a table of `tournament_rows`."""
    records = []
    order = []
    for row in rows.records():
        player = shorten(row["player"])
        order.append(player)
        below = 0.0
        for place in range(1, sum(column.startswith("place_") for column in rows.columns) + 1):
            probability = row[f"place_{place}"]
            records.append(
                {
                    "player": player,
                    "place": place,
                    "from": below,
                    "to": below + probability,
                    "p": probability,
                }
            )
            below += probability
    encoding = {
        "y": vega.name("player", sort=order, title=None, axis={"labelLimit": 240, "ticks": False, "domain": False}),
        "x": vega.number("from", title="probability", axis={"format": "%"}, scale={"domain": [0, 1]}),
        "x2": {"field": "to"},
        "color": vega.number("place", title="place", scale={"range": [_DARKEST, _LIGHTEST]}, legend={"tickMinStep": 1}),
        "tooltip": [vega.name("player"), vega.number("place"), vega.number("p", format=".3f", title="probability")],
    }  # fmt: skip
    bars = vega.layer("places", "bar", encoding, stroke="white", strokeWidth=0.5)
    title, *subtitle = rows.title
    height = _LINE * len(order)
    return Figure(
        vega.finish([bars], {"places": records}, title, subtitle, height=height), "tournament"
    )
