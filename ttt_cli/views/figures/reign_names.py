"""Surnames of number ones above their reigns, and of challengers below."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from ttt_cli.views.figures import spec as vega
from ttt_cli.views.figures.labels import upright
from ttt_cli.views.figures.spec import Records, Spec

_LONGEST_STEP: Final = 1.0 + 1e-6  # years between records of one reign or line


def reigns_of(number_ones: Records) -> list[Records]:
    """The records of number ones, by time, grouped by reigns; a reign ends at a year without a number one."""
    return [reign for part in without_gaps(number_ones) for reign in _by_player(part)]


def without_gaps(records: Records) -> list[Records]:
    """Records by time, grouped by series without a gap of more than a year."""
    groups: list[Records] = []
    for record in records:
        if groups and record["year"] - groups[-1][-1]["year"] <= _LONGEST_STEP:
            groups[-1].append(record)
        else:
            groups.append([record])
    return groups


def _by_player(records: Records) -> list[Records]:
    return [list(group) for _, group in groupby(records, key=lambda record: record["player"])]


def reign_names(
    reigns: Sequence[Records], first: float, last: float, low: float, joined: str = "high"
) -> Records:
    """Surnames that stand upright at `low`, as many as there is room for, and how high the bar of each is.

    `reigns`: records of periods in a row of one player, with `player`, `year`, the field that is `joined` to the name
    and perhaps `end`. `first`, `last`: years of the axis.
    """
    spans = [_span(reign) for reign in reigns]
    names: Records = []
    for index, year in upright(spans, first, last, vega.WIDTH).items():
        middle = reigns[index][len(reigns[index]) // 2]
        surname = middle["player"].partition(",")[0]
        names.append({"year": year, "low": low, "high": middle[joined], "text": surname})
    return names


def _span(reign: Records) -> tuple[float, float]:
    """The years of the start and the end of a reign."""
    last = reign[-1]
    end: float = last["end"] if "end" in last else last["year"]
    return reign[0]["year"], end


def name_layers(x: Spec, y: Spec, dataset: str = "labels", *, below: bool = False) -> list[Spec]:
    """The layers of `reign_names`, a dataset, each joined to its bar by a stroke; `below`: names end at its height."""
    stroke = {"x": x, "y": y, "y2": {"field": "high"}}
    look = {**vega.UPRIGHT, "align": "right"} if below else vega.UPRIGHT
    kind = "stroke below" if below else "stroke"
    return [
        vega.layer(dataset, "rule", stroke, kind=kind, color=vega.PALE, strokeWidth=0.6),
        vega.layer(dataset, "text", {"x": x, "y": y, "text": vega.name("text")}, **look),
    ]
