"""Surnames of number ones above their reigns."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from ttt_cli.views.figures import spec as vega
from ttt_cli.views.figures.labels import upright
from ttt_cli.views.figures.spec import Records, Spec


def reign_names(number_ones: Sequence[dict[str, Any]], first: float, last: float, low: float) -> Records:
    """Surnames that stand upright from `low`, as many as there is room for, and how high their number one is.

    `number_ones`: records of periods by time, with `player`, `year`, `high` and perhaps `end`. `first`, `last`: years
    of the axis.
    """
    reigns = [list(group) for _, group in groupby(number_ones, key=lambda record: record["player"])]
    spans = [(reign[0]["year"], reign[-1].get("end", reign[-1]["year"])) for reign in reigns]
    names: Records = []
    for index, year in upright(spans, first, last, vega.WIDTH).items():
        middle = reigns[index][len(reigns[index]) // 2]
        surname = middle["player"].partition(",")[0]
        names.append({"year": year, "low": low, "high": middle["high"], "text": surname})
    return names


def name_layers(x: Spec, y: Spec) -> list[Spec]:
    """The layers of `reign_names`, a dataset `labels`, each joined to its number one by a stroke."""
    stroke = {"x": x, "y": y, "y2": {"field": "high"}}
    return [
        vega.layer("labels", "rule", stroke, kind="stroke", color=vega.PALE, strokeWidth=0.6),
        vega.layer("labels", "text", {"x": x, "y": y, "text": vega.name("text")}, **vega.UPRIGHT),
    ]
